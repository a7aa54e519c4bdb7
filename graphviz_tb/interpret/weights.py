"""Weights: variables and frozen constants that become marks next to the ops that use them.

find        origins of weights: a variable, its handle, an argument bound to one, a constant in a weight slot
propagate   reads, identities and casts pass the value on
name        the name of the variable in the program, through nested calls
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import field
from math import prod

import numpy as np

from graphviz_tb.caches import compile_on_use
from graphviz_tb.graphs.tensors import constant_tensor
from graphviz_tb.graphs.traversal import reachable_from, reachable_mask
from graphviz_tb.interpret.constant_weights import (
    ConstantExpressions,
    computed_kernels,
    constant_biases,
    constant_first_factors,
    constants_joined_to_data,
    doubtful_constants,
    kernels_behind,
    mask_constants,
    opaque_ops_with_numbers,
    projections_of_inputs,
)
from graphviz_tb.interpret.frozen_reads import (
    FrozenReads,
    find_frozen_reads,
    is_stored,
    looked_up_tables,
    spread_along_edges,
)
from graphviz_tb.limits import MAX_FOLLOWED_CARRIERS
from graphviz_tb.model.columns import Bools, Ints, distinct_values, sorted_value_range
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.graph import INPUT_ARG_OP, KEEPS_MORE_ATTR, Graph, wiring_of_call
from graphviz_tb.model.tensors import MAX_DIMENSIONS, RESOURCE_DTYPE_NUMBER
from graphviz_tb.ops.roles import (
    ADD_OPS,
    BATCH_PRODUCT_OPS,
    CONSTANT_OPS,
    CONVOLUTION_OPS,
    DEPTHWISE_OPS,
    EMBEDDING_OPS,
    MATRIX_PRODUCT_OPS,
    REARRANGE_OPS,
    RESHAPE_OPS,
    RESULT_OPS,
    ROW_READ_OPS,
    UNIT_AXES_OPS,
    VARIABLE_OPS,
    VARIABLE_READ_OPS,
    Role,
    has_role,
)
from graphviz_tb.ops.signatures import weight_input_names
from graphviz_tb.ops.table import has_framework

# Weights of frozen graphs in ops that are not listed with a weight: an added bias, a multiplied scale or slope.
#
#     x ─▶ Conv2D [5, 5, 1, 56] ─▶ Add [56] ─▶ … ─▶ Mul [56]
#
# Each has one number per channel of the preceding convolution or product. The channel count is followed through ops
# that keep it.

CHANNEL_JOINING_OPS = ADD_OPS | {"Sub", "Mul", "RealDiv", "BiasAdd"}  # combine an operand with one number per channel
CHANNEL_KEEPING_OPS = CHANNEL_JOINING_OPS | {
    "Abs", "Elu", "Exp", "Identity", "LeakyRelu", "Maximum", "Minimum", "Neg", "Relu", "Relu6", "Selu", "Sigmoid",
    "Softplus", "Softsign", "Square", "Tanh", "AvgPool", "MaxPool", "FusedBatchNorm", "FusedBatchNormV3", "Mean",
    "Erf", "Pow", "Rsqrt", "Sqrt", "SquaredDifference", "StopGradient",
}  # fmt: skip
CHANNEL_MAPPING_OPS = CONVOLUTION_OPS | MATRIX_PRODUCT_OPS | BATCH_PRODUCT_OPS
KERNEL_SLOT = 1  # input slot


def _find_channel_weights(
    graph: Graph, origin: Ints, behind: Callable[[int], Iterable[int]] | None = None
) -> list[int]:
    """Return the constants with one number per channel that are combined with the result of a convolution or product.

    The kernel must be a constant. `origin` is, for each node, the constant whose value it passes on, -1 for none;
    `behind` returns the constants behind a value.
    """
    keeping, joining = (graph.nodes_of_types(ops.__contains__) for ops in (CHANNEL_KEEPING_OPS, CHANNEL_JOINING_OPS))
    width = _output_channels_by_op(graph, origin) | _row_widths_of_tables(graph, origin)
    if not width or not joining.any():
        return []
    unvisited = list(width)
    users_of = _channel_keeping_users(graph, keeping, width)
    while unvisited:
        node = unvisited.pop()
        for target in users_of.get(node, ()):
            # The first width wins: operands of a different width are broadcast.
            if target not in width:
                width[target] = width[node]
                unvisited.append(target)
    found: list[int] = []
    edges = np.flatnonzero(joining[graph.target] & ~graph.control & (origin[graph.source] >= 0))
    for target, constant in zip(graph.target[edges].tolist(), origin[graph.source[edges]].tolist(), strict=True):
        if target in width and _is_one_per_channel(_constant_sizes(graph, constant), width[target]):
            found.append(constant)
    if behind is not None:
        # Scale, mean and variance may be combined to one factor and one addend before they meet the data.
        edges = np.flatnonzero(joining[graph.target] & ~graph.control & (origin[graph.source] < 0))
        for target, source in zip(graph.target[edges].tolist(), graph.source[edges].tolist(), strict=True):
            if target in width:
                found += (
                    node for node in behind(source) if _is_one_per_channel(_constant_sizes(graph, node), width[target])
                )
    return [node for node in found if is_stored(graph, node)]


def _output_channels_by_op(graph: Graph, origin: Ints) -> dict[int, int]:
    """Return the output channels of each convolution and product with a constant kernel."""
    convolves = graph.nodes_of_types(CHANNEL_MAPPING_OPS.__contains__)
    edges = np.flatnonzero(
        convolves[graph.target] & (graph.slot == KERNEL_SLOT) & ~graph.control & (origin[graph.source] >= 0)
    )
    channels: dict[int, int] = {}
    for target, constant in zip(graph.target[edges].tolist(), origin[graph.source[edges]].tolist(), strict=True):
        kernel, op = _constant_sizes(graph, constant), graph.op_types[graph.op[target]]
        if len(kernel) < 2:
            continue
        if op in DEPTHWISE_OPS:
            channels[target] = kernel[-1] * kernel[-2]
            continue
        is_transposed = _has_transposed_kernel(graph, target, int(constant), origin)
        # The rows of a reshaped kernel combine several axes.
        if not (is_transposed and op in MATRIX_PRODUCT_OPS and len(kernel) > 2):
            channels[target] = kernel[-2] if is_transposed else kernel[-1]
    return channels


def _row_widths_of_tables(graph: Graph, origin: Ints) -> dict[int, int]:
    """Return the width of the rows that each lookup takes from a constant table."""
    looks = graph.nodes_of_types(EMBEDDING_OPS.__contains__)[graph.target] & (graph.slot == 0) & ~graph.control
    edges = np.flatnonzero(looks & (origin[graph.source] >= 0))
    tables = zip(graph.target[edges].tolist(), origin[graph.source[edges]].tolist(), strict=True)
    sizes = {target: _constant_sizes(graph, table) for target, table in tables}
    return {target: shape[1] for target, shape in sizes.items() if len(shape) == 2}


def _has_transposed_kernel(graph: Graph, product: int, constant: int, origin: Ints) -> bool:
    """Return whether a product transposes its kernel, by an attribute or by an op in between."""
    definition = graph.node_def(product)
    by_attribute = definition is not None and any(
        definition.attr[key].b for key in TRANSPOSE_ATTRS if key in definition.attr
    )
    between = (graph.op_types[graph.op[node]] for node in _node_inputs(graph, product) if origin[node] == constant)
    return by_attribute != ("Transpose" in between)


TRANSPOSE_ATTRS = ("transpose_b", "adj_y")


def _node_inputs(graph: Graph, node: int) -> list[int]:
    start, stop = sorted_value_range(graph.target, node, node + 1)
    sources: list[int] = graph.source[start:stop].tolist()
    return sources


def _channel_keeping_users(graph: Graph, keeps: Bools, products: Collection[int]) -> dict[int, list[int]]:
    """Return, by node, the users that keep the channels of its value; a reshape after one of `products` does, too."""
    made = np.zeros(len(graph), bool)
    made[list(products)] = True
    back = made[graph.source] & (graph.slot == 0) & graph.nodes_of_types(RESHAPE_OPS.__contains__)[graph.target]
    edges = np.flatnonzero((keeps[graph.target] | back) & ~graph.control)
    after: dict[int, list[int]] = {}
    for source, target in zip(graph.source[edges].tolist(), graph.target[edges].tolist(), strict=True):
        after.setdefault(source, []).append(target)
    return after


def _constant_sizes(graph: Graph, constant: int) -> Sequence[int]:
    tensor = constant_tensor(graph, constant)
    return () if tensor is None else [dim.size for dim in tensor.tensor_shape.dim]


def _is_one_per_channel(sizes: Sequence[int], width: int) -> bool:
    """Return whether a shape is one number per channel: channels last, or third from the end.

    >>> (
    ...     _is_one_per_channel([56], 56),
    ...     _is_one_per_channel([56, 1, 1], 56),
    ...     _is_one_per_channel([8, 7], 56),
    ...     _is_one_per_channel([1], 1),
    ...     _is_one_per_channel([], 1),
    ... )
    (True, True, False, True, False)
    """
    return prod(sizes) == width and width in sizes


# Mean and variance of Keras's Normalization layer.
#
# Keras passes them to the graph as constants, not as variables (`finalize_state` in keras/src/layers/preprocessing/
# normalization.py), broadcast to the rank of the input: y = (x - mean) / max(√variance, ε).

NORMALIZATION_OPS = ("Sub", "Sqrt", "Maximum", "RealDiv")


def _find_normalization_constants(graph: Graph, constant: Ints) -> dict[int, str]:
    """Return the roles of the constants that normalise an input.

    `constant` is the constant whose value each node has, -1 for none.
    """
    if not set(NORMALIZATION_OPS) <= set(graph.op_types):
        return {}
    kind = np.array([NORMALIZATION_OPS.index(op) if op in NORMALIZATION_OPS else -1 for op in graph.op_types])[graph.op]
    kind, constant = np.append(kind, -1), np.append(constant, -1)  # entry of node -1
    edges = np.flatnonzero((kind[graph.target] >= 0) & ~graph.control)
    ends = zip(graph.target[edges].tolist(), graph.slot[edges].tolist(), graph.source[edges].tolist(), strict=True)
    # (op, slot) ─▶ input node
    input_of = {(target, slot): source for target, slot, source in ends}

    def input_of_type(node: int, slot: int, op: str) -> int:
        source = input_of.get((node, slot), -1)
        return source if kind[source] == NORMALIZATION_OPS.index(op) else -1

    roles: dict[int, str] = {}
    # x ─▶ Sub ─────────────────────▶ RealDiv        mean: input 1 of Sub, variance: input 0 of Sqrt
    #                    Sqrt ─▶ Maximum ─┘
    for ratio in np.flatnonzero(kind == NORMALIZATION_OPS.index("RealDiv")).tolist():
        centred = input_of_type(ratio, 0, "Sub")
        root = input_of_type(input_of_type(ratio, 1, "Maximum"), 0, "Sqrt")
        mean, variance = (int(constant[input_of.get(key, -1)]) for key in ((centred, 1), (root, 0)))
        if min(mean, variance) >= 0:
            roles |= {mean: "mean", variance: "variance"}
    return roles


HANDLE_READS = VARIABLE_READ_OPS | ROW_READ_OPS  # give the value, or rows of it, behind a handle
ARGUMENT_OPS = frozenset({"Placeholder", "_Arg", INPUT_ARG_OP})  # may bring a variable from outside
VARIABLE_WRITER = re.compile(
    r"Assign.*|(?>.*Apply)(?!.*Summary).*|Resource(Scatter|Strided|CountUp).*|"
    r"Var(iable)?IsInit.*|"
    r"IsVariableInitialized|Scatter(Add|Sub|Update|Mul|Div|Min|Max|Nd.*)|.*[Ss]ave.*|.*Restore.*|"
    r"DestroyResourceOp|DisableCopyOnRead|VariableShape",
    re.DOTALL,
)
PASS_THROUGH_OPS = frozenset({
    "ReadVariableOp", "Identity", "Snapshot", "Cast", "Enter", "RefEnter", "RefIdentity", "GuaranteeConst",
    "StopGradient", "PreventGradient", "Dequantize", "QuantizeDownAndShrinkRange",
})  # fmt: skip
PARTING_OPS = frozenset({"Split", "SplitV", "Unpack"})  # a cell keeps the kernels of its gates as one
SECOND_INPUT_PASSED = frozenset({"Split"})
REARRANGING_OPS = PASS_THROUGH_OPS | REARRANGE_OPS | UNIT_AXES_OPS
FROZEN_READ = compile_on_use(r".*/ReadVariableOp(_\d+)?", re.DOTALL)  # reads a variable that became a constant


@dataclass(frozen=True, slots=True, eq=False)
class ValueOrigins:
    """The origins of values.

    `origin` is, for each node, the node whose value it passes on: itself for a source, -1 for none. `bound` are the
    sources that calls pass to each argument, `roles` the roles of constants that only their use shows, and `doubtful`
    possible weights that are not counted.
    """

    origin: Ints
    bound: Mapping[int, tuple[int, ...]]
    roles: Mapping[int, str] = field(default_factory=dict)
    doubtful: tuple[int, ...] = ()


def find_weight_origins(graph: Graph) -> ValueOrigins:
    """Find the nodes of a flat graph whose value is a weight, and the variable or constant that each comes from.

    A graph of PyTorch has none: its parameters are constants already.
    """
    no_origin = np.full(len(graph), -1, np.int32)
    if graph.is_value_trace:
        return ValueOrigins(no_origin, {})
    if not graph.is_exported and not any(op in VARIABLE_OPS | HANDLE_READS | CONSTANT_OPS for op in graph.op_types):
        return ValueOrigins(no_origin, {}, doubtful=tuple(opaque_ops_with_numbers(graph)))
    bindings = _bind_call_arguments(graph)
    is_made = _find_weight_makers(graph, bindings)
    # In an exported program, reshaped weights are weights too.
    passing = PASS_THROUGH_OPS.union(op for op in graph.op_types if has_framework(op) and has_role(op, *PASSING_ROLES))
    origin = _propagate_origins(graph, np.where(is_made, np.arange(len(graph), dtype=np.int32), no_origin), passing)
    constants = _constant_origins(graph)
    roles = _find_normalization_constants(graph, constants)
    # A variable is always a weight; a constant only if it is used like one.
    reads = find_frozen_reads(graph, bindings)
    # If reads show which constants were variables, or there are variables, a number in the code is not a weight.
    literal = (reads.distinguish_weights and not reads.stripped) or bool((origin >= 0).any())
    frozen = _frozen_weight_origins(graph, constants, roles, origin, bindings, reads, literal)
    is_frozen = np.zeros(len(graph), bool)
    is_frozen[frozen[frozen >= 0]] = True
    may_keep_more = is_made
    if graph.is_exported:
        # Only an exported program computes constants from weights, and has results of the whole model.
        may_keep_more = is_made | (constants == np.arange(len(graph))) | graph.nodes_of_types(RESULT_OPS.__contains__)
    # The file marks nodes if the model has further variables that the graph does not use.
    keeping_more = graph.nodes_having(KEEPS_MORE_ATTR, np.flatnonzero(may_keep_more).tolist())
    doubtful = [
        *doubtful_constants(graph, constants, is_frozen, literal),
        *opaque_ops_with_numbers(graph),
        *keeping_more,
    ]
    origin = np.where(origin < 0, frozen, origin)
    bound = _origins_by_argument(origin, bindings)
    return ValueOrigins(_extend_into_functions(graph, origin, bindings, passing), bound, roles, tuple(doubtful))


PASSING_ROLES = (Role.PASS, Role.READ, Role.CAST, Role.GRADIENT_STOP, Role.REARRANGE, Role.UNIT_AXES)


# Find the origins of weights.


def _find_weight_makers(graph: Graph, bindings: list[tuple[int, int]]) -> Bools:
    """Mark variables, and the arguments and placeholders used as handles of variables, here or in a called function."""
    is_maker = graph.nodes_of_types(VARIABLE_OPS.__contains__)
    handed = np.flatnonzero(graph.nodes_of_types(ARGUMENT_OPS.__contains__))
    if not len(handed):
        return is_maker
    uses_handle = graph.nodes_of_types(lambda op: op in HANDLE_READS or bool(VARIABLE_WRITER.fullmatch(op)))
    is_used = np.zeros(len(graph), bool)
    # The handle is the first input of every op that reads or writes a variable.
    is_used[graph.source[uses_handle[graph.target] & ~graph.control & (graph.slot == 0)]] = True
    handles = {node for node in handed[is_used[handed]].tolist() if _is_resource_handle(graph, node)}
    arguments = set(handed.tolist())
    sources_of: dict[int, list[int]] = {}
    for source, argument in bindings:
        sources_of.setdefault(argument, []).append(source)
    # An argument that is a handle in a function is a handle in its callers.
    is_maker[list(reachable_from(handles, lambda inner: arguments.intersection(sources_of.get(inner, ()))))] = True
    return is_maker


def _is_resource_handle(graph: Graph, node: int) -> bool:
    """Return whether an argument or placeholder is a resource handle, not a value."""
    definition = graph.node_def(node)
    if definition is None:
        function, argument = argument_position(graph, node)
        return bool(
            graph.graph_def.library.function[function].signature.input_arg[argument].type == RESOURCE_DTYPE_NUMBER
        )
    return any(definition.attr[key].type == RESOURCE_DTYPE_NUMBER for key in ("dtype", "T") if key in definition.attr)


def argument_position(graph: Graph, node: int) -> tuple[int, int]:
    """Return the function of an argument, and its position there."""
    function = int(graph.function[node])
    return function, graph.functions[function].argument_position(node)


def _bind_call_arguments(graph: Graph) -> list[tuple[int, int]]:
    """Return all pairs (node, argument) where a call passes the node's value to the argument."""
    pairs: dict[tuple[int, int], None] = {}
    # Edges are sorted by target: the inputs of a call are a run.
    ends = np.searchsorted(graph.target, np.array([(call.node, call.node + 1) for call in graph.calls]).reshape(-1, 2))
    seen_calls: set[tuple[int, int, str]] = set()  # a list of functions may repeat one thousands of times
    for call, (start, stop) in zip(graph.calls, ends.tolist(), strict=True):
        if (call.node, call.function, call.attr) in seen_calls:
            continue
        seen_calls.add((call.node, call.function, call.attr))
        arguments = graph.functions[call.function].args
        op = graph.op_types[graph.op[call.node]]
        wiring = wiring_of_call(op, graph.node_def(call.node), call.attr, len(arguments))
        stop_slot = wiring.first_free_input
        for edge in range(start, stop):
            if graph.slot[edge] >= stop_slot:
                break  # edges are in the order of slots
            if not graph.control[edge]:
                for position in wiring.arguments_of_input(int(graph.slot[edge])):
                    pairs[int(graph.source[edge]), arguments[position]] = None
    return list(pairs)


# Propagate origins along the flow.


def _propagate_origins(graph: Graph, origin: Ints, through: frozenset[str] = PASS_THROUGH_OPS) -> Ints:
    """Return origins propagated through ops that only pass a value on."""
    origin = origin.copy()
    passing = graph.nodes_of_types(through.__contains__)
    slot = graph.nodes_of_types(SECOND_INPUT_PASSED.__contains__)[graph.target].astype(np.int32)
    into = np.flatnonzero(passing[graph.target] & (graph.slot == slot) & ~graph.control)
    spread_along_edges(origin, graph.source[into], graph.target[into])
    return origin


def _extend_into_functions(
    graph: Graph, origin: Ints, bindings: list[tuple[int, int]], through: frozenset[str]
) -> Ints:
    """Return origins with arguments to which every call passes a weight, except those of loops, which may change it."""
    op_of_call = [graph.op_types[graph.op[call.node]] for call in graph.calls]
    calls = zip(graph.calls, op_of_call, strict=True)
    loop_functions = {call.function for call, op in calls if call.attr and not has_role(op, Role.CALL, Role.LAUNCH)}
    sources_of: dict[int, list[int]] = {}
    for source, argument in bindings:
        if int(graph.function[argument]) not in loop_functions:
            sources_of.setdefault(argument, []).append(source)
    for _ in range(MAX_FOLLOWED_CARRIERS):
        bound = [arg for arg, sources in sources_of.items() if origin[arg] < 0 and (origin[sources] >= 0).all()]
        if not bound:
            break
        origin = origin.copy()
        origin[bound] = bound
        origin = _propagate_origins(graph, origin, through)
        for arg in bound:
            del sources_of[arg]
    return origin


def _constant_origins(graph: Graph) -> Ints:
    """Return, for each node, the constant whose value it passes on."""
    number = np.arange(len(graph), dtype=np.int32)
    return _propagate_origins(graph, np.where(graph.nodes_of_types(CONSTANT_OPS.__contains__), number, np.int32(-1)))


def _frozen_weight_origins(
    graph: Graph,
    origin: Ints,
    roles: Mapping[int, str],
    variables: Ints,
    bindings: list[tuple[int, int]],
    reads: FrozenReads,
    literal: bool,
) -> Ints:
    """Return the origins of former variables: constants that are read, have a role, or are in a weight slot.

    `origin` are the origins of constants, `variables` those of variables; `bindings` come from `_bind_call_arguments`.
    With `literal`, a constant that nothing reads is not a variable, unless it is a looked-up table.
    """
    constant = graph.nodes_of_types(CONSTANT_OPS.__contains__)
    read = _variable_read_edges(graph, constant)
    known = np.isin(origin, graph.source[read]) | (variables >= 0)
    in_slot = weight_slot_edges(graph) & (origin[graph.source] >= 0)
    in_slot &= ~_edges_multiplied_by_weight(graph, known) | known[graph.source]
    # With a read like "w/read" even a single number is a weight.
    named = distinct_values(graph.source[read]).tolist()
    any_size = {*named, *roles}
    passed = [int(origin[source]) for source in _nodes_passed_as_weights(graph, bindings) if origin[source] >= 0]
    certain = np.concatenate((origin[graph.source[in_slot]], graph.source[read], list(roles), passed)).astype(np.int64)
    # Transposed and reshaped constants count in a weight slot too, except as the first factor of a product.
    moved = _propagate_origins(graph, origin, REARRANGING_OPS)
    moved_in_slot = (
        weight_slot_edges(graph) & (origin[graph.source] < 0) & (moved[graph.source] >= 0) & (graph.slot > 0)
    )
    moved_in_slot &= ~np.isin(moved[graph.source], certain)
    likely = [*certain.tolist(), *moved[graph.source[moved_in_slot]].tolist()]
    if not literal:
        likely, one_per_channel = _weights_by_use(graph, origin, moved, likely)
        if not len(read):
            any_size |= {*one_per_channel, *constant_biases(graph, origin)}
    weights = [node for node in sorted(set(likely)) if _has_min_elements(graph, node, 1 if node in any_size else 2)]
    if literal:
        tables = looked_up_tables(graph, origin)
        weights = [node for node in weights if node in any_size or node in tables]
    weights += [node for node in named if not _constant_sizes(graph, node) and is_stored(graph, node)]
    if reads.distinguish_weights:
        weights = [*{*weights, *reads.read.tolist()}]
    is_weight = np.zeros(len(graph), bool)
    is_weight[weights] = True
    # Only the path to a weight slot is a weight; other users of the constant stay ops.
    leads_to_slot = _nodes_feeding_only_weights(graph, moved, moved_in_slot) & is_weight[moved]
    direct = (origin >= 0) & is_weight[origin]
    return np.where(direct, origin, np.where(leads_to_slot, moved, np.int32(-1)))


def _weights_by_use(graph: Graph, origin: Ints, turned: Ints, likely: list[int]) -> tuple[list[int], list[int]]:
    """Return the constants used like weights, `likely` ones included, and those with one number per channel."""
    values = ConstantExpressions(graph)
    kernels = kernels_behind(graph, values)
    by_width = _find_channel_weights(
        graph, turned, lambda node: values.constants_behind([node]) if values.is_constant[node] else ()
    )
    one_per_channel = [*by_width, *constants_joined_to_data(graph, values)]
    found = [*likely, *kernels, *one_per_channel]
    apart = constant_first_factors(graph, values, origin) | mask_constants(graph, values, found)
    apart |= computed_kernels(graph, kernels, kernels)
    apart |= projections_of_inputs(graph, values)
    return [node for node in found if node not in apart], one_per_channel


def _nodes_feeding_only_weights(graph: Graph, turned: Ints, moved: Bools) -> Bools:
    """Mark the nodes that pass a constant, transposed or reshaped, only to weight slots."""
    leads = np.zeros(len(graph), bool)
    leads[graph.source[moved]] = True
    data = ~graph.control
    inner = data & (turned[graph.source] >= 0) & (turned[graph.source] == turned[graph.target])
    leads = reachable_mask(leads, graph.target[inner], graph.source[inner])
    astray = np.zeros(len(graph), bool)
    astray[graph.source[data & ~moved & ~(inner & leads[graph.target])]] = True
    only: Bools = leads & (turned >= 0) & ~astray
    return only


def _nodes_passed_as_weights(graph: Graph, bindings: list[tuple[int, int]]) -> list[int]:
    """Return the nodes that a call passes to an argument which its function, or one called there, uses as a weight."""
    if not bindings:
        return []
    arguments = np.full(len(graph), -1, np.int32)
    bound = np.array([argument for _, argument in bindings], np.int32)
    arguments[bound] = bound
    arguments = _propagate_origins(graph, arguments, REARRANGING_OPS | PARTING_OPS)
    in_slot = weight_slot_edges(graph) & (graph.slot > 0) & (arguments[graph.source] >= 0)
    used = set(distinct_values(arguments[graph.source[in_slot]]).tolist())
    sources_of: dict[int, list[int]] = {}
    for source, argument in bindings:
        sources_of.setdefault(argument, []).append(source)

    def outer_arguments(argument: int) -> list[int]:
        return [int(arguments[source]) for source in sources_of.get(argument, ()) if arguments[source] >= 0]

    return [source for argument in reachable_from(used, outer_arguments) for source in sources_of.get(argument, ())]


def weight_slot_edges(graph: Graph) -> Bools:
    """Return which edges end in an input slot where an op takes a weight."""
    taken = [list(weight_input_names(op)) for op in graph.op_types]
    beyond = max((slot for slots in taken for slot in slots), default=-1) + 1  # a slot in which no op takes a weight
    fitting = np.zeros((len(taken) or 1, beyond + 1), bool)
    for index, slots in enumerate(taken):
        fitting[index, slots] = True
    fits: Bools = fitting[graph.op[graph.target], np.minimum(graph.slot, beyond)] & ~graph.control
    return fits


def _edges_multiplied_by_weight(graph: Graph, known: Bools) -> Bools:
    """Mark the edges to the first factor of products with a weight, such as the zero state of a recurrent cell."""
    products = graph.nodes_of_types(MATRIX_PRODUCT_OPS.__contains__)[graph.target] & ~graph.control
    weighed = np.zeros(len(graph), bool)
    weighed[graph.target[products & (graph.slot == 1) & known[graph.source]]] = True
    first: Bools = products & (graph.slot == 0) & weighed[graph.target]
    return first


def _variable_read_edges(graph: Graph, constant: Bools) -> Ints:
    """Return edges from a constant to an identity named like a variable read ("w/read", "x/ReadVariableOp")."""
    passing = graph.nodes_of_types("Identity".__eq__)
    edge = np.flatnonzero(constant[graph.source] & passing[graph.target] & ~graph.control)
    sources, targets = graph.source[edge].tolist(), graph.target[edge].tolist()
    # Once per target: its name may be as long as the file.
    frozen = {target for target in set(targets) if FROZEN_READ.fullmatch(graph.name[target])}
    read = {target: graph.name[target].removesuffix("/read") for target in frozen ^ set(targets)}
    reads = [
        index
        for index, source, target in zip(edge.tolist(), sources, targets, strict=True)
        if target in frozen or read[target] == graph.name[source] != graph.name[target]
    ]
    return np.array(reads, np.int64)


def _has_min_elements(graph: Graph, node: int, least: int) -> bool:
    """Return whether a constant has dimensions and at least `least` elements."""
    sizes = _constant_sizes(graph, node)
    return 0 < len(sizes) <= MAX_DIMENSIONS and prod(sizes) >= least


# Weights that calls pass as arguments.


def _origins_by_argument(origin: Ints, bindings: list[tuple[int, int]]) -> dict[int, tuple[int, ...]]:
    """Return, for each argument, the origins that calls pass to it, through nested calls; at most two."""
    takers: dict[int, list[int]] = {}
    for source, argument in bindings:
        if origin[source] >= 0:
            takers.setdefault(int(origin[source]), []).append(argument)
    by_node: dict[int, tuple[int, ...]] = {}
    # The value passed may be an argument itself: start at origins that no call passes.
    given = {argument for arguments in takers.values() for argument in arguments}
    waiting = [(maker, maker) for maker in takers if maker not in given]
    while waiting:
        node, maker = waiting.pop()
        for argument in takers.get(node, ()):
            known = by_node.get(argument, ())
            # At most two origins per argument, so every binding is followed at most twice.
            if maker not in known and len(known) < 2:
                by_node[argument] = (*known, maker)
                waiting.append((argument, maker))
    return by_node
