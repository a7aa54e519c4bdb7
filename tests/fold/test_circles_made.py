"""Groups that would close a circle which the level does not have are opened, and no others."""

from __future__ import annotations

import numpy as np

from graphviz_tb.fold.flow.box import FlowBox, make_group
from graphviz_tb.fold.flow.invariants import open_cyclic_groups
from graphviz_tb.fold.flow.levels import ChildEdges
from graphviz_tb.model.hierarchy import GroupOrigin
from tests.each import each

Tree = int | tuple[GroupOrigin, "list[Tree]"]


def box_of(tree: Tree) -> FlowBox:
    """Rows by number, groups as pairs of an origin and what they hold."""
    if isinstance(tree, int):
        return FlowBox(f"b{tree}", tree, 1, tree)
    how, members = tree
    return make_group(how, [box_of(member) for member in members], 100)


def tree_of(box: FlowBox) -> Tree:
    """The other way round."""
    return box.row if box.row >= 0 else (box.how, [tree_of(member) for member in box.members])


def kept(trees: list[Tree], *pairs: tuple[int, int]) -> list[Tree]:
    """What is left of groups of rows with such edges between them."""
    source, target = (np.array(column, np.int64) for column in zip(*pairs, strict=True))
    no = np.zeros(len(pairs), bool)
    count = 1 + max(int(source.max()), int(target.max()))
    place = {row: row for row in range(count)}
    found = open_cyclic_groups([box_of(tree) for tree in trees], count, place, ChildEdges(source, target, no, no))
    return [tree_of(box) for box in found]


NAME, LOOP, TRAINING = GroupOrigin.NAME, GroupOrigin.LOOP, GroupOrigin.TRAINING
CHAIN = ((0, 1), (1, 2), (2, 3))


@each(
    ("trees", "left"),
    [
        ([(NAME, [0, 1]), (NAME, [2, 3])], [(NAME, [0, 1]), (NAME, [2, 3])]),
        ([(NAME, [0, 2]), 1, 3], [0, 2, 1, 3]),
        ([0, (NAME, [1, 3]), 2], [0, 1, 3, 2]),
        ([(NAME, [0, 2]), (NAME, [1, 3])], [0, 2, 1, 3]),
        ([(NAME, [(NAME, [0, 2]), 1]), 3], [(NAME, [0, 2, 1]), 3]),  # the circle is inside the outer one
        ([(NAME, [(NAME, [0, 1]), 3]), 2], [(NAME, [0, 1]), 3, 2]),  # the inner one is in none
        ([(NAME, [(NAME, [0, 2]), 3]), 1], [0, 2, 3, 1]),
        ([0, (NAME, [(NAME, [1, 2]), 3])], [0, (NAME, [(NAME, [1, 2]), 3])]),
        ([(TRAINING, [0, 2]), 1, 3], [(TRAINING, [0, 2]), 1, 3]),  # it moves aside where it closes one
        ([(TRAINING, [0, 2]), (NAME, [1, 3])], [(TRAINING, [0, 2]), (NAME, [1, 3])]),
        ([(LOOP, [0, 2]), 1, 3], [(LOOP, [0, 2]), 1, 3]),
        ([(LOOP, [0, 2]), (NAME, [1, 3])], [(LOOP, [0, 2]), 1, 3]),
    ],
)
def test_groups_in_a_circle_are_opened(trees: list[Tree], left: list[Tree]) -> None:
    # 0 ─▶ 1 ─▶ 2 ─▶ 3
    assert kept(trees, *CHAIN) == left


def test_a_circle_of_the_level_is_no_fault_of_a_group() -> None:
    # 0 ─▶ 1 ─▶ 0, and 2
    assert kept([(NAME, [0, 2]), 1], (0, 1), (1, 0), (1, 2)) == [(NAME, [0, 2]), 1]
    assert kept([(NAME, [0, 2]), (NAME, [1, 3])], (0, 1), (1, 0), (2, 3)) == [(NAME, [0, 2]), (NAME, [1, 3])]


def test_a_circle_of_the_level_in_one_group_excuses_no_other_circle() -> None:
    # 0 ─▶ 1 ─▶ 2, and 3 ─▶ 4 ─▶ 3 beside 0 and 2
    lines = ((0, 1), (1, 2), (3, 4), (4, 3))
    assert kept([(NAME, [0, 2, 3, 4]), 1], *lines) == [0, 2, 3, 4, 1]
    assert kept([(NAME, [0, 2]), 1, (NAME, [3, 4])], *lines) == [0, 2, 1, (NAME, [3, 4])]


def test_a_feeder_is_in_the_group_of_its_consumer() -> None:
    # 0 feeds 1, in a group with 2; 3 may lie between them
    feeder, one, two, three = map(box_of, range(4))
    one.feeders = [feeder]
    held = make_group(NAME, [one, two], 100)
    place = {row: row for row in range(4)}
    no = np.zeros(3, bool)
    on = ChildEdges(np.array([0, 1, 2]), np.array([1, 2, 3]), no, no)
    assert open_cyclic_groups([held, three], 4, place, on) == [held, three]
    back = ChildEdges(np.array([0, 0, 3]), np.array([1, 3, 2]), no, no)
    assert open_cyclic_groups([held, three], 4, place, back) == [one, two, three]
