"""Which children leave the main drawing: each rule at its boundary, on levels that are counted by hand."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import pytest

from graphviz_tb.expand import _extract_by_hand
from graphviz_tb.expand.drawn_bridges import _crowded_neighbours, _data_order, _tensorboard_order
from graphviz_tb.expand.extract import (
    MAX_CHILDREN_KEEPING_CONTROL,
    MAX_READABLE_CHILDREN,
    ExtractInput,
    _degree_fence,
    _nodes_above_bound,
    choose_extracted,
)
from graphviz_tb.model.metagraph import Bridge, DrawingMask, Metaedge
from graphviz_tb.options import ExpandOptions
from tests.conftest import cpu_seconds
from tests.timing import seconds

OURS, THEIRS = ExpandOptions(), ExpandOptions(tensorboard=True)
NONE: frozenset[str] = frozenset()
NO_CIRCLES: frozenset[int] = frozenset()


def data(*pairs: tuple[int, int]) -> list[Metaedge]:
    return [Metaedge(source, target, 1, 0, 0) for source, target in pairs]


def control(*pairs: tuple[int, int]) -> list[Metaedge]:
    return [Metaedge(source, target, 0, 1, 0) for source, target in pairs]


def level(
    count: int, edges: list[Metaedge], sinks: Iterable[int] = (), marked: dict[int, str] | None = None, unseen: int = 0
) -> ExtractInput:
    """A level of so many children; `marked` says at which side of a child a mark stands."""
    sides = [frozenset([marked[node]]) if marked and node in marked else NONE for node in range(count)]
    gone = set(sinks)
    return ExtractInput(count, edges, [node in gone for node in range(count)], sides, unseen, NO_CIRCLES)


def chain_with_hub(count: int, inward: bool) -> ExtractInput:
    """A chain of all children but the last, which every other one leads to (or which leads to every other one)."""
    hub = count - 1
    spokes = [(node, hub) if inward else (hub, node) for node in range(0, hub, 2)]
    return level(count, data(*((node, node + 1) for node in range(hub - 1)), *spokes))


@pytest.mark.parametrize(("count", "gone"), [(MAX_READABLE_CHILDREN, False), (MAX_READABLE_CHILDREN + 1, True)])
def test_hubs_leave_levels_that_are_too_large_to_be_read(count: int, gone: bool) -> None:
    assert MAX_READABLE_CHILDREN == 40
    mask = choose_extracted(chain_with_hub(count, inward=True), OURS)
    assert (count - 1 in mask.extracted_children) is gone


@pytest.mark.parametrize(("count", "gone"), [(14, False), (15, True)])
def test_tensorboard_looks_for_hubs_from_15_nodes_on(count: int, gone: bool) -> None:
    assert (count - 1 in choose_extracted(chain_with_hub(count, inward=True), THEIRS).extracted_children) is gone


@pytest.mark.parametrize(("unseen", "gone"), [(0, False), (1, True)])
def test_nodes_that_are_not_seen_count_among_the_15(unseen: int, gone: bool) -> None:
    plain = chain_with_hub(14, inward=True)
    counted = level(14, list(plain.edges), unseen=unseen)
    assert (13 in choose_extracted(counted, THEIRS).extracted_children) is gone


@pytest.mark.parametrize(("degree", "gone"), [(4, False), (5, True)])
def test_a_hub_has_at_least_five_neighbours(degree: int, gone: bool) -> None:
    # 16 children without edges but for those to the last: quartiles are 0, the floor decides
    mask = choose_extracted(level(17, data(*((node, 16) for node in range(degree)))), THEIRS)
    assert (16 in mask.in_extract) is gone


def test_what_is_fed_by_many_and_what_feeds_many_stand_in_different_columns() -> None:
    assert choose_extracted(chain_with_hub(20, inward=True), THEIRS).in_extract == (19,)
    assert choose_extracted(chain_with_hub(20, inward=False), THEIRS).out_extract == (19,)


@pytest.mark.parametrize(("degree", "gone"), [(6, False), (7, True)])
def test_what_feeds_others_is_a_hub_far_later_than_what_is_fed(degree: int, gone: bool) -> None:
    # a chain of 20 with a skip over each of its first ten, and the hub: quartiles of 1 and 2, so 2 + 4 × (2 − 1)
    skips = [(node, node + 2) for node in range(10)]
    spokes = [(20, 2 * node) for node in range(degree)]
    mask = choose_extracted(level(21, data(*((node, node + 1) for node in range(19)), *skips, *spokes)), THEIRS)
    assert (20 in mask.out_extract) is gone


@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_level_of_hardly_any_children_has_no_hub(count: int) -> None:
    alone = level(count, data(*((node, node + 1) for node in range(count - 1))))
    assert choose_extracted(alone, ExpandOptions(tensorboard=True, min_nodes=1, min_degree=2)) == DrawingMask()


def test_the_upper_fence() -> None:
    # positions n/4 and 3n/4 rounded half up: of 1 … 6 the third and the sixth
    assert _degree_fence(range(1, 7), 1, 0) == 6 + (6 - 3)
    assert _degree_fence(range(1, 7), 4, 0) == 6 + 4 * (6 - 3)
    assert _degree_fence([5, 5, 5, 5], 4, 2) == 5
    assert _degree_fence([1, 1, 1, 1], 4, 2) == 2


def test_the_highest_first_and_of_equals_the_last() -> None:
    assert _nodes_above_bound({0: 3, 1: 9, 2: 3, 3: 2}, 2) == [1, 2, 0]


@pytest.mark.parametrize(("edges", "cut"), [(4, False), (5, True)])
def test_more_than_four_control_edges_are_cut(edges: int, cut: bool) -> None:
    # 0 ─▶ 1, and control from 1 to 2, 3, …; others to make the level large
    pairs = [(1, node) for node in range(2, 2 + edges)]
    mask = choose_extracted(level(MAX_CHILDREN_KEEPING_CONTROL + 1, [*data((0, 1)), *control(*pairs)]), OURS)
    assert mask.stubbed == (frozenset(range(1, 1 + edges)) if cut else frozenset())
    assert mask.out_extract == (tuple(range(2, 2 + edges)) if cut else ())


@pytest.mark.parametrize(("count", "options", "cut"), [(8, OURS, False), (9, OURS, True), (8, THEIRS, True)])
def test_a_level_of_eight_boxes_keeps_its_control_edges(count: int, options: ExpandOptions, cut: bool) -> None:
    # 0 ─▶ 1, and control from 1 to 2 … 7
    mask = choose_extracted(level(count, [*data((0, 1)), *control(*((1, node) for node in range(2, 8)))]), options)
    assert bool(mask.stubbed) is cut


def test_control_edges_count_at_both_sides_of_a_child() -> None:
    # three into 1, two out of it
    mask = choose_extracted(
        level(MAX_CHILDREN_KEEPING_CONTROL + 1, [*data((0, 1)), *control((2, 1), (3, 1), (4, 1), (1, 5), (1, 6))]), OURS
    )
    assert mask.stubbed == frozenset(range(1, 6))
    assert (mask.in_extract, mask.out_extract) == ((2, 3, 4), (5, 6))


def test_a_sink_that_hands_data_on_is_none_but_for_tensorboard() -> None:
    # 0 ─▶ 1 ─▶ 2, and 1 is of a sink type
    chain = level(3, data((0, 1), (1, 2)), sinks=[1])
    assert choose_extracted(chain, OURS) == DrawingMask()
    assert 1 in choose_extracted(chain, THEIRS).extracted_children


def test_an_edge_with_data_is_no_control_edge() -> None:
    both = [Metaedge(1, node, 1, 1, 0) for node in range(2, 8)]
    assert choose_extracted(level(8, [*data((0, 1)), *both]), OURS) == DrawingMask()


def test_a_sink_takes_all_its_edges_with_it() -> None:
    # 0 ─▶ 1 ─▶ 2, and 2 is a sink
    mask = choose_extracted(level(3, data((0, 1), (1, 2)), sinks=[2]), OURS)
    assert mask == DrawingMask((), (2,), frozenset({1}))


def test_without_extraction_nothing_leaves() -> None:
    nothing = ExpandOptions(extract=False)
    assert choose_extracted(level(3, data((0, 1), (1, 2)), sinks=[2]), nothing) == DrawingMask()


def test_a_level_is_not_emptied_but_by_tensorboard() -> None:
    assert choose_extracted(level(1, [], sinks=[0]), OURS) == DrawingMask()
    assert choose_extracted(level(1, [], sinks=[0]), THEIRS).out_extract == (0,)


@pytest.mark.parametrize(("side", "column"), [("in", "out_extract"), ("out", "in_extract")])
def test_a_lone_child_goes_where_its_mark_points(side: str, column: str) -> None:
    mask = choose_extracted(level(3, data((0, 1)), marked={2: side}), OURS)
    assert getattr(mask, column) == (2,)


def test_a_lone_child_with_marks_on_both_sides_stays() -> None:
    both = ExtractInput(3, data((0, 1)), [False] * 3, [NONE, NONE, frozenset(("in", "out"))], 0, NO_CIRCLES)
    assert choose_extracted(both, OURS).extracted_children == frozenset()


def test_what_was_asked_for_stays_with_its_edges() -> None:
    asked = chain_with_hub(20, inward=True)
    kept = ExtractInput(20, asked.edges, asked.sink, asked.marked, 0, NO_CIRCLES, included=frozenset({19}))
    assert choose_extracted(kept, THEIRS) == DrawingMask()


@pytest.mark.parametrize(("count", "crowd"), [(4, False), (5, True)])
def test_more_than_four_bridges_to_one_neighbour_are_a_crowd(count: int, crowd: bool) -> None:
    # the fifth leads elsewhere, so that there are always more than four in all
    inbound = [Bridge(child, 7, True, 1, 0, 0, True) for child in range(count)]
    other = [Bridge(9, 8, False, 1, 0, 0, True)]
    assert _crowded_neighbours([*inbound, *other], 4) == ({(7, True)} if crowd else set(), set())
    controls = [Bridge(child, 7, child % 2 == 0, 0, 1, 0, True) for child in range(count)]
    assert _crowded_neighbours([*controls, *other], 4) == (set(), {7} if crowd else set())


def test_orders_of_children_along_the_data() -> None:
    # a ─▶ b ─▶ c ─▶ d ─▶ e, a ─▶ d; z is joined by control only
    edges = [*data((0, 1), (1, 2), (2, 3), (0, 3), (3, 4)), *control((4, 5))]
    assert _data_order(edges) == {0: 0, 1: 1, 2: 2, 3: 3, 4: 4}
    theirs = _tensorboard_order(edges)
    assert theirs[4] < theirs[3]  # on purpose: the last visit counts
    assert 5 not in theirs


def test_children_on_a_cycle_have_no_order() -> None:
    assert _data_order(data((0, 1), (1, 2), (2, 1), (2, 3))) == {0: 0}


def test_what_is_put_away_by_hand_is_a_source_only_if_it_feeds_more_than_it_is_fed() -> None:
    # 0 ─▶ 1 ─▶ 2 and 1 ─▶ 3: of 0 an edge leaves, 1 has two out and one in
    edges = data((0, 1), (1, 2), (1, 3))
    assert _extract_by_hand(DrawingMask(), level(4, edges), [1]) == DrawingMask((), (1,), frozenset({0, 1, 2}))
    # of 1 as many leave as come in
    even = _extract_by_hand(DrawingMask(), level(3, data((0, 1), (1, 2))), [1])
    assert even == DrawingMask((1,), (), frozenset({0, 1}))


@pytest.mark.parametrize(("included", "gone"), [([], True), ([0], False), ([2], False)])
def test_a_child_that_is_joined_with_one_asked_for_stays_with_its_line(included: list[int], gone: bool) -> None:
    # 0 ┄▶ 1 ┄▶ 2, 3 ─▶ 4: the NoOp in the middle keeps its line to what was asked for
    chain = level(5, [*control((0, 1), (1, 2)), *data((3, 4))], sinks=[1])
    mask = choose_extracted(
        ExtractInput(5, chain.edges, chain.sink, chain.marked, 0, NO_CIRCLES, included=frozenset(included)), OURS
    )
    assert (1 in mask.extracted_children) is gone


@pytest.mark.slow
def test_sinks_that_feed_others_are_told_from_those_that_do_not_in_one_pass() -> None:
    def seconds(count: int) -> float:
        # A chain, and a sink beside each of its children.
        half = count // 2
        beside = data(*((node, half + node) for node in range(half)))
        many = level(count, [*data(*pairwise(range(half))), *beside], sinks=range(half, count))
        assert len(choose_extracted(many, OURS).out_extract) == half
        return cpu_seconds(lambda: choose_extracted(many, OURS))

    assert seconds(16_000) < 32 * seconds(2_000)  # eight times as many


@pytest.mark.slow
def test_thousands_of_children_are_put_away_at_once() -> None:
    # 3,000 children, each of which feeds the next thirty
    edges = data(*((child, child + step) for child in range(2970) for step in range(1, 31)))
    wide = level(3000, edges)
    with seconds(5):
        mask = _extract_by_hand(DrawingMask(), wide, range(3000))
    assert len(mask.extracted_children) == 3000
    assert len(mask.stubbed) == len(edges)
