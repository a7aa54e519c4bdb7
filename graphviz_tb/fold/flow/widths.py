"""The ops of a box by type, and the channels and strides of its convolutions and products: where these change, a stage
of a network ends."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import cached_property

import numpy as np

from graphviz_tb.fold.flow.box import FlowBox, walk_boxes
from graphviz_tb.graphs.tensors import attr_value
from graphviz_tb.model.columns import Bools, Ints
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.ops.roles import CONVOLUTION_OPS, DEPTHWISE_OPS, MATRIX_PRODUCT_OPS

KERNEL = 1  # the slot of a kernel


class OpTypes:
    """Count the ops of boxes by type; boxes of one symbol are counted once. Without a hierarchy all ops of a
    scope are of one type."""

    def __init__(self, hierarchy: Hierarchy | None = None) -> None:
        self.hierarchy = hierarchy
        self._known: dict[int, Counter[str]] = {}

    def of(self, box: FlowBox) -> Counter[str]:
        """The ops in a box, its feeders included."""
        known = self._known.get(box.symbol)
        if known is None:
            known = self._known[box.symbol] = self._count(box)
        return known

    def _count(self, box: FlowBox) -> Counter[str]:
        if box.members:
            return sum((self.of(member) for member in box.members), Counter())
        own = Counter([box.op]) if box.op else self._below(box)
        return sum((self.of(feeder) for feeder in box.feeders), own)

    def _below(self, box: FlowBox) -> Counter[str]:
        if self.hierarchy is None:
            return Counter({f"#{box.symbol}": box.ops})
        graph, row, end = self.hierarchy.graph, box.row, int(self.hierarchy.end[box.row])
        nodes = self.hierarchy.node[row:end][self.hierarchy.is_ordinary_op[row:end]]
        counts = np.bincount(graph.op[nodes], minlength=len(graph.op_types))
        return Counter({graph.op_types[number]: int(counts[number]) for number in np.flatnonzero(counts).tolist()})


class ChannelWidths:
    """Output channels of boxes, and whether they halve their input; without a hierarchy nothing is known."""

    def __init__(self, hierarchy: Hierarchy | None = None) -> None:
        self._hierarchy = hierarchy

    @property
    def hierarchy(self) -> Hierarchy:
        """The hierarchy of the boxes."""
        assert self._hierarchy is not None
        return self._hierarchy

    @cached_property
    def given(self) -> Ints:
        """Output channels by node, from its kernel; 0 where it has none or its shape is unknown."""
        graph = self.hierarchy.graph
        works = graph.nodes_of_types(
            lambda op: (op in CONVOLUTION_OPS or op in MATRIX_PRODUCT_OPS) and op not in DEPTHWISE_OPS
        )
        given = np.zeros(len(graph), np.int32)
        origin = graph.meaning.origin
        if not len(origin):
            return given
        edges = np.flatnonzero(works[graph.target] & ~graph.control & (origin[graph.source] >= 0))
        shapes = graph.meaning.shapes() if len(edges) else {}
        for node, weight in zip(graph.target[edges].tolist(), origin[graph.source[edges]].tolist(), strict=True):
            shape = shapes.get(weight)
            if shape and len(shape) > 1:
                given[node] = shape[0 if graph.is_pytorch else -1] or 0
        return given

    def of(self, boxes: Iterable[FlowBox]) -> frozenset[int]:
        """Output channels of boxes, each once."""
        found: set[int] = set()
        for nodes in self._nodes(boxes):
            found.update(self.given[nodes].tolist())
        return frozenset(found - {0})

    def halves(self, boxes: Iterable[FlowBox]) -> bool:
        """Whether an op in boxes takes steps of more than one."""
        if self._hierarchy is None:
            return False
        graph = self.hierarchy.graph
        for nodes in self._nodes(boxes):
            for node in nodes[self._steps[nodes]].tolist():
                definition = graph.node_def(node)
                if definition is not None and any(step > 1 for step in attr_value(definition, "strides").list.i):
                    return True
        return False

    @cached_property
    def _steps(self) -> Bools:
        return self.hierarchy.graph.nodes_of_types(lambda op: op in CONVOLUTION_OPS or op.endswith("Pool"))

    def _nodes(self, boxes: Iterable[FlowBox]) -> Iterable[Ints]:
        for box in walk_boxes(list(boxes)) if self._hierarchy is not None else ():
            if box.row >= 0:
                nodes = self.hierarchy.node[box.row : self.hierarchy.end[box.row]]
                yield nodes[nodes >= 0]
