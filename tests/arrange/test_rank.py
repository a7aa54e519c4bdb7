"""Ranks: side branches stand beside what they feed."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from graphviz_tb.arrange.component import Component
from graphviz_tb.arrange.layered.rank import rank_nodes


def test_a_branch_of_several_nodes_stands_just_above_its_user() -> None:
    # 0 ─▶ 1 ─▶ … ─▶ 9, and 10 ─▶ 11 ─▶ 9
    chain = tuple(pairwise(range(10)))
    ranks = rank_nodes(Component(12, (*chain, (10, 11), (11, 9))))
    assert (ranks[10], ranks[11], ranks[9]) == (7, 8, 9)


def test_a_branch_whose_result_is_used_twice_does_too() -> None:
    # 10 ─▶ 11 ─▶ 12, 13; both feed the chain's end: batch normalisation looks like that
    chain = tuple(pairwise(range(10)))
    ranks = rank_nodes(Component(14, (*chain, (10, 11), (11, 12), (11, 13), (12, 9), (13, 9))))
    assert (ranks[10], ranks[11], ranks[12], ranks[13]) == (6, 7, 8, 8)


def test_what_only_hangs_on_stands_just_below_its_source() -> None:
    chain = tuple(pairwise(range(10)))
    ranks = rank_nodes(Component(12, (*chain, (0, 10), (10, 11))))
    assert (ranks[10], ranks[11]) == (1, 2)


@given(
    st.integers(2, 14).flatmap(
        lambda n: st.tuples(st.just(n), st.sets(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1))))
    )
)
def test_every_edge_runs_down(case: tuple[int, set[tuple[int, int]]]) -> None:
    count, pairs = case
    edges = tuple(sorted((a, b) for a, b in pairs if a < b))
    ranks = rank_nodes(Component(count, edges))
    assert all(ranks[one] < ranks[two] for one, two in edges)
    assert min(ranks) >= 0
    assert max(ranks) < count
