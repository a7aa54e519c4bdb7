"""Series that come apart on the page: their rows there, and in the page as it is."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphviz_tb import load
from graphviz_tb.model.metagraph import Metagraph
from graphviz_tb.page.ungrouping import UngroupedWalk, _rows_of_same_nodes
from graphviz_tb.page.walk import find_walked_level, renumber_level
from graphviz_tb.proto import GraphDef
from tests.effort import examples, part
from tests.properties.graphs import unlike_blocks

SEEDS = part([0, 5, *range(1, 5), *range(6, 12)], 12)  # 0 has what is found
REAL = Path(__file__).parents[2] / "fixtures" / "real"
SEGMENT = st.sampled_from(["", "a", "b", "a_1", "n[2-8]", "(a)", "::"])


def graph(names: list[str]) -> GraphDef:
    """A series n0 ─▶ n1 … ─▶ n8, and ops of some names."""
    made = GraphDef()
    for number in range(9):
        made.node.add(name=f"n{number}", op="Add", input=[f"n{number - 1}"] if number else [])
    for name in names:
        made.node.add(name=name, op="Neg", input=["n2"])
    return made


@examples(50)
@given(st.lists(st.lists(SEGMENT, min_size=2, max_size=4).map("/".join), unique=True, max_size=8))
def test_each_row_of_a_hierarchy_is_itself_in_the_same_hierarchy(names: list[str]) -> None:
    hierarchy = load(graph(names)).hierarchy
    assert _rows_of_same_nodes(hierarchy, hierarchy).tolist() == list(range(len(hierarchy)))


def test_a_scope_without_a_name_is_not_the_graph() -> None:
    page = load(graph(["/", "//x", "/x"])).render("html")
    assert page.endswith(b"</html>\n")


def pages(source: Any, **options: Any) -> tuple[bytes, bytes, int]:
    """The page, the one for which each set of series is gone through whole, and how many groups the first found."""
    found: list[UngroupedWalk] = []

    def noted(self: UngroupedWalk, path: Any, child: Any) -> UngroupedWalk | None:
        walk = find(self, path, child)
        found.extend([walk] if walk else [])
        return walk

    find = UngroupedWalk.reusable_walk
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(UngroupedWalk, "reusable_walk", noted)
        page = load(source, **options).render("html")
        patch.setattr(UngroupedWalk, "reusable_walk", lambda *asked: None)
        return page, load(source, **options).render("html"), len(found)


@pytest.mark.parametrize("name", part(["gan_scopes.pb", "cifar10_shapes.pb", "mnist_cnn.pbtxt"], 3))
def test_what_was_found_with_other_series_apart_is_what_would_be_found(name: str) -> None:
    page, whole, found = pages(REAL / name)
    assert found > 0
    assert page == whole


def lines_of(level: Metagraph) -> list[tuple[object, ...]]:
    """What leads out of the children of a level, in no order."""
    return sorted(
        (line.child, line.other, line.inbound, line.tensors, line.control, line.drawable, line.members)
        for line in level.bridges
    )


def kept_as_they_were(source: Any, **options: Any) -> tuple[int, list[str]]:
    """How many groups the page keeps as they are with series apart, and which of these have other lines then."""
    kept: set[tuple[str, tuple[int, ...]]] = set()
    unlike: list[str] = []

    def noted(self: UngroupedWalk, path: Any, child: Any) -> bool:
        if not sees_others(self, path, child):
            kept.add((self.mark, self.to_page_path(child)))
        return True

    def compared(self: UngroupedWalk, held: Any, path: Any, level: Any, skeleton: Any, *more: Any) -> bool:
        there = self.to_page_path(path)
        usual = find_walked_level(self.copied, self.usual, there)
        if (self.mark, there) in kept and usual is not None:
            named = renumber_level((level, skeleton), self.rows.__getitem__)[0]
            unlike.extend([self.model.hierarchy.name[there[-1]]] if lines_of(named) != lines_of(usual[0]) else [])
        return put_one(self, held, path, level, skeleton, *more)

    sees_others, put_one = UngroupedWalk.has_other_neighbours, UngroupedWalk.add_if_different
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(UngroupedWalk, "has_other_neighbours", noted)
        patch.setattr(UngroupedWalk, "add_if_different", compared)
        load(source, **options).render("html")
    return len(kept), unlike


@pytest.mark.parametrize("name", part(["gan_scopes.pb", "cifar10_shapes.pb", "mnist_cnn.pbtxt"], 3))
def test_groups_with_the_neighbours_they_have_hold_the_same_lines_with_series_apart(name: str) -> None:
    kept, unlike = kept_as_they_were(REAL / name)
    assert kept > 0
    assert not unlike


def nested(seed: int, **shape: Any) -> GraphDef:
    """Blocks of blocks of blocks, and updates of some of them."""
    luck = Random(seed)
    made, every = unlike_blocks(luck, **shape)
    for update in range(luck.randint(0, 6)):
        made.node.add(name=f"train/u_{update}/Assign", op="AssignSub", input=luck.sample(every, 2))
    return made


def test_in_stacks_of_stacks_whose_first_members_are_apart_by_name_too() -> None:
    graphs = [nested(seed, least=3, most=5, first="first") for seed in SEEDS]
    told = list(map(pages, graphs))
    assert [page for page, _, _ in told] == [whole for _, whole, _ in told]
    assert any(found for _, _, found in told)
    assert not [unlike for graph in graphs for unlike in kept_as_they_were(graph)[1]]


def test_in_stacks_of_stacks_whose_first_members_have_more_too() -> None:
    graphs = list(map(nested, SEEDS))
    told = [pages(graph, series_min=2) for graph in graphs]
    assert [page for page, _, _ in told] == [whole for _, whole, _ in told]
    assert not [unlike for graph in graphs for unlike in kept_as_they_were(graph, series_min=2)[1]]
