"""Levels of a few boxes, by hand."""

from __future__ import annotations

from graphviz_tb.fold.flow.box import Dag, FlowBox, SymbolTable, make_dag
from graphviz_tb.fold.flow.invariants import FoldContext
from graphviz_tb.fold.flow.names import Vocabulary
from graphviz_tb.limits import Meter


def context(*names: str, soft: int = 16, most: int = 40, budget: int = 100_000) -> FoldContext:
    """What all steps know of a level with such names."""
    return FoldContext(Vocabulary(names), SymbolTable(), Meter(budget), soft, most)


def rows(*names: str, ops: int = 1, symbol: int | None = None) -> list[FlowBox]:
    """One box for each name, of equal or of different structure."""
    return [FlowBox(name, number if symbol is None else symbol, ops, number) for number, name in enumerate(names)]


def wired(count: int, *pairs: tuple[int, int], outside: list[list[int]] | None = None) -> Dag:
    """So many boxes of one op, all different, and the edges between them."""
    before: list[list[int]] = [[] for _ in range(count)]
    for source, target in pairs:
        before[target].append(source)
    return make_dag(rows(*(f"b{number}" for number in range(count))), before, outside)
