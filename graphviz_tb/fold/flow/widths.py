"""The op types of a box, and the channels, kernels and strides of its convolutions and products.

A stage of a network ends where these change.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import pairwise
from math import prod

import numpy as np

from graphviz_tb.fold.flow.box import MIN_STACK_OPS, FlowBox, walk_boxes
from graphviz_tb.fold.flow.names import name_form
from graphviz_tb.graphs.layer_rows import layer_rows, scopes_of_shared_weights
from graphviz_tb.graphs.tensors import attr_value, declared_shapes
from graphviz_tb.graphs.traversal import reachable_mask
from graphviz_tb.limits import MAX_QUANTITY
from graphviz_tb.model.columns import Bools, Floats, Ints, Longs
from graphviz_tb.model.graph import Graph
from graphviz_tb.model.hierarchy import OP_ROW, GroupOrigin, Hierarchy
from graphviz_tb.model.layers import Layer, LayerConfig
from graphviz_tb.model.paths import last_segment
from graphviz_tb.model.tensors import Shape
from graphviz_tb.ops.layers import WEIGHTED_LAYERS, LayerRole, has_layer_role
from graphviz_tb.ops.roles import (
    ADD_OPS,
    CONSTANT_OPS,
    CONVOLUTION_OPS,
    DEPTHWISE_OPS,
    MATRIX_PRODUCT_OPS,
    REARRANGE_OPS,
    VARIABLE_OPS,
    Role,
    has_role,
    is_elementwise,
)
from graphviz_tb.ops.signatures import input_names, kernel_sizes, kernel_transpose_attribute
from graphviz_tb.ops.table import MAX_CACHED_OP_TYPES, has_framework

UNKNOWN_WEIGHT_SIZE = 1000  # elements assumed for a weight of unknown shape
STRIDE_INPUT = "=stride"
STRIDE_SLOT = 3  # of a convolution traced by PyTorch; padding and dilation are the next slots
MAX_FIRST_BLOCK_SIZE = 1.5  # times the ops of other blocks: the first block of a stage projects its shortcut
MIN_SHRINKING_STAGES = 2
MIN_BLOCK_SHARE = 0.3  # of the ops of the largest block of a stage
MIN_SHARE_IN_BLOCKS = 0.6  # of the ops of a stage


def is_layer_type(kind: str) -> bool:
    """Return whether ops or layers of a type map channels by weights; norms only scale them."""
    return kind in CONVOLUTION_OPS or kind in MATRIX_PRODUCT_OPS or kind in WEIGHTED_LAYERS


@lru_cache(maxsize=MAX_CACHED_OP_TYPES)
def _keeps_channels(kind: str) -> bool:
    return is_elementwise(kind) or has_role(kind, Role.NORMALIZATION) or has_layer_role(kind, LayerRole.NORMALIZATION)


class OpTypes:
    """Counts of op types in boxes, cached by symbol. Without a hierarchy, all ops of a scope have one type."""

    def __init__(self, hierarchy: Hierarchy | None = None) -> None:
        self.hierarchy = hierarchy
        self._known: dict[int, Counter[str]] = {}

    def type_counts(self, box: FlowBox) -> Counter[str]:
        """Return the number of ops of each type in a box, feeders included."""
        known = self._known.get(box.symbol)
        if known is None:
            known = self._known[box.symbol] = self._count(box)
        return known

    def maps_channels(self, box: FlowBox) -> bool:
        """Return whether a box contains a layer with weights; True if there is no hierarchy."""
        return self.hierarchy is None or any(map(is_layer_type, self.type_counts(box)))

    def _count(self, box: FlowBox) -> Counter[str]:
        # Masks do not count: blocks with and without a mask are alike.
        if box.how == GroupOrigin.INDEX:
            return Counter()
        if box.members:
            counts = sum((self.type_counts(member) for member in box.members), Counter[str]())
            if box.how == GroupOrigin.ATTENTION:
                counts -= Counter({op: count for op, count in counts.items() if op in ADD_OPS or op in REARRANGE_OPS})
            return counts
        own = Counter([box.op]) if box.op else self._count_ops_below(box)
        return sum((self.type_counts(feeder) for feeder in box.feeders), own)

    def _count_ops_below(self, box: FlowBox) -> Counter[str]:
        if self.hierarchy is None:
            return Counter({f"#{box.symbol}": box.ops})
        graph, row, end = self.hierarchy.graph, box.row, int(self.hierarchy.end[box.row])
        nodes = self.hierarchy.node[row:end][self.hierarchy.is_ordinary_op[row:end]]
        counts = np.bincount(graph.op[nodes], minlength=len(graph.op_types))
        return Counter({graph.op_types[number]: int(counts[number]) for number in np.flatnonzero(counts).tolist()})


class ChannelWidths:
    """Output channels, kernels, strides and parameters of boxes; unknown (empty, 0, False) without a hierarchy."""

    def __init__(self, hierarchy: Hierarchy | None = None) -> None:
        self._hierarchy = hierarchy
        self._types = OpTypes(hierarchy)
        self._is_downsampling: dict[int, bool] = {}

    @property
    def hierarchy(self) -> Hierarchy:
        assert self._hierarchy is not None
        return self._hierarchy

    @cached_property
    def _trace_weight_counts(self) -> Longs:
        """Number of weights that each node of a trace uses, those it standardises before included."""
        graph = self.hierarchy.graph
        weights = graph.nodes_of_types(lambda op: has_role(op, Role.TRACE_WEIGHT))
        if weights.any():
            made = self._computed_from_weights
            kept = ~graph.control & (made[graph.source] | weights[graph.source])
            weights |= made & reachable_mask(weights, graph.source[kept], graph.target[kept])
        counts: Longs = np.bincount(graph.target[weights[graph.source]], minlength=len(graph))
        return counts

    @cached_property
    def _parameter_sums(self) -> Floats:
        """Number of elements in the weights of each node; a product counts one even without weights.

        If shapes are unknown, 1 for a norm, `UNKNOWN_WEIGHT_SIZE` for others. Floats, since sizes in a damaged file may
        exceed integers.
        """
        graph = self.hierarchy.graph
        works = graph.nodes_of_types(lambda op: op in CONVOLUTION_OPS or op in MATRIX_PRODUCT_OPS)
        unknown = np.where(graph.nodes_of_types(lambda op: "norm" in op.lower()), 1, UNKNOWN_WEIGHT_SIZE)
        used = works.astype(np.float64)
        used += self._trace_weight_counts * unknown
        origin = graph.meaning.origin
        if len(origin):
            edges = np.flatnonzero((graph.mark[graph.target] == 0) & (origin[graph.source] >= 0))
            shapes = graph.meaning.shapes() if len(edges) else {}
            for node, weight in zip(graph.target[edges].tolist(), origin[graph.source[edges]].tolist(), strict=True):
                shape = shapes.get(weight)
                size = unknown[node] if shape is None else max(1, prod(size or 1 for size in shape))
                used[node] += min(MAX_QUANTITY, size)
        return used

    def parameter_count(self, box: FlowBox) -> int:
        """Return the number of elements in the weights of a box (see `_parameter_sums`)."""
        return sum(int(self._parameter_sums[nodes].sum()) for nodes in self._nodes([box]))

    @cached_property
    def _kernel_columns(self) -> tuple[Longs, Ints]:
        """Two columns by node: output channels, id of the kernel size of a convolution.

        0 if there is no such kernel or its shape is unknown.
        """
        graph = self.hierarchy.graph
        has_kernel = graph.nodes_of_types(lambda op: op in CONVOLUTION_OPS or op in MATRIX_PRODUCT_OPS)
        is_convolution = graph.nodes_of_types(lambda op: op in CONVOLUTION_OPS)
        is_depthwise = graph.nodes_of_types(lambda op: op in DEPTHWISE_OPS)
        channels, kernel = np.zeros(len(graph), np.int64), np.zeros(len(graph), np.int32)
        # A trace records the shapes of results, but not of weights.
        for node in np.flatnonzero(has_kernel & (self._trace_weight_counts > 0)).tolist():
            result = self._recorded_shape(node)
            channels[node] = _as_channels(result[1 if is_convolution[node] else -1]) if len(result) > 1 else 0
        sizes: dict[Shape, int] = {}
        for node in np.flatnonzero(is_convolution & (self._trace_weight_counts > 0)).tolist():
            if window := self._recorded_window(node):
                kernel[node] = sizes.setdefault(window, 1 + len(sizes))
        for node, layer in self._layer_of_node.items():
            config = _own_config(layer)
            filters, sides = config.get("filters", config.get("units")), _as_sizes(config.get("kernel_size"))
            channels[node] = _as_channels(filters)
            if sides:
                kernel[node] = sizes.setdefault(sides, 1 + len(sizes))
        origin = graph.meaning.origin
        if not len(origin):
            return channels, kernel
        # A kernel may be standardised first (Qiao et al. 2019).
        carries_weight = (origin >= 0) | self._computed_from_weights
        edges = np.flatnonzero(has_kernel[graph.target] & ~graph.control & carries_weight[graph.source])
        shapes = graph.meaning.shapes() if len(edges) else {}
        for node, source in zip(graph.target[edges].tolist(), graph.source[edges].tolist(), strict=True):
            shape = shapes.get(int(origin[source])) or self._recorded_shape(source)
            if shape and len(shape) > 1:
                op = graph.op_types[graph.op[node]]
                outputs, _, window = kernel_sizes(op, shape, _is_kernel_turned(graph, node, op))
                if not is_depthwise[node]:
                    channels[node] = _as_channels(outputs)
                if is_convolution[node] and window:
                    kernel[node] = sizes.setdefault(window, 1 + len(sizes))
        return channels, kernel

    @cached_property
    def _layer_of_node(self) -> dict[int, Layer]:
        """Keras layers that are one node each, by node."""
        graph = self.hierarchy.graph
        if not graph.layers:
            return {}
        return {node: graph.layers[name] for node, name in enumerate(graph.name) if name in graph.layers}

    def is_computed_from_weights(self, box: FlowBox) -> bool:
        """Return whether a box is an op whose inputs come from weights and constants alone."""
        return (
            bool(box.op)
            and self._hierarchy is not None
            and bool(self._computed_from_weights[self.hierarchy.node[box.row]])
        )

    @cached_property
    def _computed_from_weights(self) -> Bools:
        """Nodes whose inputs come from weights and constants alone."""
        graph = self.hierarchy.graph
        source, target = graph.source[~graph.control], graph.target[~graph.control]
        given = np.ones(len(graph), bool)
        given[target] = False
        weights = graph.nodes_of_types(
            lambda op: op in CONSTANT_OPS or op in VARIABLE_OPS or has_role(op, Role.TRACE_WEIGHT)
        )
        if len(graph.meaning.origin):
            weights |= graph.meaning.origin >= 0
        return ~(given | reachable_mask(given & ~weights, source, target))

    def kernels(self, boxes: Iterable[FlowBox]) -> frozenset[int]:
        """Return identifiers of the distinct kernel sizes in boxes."""
        return self._distinct_values(boxes, 1)

    def output_channels(self, boxes: Iterable[FlowBox]) -> frozenset[int]:
        """Return the distinct output channels of boxes."""
        return self._distinct_values(boxes, 0)

    def exit_channels(self, box: FlowBox) -> frozenset[int]:
        """Return the output channels of the last layer of a box.

        Those of all its layers if their order is unknown, or if the ops after the last one may change the channels.
        """
        found = self.output_channels([box])
        while len(found) > 1 and box.members:
            last = next(member for member in reversed(box.members) if self.output_channels([member]))
            behind = box.members[box.members.index(last) + 1 :]
            if not all(map(self.keeps_channels, behind)):
                break
            box, found = last, self.output_channels([last])
        return found

    def keeps_channels(self, box: FlowBox) -> bool:
        """Return whether all ops of a box are norms or elementwise."""
        return all(map(_keeps_channels, self._types.type_counts(box)))

    def _distinct_values(self, boxes: Iterable[FlowBox], column: int) -> frozenset[int]:
        rows, value = self._rows_with_values[column] if self._hierarchy is not None else ([], {})
        found: set[int] = set()
        for box in walk_boxes(list(boxes)) if rows else ():
            if box.op:
                if box.row in value:
                    found.add(value[box.row])
            else:
                found.update(value[rows[place]] for place in self._places_in_box(box, rows))
        return frozenset(found)

    @cached_property
    def _rows_with_values(self) -> list[tuple[list[int], dict[int, int]]]:
        """For each column, the rows that have a value, ascending, and their values."""
        row_of_node, kept = self.hierarchy.row_of_node, []
        for column in self._kernel_columns:
            nodes = np.flatnonzero((column > 0) & (row_of_node >= 0))
            value = dict(sorted(zip(row_of_node[nodes].tolist(), column[nodes].tolist(), strict=True)))
            kept.append(([*value], value))
        return kept

    def has_downsampling(self, boxes: Iterable[FlowBox]) -> bool:
        """Return whether an op in boxes has a stride greater than one, or halves a recorded size."""
        return any(True for _ in self._downsampling_nodes(boxes))

    @cached_property
    def _layers(self) -> frozenset[int]:
        return frozenset(layer_rows(self.hierarchy))

    @cached_property
    def named_layers(self) -> frozenset[int]:
        """Layers that are scopes, and further calls of them with the same weights."""
        layers = self._layers | scopes_of_shared_weights(self.hierarchy)
        return frozenset(row for row in layers if self.hierarchy.kind[row] != OP_ROW)

    def holds_layer(self, boxes: Iterable[FlowBox]) -> bool:
        """Return whether one of some boxes is a layer; False in a graph of ops, which does not name layers."""
        if self._hierarchy is None or not (self._hierarchy.graph.layers or self._hierarchy.graph.has_module_scopes):
            return False
        return any(box.row in self._layers for box in boxes)

    def _downsampling_nodes(self, boxes: Iterable[FlowBox]) -> Iterator[int]:
        rows, nodes = self._rows_with_strides if self._hierarchy is not None else ([], [])
        for box in walk_boxes(list(boxes)) if rows else ():
            for node in map(nodes.__getitem__, self._places_in_box(box, rows)):
                if node not in self._is_downsampling:
                    self._is_downsampling[node] = self._has_large_stride(node) or self._halves_recorded_size(node)
                if self._is_downsampling[node]:
                    yield node

    def _places_in_box(self, box: FlowBox, rows: list[int]) -> range:
        """Return the range of places in ascending `rows` that are inside a box."""
        if box.row < 0:
            return range(0)
        return range(bisect_left(rows, box.row), bisect_left(rows, int(self.hierarchy.end[box.row])))

    def _has_large_stride(self, node: int) -> bool:
        definition, layer = self.hierarchy.graph.node_def(node), self._layer_of_node.get(node)
        if layer is not None:
            return any(step > 1 for step in _layer_strides(layer))
        return definition is not None and any(step > 1 for step in attr_value(definition, "strides").list.i)

    def _halves_recorded_size(self, node: int) -> bool:
        """Return whether a traced node halves a size, by the recorded shapes of its input and its result."""
        graph, begins = self.hierarchy.graph, self.hierarchy.first_input_edge
        edge = int(begins[node])
        if not has_framework(graph.op_types[graph.op[node]]) or edge == begins[node + 1]:
            return False
        pairs = zip(self._recorded_shape(int(graph.source[edge]))[2:], self._recorded_shape(node)[2:], strict=False)
        return any(before and after and after < before and 2 * after <= before + 1 for before, after in pairs)

    def _recorded_shape(self, node: int) -> tuple[int | None, ...]:
        """Return the recorded shape of the first result of a node; empty if it is unknown."""
        definition = self.hierarchy.graph.node_def(node)
        shapes = declared_shapes(definition) if definition is not None else None
        return (shapes[0] if shapes else None) or ()

    def _recorded_window(self, node: int) -> Shape:
        """Return the kernel size of a traced convolution, computed from stride, padding, dilation and recorded sizes.

        With a stride greater than one, an odd kernel is assumed. Empty if it is unknown.
        """
        graph, begins = self.hierarchy.graph, self.hierarchy.first_input_edge
        inputs = graph.source[begins[node] : begins[node + 1]].tolist()
        numbers = [
            graph.labels.get(source, "").strip("[]").split(", ") for source in inputs[STRIDE_SLOT : STRIDE_SLOT + 3]
        ]
        before, after = (self._recorded_shape(each)[2:] for each in (inputs[0], node))
        if len(numbers) < 3 or not all(each.isdecimal() for several in numbers for each in several):
            return ()
        window = []
        for size, result, step, pad, rate in zip(before, after, *(map(int, each) for each in numbers), strict=False):
            spread = 2 * pad + (size - result if step == 1 and size and result else 0)
            window.append(spread // rate + 1 if rate and (step == 1 or pad) else 0)
        return tuple(window) if window and min(window) > 0 else ()

    def are_stages(self, boxes: Sequence[FlowBox], least: int = 2) -> bool:
        """Return whether boxes are the stages of a network.

        Each has at least `least` blocks, and either all downsample or most have other channels than the stage before.
        """
        if self._hierarchy is None:
            return False
        blocks: list[Sequence[FlowBox]] = []
        for box in boxes:
            blocks.append(self._blocks_of(box))
            if len(blocks[-1]) < least:
                return False
        later = int(len(boxes) > MIN_SHRINKING_STAGES)  # the first stage may have the resolution of the stem
        if all(
            self.has_downsampling([box]) and not all(self.has_downsampling([each]) for each in box_blocks)
            for box, box_blocks in zip(boxes[later:], blocks[later:], strict=True)
        ):
            return True
        shared_channels = [
            frozenset.intersection(*(self.output_channels([each]) for each in box_blocks)) for box_blocks in blocks
        ]
        return all(shared_channels) and 2 * (1 + sum(one != other for one, other in pairwise(shared_channels))) > max(
            2, len(boxes)
        )

    def stage_borders(self, blocks: Sequence[FlowBox]) -> list[int]:
        """Return the numbers of the equal blocks at which a new stage begins; empty if there is one stage.

        A stage begins where channels change or, if channels are unknown, at a block that downsamples. At least two
        stages have several blocks, or the first block alone downsamples and leads to the rest.
        """
        given = [self.exit_channels(block) for block in blocks] if self._hierarchy is not None else []
        if any(given):
            ends = [one and other and one.isdisjoint(other) for one, other in pairwise(given)]
        else:
            ends = [self.has_downsampling([block]) for block in blocks[1:]]
        borders = [at for at, border in enumerate(ends, 1) if border]
        sizes = [stop - start for start, stop in pairwise([0, *borders, len(blocks)])]
        several = sum(size > 1 for size in sizes)
        leads = (
            borders == [1]
            and sizes[1] > 1
            and self.has_downsampling(blocks[:1])
            and not self.has_downsampling(blocks[1:])
        )
        return borders if several >= MIN_SHRINKING_STAGES or leads else []

    def _blocks_of(self, stage: FlowBox) -> Sequence[FlowBox]:
        """Return the equal parts that contain most ops of a box; empty if there are none."""
        parts = [stage]
        while len(parts) == 1:
            alike: dict[Hashable, list[FlowBox]] = defaultdict(list)
            for part in self._parts_of(parts[0]):
                if part.ops >= MIN_STACK_OPS:
                    alike[name_form(part.name) or self._kind_of_block(part, alike)].append(part)
            parts = max(alike.values(), key=lambda blocks: sum(block.ops for block in blocks), default=[])
            # Small parts may have the same name: containers and stems are both a Sequential.
            least = MIN_BLOCK_SHARE * max((block.ops for block in parts), default=0)
            parts = [block for block in parts if block.ops >= least]
        return parts if sum(block.ops for block in parts) >= MIN_SHARE_IN_BLOCKS * stage.ops else ()

    def _kind_of_block(self, part: FlowBox, known: Mapping[Hashable, Sequence[FlowBox]]) -> Hashable:
        """Return the key of known nameless blocks that a part equals apart from a projection; else its symbol."""
        ops = self._types.type_counts(part)
        for key, (block, *_) in known.items():
            less, more = sorted((ops, self._types.type_counts(block)), key=Counter.total)
            if less <= more and more.total() <= MAX_FIRST_BLOCK_SIZE * less.total() and not block.name:
                return key
        return part.symbol

    def _parts_of(self, box: FlowBox) -> list[FlowBox]:
        """Return the scopes and groups directly in a box, without single layers, and the members of stacks."""
        if box.row < 0:
            return [
                part
                for member in box.members
                if (member.members and member.how != GroupOrigin.LAYER) or member.scope
                for part in (member.members if member.is_repetition and not member.sideways else [member])
            ]
        children = self.hierarchy.children(box.row).tolist()
        return self.rows_as_boxes(row for row in children if self.hierarchy.kind[row] != OP_ROW)

    def rows_as_boxes(self, rows: Iterable[int]) -> list[FlowBox]:
        """Return scopes as boxes."""
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
    def _rows_with_strides(self) -> tuple[list[int], list[int]]:
        """Rows of nodes that may have a stride, ascending, and these nodes."""
        stepping = self.hierarchy.graph.nodes_of_types(
            lambda op: op in CONVOLUTION_OPS or op.endswith("Pool") or STRIDE_INPUT in input_names(op).values()
        )
        stepping[list(self._layer_of_node)] = True
        nodes = np.flatnonzero(stepping & (self.hierarchy.row_of_node >= 0))
        rows = self.hierarchy.row_of_node[nodes]
        along = np.argsort(rows, kind="stable")
        return rows[along].tolist(), nodes[along].tolist()

    def _nodes(self, boxes: Iterable[FlowBox]) -> Iterable[Ints]:
        for box in walk_boxes(list(boxes)) if self._hierarchy is not None else ():
            if box.row >= 0:
                nodes = self.hierarchy.node[box.row : self.hierarchy.end[box.row]]
                yield nodes[nodes >= 0]


def _own_config(layer: Layer) -> LayerConfig:
    """Return the settings of a layer, or of the layer inside a wrapper.

    >>> _own_config(Layer("TimeDistributed", {"layer": {"class_name": "Dense", "config": {"units": 3}}}))
    {'units': 3}
    """
    inner = layer.config.get("layer")
    config = inner.get("config") if isinstance(inner, dict) else None
    return config if isinstance(config, dict) else layer.config


def _as_channels(value: object) -> int:
    """Return a number of channels within the bounds of a column; 0 if it is unknown.

    >>> _as_channels(64), _as_channels(10**30) == MAX_QUANTITY, _as_channels(-(10**30)), _as_channels(None)
    (64, True, 0, 0)
    """
    return max(0, min(value, MAX_QUANTITY)) if isinstance(value, int) else 0


def _as_sizes(value: object) -> tuple[int, ...]:
    """Return a setting that is a number or a list of numbers as sizes; empty if it is neither.

    >>> _as_sizes([3, 3]), _as_sizes(2), _as_sizes(None)
    ((3, 3), (2,), ())
    """
    several = value if isinstance(value, list | tuple) else (value,)
    return tuple(several) if all(isinstance(each, int) for each in several) else ()


def _layer_strides(layer: Layer) -> tuple[int, ...]:
    """Return the strides of a Keras layer; a pooling without strides has those of its window.

    >>> _layer_strides(Layer("MaxPooling2D", {"pool_size": [2, 2], "strides": None})), _layer_strides(Layer("Dense"))
    ((2, 2), ())
    """
    config = _own_config(layer)
    return _as_sizes(config.get("strides")) or _as_sizes(config.get("pool_size"))


def _is_kernel_turned(graph: Graph, node: int, op: str) -> bool:
    """Return whether a node transposes its kernel."""
    name = kernel_transpose_attribute(op)
    definition = graph.node_def(node) if name else None
    return definition is not None and name in definition.attr and definition.attr[name].i != 0
