"""The ops of a box by type, and the channels, kernels and strides of its convolutions and products: where these change,
a stage of a network ends."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Sequence
from functools import cached_property
from itertools import pairwise

import numpy as np

from graphviz_tb.fold.flow.box import MIN_STACK_OPS, FlowBox, walk_boxes
from graphviz_tb.fold.flow.names import name_form
from graphviz_tb.graphs.tensors import attr_value
from graphviz_tb.model.columns import Bools, Ints
from graphviz_tb.model.hierarchy import OP_ROW, Hierarchy
from graphviz_tb.model.paths import last_segment
from graphviz_tb.model.tensors import Shape
from graphviz_tb.ops.roles import CONVOLUTION_OPS, DEPTHWISE_OPS, MATRIX_PRODUCT_OPS

KERNEL = 1  # the slot of a kernel
MIN_BLOCKS_SHARE = 0.6  # of the ops of a stage are in its blocks


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
    def _columns(self) -> tuple[Ints, Ints]:
        """Output channels by node, from its kernel, and a number for the other sizes of the kernel of a convolution;
        0 where it has none or its shape is unknown."""
        graph = self.hierarchy.graph
        works = graph.nodes_of_types(lambda op: op in CONVOLUTION_OPS or op in MATRIX_PRODUCT_OPS)
        slides = graph.nodes_of_types(lambda op: op in CONVOLUTION_OPS)
        spreads = graph.nodes_of_types(lambda op: op in DEPTHWISE_OPS)
        given, kernel = np.zeros(len(graph), np.int32), np.zeros(len(graph), np.int32)
        origin = graph.meaning.origin
        if not len(origin):
            return given, kernel
        edges = np.flatnonzero(works[graph.target] & ~graph.control & (origin[graph.source] >= 0))
        shapes = graph.meaning.shapes() if len(edges) else {}
        sizes: dict[Shape, int] = {}
        for node, weight in zip(graph.target[edges].tolist(), origin[graph.source[edges]].tolist(), strict=True):
            shape = shapes.get(weight)
            if shape and len(shape) > 1:
                if not spreads[node]:
                    given[node] = shape[0 if graph.is_pytorch else -1] or 0
                if slides[node] and len(shape) > 2:
                    around = shape[2:] if graph.is_pytorch else shape[:-2]
                    kernel[node] = sizes.setdefault(around, 1 + len(sizes))
        return given, kernel

    def kernels(self, boxes: Iterable[FlowBox]) -> frozenset[int]:
        """Numbers for the sizes of the kernels in boxes, each once."""
        return self._values(boxes, 1)

    def of(self, boxes: Iterable[FlowBox]) -> frozenset[int]:
        """Output channels of boxes, each once."""
        return self._values(boxes, 0)

    def _values(self, boxes: Iterable[FlowBox], column: int) -> frozenset[int]:
        found: set[int] = set()
        for nodes in self._nodes(boxes):
            found.update(self._columns[column][nodes].tolist())
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

    def are_stages(self, boxes: Sequence[FlowBox]) -> bool:
        """Whether boxes are the stages of a network: each holds blocks, and has another resolution or other channels
        than the one before."""
        if self._hierarchy is None:
            return False
        blocks = [self._blocks_of(box) for box in boxes]
        if min(map(len, blocks)) < 2:
            return False
        if all(
            self.halves([box]) and not all(self.halves([each]) for each in held)
            for box, held in zip(boxes, blocks, strict=True)
        ):
            return True
        given = [frozenset.intersection(*(self.of([each]) for each in held)) for held in blocks]
        return all(given) and 2 * (1 + sum(one != other for one, other in pairwise(given))) > max(2, len(boxes))

    def _blocks_of(self, stage: FlowBox) -> Sequence[FlowBox]:
        """The parts of one kind that hold most of a box."""
        parts = self._parts_of(stage)
        while len(parts) == 1:
            parts = self._parts_of(parts[0])
        alike: dict[Hashable, list[FlowBox]] = defaultdict(list)
        for part in parts:
            if part.ops >= MIN_STACK_OPS:
                alike[name_form(part.name) or part.symbol].append(part)
        largest = max(alike.values(), key=lambda blocks: sum(block.ops for block in blocks), default=[])
        return largest if sum(block.ops for block in largest) >= MIN_BLOCKS_SHARE * stage.ops else ()

    def _parts_of(self, box: FlowBox) -> list[FlowBox]:
        """The scopes and groups in a box, the members of a chain in place of it."""
        if box.row < 0:
            return [
                part
                for member in box.members
                if member.members or member.scope
                for part in (member.members if member.is_repetition and not member.sideways else [member])
            ]
        children = self.hierarchy.children(box.row).tolist()
        return self.rows_as_boxes(row for row in children if self.hierarchy.kind[row] != OP_ROW)

    def rows_as_boxes(self, rows: Iterable[int]) -> list[FlowBox]:
        """Scopes as boxes."""
        hierarchy = self.hierarchy
        return [
            FlowBox(
                last_segment(hierarchy.name[row]),
                int(hierarchy.template[row]),
                hierarchy.op_count(row),
                row,
                scope=True,
            )
            for row in rows
        ]

    @cached_property
    def _steps(self) -> Bools:
        return self.hierarchy.graph.nodes_of_types(lambda op: op in CONVOLUTION_OPS or op.endswith("Pool"))

    def _nodes(self, boxes: Iterable[FlowBox]) -> Iterable[Ints]:
        for box in walk_boxes(list(boxes)) if self._hierarchy is not None else ():
            if box.row >= 0:
                nodes = self.hierarchy.node[box.row : self.hierarchy.end[box.row]]
                yield nodes[nodes >= 0]
