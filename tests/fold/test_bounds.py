"""How large a repetition is, and how often it occurs, before it is worth a stack."""

from __future__ import annotations

from typing import Any

import pytest

import graphviz_tb
from graphviz_tb.caches import lazy_constant
from graphviz_tb.fold.flow.box import FlowBox, SymbolTable, make_dag
from graphviz_tb.fold.flow.invariants import FoldContext, level_budget
from graphviz_tb.fold.flow.names import Vocabulary
from graphviz_tb.fold.flow.order import FlowOrder
from graphviz_tb.fold.flow.regions import _find_narrow_places
from graphviz_tb.limits import Meter
from graphviz_tb.model.hierarchy import RowKind
from graphviz_tb.proto import GraphDef

BEHIND = 14  # different ops after the repetitions, so that the level is large enough to be folded


def stacks(ops: int, times: int) -> list[int]:
    """How many members each stack has in a chain where `ops` ops of different types come `times` times."""
    types = [*(f"B{op}" for _ in range(times) for op in range(ops)), *(f"Z{op}" for op in range(BEHIND))]
    names = [f"{chr(97 + number // 26)}{chr(97 + number % 26)}" for number in range(len(types) + 1)]
    nodes: list[dict[str, Any]] = [{"name": names[0], "op": "P"}]
    nodes += [
        {"name": name, "op": op, "input": [source]} for name, op, source in zip(names[1:], types, names, strict=False)
    ]
    hierarchy = graphviz_tb.load(GraphDef(node=nodes)).hierarchy
    return [len(hierarchy.children(row)) for row in range(len(hierarchy)) if hierarchy.kind[row] == RowKind.SERIES]


@pytest.mark.parametrize(("ops", "worth"), [(2, False), (3, True), (4, True)])
def test_two_repetitions_of_three_ops_are_worth_a_stack(ops: int, worth: bool) -> None:
    assert stacks(ops, times=2) == ([2] if worth else [])


@pytest.mark.parametrize(("times", "worth"), [(2, False), (3, True)])
def test_single_ops_are_stacked_from_three_on(times: int, worth: bool) -> None:
    assert stacks(1, times) == ([3] if worth else [])


def top_level(*types: str) -> list[str]:
    """What the root of a chain of ops of such types holds: labels of groups, and "." for each op."""
    names = [f"{chr(97 + number // 26)}{chr(97 + number % 26)}" for number in range(len(types))]
    nodes = [
        {"name": name, "op": op, "input": [source] if source else []}
        for name, op, source in zip(names, types, ["", *names], strict=False)
    ]
    hierarchy = graphviz_tb.load(GraphDef(node=nodes)).hierarchy
    return [hierarchy.display_label(row) if hierarchy.can_open(row) else "." for row in hierarchy.children(0).tolist()]


@pytest.mark.parametrize(("behind", "boxes"), [(14, 16), (15, 3)])
def test_sixteen_boxes_are_read_at_once_and_of_more_the_stretches_are_folded(behind: int, boxes: int) -> None:
    # P ─▶ A ×4 ─▶ U0 ─▶ U1 …: an op, a stack, and the ops behind it
    found = top_level("P", *["A"] * 4, *(f"U{number}" for number in range(behind)))
    assert len(found) == boxes
    assert sum(each != "." for each in found) == (1 if boxes == 16 else 2)


@pytest.mark.parametrize(("behind", "stages"), [(1, False), (2, True)])
def test_eight_boxes_need_no_stages(behind: int, stages: bool) -> None:
    # P ─▶ D0 ─▶ A ×3 ─▶ D1 ─▶ A ×3 ─▶ D2 ─▶ A ×3 ─▶ E0 …: 1 + 3 × 2 boxes and those behind
    heads = [op for number in range(3) for op in (f"D{number}", "A", "A", "A")]
    found = top_level("P", *heads, *(f"E{number}" for number in range(behind)))
    assert len(found) == (1 + 3 + behind if stages else 1 + 3 * 2 + behind)


@pytest.mark.parametrize(("lines", "wide", "places"), [(1, 1, 4), (5, 5, 4), (6, 6, 4), (7, 6, 1)])
def test_at_most_six_lines_cross_a_narrow_place(lines: int, wide: int, places: int) -> None:
    # 40 boxes; so many lines cross behind each tenth of them, more everywhere else; the end is always a place
    cut = [lines if position % 10 == 9 else 20 for position in range(40)]
    order = FlowOrder(
        list(range(40)), list(range(40)), lazy_constant(cut), frozenset(), frozenset(), [False] * 40, [0] * 40
    )
    dag = make_dag([FlowBox("", 0, 1, row) for row in range(40)], [[] for _ in range(40)])
    found, ends = _find_narrow_places(dag, order, FoldContext(Vocabulary([]), SymbolTable(), Meter(0)))
    assert (found, len(ends)) == (wide, places)


def test_a_level_may_be_looked_at_as_often_as_its_size_says() -> None:
    budget = level_budget(10)
    assert budget.take(200_000)
    assert budget.take(10)
    assert not budget.take(1)
