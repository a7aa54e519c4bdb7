"""How large a repetition is, and how often it occurs, before it is worth a stack."""

from __future__ import annotations

from typing import Any

import pytest

import graphviz_tb
from graphviz_tb.model.hierarchy import Kind
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
    return [len(hierarchy.children(row)) for row in range(len(hierarchy)) if hierarchy.kind[row] == Kind.SERIES]


@pytest.mark.parametrize(("ops", "worth"), [(2, False), (3, True), (4, True)])
def test_two_repetitions_of_three_ops_are_worth_a_stack(ops: int, worth: bool) -> None:
    assert stacks(ops, times=2) == ([2] if worth else [])


@pytest.mark.parametrize(("times", "worth"), [(2, False), (3, True)])
def test_single_ops_are_stacked_from_three_on(times: int, worth: bool) -> None:
    assert stacks(1, times) == ([3] if worth else [])
