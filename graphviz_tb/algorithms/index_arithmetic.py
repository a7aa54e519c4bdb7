"""Index arithmetic: ops that compute masks, positions or shapes.

Such ops start from sizes, constants and integer inputs, and give integers or booleans. Floating results count too if
they come from booleans (an additive mask) or from counted positions that are only added.

    x ─▶ Shape ─▶ StridedSlice ─▶ Range ─▶ GreaterEqual ─▶ BroadcastTo ─▶ SelectV2
                                                             padding_mask ─▲     ▲─ scores

All but `SelectV2` are index arithmetic. Integers computed from weights or floats are not (a class, an expert), nor are
floats computed from integer inputs (an age, the time step of a diffusion model).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from graphviz_tb.algorithms.output_dtypes import all_dtypes
from graphviz_tb.algorithms.reached import spread_from
from graphviz_tb.model.columns import Bools, Ints, distinct, filed, freeze
from graphviz_tb.model.dtypes import INDEXING, dtype_name
from graphviz_tb.model.graph import Graph
from graphviz_tb.ops.outputs import Output, gives_truth, op_def
from graphviz_tb.ops.roles import ADDS, CONSTANTS, LISTS, RANGES, SIZES, Role, has_role

STATE = (Role.VARIABLE, Role.TEMPORARY, Role.HANDLE, Role.TABLE, Role.NEXT_ELEMENT, Role.RESTORE)
FLOW = (
    *(Role.CALL, Role.LAUNCH, Role.MAP, Role.REMOTE_CALL, Role.BRANCH, Role.LOOP, Role.COUNTED_LOOP),
    *(Role.FRAME_ENTER, Role.FRAME_EXIT, Role.FRAME_MERGE, Role.FRAME_SWITCH, Role.FRAME_NEXT),
)
LAYERS = (Role.CONVOLUTION, Role.PRODUCT, Role.BATCH_PRODUCT)


def index_arithmetic(graph: Graph, asked: Callable[[Bools], Bools] | None = None) -> Bools:
    """Return which ops compute masks, positions or shapes; never marks or inputs.

    Given the candidates, `asked` returns those that need an exact answer; the rest may be reported as False.
    """
    data = ~graph.control
    source, target = graph.source[data], graph.target[data]
    given = np.ones(len(graph), bool)
    given[target] = False
    works = ~brought(graph, source, target, given) & ~given & (graph.mark == 0) & ~graph.meaning.flow().behind
    floating = masks_and_positions(graph, works, given, source, target)
    held = works[source]
    source, target = source[held], target[held]
    if asked is not None:
        # Look only at these and what is computed from them: few messages are read.
        inner = works[target]
        works = spread_from(works & asked(works), source[inner], target[inner])
        held = works[source]
        source, target = source[held], target[held]
    return freeze(handed_on(graph, works, floating, source, target))


def masks_and_positions(graph: Graph, works: Bools, given: Bools, source: Ints, target: Ints) -> Bools:
    """Return which of the ops in `works` compute with booleans, or count positions that are only added.

    Positions that mix with other integer inputs, or are multiplied (frequencies), do not count.
    """
    inner = works[target] & ~graph.of_types(SIZES.__contains__)[target]
    values, other = np.zeros(len(graph), bool), np.zeros(len(graph), bool)
    values[target[inner & given[source] & ~graph.of_types(CONSTANTS.__contains__)[source]]] = True
    other[source[works[source] & ~works[target] & ~graph.of_types(ADDS.__contains__)[target]]] = True
    start, stop = source[inner & works[source]], target[inner & works[source]]
    counted = spread_from(works & graph.of_types(RANGES.__contains__), start, stop)
    counted &= ~spread_from(values, start, stop) & ~spread_from(other, stop, start)
    return counted | spread_from(works & graph.of_types(gives_truth), start, stop)


def brought(graph: Graph, source: Ints, target: Ints, given: Bools) -> Bools:
    """Return weights, non-integer inputs, unknown ops, and everything computed from these other than sizes."""
    start = graph.of_types(lambda op: op in LISTS or has_role(op, *STATE, *FLOW, *LAYERS) or op_def(op) is None)
    constant = graph.of_types(lambda op: op in CONSTANTS)
    start |= graph.meaning.origin >= 0  # in a frozen graph weights are constants
    argument = graph.definition < 0
    start[argument] = False
    inputs = np.flatnonzero(given & ~constant & ~start).tolist()
    start[[node for node in inputs if not gives_whole(graph, node)]] = True
    past_sizes = ~graph.of_types(SIZES.__contains__)[target]
    return spread_from(start, source[past_sizes], target[past_sizes])


def handed_on(graph: Graph, works: Bools, floating: Bools, source: Ints, target: Ints) -> Bools:
    """Return which of some ops only give integers, or are `floating`, to data edges, to each other and as results.

    Before: `source` and `target` are the edges from these ops.
    """
    left, used = works.copy(), np.zeros(len(graph), bool)
    used[source] = True
    order, begin = filed(target, len(graph))
    first, sources = begin.tolist(), source[order].tolist()
    todo = [*distinct(source[~works[target]]).tolist(), *np.flatnonzero(works & ~used).tolist()]
    while todo:
        node = todo.pop()
        if left[node] and not (floating[node] and used[node]) and not gives_whole(graph, node):
            left[node] = False
            todo += sources[first[node] : first[node + 1]]
    return left


def gives_whole(graph: Graph, node: int) -> bool:
    """Return whether all outputs of a node are integers or booleans."""
    said = said_whole(graph.op_types[graph.op[node]])
    if isinstance(said, bool):
        return said
    definition = graph.node_def(node)
    if definition is None:
        function = graph.functions[graph.function[node]]
        signature = graph.graph_def.library.function[function.index].signature
        return dtype_name(signature.input_arg[function.place(node)].type) in INDEXING
    if said and (value := definition.attr.get(said)) is not None and value.type:
        return dtype_name(value.type) in INDEXING
    dtypes = all_dtypes(definition)
    return bool(dtypes) and INDEXING.issuperset(dtypes)


@cache
def said_whole(op: str) -> bool | str:
    """Return whether an op type has integer or boolean outputs only, or else the attribute that decides it for its one
    output; "" if several decide.

    >>> said_whole("Where"), said_whole("NoOp"), said_whole("Fill"), said_whole("Unique")
    (True, False, 'T', '')
    """
    known = op_def(op)
    outputs = known.outputs if known is not None else (Output(""), Output(""))
    if all(output.dtype and not output.counted_by for output in outputs):
        return bool(outputs) and all(output.dtype in INDEXING for output in outputs)
    one = outputs[0]
    return "" if len(outputs) > 1 or one.several or one.counted_by else one.attr
