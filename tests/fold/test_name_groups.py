"""Groups by name: which names are one group, what it adopts, and which groups cannot stand side by side."""

from __future__ import annotations

from itertools import pairwise

import pytest

from graphviz_tb.caches import lazy_constant
from graphviz_tb.fold.flow.box import Dag, make_dag
from graphviz_tb.fold.flow.names import (
    NameFamily,
    Vocabulary,
    _adopt_unnamed_between,
    _families_on_cycles,
    _is_connected,
    _make_disjoint,
    find_name_families,
)
from graphviz_tb.fold.flow.order import FlowOrder
from tests.fold.boxes import context, rows, wired


def named(*members: int) -> NameFamily:
    """A group of these boxes."""
    return NameFamily(("w",), members, members)


def groups(names: list[str], *pairs: tuple[int, int], symbol: int | None = None) -> dict[str, tuple[int, ...]]:
    """The groups by name of boxes with such names and lines."""
    before: list[list[int]] = [[] for _ in names]
    for source, target in pairs:
        before[target].append(source)
    dag = make_dag(rows(*names, symbol=symbol), before)
    found = find_name_families(dag, context(*names).order(dag), Vocabulary(names))
    return {"_".join(each.words): each.members for each in found}


def chain(count: int) -> list[tuple[int, int]]:
    """All of them one after the other."""
    return list(pairwise(range(count)))


def test_names_that_begin_alike_and_hang_together_are_a_group() -> None:
    names = ["in", "a_x", "a_y", "b_x", "b_y", "b_z", "out"]
    assert groups(names, *chain(7)) == {"a": (1, 2), "b": (3, 4, 5)}
    # apart: nothing joins the two a's, and none of them another
    assert groups(["a_x", "in", "b_x", "a_y", "b_y"], (1, 2), (2, 4)) == {"b": (2, 4)}


def test_an_input_of_the_model_is_in_no_group() -> None:
    def families(op: str) -> list[tuple[int, ...]]:
        names = ["token_ids", "token_embedding", "token_scale", "layer", "logits"]
        boxes = rows(*names)
        boxes[0].op = op
        dag = make_dag(boxes, [[], [0], [1], [2], [3]])
        return [each.members for each in find_name_families(dag, context(*names).order(dag), Vocabulary(names))]

    assert families("Embedding") == [(0, 1, 2)]
    assert families("InputLayer") == [(1, 2)]


def test_one_box_is_no_group() -> None:
    assert groups(["a_x", "b_x", "c_x", "d"], *chain(4)) == {}


def test_numbered_equals_are_no_group() -> None:
    names = ["a_x", "a_y", "a_z", "b", "c"]
    assert groups(names, *chain(5), symbol=1) == {}
    assert groups(names, *chain(5)) == {"a": (0, 1, 2)}


def test_a_name_of_nearly_all_boxes_says_nothing_and_its_next_words_are_tried() -> None:
    inner = ["m_a_x", "m_a_y", "m_b_x", "m_b_y", "m_b_z"]
    assert groups([*inner, "out"], *chain(6)) == {"m_a": (0, 1), "m_b": (2, 3, 4)}
    assert groups([*inner[:4], "out"], *chain(5)) == {"m": (0, 1, 2, 3)}  # four of five


def test_groups_that_would_close_a_circle_are_tried_by_their_next_words() -> None:
    # a ─▶ b ─▶ a ─▶ b: neither can be a box beside the other
    names = ["a_1_x", "a_1_y", "b_1_x", "b_1_y", "a_2_x", "a_2_y", "b_2_x", "b_2_y", "out", "end", "last"]
    found = groups(names, *chain(11))
    assert found == {"a_1": (0, 1), "b_1": (2, 3), "a_2": (4, 5), "b_2": (6, 7)}


def test_a_number_with_the_same_words_behind_it_is_an_instance_of_its_own() -> None:
    # TensorFlow's second use of a scope: dense_1/x, dense_1/y ─▶ dense_1_2/x, dense_1_2/y
    names = ["in", "dense_1/x", "dense_1/y", "dense_1_2/x", "dense_1_2/y", "out"]
    assert groups(names, *chain(6)) == {"dense_1": (1, 2), "dense_1_2": (3, 4)}
    names = ["in", "dense_1/x", "dense_1/y", "dense_1_2/z", "dense_1_2/w", "out"]
    assert groups(names, *chain(6)) == {"dense_1": (1, 2, 3, 4)}
    # three of five words in common are enough, two of four are not
    names = [f"d_1/{word}" for word in "abcd"] + [f"d_1_2/{word}" for word in "abce"] + ["in", "out"]
    assert groups(names, *chain(10)) == {"d_1": (0, 1, 2, 3), "d_1_2": (4, 5, 6, 7)}
    names = [f"d_1/{word}" for word in "abc"] + [f"d_1_2/{word}" for word in "abe"] + ["in", "out"]
    assert groups(names, *chain(8)) == {"d_1": (0, 1, 2, 3, 4, 5)}


@pytest.mark.parametrize(("far", "adopted"), [(15, True), (16, False)])
def test_what_lies_between_is_adopted_in_a_stretch_that_is_not_much_longer(far: int, adopted: bool) -> None:
    # 0 ─▶ 1 ─▶ 2, with so many places of the line from 0 to 2; the others lie beside, or give to 1 and take from it
    dag = wired(20, (0, 1), (1, 2), (18, 1), (1, 19))
    line = [17, 18, 0, *range(3, far + 1), 1, 2, *range(far + 1, 17), 19]
    place = [line.index(box) for box in range(20)]
    assert place[2] - place[0] == far
    order = FlowOrder(line, place, lazy_constant([0] * 20), frozenset(), frozenset(), [False] * 20, [0] * 20)
    assert _adopt_unnamed_between(dag, order, (0, 2)) == ((0, 1, 2) if adopted else (0, 2))


@pytest.mark.parametrize(("between", "adopted"), [(1, True), (2, True), (3, False)])
def test_no_more_is_adopted_than_a_group_has_members(between: int, adopted: bool) -> None:
    dag = wired(between + 4, *chain(between + 2))
    order = context().order(dag)
    members = (0, between + 1)
    assert _adopt_unnamed_between(dag, order, members) == (tuple(range(between + 2)) if adopted else members)


@pytest.mark.parametrize(("members", "together"), [(2, True), (12, True), (13, False)])
def test_few_boxes_hang_together_by_a_common_neighbour(members: int, together: bool) -> None:
    def ends(dag: Dag) -> bool:
        return _is_connected(dag, tuple(range(1, members + 1)))

    assert ends(wired(members + 1, *((0, box) for box in range(1, members + 1)))) is together
    assert ends(wired(members + 1, *((box, 0) for box in range(1, members + 1)))) is together


def test_a_neighbour_before_one_and_behind_the_other_joins_nothing() -> None:
    assert not _is_connected(wired(3, (1, 0), (0, 2)), (1, 2))
    assert _is_connected(wired(3, (1, 2)), (1, 2))
    assert not _is_connected(wired(4, (1, 2)), (1, 2, 3))


def test_a_box_stays_in_the_first_group_and_a_group_of_one_is_gone() -> None:
    found = _make_disjoint([named(0, 1), named(1, 2, 3), named(3, 4)])
    assert [group.members for group in found] == [(0, 1), (2, 3)]


def test_groups_in_a_circle_are_named() -> None:
    dag = wired(6, *chain(6))
    assert _families_on_cycles(dag, []) == set()
    assert _families_on_cycles(dag, [named(0, 1), named(2, 3)]) == set()
    assert _families_on_cycles(dag, [named(0, 2), named(4, 5)]) == {0}
    assert _families_on_cycles(dag, [named(4, 5), named(0, 2), named(1, 3)]) == {1, 2}


def test_equal_layers_in_each_of_several_families_are_no_repeat() -> None:
    # in ─▶ expert0_in ─▶ expert0_out ─▶ out, and so through expert1; all layers are equal
    names = ["in", "expert0_in", "expert0_out", "expert1_in", "expert1_out", "out"]
    pairs = [(0, 1), (1, 2), (2, 5), (0, 3), (3, 4), (4, 5)]
    assert groups(names, *pairs, symbol=1) == {"expert0": (1, 2), "expert1": (3, 4)}
    # Numbers alone tell no parts apart, nor do counters at the end.
    for first, second in (("conv1", "conv2"), ("x", "x_1"), ("0a", "0b")):
        counted = ["in", *(f"expert{number}_{end}" for number in (0, 1) for end in (first, second)), "out"]
        assert groups(counted, *pairs, symbol=1) == {}


def test_counters_in_what_follows_part_no_numbered_layers() -> None:
    # As Keras 3 flattened: layer `mix_1` is called `mix_1_2`, and its parts are counted through the model.
    names = ["in", "mix_1_dense_1", "mix_1_add", "mix_1_2_dense_2", "mix_1_2_add", "mix_2_1_dense_3", "mix_2_1_add"]
    found = groups([*names, "out"], *chain(8))
    assert found == {"mix_1": (1, 2), "mix_1_2": (3, 4), "mix_2": (5, 6)}


def test_a_member_that_nobody_uses_parts_no_group() -> None:
    # in ─▶ cell_0 ─▶ … ─▶ cell_13 ─▶ out ─▶ out …, and in ─▶ cell_size
    names = ["in", *(f"cell_p{part}" for part in range(14)), "cell_size", *(f"out{number}" for number in range(4))]
    lines = [*chain(15), (14, 16), (0, 15), (16, 17), (17, 18), (18, 19)]
    assert groups(names, *lines) == {"cell": tuple(range(1, 16))}


def test_the_first_word_of_a_type_is_no_group() -> None:
    parts = ("Repeat", "Reshape", "split")
    names = [f"up_sampling2d_{number}_{part}" for number in (1, 3) for part in parts]
    found = groups(["in", *names, "mid", "out"], *chain(9))
    assert found == {"up_sampling2d_1": (1, 2, 3), "up_sampling2d_3": (4, 5, 6)}
    # a person's word is
    others = [name.replace("up_sampling2d", "tail_part") for name in names]
    assert groups(["in", *others, "mid", "out"], *chain(9)) == {"tail": tuple(range(1, 7))}


def test_layers_named_by_one_type_are_no_group() -> None:
    names = ["linear"] * 3 + ["linear_1", "linear_2"]
    assert groups(["in", *names, "mid", "a", "b", "c", "out"], *chain(11)) == {}
    # a person's word is
    others = [name.replace("linear", "tail") for name in names]
    assert groups(["in", *others, "mid", "a", "b", "c", "out"], *chain(11)) == {"tail": (1, 2, 3)}
