"""Find the constants of a frozen graph that were variables, whatever their names.

Freezing keeps the read of a variable as an identity after the constant, and passes constants to loops and calls as it
passed handles; a literal of the program feeds the op that uses it directly.

    weight ─▶ Identity ─▶ Mul ─▶ Conv2D        literal ─▶ Mul        weight ─▶ While ─▶ argument ─▶ Identity ─▶ MatMul

Where no kernel is read in this way, a tool has taken the reads out: then only the place of use says what a weight is,
and a constant that may be one and is not counted is doubtful.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

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

if TYPE_CHECKING:
    pass

SMALL_WHOLE = frozenset({"int8", "uint8", "qint8", "quint8", "int4", "uint4", "qint16", "qint32"})  # quantised weights
STORED_DTYPES = frozenset(
    number
    for number, dtype in DTYPE_TABLE.items()
    if (dtype.form and dtype.name in NON_INTEGER_DTYPES) or dtype.name in SMALL_WHOLE
)
FRAME_ENTRANCE_OPS = FRAME_ENTER_OPS | FRAME_SWITCH_OPS  # hand a value into a loop or a branch
ROW_LOOKUP_OPS = EMBEDDING_LOOKUP_OPS | ROW_READ_OPS
VALUE_IGNORING_OPS = RESULT_OPS | FRAME_NEXT_OPS | FRAME_EXIT_OPS | GROUP_OPS  # use no value
TAKE_KERNELS = CONVOLUTION_OPS | MATRIX_PRODUCT_OPS | BATCH_PRODUCT_OPS | {"Einsum", "XlaEinsum"}


@dataclass(frozen=True, slots=True, eq=False)
class FrozenReads:
    """`read` are the constants that are only read, as variables are. Reads `distinguish_weights` from other constants
    if most kernels are read. `stripped`: all reads are in functions, and the main graph takes kernels without one."""

    read: Ints
    distinguish_weights: bool
    stripped: bool = False


def is_stored(graph: Graph, node: int) -> bool:
    """Return whether a constant is of a type that weights are stored in, however few numbers it holds."""
    tensor = constant_tensor(graph, node)
    return tensor is not None and tensor.dtype in STORED_DTYPES and len(tensor.tensor_shape.dim) <= MAX_DIMENSIONS


def is_splat(graph: Graph, node: int) -> bool:
    """Return whether all numbers of a constant are one, as a state begins with zeros; an argument has none."""
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
    """Find the constants that are used as variables are. `bindings` pair the arguments of calls with those of
    functions."""
    none = np.zeros(0, np.int32)
    if not graph.nodes_of_types(FROZEN_READ_OPS.__contains__).any() and not bindings:
        return FrozenReads(none, False)
    way = _follow_ways(graph, bindings)
    read, used = _classify_uses(graph, way, bindings)
    found = [
        node
        for node in np.flatnonzero(read & ~used & graph.nodes_of_types(CONSTANT_OPS.__contains__)).tolist()
        if is_stored(graph, node)
    ]
    reads = np.array(found, np.int32)
    stored = _given_constants(graph, way, bindings)
    taken = _kernels(graph, _read_values(graph, way), stored)
    direct = _kernels(graph, way, stored)
    many = int((read & ~used)[taken].sum())
    few = sum(not is_splat(graph, node) for node in direct.tolist())
    return FrozenReads(reads, many > 0 and many >= few, _is_main_graph_stripped(graph, way, stored))


def _is_main_graph_stripped(graph: Graph, way: Ints, stored: Bools) -> bool:
    """Return whether kernels of the main graph are used directly, and none of its constants is read there."""
    main = (graph.function[graph.target] < 0) & ~graph.control
    constant = graph.nodes_of_types(CONSTANT_OPS.__contains__)
    reads = graph.nodes_of_types(FROZEN_READ_OPS.__contains__)
    takes = main & graph.nodes_of_types(TAKE_KERNELS.__contains__)[graph.target] & (graph.slot == 1)
    direct = takes & (way[graph.source] >= 0) & stored[way[graph.source]]
    return bool(direct.any()) and not (main & constant[graph.source] & reads[graph.target]).any()


def _follow_ways(graph: Graph, bindings: Sequence[tuple[int, int]]) -> Ints:
    """Return, for each node, the constant or argument whose value it passes into loops and branches before any read."""
    number = np.arange(len(graph), dtype=np.int32)
    way = np.where(graph.nodes_of_types(CONSTANT_OPS.__contains__), number, np.int32(-1))
    arguments = np.array([argument for _, argument in bindings], np.int64)
    way[arguments] = arguments
    enters = graph.nodes_of_types(FRAME_ENTRANCE_OPS.__contains__)
    passing = enters | _unchanged_merges(graph)
    # An identity behind what enters is the argument of a body that was written into the graph: no read yet.
    inner = graph.nodes_of_types(FROZEN_READ_OPS.__contains__)
    data = np.flatnonzero(~graph.control & (graph.slot == 0))
    source, target = graph.source[data], graph.target[data]
    kept = passing[target] | (inner[target] & enters[source])
    source, target = source[kept], target[kept]
    spread_along_edges(way, source, target)
    return way


def spread_along_edges(number: Ints, source: Ints, target: Ints, rounds: int = MAX_FOLLOWED_CARRIERS) -> None:
    """Give each target without a number (-1) that of its source, one edge further each round."""
    for _ in range(rounds):
        new = (number[source] >= 0) & (number[target] < 0)
        if not new.any():
            break
        number[target[new]] = number[source[new]]


def _unchanged_merges(graph: Graph) -> Bools:
    """Return the merges at the head of a loop whose value a round does not change."""
    merges = graph.nodes_of_types(FRAME_MERGE_OPS.__contains__)
    found = np.zeros(len(graph), bool)
    if not merges.any():
        return found
    handing = graph.nodes_of_types(lambda op: op in FROZEN_READ_OPS or op in FRAME_SWITCH_OPS or op in FRAME_NEXT_OPS)
    first = ~graph.control & (graph.slot == 0)
    before = np.full(len(graph), -1, np.int64)
    before[graph.target[first & handing[graph.target]]] = graph.source[first & handing[graph.target]]
    back = ~graph.control & merges[graph.target] & (graph.slot == 1)
    for source, merge in zip(graph.source[back].tolist(), graph.target[back].tolist(), strict=True):
        node = source
        for _ in range(MAX_FOLLOWED_CARRIERS):
            if node < 0 or node == merge:
                break
            node = int(before[node])
        found[merge] = node == merge
    return found


def _classify_uses(graph: Graph, way: Ints, bindings: Sequence[tuple[int, int]]) -> tuple[Bools, Bools]:
    """Mark the constants and arguments that are read, as variables or tables, and those that an op uses directly.
    Arguments of a call are used as its functions use them."""
    read, used = np.zeros(len(graph), bool), np.zeros(len(graph), bool)
    out = np.flatnonzero(~graph.control & (way[graph.source] >= 0) & (way[graph.target] != way[graph.source]))
    target, maker = graph.target[out], way[graph.source[out]]
    callers = np.zeros(len(graph), bool)
    callers[[call.node for call in graph.calls]] = True
    reads = graph.nodes_of_types(FROZEN_READ_OPS.__contains__)[target]
    reads |= graph.nodes_of_types(ROW_LOOKUP_OPS.__contains__)[target] & (graph.slot[out] == 0)
    idle = graph.nodes_of_types(lambda op: op in VALUE_IGNORING_OPS)[target] | callers[target]
    read[maker[reads]] = True
    used[maker[~reads & ~idle]] = True
    givers: dict[int, list[int]] = {}
    for source, argument in bindings:
        if way[source] >= 0:
            givers.setdefault(argument, []).append(int(way[source]))
    for mark in (read, used):
        mark[list(reachable_from((argument for argument in givers if mark[argument]), givers.get))] = True
    return read, used


def _read_values(graph: Graph, way: Ints) -> Ints:
    """Return, for each node, the constant or argument whose value it reads, and the values computed from it before any
    product."""
    reads = graph.nodes_of_types(FROZEN_READ_OPS.__contains__)
    into = np.flatnonzero(reads[graph.target] & ~graph.control & (way[graph.source] >= 0) & (way[graph.target] < 0))
    value = np.full(len(graph), -1, np.int32)
    value[graph.target[into]] = way[graph.source[into]]
    # A second read, a cast, a fake quantisation, a scale on the way to the product.
    kernels = graph.nodes_of_types(TAKE_KERNELS.__contains__)
    before = np.flatnonzero(~graph.control & ~kernels[graph.target] & (graph.slot == 0))
    spread_along_edges(value, graph.source[before], graph.target[before], MAX_FOLLOWED_CARRIERS // 4)
    return value


def _given_constants(graph: Graph, way: Ints, bindings: Sequence[tuple[int, int]]) -> Bools:
    """Mark the constants, and the arguments to which calls pass one."""
    stored = graph.nodes_of_types(CONSTANT_OPS.__contains__)
    pairs = [(int(way[source]), argument) for source, argument in bindings if way[source] >= 0]
    taken: dict[int, list[int]] = {}
    for maker, argument in pairs:
        taken.setdefault(maker, []).append(argument)
    stored[list(reachable_from((maker for maker in taken if stored[maker]), taken.get))] = True
    return stored


def _kernels(graph: Graph, value: Ints, stored: Bools) -> Ints:
    """Return the `stored` makers whose `value` is the second factor of a product or the filter of a convolution."""
    takes = graph.nodes_of_types(TAKE_KERNELS.__contains__)
    into = np.flatnonzero(takes[graph.target] & (graph.slot == 1) & ~graph.control & (value[graph.source] >= 0))
    makers = distinct_values(value[graph.source[into]])
    found: Ints = makers[stored[makers]]
    return found


def tables_looked_up(graph: Graph, way: Ints) -> frozenset[int]:
    """Return the constants of two or more dimensions whose rows are taken: freezing reads no table, it looks it up."""
    looks = graph.nodes_of_types(ROW_LOOKUP_OPS.__contains__)[graph.target] & (graph.slot == 0) & ~graph.control
    makers = distinct_values(way[graph.source[looks & (way[graph.source] >= 0)]]).tolist()
    return frozenset(node for node in makers if is_stored(graph, node) and not is_splat(graph, node))
