"""Search in a model: the table of texts and numbers that `search` queries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from graphviz_tb.api.nodes import Node, NodeList
from graphviz_tb.errors import require_type
from graphviz_tb.model.columns import Bools, Floats, Longs
from graphviz_tb.model.costs import COST_QUANTITIES
from graphviz_tb.model.facts import FoldedGraph
from graphviz_tb.model.tensors import shape_text
from graphviz_tb.search.language import parse_query
from graphviz_tb.search.rows import match_rows
from graphviz_tb.words.attributes import attribute_texts, source_of_definition

WEIGHT_SIZE_QUANTITIES = ("parameters", "weight_bytes")
MEASURED_QUANTITIES = {"time": "time", "memory": "bytes"}  # attribute of `Stats`


def find_nodes(model: FoldedGraph, *queries: str) -> NodeList:
    """Return the nodes and groups of the main graph that match every query, in the order of the hierarchy.

    Raises `RequestError` for an invalid query, `MissingFacts` for a quantity that is not known.
    """
    rows = ModelRows(model)
    marked = np.ones(len(rows), bool)
    for query in queries:
        require_type("query", query, str)
        marked &= match_rows(rows, parse_query(query))
    marked[0] = False
    return NodeList(model, np.flatnonzero(marked).tolist())


class ModelRows:
    """The rows of a model with their texts and numbers: the main graph, then (with `functions`) the library."""

    def __init__(self, model: FoldedGraph, functions: bool = False) -> None:
        self.model = model
        self.hierarchy = model.hierarchy
        self.count = len(self.hierarchy) if functions else int(self.hierarchy.end[0])
        self.node: Longs = self.hierarchy.node[: self.count].astype(np.int64)

    def __len__(self) -> int:
        return self.count

    def interned_texts(self, field: str) -> tuple[Longs, Sequence[str]]:
        """Return for each row the index of its op type or device, and the list of these. Groups have the last entry,
        ""."""
        graph = self.hierarchy.graph
        column, texts = (graph.op, graph.op_types) if field == "op" else (graph.device, graph.devices)
        numbers = np.append(column.astype(np.int64), len(texts))
        return numbers[self.node], [*texts, ""]

    def field_texts(self, field: str) -> Iterator[tuple[int, str]]:
        """Yield (row, text) for every text of a field."""
        if field == "name":
            yield from enumerate(self.hierarchy.name[: self.count])
            for labels in (self.hierarchy.labels, self.hierarchy.short):
                yield from ((row, text) for row, text in labels.items() if row < self.count)
            return
        parsed: dict[bytes, list[Any]] = {}
        for row in np.flatnonzero(self.node >= 0).tolist():
            if field == "attr":
                pairs = attribute_texts(self.hierarchy.graph, int(self.node[row]), parsed)
                yield from ((row, f"{name}={value}") for name, value, *_ in pairs)
            elif field == "source":
                definition = self.hierarchy.graph.node_def(int(self.node[row]))
                lines = source_of_definition(definition) if definition is not None else []
                # The place alone too, so that `model.py:4` is not `model.py:41`.
                yield from ((row, text) for line in lines for text in (line, line.partition(" ")[0]))
            elif field == "shape":
                shapes = [shape for shape in Node(self.model, row).shapes if shape is not None]
                yield from ((row, shape_text(shape) or "scalar") for shape in shapes)
            else:
                yield from ((row, word) for word in Node(self.model, row).dtypes if word)

    def quantity_values(self, quantity: str) -> Floats | None:
        """Return the quantity of each row, NaN if unknown; None if no row has it."""
        facts = self.model.facts
        if quantity in MEASURED_QUANTITIES:
            if facts.stats is None:
                return None
            median, known = facts.stats.quantity_column(MEASURED_QUANTITIES[quantity]).median, facts.stats.known
            return np.where(known, median, np.nan)[: self.count]
        if facts.cost is None or quantity not in COST_QUANTITIES:
            return None
        # PyTorch traces have no shapes of weights
        if quantity in WEIGHT_SIZE_QUANTITIES and self.hierarchy.graph.lacks_weight_shapes:
            return None
        distinct, which = facts.cost().distinct_totals(len(self.hierarchy))
        return np.array([getattr(cost, quantity) for cost in distinct], float)[which[: self.count]]

    def undercounted_rows(self, quantity: str) -> Bools:
        """Mark the rows whose number is a lower bound."""
        if self.model.facts.cost is None or quantity not in COST_QUANTITIES:
            return np.zeros(self.count, bool)
        distinct, which = self.model.facts.cost().distinct_totals(len(self.hierarchy))
        return np.array([cost.is_lower_bound(quantity) for cost in distinct], bool)[which[: self.count]]
