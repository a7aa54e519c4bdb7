"""Weights: variables and frozen constants that become marks next to the ops that use them.

find        makers of weights: a variable, its handle, an argument bound to one, a constant in a weight slot
propagate   reads, identities and casts pass the value on
name        the variable as the program calls it, through nested calls
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field
from math import prod

import numpy as np

from graphviz_tb.algorithms.reached import reachable_mask
from graphviz_tb.interpret.by_width import find_channel_weights
from graphviz_tb.interpret.standardised import find_normalization_constants
from graphviz_tb.limits import MAX_FOLLOWED_CARRIERS
from graphviz_tb.model.columns import Bools, Ints, distinct_values
from graphviz_tb.model.dtypes import RESOURCE_DTYPE_NUMBER
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.graph import INPUT_ARG_OP, Graph
from graphviz_tb.model.tensors import MAX_DIMENSIONS
from graphviz_tb.model.wiring import wiring_of_call
from graphviz_tb.ops.inputs import weight_input_names
from graphviz_tb.ops.roles import (
    CONSTANT_OPS,
    MATRIX_PRODUCT_OPS,
    REARRANGE_OPS,
    ROW_READ_OPS,
    UNIT_AXES_OPS,
    VARIABLE_OPS,
    VARIABLE_READ_OPS,
)

HANDLE_READS = VARIABLE_READ_OPS | ROW_READ_OPS  # give the value, or rows of it, behind a handle
ARGUMENT_OPS = frozenset({"Placeholder", "_Arg", INPUT_ARG_OP})  # may bring a variable from outside
VARIABLE_WRITER = re.compile(r"Assign.*|(?>.*Apply)(?!.*Summary).*|Resource(Scatter|Strided|CountUp).*|Var(iable)?IsInit.*|"
                    r"IsVariableInitialized|Scatter(Add|Sub|Update|Mul|Div|Min|Max|Nd.*)|.*[Ss]ave.*|.*Restore.*|"
                    r"DestroyResourceOp|DisableCopyOnRead|VariableShape", re.DOTALL)  # fmt: skip
PASS_THROUGH_OPS = frozenset(
    (
        *("ReadVariableOp", "Identity", "Snapshot", "Cast", "Enter", "RefEnter", "RefIdentity", "GuaranteeConst"),
        *("StopGradient", "PreventGradient", "Dequantize", "QuantizeDownAndShrinkRange"),
    )
)
REARRANGING_OPS = PASS_THROUGH_OPS | REARRANGE_OPS | UNIT_AXES_OPS
FROZEN_READ = re.compile(r".*/ReadVariableOp(_\d+)?", re.DOTALL)  # reads a variable that became a constant


@dataclass(frozen=True, slots=True, eq=False)
class ValueOrigins:
    """Makers and roles of weights.

    `origin[node]`  node whose value it passes on, itself for a maker, -1 for none
    `bound[arg]`    makers that calls pass to a function argument
    `roles[const]`  role of a constant, "mean" or "variance", inferred from how it is used
    """

    origin: Ints
    bound: Mapping[int, tuple[int, ...]]
    roles: Mapping[int, str] = field(default_factory=dict)


def find_weight_origins(graph: Graph) -> ValueOrigins:
    """Find the nodes of a flat graph whose value is a weight, and the variable or constant that each comes from.

    A graph of PyTorch has none: its parameters are constants already.
    """
    none = np.full(len(graph), -1, np.int32)
    if graph.is_pytorch or not any(op in VARIABLE_OPS | HANDLE_READS | CONSTANT_OPS for op in graph.op_types):
        return ValueOrigins(none, {})
    bindings = bind_call_arguments(graph)
    made = find_weight_makers(graph, bindings)
    origin = propagate_origins(graph, np.where(made, np.arange(len(graph), dtype=np.int32), none))
    constants = constant_origins(graph)
    roles = find_normalization_constants(graph, constants)
    # A variable is a weight everywhere; a constant only if it is used as one.
    origin = np.where(origin < 0, frozen_weight_origins(graph, constants, roles, origin, bindings), origin)
    return ValueOrigins(origin, origins_by_argument(origin, bindings), roles)


# find


def find_weight_makers(graph: Graph, bindings: list[tuple[int, int]]) -> Bools:
    """Return variables, and the arguments and placeholders used as handles of variables, here or in a call."""
    made = graph.nodes_of_types(VARIABLE_OPS.__contains__)
    handed = np.flatnonzero(graph.nodes_of_types(ARGUMENT_OPS.__contains__))
    if not len(handed):
        return made
    uses = graph.nodes_of_types(lambda op: op in HANDLE_READS or bool(VARIABLE_WRITER.fullmatch(op)))
    used = np.zeros(len(graph), bool)
    # The handle is the first input of every op that reads or writes a variable.
    used[graph.source[uses[graph.target] & ~graph.control & (graph.slot == 0)]] = True
    handles = {node for node in handed[used[handed]].tolist() if is_resource_handle(graph, node)}
    arguments = set(handed.tolist())
    givers: dict[int, list[int]] = {}
    for source, argument in bindings:
        givers.setdefault(argument, []).append(source)
    # Outwards: a handle inside a function is a handle where the function is called.
    waiting = list(handles)
    while waiting:
        for source in givers.get(waiting.pop(), ()):
            if source in arguments and source not in handles:
                handles.add(source)
                waiting.append(source)
    made[list(handles)] = True
    return made


def is_resource_handle(graph: Graph, node: int) -> bool:
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


def bind_call_arguments(graph: Graph) -> list[tuple[int, int]]:
    """Return all pairs (node, argument) where a call passes the node's value to the argument."""
    pairs: dict[tuple[int, int], None] = {}
    # Edges are sorted by target: the inputs of a call are a run.
    ends = np.searchsorted(graph.target, np.array([(call.node, call.node + 1) for call in graph.calls]).reshape(-1, 2))
    done: set[tuple[int, int, str]] = set()  # a list of functions may repeat one thousands of times
    for call, (start, stop) in zip(graph.calls, ends.tolist(), strict=True):
        if (call.node, call.function, call.attr) in done:
            continue
        done.add((call.node, call.function, call.attr))
        arguments = graph.functions[call.function].args
        op = graph.op_types[graph.op[call.node]]
        joined = wiring_of_call(op, graph.node_def(call.node), call.attr, len(arguments))
        behind = joined.first_free_input
        for edge in range(start, stop):
            if graph.slot[edge] >= behind:
                break  # edges are in the order of slots
            if not graph.control[edge]:
                for to in joined.arguments_of_input(int(graph.slot[edge])):
                    pairs[int(graph.source[edge]), arguments[to]] = None
    return list(pairs)


# propagate


def propagate_origins(graph: Graph, origin: Ints, through: frozenset[str] = PASS_THROUGH_OPS) -> Ints:
    """Propagate origins through ops that only pass a value on, one op per round."""
    origin = origin.copy()
    passing = graph.nodes_of_types(through.__contains__)
    into = np.flatnonzero(passing[graph.target] & (graph.slot == 0) & ~graph.control)
    source, target = graph.source[into], graph.target[into]
    # Each round moves every origin one op further.
    for _ in range(MAX_FOLLOWED_CARRIERS):
        new = (origin[source] >= 0) & (origin[target] < 0)
        if not new.any():
            break
        origin[target[new]] = origin[source[new]]
    return origin


def constant_origins(graph: Graph) -> Ints:
    """Return, for each node, the constant whose value it passes on."""
    number = np.arange(len(graph), dtype=np.int32)
    return propagate_origins(graph, np.where(graph.nodes_of_types(CONSTANT_OPS.__contains__), number, np.int32(-1)))


def frozen_weight_origins(
    graph: Graph, origin: Ints, roles: Mapping[int, str], variables: Ints, bindings: list[tuple[int, int]]
) -> Ints:
    """Return the origins of constants that were variables.

    These are in a weight slot, here or in a called function, are read like a variable, or have a role. Before: `origin`
    of all constants, `variables` the origins of variables, `bindings` from `bind_call_arguments`.
    """
    constant = graph.nodes_of_types(CONSTANT_OPS.__contains__)
    read = variable_read_edges(graph, constant)
    known = np.isin(origin, graph.source[read]) | (variables >= 0)
    placed = weight_slot_edges(graph) & (origin[graph.source] >= 0)
    placed &= ~edges_multiplied_by_weight(graph, known) | known[graph.source]
    # "w/read" and the like: with such a name even a single number is a weight.
    read_alone = {*distinct_values(graph.source[read]).tolist(), *roles}  # however few numbers
    given = [int(origin[source]) for source in nodes_passed_as_weights(graph, bindings) if origin[source] >= 0]
    told = np.concatenate((origin[graph.source[placed]], graph.source[read], list(roles), given)).astype(np.int64)
    # Transposed and reshaped constants count in a weight slot too, except as the first factor of a product.
    turned = propagate_origins(graph, origin, REARRANGING_OPS)
    moved = weight_slot_edges(graph) & (origin[graph.source] < 0) & (turned[graph.source] >= 0) & (graph.slot > 0)
    moved &= ~np.isin(turned[graph.source], told)
    likely = np.concatenate((told, turned[graph.source[moved]], find_channel_weights(graph, turned))).astype(np.int64)
    weights = [
        node
        for node in distinct_values(likely).tolist()
        if has_min_elements(graph, node, 1 if node in read_alone else 2)
    ]
    kept = np.zeros(len(graph), bool)
    kept[weights] = True
    # Only the path to a weight slot is a weight: other results of the constant stay ops.
    leads = nodes_feeding_only_weights(graph, turned, moved) & kept[turned]
    direct = (origin >= 0) & kept[origin]
    return np.where(direct, origin, np.where(leads, turned, np.int32(-1)))


def nodes_feeding_only_weights(graph: Graph, turned: Ints, moved: Bools) -> Bools:
    """Return the nodes that pass a constant, transposed or reshaped, to a weight slot and to nothing else."""
    leads = np.zeros(len(graph), bool)
    leads[graph.source[moved]] = True
    data = ~graph.control
    inner = data & (turned[graph.source] >= 0) & (turned[graph.source] == turned[graph.target])
    leads = reachable_mask(leads, graph.target[inner], graph.source[inner])
    astray = np.zeros(len(graph), bool)
    astray[graph.source[data & ~moved & ~(inner & leads[graph.target])]] = True
    only: Bools = leads & (turned >= 0) & ~astray
    return only


def nodes_passed_as_weights(graph: Graph, bindings: list[tuple[int, int]]) -> list[int]:
    """Return the nodes that a call passes to an argument which its function, or one called there, uses as a weight."""
    if not bindings:
        return []
    arguments = np.full(len(graph), -1, np.int32)
    bound = np.array([argument for _, argument in bindings], np.int32)
    arguments[bound] = bound
    arguments = propagate_origins(graph, arguments)
    placed = weight_slot_edges(graph) & (graph.slot > 0) & (arguments[graph.source] >= 0)
    used = set(distinct_values(arguments[graph.source[placed]]).tolist())
    givers: dict[int, list[int]] = {}
    for source, argument in bindings:
        givers.setdefault(argument, []).append(source)
    given: list[int] = []
    waiting = list(used)
    while waiting:
        for source in givers.get(waiting.pop(), ()):
            given.append(source)
            outer = int(arguments[source])
            if outer >= 0 and outer not in used:
                used.add(outer)
                waiting.append(outer)
    return given


def weight_slot_edges(graph: Graph) -> Bools:
    """Return which edges end in an input slot where an op takes a weight."""
    slots = np.zeros((len(graph.op_types) or 1, 16), bool)
    for index, op in enumerate(graph.op_types):
        # Slot 15 covers all from 15 on; no op has a weight there.
        slots[index, list(weight_input_names(op))] = True
    fits: Bools = slots[graph.op[graph.target], np.minimum(graph.slot, 15)] & ~graph.control
    return fits


def edges_multiplied_by_weight(graph: Graph, known: Bools) -> Bools:
    """Return which edges bring the first factor of a product whose second is a weight, as the zero state of a recurrent
    cell."""
    products = graph.nodes_of_types(MATRIX_PRODUCT_OPS.__contains__)[graph.target] & ~graph.control
    weighed = np.zeros(len(graph), bool)
    weighed[graph.target[products & (graph.slot == 1) & known[graph.source]]] = True
    first: Bools = products & (graph.slot == 0) & weighed[graph.target]
    return first


def variable_read_edges(graph: Graph, constant: Bools) -> Ints:
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


def has_min_elements(graph: Graph, node: int, least: int) -> bool:
    """Return whether a constant has dimensions and at least `least` elements."""
    definition = graph.node_def(node)
    assert definition is not None  # arguments of functions are no constants
    if "value" not in definition.attr:
        return False
    sizes = [dim.size for dim in definition.attr["value"].tensor.tensor_shape.dim]
    return 0 < len(sizes) <= MAX_DIMENSIONS and prod(sizes) >= least


# name


def origins_by_argument(origin: Ints, bindings: list[tuple[int, int]]) -> dict[int, tuple[int, ...]]:
    """Return, for each argument, the makers that calls pass to it through nested calls, at most two; never an
    argument."""
    takers: dict[int, list[int]] = {}
    for source, argument in bindings:
        if origin[source] >= 0:
            takers.setdefault(int(origin[source]), []).append(argument)
    by_node: dict[int, tuple[int, ...]] = {}
    # The value passed may be an argument itself: start at makers that no call passes.
    given = {argument for arguments in takers.values() for argument in arguments}
    waiting = [(maker, maker) for maker in takers if maker not in given]
    while waiting:
        node, maker = waiting.pop()
        for argument in takers.get(node, ()):
            known = by_node.get(argument, ())
            # At most two makers per argument, so every binding is followed at most twice.
            if maker not in known and len(known) < 2:
                by_node[argument] = (*known, maker)
                waiting.append((argument, maker))
    return by_node
