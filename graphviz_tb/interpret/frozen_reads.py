"""Find the constants of a frozen graph that were variables, without their names.

Freezing replaces a variable by a constant and keeps its read as an identity; a literal of the program feeds its user
directly. Loops and calls get the constant as they got the handle.

    weight ─▶ Identity ─▶ Mul ─▶ Conv2D        literal ─▶ Mul        weight ─▶ While ─▶ argument ─▶ Identity ─▶ MatMul

If no kernel is read in this way, a tool has removed the reads: then weights are recognised by their use
(`constant_weights`), and some constants are doubtful.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from graphviz_tb.graphs.tensors import constant_tensor
from graphviz_tb.graphs.traversal import reachable_from
from graphviz_tb.limits import MAX_FOLLOWED_CARRIERS
from graphviz_tb.model.columns import Bools, Ints, distinct_values
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.graph import Graph
from graphviz_tb.model.tensors import DTYPE_TABLE, MAX_DIMENSIONS, NON_INTEGER_DTYPES
from graphviz_tb.ops.roles import (
    BATCH_PRODUCT_OPS,
    CONSTANT_OPS,
    CONVOLUTION_OPS,
    EMBEDDING_LOOKUP_OPS,
    FRAME_ENTER_OPS,
    FRAME_EXIT_OPS,
    FRAME_MERGE_OPS,
    FRAME_NEXT_OPS,
    FRAME_SWITCH_OPS,
    FROZEN_READ_OPS,
    GROUP_OPS,
    MATRIX_PRODUCT_OPS,
    RESULT_OPS,
    ROW_READ_OPS,
)

QUANTIZED_DTYPES = frozenset(
    {"int8", "uint8", "qint8", "quint8", "int4", "uint4", "qint16", "qint32"}
)  # quantised weights
STORED_DTYPES = frozenset(
    number
    for number, dtype in DTYPE_TABLE.items()
    if (dtype.form and dtype.name in NON_INTEGER_DTYPES) or dtype.name in QUANTIZED_DTYPES
)
FRAME_ENTRANCE_OPS = FRAME_ENTER_OPS | FRAME_SWITCH_OPS  # pass a value into a loop or a branch
ROW_LOOKUP_OPS = EMBEDDING_LOOKUP_OPS | ROW_READ_OPS
VALUE_IGNORING_OPS = RESULT_OPS | FRAME_NEXT_OPS | FRAME_EXIT_OPS | GROUP_OPS  # do not compute with the value
KERNEL_USING_OPS = CONVOLUTION_OPS | MATRIX_PRODUCT_OPS | BATCH_PRODUCT_OPS | {"Einsum", "XlaEinsum"}


@dataclass(frozen=True, slots=True, eq=False)
class FrozenReads:
    """The constants whose only uses are reads, like those of variables (`read`).

    `distinguish_weights`: most kernels are read, so other constants are no weights. `stripped`: kernels of the main
    graph are used directly, and all reads are in functions.
    """

    read: Ints
    distinguish_weights: bool
    stripped: bool = False


def is_stored(graph: Graph, node: int) -> bool:
    """Return whether a constant has a dtype in which weights are stored."""
    tensor = constant_tensor(graph, node)
    return tensor is not None and tensor.dtype in STORED_DTYPES and len(tensor.tensor_shape.dim) <= MAX_DIMENSIONS


def is_splat(graph: Graph, node: int) -> bool:
    """Return whether all numbers of a constant are equal, like an initial state of zeros; False for an argument."""
    tensor = constant_tensor(graph, node)
    if tensor is None:
        return graph.node_def(node) is not None
    content = tensor.tensor_content
    if content:
        count = max(1, int(np.prod([dim.size for dim in tensor.tensor_shape.dim])))
        size = max(1, len(content) // count)
        return content == content[:size] * (len(content) // size)
    field = DTYPE_TABLE[tensor.dtype].field if tensor.dtype in DTYPE_TABLE else ""
    return not field or len(set(getattr(tensor, field))) < 2


def find_frozen_reads(graph: Graph, bindings: Sequence[tuple[int, int]]) -> FrozenReads:
    """Find the constants that are used like variables; `bindings` are pairs (node, argument) of calls."""
    none = np.zeros(0, np.int32)
    if not graph.nodes_of_types(FROZEN_READ_OPS.__contains__).any() and not bindings:
        return FrozenReads(none, False)
    origin = _value_origins(graph, bindings)
    read, used = _classify_uses(graph, origin, bindings)
    found = [
        node
        for node in np.flatnonzero(read & ~used & graph.nodes_of_types(CONSTANT_OPS.__contains__)).tolist()
        if is_stored(graph, node)
    ]
    reads = np.array(found, np.int32)
    stored = _constants_and_bound_arguments(graph, origin, bindings)
    read_kernels = _kernels_among(graph, _read_values(graph, origin), stored)
    direct_kernels = _kernels_among(graph, origin, stored)
    read_count = int((read & ~used)[read_kernels].sum())
    direct_count = sum(not is_splat(graph, node) for node in direct_kernels.tolist())
    distinguish = read_count > 0 and read_count >= direct_count
    return FrozenReads(reads, distinguish, _is_main_graph_stripped(graph, origin, stored))


def _is_main_graph_stripped(graph: Graph, origin: Ints, stored: Bools) -> bool:
    """Return whether the main graph uses kernels directly, and reads no constants."""
    main = (graph.function[graph.target] < 0) & ~graph.control
    constant = graph.nodes_of_types(CONSTANT_OPS.__contains__)
    reads = graph.nodes_of_types(FROZEN_READ_OPS.__contains__)
    takes = main & graph.nodes_of_types(KERNEL_USING_OPS.__contains__)[graph.target] & (graph.slot == 1)
    direct = takes & (origin[graph.source] >= 0) & stored[origin[graph.source]]
    return bool(direct.any()) and not (main & constant[graph.source] & reads[graph.target]).any()


def _value_origins(graph: Graph, bindings: Sequence[tuple[int, int]]) -> Ints:
    """Return, for each node, the constant or argument that loops and branches pass to it unread."""
    number = np.arange(len(graph), dtype=np.int32)
    origin = np.where(graph.nodes_of_types(CONSTANT_OPS.__contains__), number, np.int32(-1))
    arguments = np.array([argument for _, argument in bindings], np.int64)
    origin[arguments] = arguments
    enters = graph.nodes_of_types(FRAME_ENTRANCE_OPS.__contains__)
    passing = enters | _unchanged_merges(graph)
    # An identity after an Enter or Switch is an argument of an inlined body, not a read.
    inner = graph.nodes_of_types(FROZEN_READ_OPS.__contains__)
    data = np.flatnonzero(~graph.control & (graph.slot == 0))
    source, target = graph.source[data], graph.target[data]
    kept = passing[target] | (inner[target] & enters[source])
    source, target = source[kept], target[kept]
    spread_along_edges(origin, source, target)
    return origin


def spread_along_edges(number: Ints, source: Ints, target: Ints, rounds: int = MAX_FOLLOWED_CARRIERS) -> None:
    """Copy numbers from sources to targets without one (-1), in place, one edge further in each round."""
    for _ in range(rounds):
        new = (number[source] >= 0) & (number[target] < 0)
        if not new.any():
            break
        number[target[new]] = number[source[new]]


def _unchanged_merges(graph: Graph) -> Bools:
    """Mark the merges at the head of loops whose value the loop does not change."""
    merges = graph.nodes_of_types(FRAME_MERGE_OPS.__contains__)
    found = np.zeros(len(graph), bool)
    if not merges.any():
        return found
    passes_on = graph.nodes_of_types(lambda op: op in FROZEN_READ_OPS or op in FRAME_SWITCH_OPS or op in FRAME_NEXT_OPS)
    first_input = ~graph.control & (graph.slot == 0)
    before = np.full(len(graph), -1, np.int64)
    before[graph.target[first_input & passes_on[graph.target]]] = graph.source[first_input & passes_on[graph.target]]
    back = ~graph.control & merges[graph.target] & (graph.slot == 1)
    for source, merge in zip(graph.source[back].tolist(), graph.target[back].tolist(), strict=True):
        node = source
        for _ in range(MAX_FOLLOWED_CARRIERS):
            if node < 0 or node == merge:
                break
            node = int(before[node])
        found[merge] = node == merge
    return found


def _classify_uses(graph: Graph, origin: Ints, bindings: Sequence[tuple[int, int]]) -> tuple[Bools, Bools]:
    """Mark the constants and arguments that are read like variables or tables, and those that an op uses directly.

    A value passed to a call is used as the functions of the call use it.
    """
    read, used = np.zeros(len(graph), bool), np.zeros(len(graph), bool)
    uses = np.flatnonzero(~graph.control & (origin[graph.source] >= 0) & (origin[graph.target] != origin[graph.source]))
    target, maker = graph.target[uses], origin[graph.source[uses]]
    callers = np.zeros(len(graph), bool)
    callers[[call.node for call in graph.calls]] = True
    reads = graph.nodes_of_types(FROZEN_READ_OPS.__contains__)[target]
    reads |= graph.nodes_of_types(ROW_LOOKUP_OPS.__contains__)[target] & (graph.slot[uses] == 0)
    ignores_value = graph.nodes_of_types(lambda op: op in VALUE_IGNORING_OPS)[target] | callers[target]
    read[maker[reads]] = True
    used[maker[~reads & ~ignores_value]] = True
    sources_of: dict[int, list[int]] = {}
    for source, argument in bindings:
        if origin[source] >= 0:
            sources_of.setdefault(argument, []).append(int(origin[source]))
    for mark in (read, used):
        mark[list(reachable_from((argument for argument in sources_of if mark[argument]), sources_of.get))] = True
    return read, used


def _read_values(graph: Graph, origin: Ints) -> Ints:
    """Return, for each node before a product, the constant or argument that its value was read from."""
    reads = graph.nodes_of_types(FROZEN_READ_OPS.__contains__)
    into = np.flatnonzero(
        reads[graph.target] & ~graph.control & (origin[graph.source] >= 0) & (origin[graph.target] < 0)
    )
    value = np.full(len(graph), -1, np.int32)
    value[graph.target[into]] = origin[graph.source[into]]
    # Before the product there may be a second read, a cast, a fake quantisation or a scale.
    kernels = graph.nodes_of_types(KERNEL_USING_OPS.__contains__)
    before = np.flatnonzero(~graph.control & ~kernels[graph.target] & (graph.slot == 0))
    spread_along_edges(value, graph.source[before], graph.target[before], MAX_FOLLOWED_CARRIERS // 4)
    return value


def _constants_and_bound_arguments(graph: Graph, origin: Ints, bindings: Sequence[tuple[int, int]]) -> Bools:
    """Mark constants, and arguments to which calls pass constants."""
    stored = graph.nodes_of_types(CONSTANT_OPS.__contains__)
    pairs = [(int(origin[source]), argument) for source, argument in bindings if origin[source] >= 0]
    taken: dict[int, list[int]] = {}
    for maker, argument in pairs:
        taken.setdefault(maker, []).append(argument)
    stored[list(reachable_from((maker for maker in taken if stored[maker]), taken.get))] = True
    return stored


def _kernels_among(graph: Graph, value: Ints, stored: Bools) -> Ints:
    """Return the `stored` nodes whose `value` is the second factor of a product or the filter of a convolution."""
    takes = graph.nodes_of_types(KERNEL_USING_OPS.__contains__)
    into = np.flatnonzero(takes[graph.target] & (graph.slot == 1) & ~graph.control & (value[graph.source] >= 0))
    makers = distinct_values(value[graph.source[into]])
    found: Ints = makers[stored[makers]]
    return found


def looked_up_tables(graph: Graph, origin: Ints) -> frozenset[int]:
    """Return the constants whose rows are looked up; frozen tables have no read."""
    looks = graph.nodes_of_types(ROW_LOOKUP_OPS.__contains__)[graph.target] & (graph.slot == 0) & ~graph.control
    makers = distinct_values(origin[graph.source[looks & (origin[graph.source] >= 0)]]).tolist()
    return frozenset(node for node in makers if is_stored(graph, node) and not is_splat(graph, node))
