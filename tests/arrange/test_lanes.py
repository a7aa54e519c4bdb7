"""Columns by drawn sizes: cut at joints, the longest as short as can be."""

from __future__ import annotations

from itertools import combinations, pairwise
from random import Random

import pytest

from graphviz_tb.arrange.lanes import RankExtent, column_joints, cut_into_columns, extent_in_columns, longest_part
from graphviz_tb.arrange.level import arrange
from graphviz_tb.model.metagraph import Bridge, Metaedge, Metagraph, bundle_of_tensors
from graphviz_tb.model.tensors import Tensor


def level(count: int, *pairs: tuple[int, int]) -> Metagraph:
    edges = tuple(Metaedge(a, b, 1, 0, 0) for a, b in pairs)
    return Metagraph(0, tuple(range(1, count + 1)), (2,) * count, edges, ())


def test_the_longest_column_is_as_short_as_can_be() -> None:
    luck = Random(5)
    for _ in range(60):
        ranks = [RankExtent(luck.choice((24, 32, 200, 417)), 30, 0, 80) for _ in range(luck.randint(2, 9))]
        allowed = [r for r in range(1, len(ranks)) if luck.random() < 0.7]
        for columns in (2, 3):
            found = cut_into_columns(ranks, allowed, columns)
            every = [cuts for size in range(columns) for cuts in combinations(allowed, size)]
            assert highest(ranks, found) == min(highest(ranks, cuts) for cuts in every)


def highest(ranks: list[RankExtent], cuts: tuple[int, ...]) -> int:
    ends = pairwise((0, *cuts, len(ranks)))
    return max(sum(rank.length + rank.gap for rank in ranks[a:b]) - ranks[b - 1].gap for a, b in ends)


def test_more_columns_are_wider_and_less_long() -> None:
    ranks = [RankExtent(60, 30, 0, 90)] * 12
    sizes = [extent_in_columns(ranks, cut_into_columns(ranks, range(1, 12), count)) for count in (1, 2, 3, 4)]
    assert [across for across, _ in sizes] == sorted(across for across, _ in sizes)
    assert [along for _, along in sizes] == sorted((along for _, along in sizes), reverse=True)


def test_a_level_is_cut_where_one_line_passes() -> None:
    chain = [*pairwise(range(8))]
    assert column_joints(arrange(level(8, *chain)), 0) == [1, 2, 3, 4, 5, 6, 7]
    assert column_joints(arrange(level(8, *chain, (0, 7))), 0) == []
    assert column_joints(arrange(level(8, *chain, (2, 4))), 0) == [1, 2, 5, 6, 7]


def test_a_level_is_cut_before_a_stack_that_several_feed() -> None:
    # 0 ─▶ 1 ─▶ 2 ─▶ 5 ─▶ 6; 3 ─▶ 4 ─▶ 5
    skeleton = arrange(level(7, (0, 1), (1, 2), (2, 5), (3, 4), (4, 5), (5, 6)))
    assert column_joints(skeleton, 0) == [1, 4]
    assert column_joints(skeleton, 0, stacks={5}) == [1, 3, 4]


@pytest.mark.parametrize(("dtype", "joints"), [("float32", [4, 5]), ("int32", [5])])
def test_no_column_of_what_only_joins_the_main_path_is_cut_off_where_that_enters(dtype: str, joints: list[int]) -> None:
    # port ─▶ 0 ─▶ 1 ─▶ 2 ─▶ 3 ─▶ 4, port ─▶ 3: of indices, the chain is beside the data that enters at 3
    chain, data = bundle_of_tensors(Tensor((8,), dtype)), bundle_of_tensors(Tensor((8,), "float32"))
    edges = tuple(Metaedge(a, a + 1, 1, 0, 0, chain if a < 3 else data) for a in range(4))
    bridges = tuple(
        Bridge(child, 10 + child, inbound, 1, 0, 0, bundles=chain if child == 0 else data)
        for child, inbound in ((0, True), (3, True), (4, False))
    )
    skeleton = arrange(Metagraph(0, (1, 2, 3, 4, 5), (2,) * 5, edges, bridges))
    assert column_joints(skeleton, 0, stacks={3}) == joints


@pytest.mark.parametrize(("bypasses", "joints"), [([(0, 5)], [1, 2, 3, 4, 5]), ([(0, 5), (1, 5)], [1, 3, 4])])
def test_a_thin_line_counts_for_itself(bypasses: list[tuple[int, int]], joints: list[int]) -> None:
    skeleton = arrange(level(6, *pairwise(range(6)), *bypasses))
    thin = {number for number, wire in enumerate(skeleton.wires) if wire.chain[-1] == 5 and wire.chain[0] < 4}
    assert column_joints(skeleton, 0) == []
    assert column_joints(skeleton, 0, thin=thin) == joints


def test_a_level_without_boxes_has_no_part() -> None:
    assert longest_part(arrange(level(0))) == -1
