"""Weights: variables and frozen constants become marks beside the ops that use them.

make      what makes a weight: a variable, its handle, an argument that is given one, a constant in a weight's place
carry     reads, identities and casts hand it on
name      the variable as the program calls it, through nested calls
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import field
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from graphviz_tb.flatten.edges import Edges
from graphviz_tb.flatten.functions import node_def
from graphviz_tb.flatten.nodes import INPUT_ARG, Nodes
from graphviz_tb.flatten.pytorch import is_pytorch
from graphviz_tb.flatten.standardised import standardised
from graphviz_tb.flatten.weight_slots import PRODUCTS, WEIGHT_SLOTS
from graphviz_tb.model.columns import Bools, Ints, distinct
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.graph import Call, Function
from graphviz_tb.model.tensors import MOST_DIMENSIONS
from graphviz_tb.model.wiring import wiring

if TYPE_CHECKING:
    from graphviz_tb.proto import GraphDef

VARIABLES = frozenset({"VarHandleOp", "_VarHandlesOp", "Variable", "VariableV2", "AutoReloadVariable"})
HANDED_IN = frozenset({"Placeholder", "_Arg", INPUT_ARG})  # what may bring a variable from outside
READS = frozenset(
    {"ReadVariableOp", "_ReadVariablesOp", "ResourceGather", "ResourceGatherNd", "ReadVariableXlaSplitND"}
)
WRITES = re.compile(r"Assign.*|(?>.*Apply)(?!.*Summary).*|Resource(Scatter|Strided|CountUp).*|Var(iable)?IsInit.*|"
                    r"IsVariableInitialized|Scatter(Add|Sub|Update|Mul|Div|Min|Max|Nd.*)|.*[Ss]ave.*|.*Restore.*|"
                    r"DestroyResourceOp|DisableCopyOnRead|VariableShape", re.DOTALL)  # fmt: skip
CARRIERS = frozenset(
    (
        *("ReadVariableOp", "Identity", "Snapshot", "Cast", "Enter", "RefEnter", "RefIdentity", "GuaranteeConst"),
        *("StopGradient", "PreventGradient", "Dequantize", "QuantizeDownAndShrinkRange"),
    )
)
CONSTANTS = frozenset({"Const", "HostConst", "ImmutableConst"})
FROZEN = re.compile(r".*/ReadVariableOp(_\d+)?", re.DOTALL)  # what reads a variable that became a constant
ROUNDS = 40  # carriers one behind the other that a weight is followed through
RESOURCE = 20  # DT_RESOURCE


@dataclass(frozen=True, slots=True, eq=False)
class Carried:
    """`origin` is for each node the node whose value it hands on, itself for what makes one, -1 for others;
    `bound` are for an argument the makers that calls give it; `roles` what a constant is to its layer, where only what
    is done with it says."""

    origin: Ints
    bound: Mapping[int, tuple[int, ...]]
    roles: Mapping[int, str] = field(default_factory=dict)


def find_weights(
    nodes: Nodes, edges: Edges, calls: tuple[Call, ...], functions: tuple[Function, ...], graph: GraphDef
) -> Carried:
    """Before: a flat graph. After: which nodes bring a weight, and whose.

    Nothing is one in what PyTorch wrote: its parameters are constants already.
    """
    none = np.full(len(nodes), -1, np.int32)
    if is_pytorch(nodes) or not any(op in VARIABLES | READS | CONSTANTS for op in nodes.op_types):
        return Carried(none, {})
    bindings = list(bind(nodes, edges, calls, functions, graph))
    made = makers(nodes, edges, bindings, graph)
    origin = carried(nodes, edges, np.where(made, np.arange(len(nodes), dtype=np.int32), none))
    constants = constant_origins(nodes, edges)
    roles = standardised(nodes, edges, constants)
    # A variable is one wherever it goes; a constant only where it is used as one.
    origin = np.where(origin < 0, frozen(nodes, edges, graph, constants, roles, origin), origin)
    return Carried(origin, owners(origin, nodes, bindings), roles)


# make


def of_types(nodes: Nodes, wanted: Callable[[str], bool]) -> Bools:
    """Which nodes have an op type of some kind."""
    matches: Bools = np.array([wanted(op) for op in nodes.op_types], bool)[nodes.op_id]
    return matches


def makers(nodes: Nodes, edges: Edges, bindings: list[tuple[int, int]], graph: GraphDef) -> Bools:
    """Variables, and the arguments and placeholders that are used as handles of variables, here or in a call."""
    made = of_types(nodes, VARIABLES.__contains__)
    handed = np.flatnonzero(of_types(nodes, HANDED_IN.__contains__))
    if not len(handed):
        return made
    uses = of_types(nodes, lambda op: op in READS or bool(WRITES.fullmatch(op)))
    used = np.zeros(len(nodes), bool)
    # The handle is the first input of all that reads or writes a variable.
    used[edges.source[uses[edges.target] & ~edges.control & (edges.slot == 0)]] = True
    handles = {node for node in handed[used[handed]].tolist() if is_resource(nodes, graph, node)}
    arguments = set(handed.tolist())
    givers: dict[int, list[int]] = {}
    for source, argument in bindings:
        givers.setdefault(argument, []).append(source)
    # Outwards: what is a handle inside of a function is one where the function is called.
    waiting = list(handles)
    while waiting:
        for source in givers.get(waiting.pop(), ()):
            if source in arguments and source not in handles:
                handles.add(source)
                waiting.append(source)
    made[list(handles)] = True
    return made


def is_resource(nodes: Nodes, graph: GraphDef, node: int) -> bool:
    """Whether an argument or placeholder is a handle and no value."""
    definition = node_def(nodes, graph, node)
    if definition is None:
        function, argument = place_of(nodes, node)
        return bool(graph.library.function[function].signature.input_arg[argument].type == RESOURCE)
    return any(definition.attr[key].type == RESOURCE for key in ("dtype", "T") if key in definition.attr)


def place_of(nodes: Nodes, node: int) -> tuple[int, int]:
    """The function of an argument, and its position among the arguments there, which come first."""
    from bisect import bisect_right

    block = bisect_right(nodes.starts, node) - 1
    return block - 1, node - nodes.starts[block]


def bind(
    nodes: Nodes, edges: Edges, calls: tuple[Call, ...], functions: tuple[Function, ...], graph: GraphDef
) -> list[tuple[int, int]]:
    """All pairs (node, argument): the node's value is what a call gives the argument."""
    pairs: dict[tuple[int, int], None] = {}
    # Edges are sorted by target: the inputs of a call are a run.
    ends = np.searchsorted(edges.target, np.array([(call.node, call.node + 1) for call in calls]).reshape(-1, 2))
    done: set[tuple[int, int, str]] = set()  # a list of functions may name one of them thousands of times
    for call, (start, stop) in zip(calls, ends.tolist(), strict=True):
        if (call.node, call.function, call.attr) in done:
            continue
        done.add((call.node, call.function, call.attr))
        arguments = functions[call.function].args
        op = nodes.op_types[nodes.op[call.node]]
        joined = wiring(op, node_def(nodes, graph, call.node), call.attr, len(arguments))
        behind = joined.behind
        for edge in range(start, stop):
            if edges.slot[edge] >= behind:
                break  # edges lie in the order of slots
            if not edges.control[edge]:
                for to in joined.takes(int(edges.slot[edge])):
                    pairs[int(edges.source[edge]), arguments[to]] = None
    return list(pairs)


# carry


def carried(nodes: Nodes, edges: Edges, origin: Ints) -> Ints:
    """Hand origins on through ops that only pass a value: round by round, as far as a chain goes."""
    origin = origin.copy()
    passing = of_types(nodes, CARRIERS.__contains__)
    into = np.flatnonzero(passing[edges.target] & (edges.slot == 0) & ~edges.control)
    source, target = edges.source[into], edges.target[into]
    # Each round takes every origin one carrier further.
    for _ in range(ROUNDS):
        new = (origin[source] >= 0) & (origin[target] < 0)
        if not new.any():
            break
        origin[target[new]] = origin[source[new]]
    return origin


def constant_origins(nodes: Nodes, edges: Edges) -> Ints:
    """For each node the constant whose value it hands on."""
    number = np.arange(len(nodes), dtype=np.int32)
    return carried(nodes, edges, np.where(of_types(nodes, CONSTANTS.__contains__), number, np.int32(-1)))


def frozen(
    nodes: Nodes, edges: Edges, graph: GraphDef, origin: Ints, roles: Mapping[int, str], variables: Ints
) -> Ints:
    """The origins of what constants bring that were variables: they are in a weight's place, are read as one, or have
    a role. Before: `origin` of all that constants bring, and of what `variables` bring."""
    constant = of_types(nodes, CONSTANTS.__contains__)
    read = read_as_variables(nodes, edges, constant)
    known = np.isin(origin, edges.source[read]) | (variables >= 0)
    placed = in_weight_slots(nodes, edges) & (origin[edges.source] >= 0)
    placed &= ~multiplied(nodes, edges, known) | known[edges.source]
    # "w/read" and the like: a bias of one number is a weight too, where its name says so.
    read_alone = {*distinct(edges.source[read]).tolist(), *roles}  # however few numbers it holds
    likely = distinct(np.concatenate((origin[edges.source[placed]], edges.source[read], list(roles)))).astype(np.int64)
    weights = [node for node in likely.tolist() if is_tensor(nodes, graph, node, 1 if node in read_alone else 2)]
    kept = np.zeros(len(nodes), bool)
    kept[weights] = True
    return np.where((origin >= 0) & kept[origin], origin, np.int32(-1))


def in_weight_slots(nodes: Nodes, edges: Edges) -> Bools:
    """Which edges arrive where an op has a weight."""
    slots = np.zeros((len(nodes.op_types) or 1, 16), bool)
    for index, op in enumerate(nodes.op_types):
        # Slot 15 stands for all from 15 on; no op has a weight there.
        slots[index, list(WEIGHT_SLOTS.get(op, ()))] = True
    fits: Bools = slots[nodes.op_id[edges.target], np.minimum(edges.slot, 15)] & ~edges.control
    return fits


def multiplied(nodes: Nodes, edges: Edges, known: Bools) -> Bools:
    """Which edges bring the first factor of a product whose second is a weight: what is multiplied with it, as the
    zeros that a recurrent cell begins with."""
    products = of_types(nodes, PRODUCTS.__contains__)[edges.target] & ~edges.control
    weighed = np.zeros(len(nodes), bool)
    weighed[edges.target[products & (edges.slot == 1) & known[edges.source]]] = True
    first: Bools = products & (edges.slot == 0) & weighed[edges.target]
    return first


def read_as_variables(nodes: Nodes, edges: Edges, constant: Bools) -> Ints:
    """Edges from a constant to an identity that is named as what reads a variable ("w/read", "x/ReadVariableOp")."""
    passing = of_types(nodes, "Identity".__eq__)
    edge = np.flatnonzero(constant[edges.source] & passing[edges.target] & ~edges.control)
    sources, targets = edges.source[edge].tolist(), edges.target[edge].tolist()
    # Decided once for each target, whose name may be as long as the file.
    frozen = {target for target in set(targets) if FROZEN.fullmatch(nodes.name[target])}
    read = {target: nodes.name[target].removesuffix("/read") for target in frozen ^ set(targets)}
    reads = [
        index
        for index, source, target in zip(edge.tolist(), sources, targets, strict=True)
        if target in frozen or read[target] == nodes.name[source] != nodes.name[target]
    ]
    return np.array(reads, np.int64)


def is_tensor(nodes: Nodes, graph: GraphDef, node: int, least: int) -> bool:
    """Whether a constant is a list of at least so many numbers."""
    definition = node_def(nodes, graph, node)
    assert definition is not None  # an argument of a function is no constant
    if "value" not in definition.attr:
        return False
    sizes = [dim.size for dim in definition.attr["value"].tensor.tensor_shape.dim]
    return 0 < len(sizes) <= MOST_DIMENSIONS and prod(sizes) >= least


# name


def owners(origin: Ints, nodes: Nodes, bindings: list[tuple[int, int]]) -> dict[int, tuple[int, ...]]:
    """For each argument the makers that calls give it, through nested calls; an argument itself is none.

    Two are enough to know that there are several.
    """
    takers: dict[int, list[int]] = {}
    for source, argument in bindings:
        if origin[source] >= 0:
            takers.setdefault(int(origin[source]), []).append(argument)
    by_node: dict[int, tuple[int, ...]] = {}
    # What a call gives an argument may be an argument itself: only those that nobody gives are variables here.
    given = {argument for arguments in takers.values() for argument in arguments}
    waiting = [(maker, maker) for maker in takers if maker not in given]
    while waiting:
        node, maker = waiting.pop()
        for argument in takers.get(node, ()):
            known = by_node.get(argument, ())
            # Two makers for each argument at most, so every binding is followed twice at most.
            if maker not in known and len(known) < 2:
                by_node[argument] = (*known, maker)
                waiting.append((argument, maker))
    return by_node
