"""Index arithmetic: ops that compute masks, positions or shapes.

Such ops start from sizes, constants and integer inputs, and their results are integers or booleans. Floats count too if
they come from booleans, or if they come from integer inputs or counted positions and are only added (an additive mask).

    x ─▶ Shape ─▶ StridedSlice ─▶ Range ─▶ GreaterEqual ─▶ BroadcastTo ─▶ SelectV2
                                                             padding_mask ─▲     ▲─ scores

All ops except `SelectV2` are index arithmetic. Integers computed from weights or floats are not (a class, an expert),
and neither are other floats computed from integer inputs (an age, the time step of a diffusion model).

In a trace of PyTorch, types of results are unknown: there a mask is a selection among filled tensors (shifted windows).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from graphviz_tb.graphs.tensors import all_output_dtypes
from graphviz_tb.graphs.traversal import reachable_mask
from graphviz_tb.model.columns import Bools, Ints, distinct_values, freeze_array, group_by_key
from graphviz_tb.model.graph import Graph
from graphviz_tb.model.tensors import INDEX_DTYPES, dtype_name
from graphviz_tb.ops.roles import ADD_OPS, CONSTANT_OPS, LIST_OPS, RANGE_OPS, SELECT_OPS, SIZE_OPS, Role, has_role
from graphviz_tb.ops.signatures import OutputDef, gives_bool, op_def
from graphviz_tb.ops.table import MAX_CACHED_OP_TYPES, op_row

STATE_ROLES = (Role.VARIABLE, Role.TEMPORARY, Role.HANDLE, Role.TABLE, Role.NEXT_ELEMENT, Role.RESTORE)
CONTROL_FLOW_ROLES = (
    Role.CALL, Role.LAUNCH, Role.MAP, Role.REMOTE_CALL, Role.BRANCH, Role.LOOP, Role.COUNTED_LOOP,
    Role.FRAME_ENTER, Role.FRAME_EXIT, Role.FRAME_MERGE, Role.FRAME_SWITCH, Role.FRAME_NEXT,
)  # fmt: skip
NUMBERING_ROLES = (Role.RANGE, Role.FILL)
IN_PLACE = "_"  # at the end of an op type of PyTorch
WEIGHTED_ROLES = (Role.CONVOLUTION, Role.PRODUCT, Role.BATCH_PRODUCT)


def nodes_from_inputs(graph: Graph) -> Bools:
    """Mark the nodes that depend on the values (not only sizes) of an input of the program or a random number.

    All nodes of a graph or function without inputs are marked. The others are computed from weights, constants, sizes
    and counted positions alone.
    """
    data = ~graph.control
    source, target = graph.source[data], graph.target[data]
    start = np.zeros(len(graph), bool)
    start[source] = True
    start &= (graph.mark == 0) & (graph.meaning.origin < 0)
    start &= ~graph.nodes_of_types(lambda op: has_role(op, Role.VARIABLE, Role.CONSTANT, *NUMBERING_ROLES))
    start[target] = False
    start |= graph.nodes_of_types(lambda op: has_role(op, Role.NEXT_ELEMENT)) | (graph.definition < 0)
    has_input = np.zeros(len(graph.functions) + 1, bool)  # the last: the graph itself, whose number is -1
    has_input[graph.function[start]] = True
    start |= graph.nodes_of_types(lambda op: has_role(op, Role.RANDOM)) | ~has_input[graph.function]
    past_sizes = ~graph.nodes_of_types(SIZE_OPS.__contains__)[target]
    return reachable_mask(start, source[past_sizes], target[past_sizes])


def index_arithmetic_ops(graph: Graph, asked: Callable[[Bools], Bools] | None = None) -> Bools:
    """Mark the ops that compute masks, positions or shapes; never marks or inputs.

    `asked` returns the candidates that need an exact answer; the others may be False.
    """
    data = ~graph.control
    source, target = graph.source[data], graph.target[data]
    # In an exported program an op that counts or fills has its limits as attributes, not as inputs.
    counting = NUMBERING_ROLES if graph.is_exported else ()
    given = ~graph.nodes_of_types(lambda op: has_role(op, *counting))
    given[target] = False
    works = ~_ops_computed_from_data(graph, source, target, given) & ~given
    works &= (graph.mark == 0) & ~graph.meaning.flow().behind
    floating = _mask_and_position_ops(graph, works, given, source, target)
    from_works = works[source]
    source, target = source[from_works], target[from_works]
    if asked is not None:
        # Look only at these and what is computed from them: few messages are read.
        inner = works[target]
        works = reachable_mask(works & asked(works), source[inner], target[inner])
        from_works = works[source]
        source, target = source[from_works], target[from_works]
    return freeze_array(_keep_ops_giving_indices(graph, works, floating, source, target))


def _mask_and_position_ops(graph: Graph, works: Bools, given: Bools, source: Ints, target: Ints) -> Bools:
    """Return which of the ops in `works` compute with booleans, or with integer inputs or positions and are only added.

    Positions that mix with integer inputs, or are multiplied (frequencies), do not count. A size tells no value.
    """
    sizes = graph.nodes_of_types(SIZE_OPS.__contains__)[target]
    inner = works[target] & ~sizes
    values, used_otherwise = np.zeros(len(graph), bool), np.zeros(len(graph), bool)
    values[target[inner & given[source] & ~graph.nodes_of_types(CONSTANT_OPS.__contains__)[source]]] = True
    adding = graph.nodes_of_types(ADD_OPS.__contains__)[target]
    used_otherwise[source[works[source] & ~works[target] & ~adding & ~sizes]] = True
    start, stop = source[inner & works[source]], target[inner & works[source]]
    counted = reachable_mask(works & graph.nodes_of_types(RANGE_OPS.__contains__), start, stop)
    given_values = reachable_mask(values, start, stop)
    added = np.zeros(len(graph), bool)
    added[source[works[source] & ~works[target] & adding]] = True
    masking = given_values & ~counted & reachable_mask(added, stop, start)
    counted = (counted & ~given_values | masking) & ~reachable_mask(used_otherwise, stop, start)
    truths = graph.nodes_of_types(gives_bool)
    if graph.is_value_trace:
        truths |= graph.nodes_of_types(SELECT_OPS.__contains__)
    elif graph.is_exported:
        undecided = np.flatnonzero(works & ~truths).tolist()
        graph.decode_together(undecided)
        truths[[node for node in undecided if gives_truth_values(graph, node)]] = True
    return counted | reachable_mask(works & truths, start, stop)


def gives_truth_values(graph: Graph, node: int) -> bool:
    """Return whether a node has a boolean result, by its op type or by the file."""
    if gives_bool(graph.op_types[graph.op[node]]):
        return True
    definition = graph.node_def(node) if graph.is_exported else None
    return definition is not None and "bool" in all_output_dtypes(definition)


def _ops_computed_from_data(graph: Graph, source: Ints, target: Ints, given: Bools) -> Bools:
    """Mark weights, inputs that are not integers, unknown ops, and nodes computed from their values."""
    foreign = graph.is_exported or graph.is_value_trace
    row = op_row if foreign else op_def  # an exported program lists the types of all results
    start = graph.nodes_of_types(
        lambda op: op in LIST_OPS or has_role(op, *STATE_ROLES, *CONTROL_FLOW_ROLES, *WEIGHTED_ROLES) or not row(op)
    )
    if graph.is_value_trace:  # numbers and lists of them are marks, as are weights
        start &= graph.mark == 0
        start |= graph.nodes_of_types(lambda op: has_role(op, Role.TRACE_WEIGHT))
    constant = graph.nodes_of_types(lambda op: op in CONSTANT_OPS)
    start |= graph.meaning.origin >= 0  # in a frozen graph weights are constants
    argument = graph.definition < 0
    start[argument] = False
    inputs = np.flatnonzero(given & ~constant & ~start).tolist()
    start[[node for node in inputs if not _gives_integers_or_bools(graph, node)]] = True
    # `new_zeros` uses the type of its input, but not its value.
    sizes = graph.nodes_of_types(lambda op: op in SIZE_OPS or (foreign and has_role(op, Role.FILL)))
    past_sizes = ~sizes[target]
    return reachable_mask(start, source[past_sizes], target[past_sizes])


def _keep_ops_giving_indices(graph: Graph, works: Bools, floating: Bools, source: Ints, target: Ints) -> Bools:
    """Return the ops of `works` whose results for other ops are integers or booleans.

    `floating` ops may have other results if only ops of `works` use them. `source` and `target` are the edges from
    these.
    """
    kept, used = works.copy(), np.zeros(len(graph), bool)
    used[source] = True
    if graph.is_value_trace:  # the result of an op in place is used through its tensor
        used |= graph.nodes_of_types(lambda op: op.endswith(IN_PLACE))
    order, begin = group_by_key(target, len(graph))
    first, sources = begin.tolist(), source[order].tolist()
    unvisited = [*distinct_values(source[~works[target]]).tolist(), *np.flatnonzero(works & ~used).tolist()]
    while unvisited:
        node = unvisited.pop()
        if kept[node] and not (floating[node] and used[node]) and not _gives_integers_or_bools(graph, node):
            kept[node] = False
            unvisited += sources[first[node] : first[node + 1]]
    return kept


def _gives_integers_or_bools(graph: Graph, node: int) -> bool:
    said = _integer_output_attr(graph.op_types[graph.op[node]])
    if isinstance(said, bool):
        return said
    definition = graph.node_def(node)
    if definition is None:
        function = graph.functions[graph.function[node]]
        signature = graph.graph_def.library.function[function.index].signature
        return dtype_name(signature.input_arg[function.argument_position(node)].type) in INDEX_DTYPES
    if said and (value := definition.attr.get(said)) is not None and value.type:
        return dtype_name(value.type) in INDEX_DTYPES
    dtypes = all_output_dtypes(definition)
    return bool(dtypes) and INDEX_DTYPES.issuperset(dtypes)


@lru_cache(maxsize=MAX_CACHED_OP_TYPES)
def _integer_output_attr(op: str) -> bool | str:
    """Return whether all outputs of an op type are integers or booleans, or the attribute that decides it.

    "" if several attributes decide.

    >>> (
    ...     _integer_output_attr("Where"),
    ...     _integer_output_attr("NoOp"),
    ...     _integer_output_attr("Fill"),
    ...     _integer_output_attr("Unique"),
    ... )
    (True, False, 'T', '')
    """
    definition = op_def(op)
    outputs = definition.outputs if definition is not None else (OutputDef(""), OutputDef(""))
    if all(output.dtype and not output.counted_by for output in outputs):
        return bool(outputs) and all(output.dtype in INDEX_DTYPES for output in outputs)
    first = outputs[0]
    return "" if len(outputs) > 1 or first.several or first.counted_by else first.attr
