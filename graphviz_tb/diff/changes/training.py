"""Read from a training step its optimizer and the variables that it trains, and hash the computation of its ops."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from graphviz_tb.diff.changes.across_layers import shared_scope
from graphviz_tb.diff.columns.labels import LOSS_SCALING, NOISE_ATTRIBUTES
from graphviz_tb.diff.columns.layers import VALUE_PLUMBING, Layers
from graphviz_tb.diff.columns.side import GraphColumns
from graphviz_tb.diff.columns.values import Hashes, base_name, word_hash
from graphviz_tb.diff.match.matching import Matching
from graphviz_tb.diff.match.numbered import takes_any_number
from graphviz_tb.graphs.traversal import needed_only_by, reachable_mask
from graphviz_tb.model.change import Change
from graphviz_tb.model.change_content import Setting
from graphviz_tb.model.columns import Bools, distinct_values, exists
from graphviz_tb.model.graph import COLOCATION_ATTR
from graphviz_tb.model.interpretation import Part, VariableUse
from graphviz_tb.model.paths import last_segment
from graphviz_tb.ops.roles import (
    CONSTANT_OPS,
    FILL_OPS,
    MULTIPLY_OPS,
    VARIABLE_READ_OPS,
    Role,
    has_role,
    optimizer_of_op,
)

UPDATE_ROLES = (Role.ASSIGN, Role.SCATTER, Role.UPDATE)
INTEGER_DTYPES = (3, 9, 22, 23)  # TensorFlow's numbers of int32, int64, uint32, uint64
FINITE_OPS = frozenset({"IsFinite"})
CLEARING_OPS = CONSTANT_OPS | FILL_OPS
ADD_TO_VARIABLE_OPS = frozenset({"AssignAdd", "AssignAddVariableOp"})
ACCUMULATION = "accumulation of gradients"
OPTIMIZER_KEYS = frozenset({"optimizer", LOSS_SCALING, ACCUMULATION})  # changes that replace the ops of an optimizer
IN_BRANCH = "in a branch"  # of an optimizer that skips some steps


@dataclass(frozen=True, slots=True)
class TrainedVariables:
    """The training of a graph: the names of the optimizers, the one with the most updates first, the variables of the
    model that they update, the updating ops, the ops that scale the loss, whether gradients of several steps are added
    up, and whether the file states which variables are trainable instead of training them."""

    optimizers: tuple[str, ...]
    trained: frozenset[int]
    updates: tuple[int, ...] = ()
    scaling: frozenset[int] = frozenset()
    accumulates: bool = False
    is_stated: bool = False

    @property
    def optimizer(self) -> str:
        """The name of the optimizer with the most updates, "" for none."""
        return next(iter(self.optimizers), "")


def training_of(layers: Layers) -> TrainedVariables:
    """Return the training of one side.

    A variable is trained if an op outside of its layer updates it with a value computed from gradients. Statistics that
    a layer updates itself, and variables that only a saver or an initialiser sets, are not trained.
    """
    side = layers.side
    graph = side.graph
    if not graph.meaning.flow().gradient.any():
        parameters = (each for each in graph.meaning.variables() if each.use == VariableUse.PARAMETER)
        stated = {each.node: each.trainable for each in parameters if graph.is_exported and each.trainable is not None}
        return TrainedVariables((), frozenset(filter(stated.get, stated)), is_stated=bool(stated))
    updates = graph.nodes_of_types(lambda op: has_role(op, *UPDATE_ROLES)) & (graph.meaning.part() == Part.UPDATE)
    names: list[str] = []
    types: Counter[str] = Counter()
    trained, updating = set(), []
    for node in np.flatnonzero(updates).tolist():
        # The first input of an update is its variable.
        variable = next(iter(graph.source[side.in_edges(node)].tolist()), node)
        if (
            not layers.forward[variable]
            or is_integer_op(side, node)
            or layers.layer_of_node(variable) == layers.layer_of_node(node)
        ):
            continue
        trained.add(variable)
        updating.append(node)
        names.append(graph.name[node])
        if word := optimizer_of_op(graph.op_types[graph.op[node]]):
            types[word] += 1
    if not updating:
        return _branched_training(side)
    # Optimizers are named by the types of their updates, else one by the scope of these.
    words = sorted(types, key=lambda word: (-types[word], word)) or [base_name(last_segment(shared_scope(names)))]
    return TrainedVariables(tuple(filter(None, words)), frozenset(trained), tuple(updating))


def _branched_training(side: GraphColumns) -> TrainedVariables:
    """Return the training of a side whose updates are in a function: gradients, or sums of them, are inputs of its
    call.

    Such a branch skips steps with infinite gradients if losses are scaled, or adds up the gradients of several steps.
    """
    graph = side.graph
    from_gradient = graph.meaning.flow().gradient[graph.source] & ~graph.control
    counts = np.bincount(graph.target[from_gradient], minlength=len(graph))
    gradient_inputs = counts * (graph.meaning.part() == Part.UPDATE)
    # Variables that gradients are added to.
    adds = graph.nodes_of_types(ADD_TO_VARIABLE_OPS.__contains__) & (graph.meaning.part() == Part.UPDATE)
    sums = {side.data_sources(node)[0] for node in np.flatnonzero(adds).tolist()}
    for node, calls in side.functions_called_by_node.items():
        accumulates = not sums.isdisjoint(side.data_sources(node))
        if not gradient_inputs[node] and not accumulates:
            continue
        writes = [np.flatnonzero((graph.function == function) & graph.meaning.writes) for _, function in calls]
        clearing = graph.nodes_of_types(CLEARING_OPS.__contains__)[graph.source] & (graph.slot == 1)
        # An assignment of a constant clears a sum, and is no update.
        updates = distinct_values(np.concatenate(writes))
        updates = updates[~np.isin(updates, graph.target[clearing])]
        scope_of_updates = shared_scope([graph.name[update] for update in updates.tolist()])
        scope = scope_of_updates.rpartition("/")[0] if scope_of_updates == graph.name[node] else scope_of_updates
        if word := base_name(last_segment(scope)):
            scaling = _loss_scaling(side, node)
            # To accumulate gradients, each branch writes a variable for each gradient.
            accumulates |= not scaling and bool(min(map(len, writes)) >= gradient_inputs[node])
            word = word if scaling or accumulates else f"{word} {IN_BRANCH}"
            return TrainedVariables((word,), frozenset(), (node,), scaling, accumulates)
    return TrainedVariables((), frozenset())


def _loss_scaling(side: GraphColumns, call: int) -> frozenset[int]:
    """Return the ops that multiply a loss by a variable of a call, if the call first tests whether gradients are
    finite; else none."""
    graph, call_inputs = side.graph, side.data_sources(call)
    data, gradient = ~graph.control, graph.meaning.flow().gradient
    tests = graph.nodes_of_types(FINITE_OPS.__contains__)
    tests[graph.target[data & ~gradient[graph.source]]] = False
    if not call_inputs or not reachable_mask(tests, graph.source[data], graph.target[data])[call_inputs[0]]:
        return frozenset()
    found: set[int] = set()
    for read in (user for handle in call_inputs for user in side.data_users(handle)):
        users = side.data_users(read)
        is_read = side.op_type(read) in VARIABLE_READ_OPS
        # The scaled loss has only gradients as users.
        scalings = [user for user in users if not gradient[user]]
        scaled_users = (end for user in scalings for end in side.data_users(user))
        if (
            is_read
            and scalings
            and all(side.op_type(user) in MULTIPLY_OPS for user in users)
            and all(gradient[end] for end in scaled_users)
        ):
            found |= {read, *users, *side.data_sources(read)}
    return frozenset(found)


def is_integer_op(side: GraphColumns, node: int, key: str = "dtype") -> bool:
    """Return whether an op is one of integers, by an attribute. Updates of integers are counters and states of random
    generators, which are not trained."""
    definition = side.graph.node_def(node)
    return definition is not None and key in definition.attr and definition.attr[key].type in INTEGER_DTYPES


def training_changes(m: Matching) -> list[Change]:
    """Return the changes of the optimizer, of loss scaling and accumulation, and of the trained variables."""
    old, new = training_of(m.layers[0]), training_of(m.layers[1])
    changes = []
    pairs = (old.optimizers, new.optimizers), (new.optimizers, old.optimizers)
    # Of several optimizers those that were replaced; if there are such on one side only, the one with the most updates.
    words = [[optimizer for optimizer in own if optimizer not in other] for own, other in pairs]
    words = words if all(words) else [list(each.optimizers[:1]) for each in (old, new)]
    if all(words) and words[0] != words[1]:
        names = [optimizer.removesuffix(f" {IN_BRANCH}") for optimizer, *_ in words]
        content = Setting("optimizer", ", ".join(sorted(words[0])), ", ".join(sorted(words[1])))
        changes.append(Change("changed", "attribute", names[0], names[1], 0, content))
    steps = (LOSS_SCALING, bool(old.scaling), bool(new.scaling)), (ACCUMULATION, old.accumulates, new.accumulates)
    for key, before, after in steps:
        if old.optimizer and new.optimizer and before != after:
            content = Setting(key, before, after)
            changes.append(Change("changed", "attribute", old.optimizer, new.optimizer, 0, content))
    if not (old.trained and new.trained) and not (old.is_stated and new.is_stated):
        return changes
    # A variable without gradient because nothing uses its result is not frozen.
    sides = zip(m.layers, (old, new), strict=True)
    counted = [each.side.graph.meaning.flow().forward | training.is_stated for each, training in sides]
    others = [pair for pair in otherwise_trained(m, old, new) if counted[0][pair[0]] and counted[1][pair[1]]]
    for trainable in (False, True):
        differences = [pair for pair in others if (pair[1] in new.trained) == trainable]
        layer_names = ((m.layers[0].name_around(mine), m.layers[1].name_around(other)) for mine, other in differences)
        places = sorted(set(layer_names))
        if places:
            content, also = Setting("trainable", not trainable, trainable), tuple(places[1:])
            changes.append(Change("changed", "attribute", *places[0], len(differences), content, also))
    return changes


def otherwise_trained(m: Matching, old: TrainedVariables, new: TrainedVariables) -> list[tuple[int, int]]:
    """Return the matched variables that only one side trains."""
    pairs = {(node, int(m.to_b[node])) for node in old.trained} | {(int(m.to_a[node]), node) for node in new.trained}
    return sorted(
        (mine, other)
        for mine, other in pairs
        if exists(mine) and exists(other) and (mine in old.trained) != (other in new.trained)
    )


# The body of a node outside of the model is a hash of its computation, back to gradients, variables or the model. Nodes
# that do the same for two variables have equal bodies.
#
# gradients/w ─▶ Mul ─▶ ApplyAdam(w, w/m)        gradients/v ─▶ Mul ─▶ ApplyAdam(v, v/m)        both Mul have one body

MODEL_HASH, GRADIENT_HASH, PARAMETER_HASH, CIRCLE_HASH = map(word_hash, ("model", "gradient", "parameter", "circle"))
# Attributes for sizes, numbers of inputs and devices, which are not part of the computation.
SIZES_AND_PLACES = NOISE_ATTRIBUTES | {
    "_output_shapes",
    "_input_shapes",
    COLOCATION_ATTR,
    "N",
    "shape",
    "dtypes",
    "container",
    "value",
}
FLOAT_DTYPES = frozenset({1, 2, 14, 19})  # TensorFlow's numbers


class Bodies:
    """The bodies of one side: `of[node]`, 0 for a node of the model or of gradients."""

    def __init__(self, layers: Layers) -> None:
        self.layers = layers
        side = layers.side
        graph = side.graph
        self.part = graph.meaning.part()
        self.gradient: Bools = graph.meaning.flow().gradient | (self.part == Part.GRADIENT)
        # Nodes behind the model that feed gradients, in any scope: a custom gradient may be anywhere.
        data = ~graph.control
        feeding = reachable_mask(self.gradient, graph.target[data], graph.source[data])
        self.gradient |= feeding & graph.meaning.flow().behind & ~layers.forward
        self.gradient |= self._sums(~layers.forward)
        self.outside: Bools = ~layers.forward & ~self.gradient
        self.uses = layers.variables
        self.of: Hashes = np.zeros(len(side), np.uint64)
        self._compute_bodies()

    def _sums(self, outside: Bools) -> Bools:
        """Return which nodes are `AddN` ops that add gradients only, as for a variable that is used several times."""
        graph = self.layers.side.graph
        data = ~graph.control
        summed = outside & graph.nodes_of_types("AddN".__eq__)
        summed[graph.target[data & ~self.gradient[graph.source]]] = False
        return summed

    def is_plumbing(self, node: int) -> bool:
        """Return whether an op only provides or forwards a value."""
        graph = self.layers.side.graph
        return graph.op_types[graph.op[node]] in VALUE_PLUMBING

    def parameters(self) -> list[int]:
        """Return the variables that the model computes with."""
        return [node for node, use in self.uses.items() if use == VariableUse.PARAMETER or self.layers.forward[node]]

    def _leaf(self, node: int) -> int | None:
        """Return the body of a node that is not expanded; None for any other node."""
        use = self.uses.get(node)
        if self.layers.forward[node] or use == VariableUse.PARAMETER:
            return PARAMETER_HASH if use is not None else MODEL_HASH
        if self.gradient[node]:
            return GRADIENT_HASH
        if use is None:
            return None
        # A variable outside of the model is identified by its uses.
        graph, edges = self.layers.side.graph, self.layers.side.out_edges(node)
        users = {(graph.op_types[graph.op[graph.target[edge]]], int(graph.slot[edge])) for edge in edges.tolist()}
        return word_hash(repr(sorted(users)))

    def _compute_bodies(self) -> None:
        """Compute the bodies in the order of flow; in a cycle, unknown inputs have one placeholder."""
        nodes, known = np.flatnonzero(self.outside), dict[int, int]()
        for node in sorted(nodes.tolist(), key=self.layers.depth.__getitem__) if len(nodes) else ():
            sources = self.layers.side.data_sources(node)
            for each in (node, *sources):
                if each not in known and (leaf := self._leaf(each)) is not None:
                    known[each] = leaf
            if node not in known:
                known[node] = self._body_of_op(node, [known.get(each, CIRCLE_HASH) for each in sources])
        self.of[nodes] = [known[node] for node in nodes.tolist()]

    def _body_of_op(self, node: int, inputs: list[int]) -> int:
        graph = self.layers.side.graph
        op = graph.op_types[graph.op[node]]
        # The number of variables does not matter to an op that collects an input from each.
        if takes_any_number(self.layers.side, node):
            inputs = sorted(set(inputs))
        return word_hash(f"{op} {self._settings(node)} {inputs}")

    def _settings(self, node: int) -> str:
        """Return the settings of an op as text: its attributes without types and sizes; for a constant, a hash if it is
        a float."""
        side = self.layers.side
        definition = side.graph.node_def(node)
        if definition is None:
            return ""
        if definition.op in CONSTANT_OPS:
            tensor = definition.attr["value"].tensor if "value" in definition.attr else None
            plain = tensor is not None and tensor.dtype in FLOAT_DTYPES and self.part[node] != Part.BOOKKEEPING
            return str(int(side.labels.constants[node] ^ side.labels.core[node])) if plain else ""
        words = []
        for key in sorted(definition.attr):
            value = definition.attr[key]
            if key not in SIZES_AND_PLACES and value.WhichOneof("value") in ("b", "f", "i", "s"):
                words.append(f"{key}={value.SerializeToString(deterministic=True)!r}")
        return " ".join(words)


def nodes_only_before(layers: Layers, among: Bools, known: Bools) -> Bools:
    """Return which nodes lead only to known nodes."""
    side = layers.side
    graph = side.graph
    left = np.bincount(graph.source[~graph.control], minlength=len(graph)).tolist()
    able, found = among & ~known, np.zeros(len(graph), bool)
    users = np.flatnonzero(known).tolist()
    found[needed_only_by(users, lambda node: [each for each in side.data_sources(node) if able[each]], left)] = True
    return found
