"""Read from a training step its optimizer, the variables that it trains, and which part of it ops compute."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from graphviz_tb.diff.changes.across_layers import shared_scope
from graphviz_tb.diff.changes.names import without_counters
from graphviz_tb.diff.columns.labels import LOSS_SCALING, NOISE_ATTRIBUTES
from graphviz_tb.diff.columns.layers import VALUE_PLUMBING, Layers
from graphviz_tb.diff.columns.side import GraphColumns
from graphviz_tb.diff.columns.values import Hashes, base_name, tensor_numbers, word_hash
from graphviz_tb.diff.match.matching import Matching
from graphviz_tb.diff.match.numbered import takes_any_number
from graphviz_tb.graphs.tensors import attr_value
from graphviz_tb.graphs.traversal import needed_only_by, reachable_from, reachable_mask
from graphviz_tb.model.change import Change
from graphviz_tb.model.change_content import Setting
from graphviz_tb.model.columns import Bools, distinct_values, exists
from graphviz_tb.model.graph import COLOCATION_ATTR
from graphviz_tb.model.interpretation import Part, VariableUse
from graphviz_tb.model.paths import last_segment
from graphviz_tb.ops.roles import (
    ADD_OPS,
    CONSTANT_OPS,
    FILL_OPS,
    MULTIPLY_OPS,
    VARIABLE_READ_OPS,
    Role,
    has_role,
    optimizer_of_op,
)
from graphviz_tb.ops.signatures import setting_input_name

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
            or _is_integer_op(side, node)
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


def _is_integer_op(side: GraphColumns, node: int, key: str = "dtype") -> bool:
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


# Name the part of the training that ops outside of the model compute: a schedule, a clip, an average, a loss.

OPTIMIZER, LEARNING_RATE, WEIGHT_DECAY = "optimizer", "learning rate", "weight decay"
AVERAGES = "moving averages of weights"
CONSTRAINT, LARGEST_AVERAGES = "constraint on weights", "largest averages of gradients (AMSGrad)"
CLIPPING, BY_GLOBAL_NORM = "clipping of gradients", "by their global norm"
MOMENTUM, NESTEROV, TRUST_RATIO = "momentum", "Nesterov momentum", "trust ratio"
ADAPTIVE_RATES, OF_ADAM, CENTERED = "adaptive learning rates", " (Adam)", "centered second moment"
RATE_INPUT = "learning_rate"
ROOT_OPS = frozenset({"Sqrt", "Rsqrt"})
NORM_OPS = ROOT_OPS | {"L2Loss"}
BOUND_OPS = frozenset({"Minimum", "Maximum", "ClipByValue"})
SQUARE_OPS = MULTIPLY_OPS | {"Square"}
SUM_OPS = ADD_OPS | {"Sub"}
LINEAR_OPS = SUM_OPS | MULTIPLY_OPS | VALUE_PLUMBING | {"Neg"}


class TrainingParts:
    """The training of one side, as masks of nodes: `updates` change weights, `behind` depend on gradients, and `before`
    lead to an update."""

    def __init__(self, bodies: Bodies) -> None:
        self.bodies = bodies
        self.side = bodies.layers.side
        graph = self.side.graph
        self.training = training_of(bodies.layers)
        self.updates = np.zeros(len(graph), bool)
        self.updates[list(self.training.updates)] = True
        data = ~graph.control & bodies.outside[graph.target]
        self.behind: Bools = bodies.outside & reachable_mask(bodies.gradient, graph.source[data], graph.target[data])
        data &= bodies.outside[graph.source]
        # A Keras optimizer also writes averages of gradients, and their largest values, which updates read again.
        applied = self.updates | (self.behind & graph.meaning.writes)
        kept = graph.meaning.writes & bodies.outside & np.isin(bodies.layers.written_variables, list(self._state))
        kept[[node for node in np.flatnonzero(kept).tolist() if _is_integer_op(self.side, node)]] = False
        self.before, self._keeping = (
            reachable_mask(ends, graph.target[data], graph.source[data]) & bodies.outside
            for ends in (applied | kept, kept & ~applied)
        )

    def optimizing(self) -> Bools:
        """Return the nodes of the optimizer, with its variables and the ops that wait for it."""
        graph, outside = self.side.graph, self.bodies.outside
        work: Bools = self.before | self.behind | self.updates
        data = ~graph.control
        origin = graph.meaning.origin
        mask = work.copy()
        # Variables outside of the model that these nodes use.
        used = graph.source[data & work[graph.target]]
        used = np.concatenate((used, origin[used]))
        mask[used[used >= 0]] = True
        # Ops that initialise or restore these variables; counters of steps belong to any optimizer.
        variables = [
            node for node in self.bodies.uses if mask[node] and outside[node] and not _is_integer_op(self.side, node)
        ]
        writes = np.isin(self.bodies.layers.written_variables, variables) & outside
        mask |= writes | nodes_only_before(self.bodies.layers, outside, mask | writes)
        groups = graph.nodes_of_types(lambda op: has_role(op, Role.GROUP))
        mask |= reachable_mask(work, graph.source[groups[graph.target]], graph.target[groups[graph.target]]) & groups
        mask &= outside
        return mask

    def part_of(self, nodes: Sequence[int], has_other: bool) -> str:
        """Return the part of the training that added or removed ops compute, "" for none. `has_other`: the other graph
        is trained, too."""
        graph = self.side.graph
        if self.updates[list(nodes)].any() and not has_other:
            return f"{OPTIMIZER} {self.training.optimizer}" if self.training.optimizer else ""
        before_updates = [node for node in nodes if self.before[node] and not self.updates[node]]
        if not before_updates:
            variables = self._written_by(nodes)
            if not variables or self.behind[list(nodes)].any() or not self._take_weights(nodes):
                return ""
            # Ops from weights to weights bound or decay them; ops from weights to other variables average them.
            if not variables <= self.training.trained:
                return AVERAGES
            bounds = [node for node in nodes if graph.op_types[graph.op[node]] in BOUND_OPS | NORM_OPS]
            if bounds and self._take_weights(bounds):
                return CONSTRAINT
            # A decay is a product of a weight; any other function of it is a step of the program.
            written = self.bodies.layers.written_variables
            others = [n for n in nodes if not exists(written[n]) and graph.op_types[graph.op[n]] not in LINEAR_OPS]
            return "" if others and self._take_weights(others) else WEIGHT_DECAY
        if self._take_weights(before_updates):
            norms = [node for node in before_updates if graph.op_types[graph.op[node]] in NORM_OPS]
            return TRUST_RATIO if norms and self._take_weights(norms) else WEIGHT_DECAY
        if self.behind[before_updates].any():
            clips = {self._clips[node] for node in before_updates if node in self._clips}
            return f"{CLIPPING} {_widest_clip(clips)}" if clips else self._direction_of(list(nodes))
        if self._feed_rate(before_updates):
            return LEARNING_RATE
        bounds = [node for node in nodes if graph.op_types[graph.op[node]] in BOUND_OPS]
        bounded = {source for node in bounds for source in self.side.data_sources(node)}
        from_gradients = self._gradient_state.intersection(graph.meaning.origin[list(bounded)].tolist())
        return LARGEST_AVERAGES if from_gradients and self._written_by(nodes) else ""

    @cached_property
    def writing(self) -> tuple[Bools, Bools]:
        """Return which ops write trained variables or lead only to such writes, and which ops do so for others."""
        among = self.bodies.outside & ~self.before & ~self.behind
        is_trained = np.isin(self.bodies.layers.written_variables, list(self.training.trained))
        writes: Bools = self.side.graph.meaning.writes & among
        ways = (writes & is_trained, writes & ~is_trained)
        trained, other = (each | nodes_only_before(self.bodies.layers, among, each) for each in ways)
        return trained | self.before | self.updates, other

    def clipping(self) -> str:
        """Return how gradients are clipped; "" if they are not."""
        return _widest_clip(self._clips.values())

    @cached_property
    def _clips(self) -> dict[int, str]:
        """Return how each op that bounds gradients does so."""
        bounds = self.before & self.behind & self.side.graph.nodes_of_types(BOUND_OPS.__contains__)
        found = {}
        for node in np.flatnonzero(bounds).tolist():
            gradients, stored, types = self._made_from(node)
            if not stored and gradients:
                word = "norm" if types & NORM_OPS else "value"
                found[node] = BY_GLOBAL_NORM if gradients > 1 else f"by {word}"
        return found

    def _direction_of(self, nodes: list[int]) -> str:
        """Return how ops make the direction of an update from averages of gradients; "" if they do not."""
        word = next((word for word, shows in self._directions.items() if shows[nodes].any()), "")
        if word == MOMENTUM and not any(self.side.op_type(node) in MULTIPLY_OPS for node in nodes):
            return ""
        return f"{word}{OF_ADAM}" if word == ADAPTIVE_RATES and self._momenta else word

    @cached_property
    def _directions(self) -> dict[str, Bools]:
        """The ways in which averages of gradients make the direction of an update, each with nodes that show it."""
        writes = self.side.graph.meaning.writes & np.isin(self.bodies.layers.written_variables, list(self._momenta))
        return {
            CENTERED: self._centering_squares,
            ADAPTIVE_RATES: self._roots,
            NESTEROV: self._look_ahead,
            MOMENTUM: writes,
        }

    @cached_property
    def _momenta(self) -> set[int]:
        """Averages that are neither of squares nor subtracted from these."""
        return self._averages - self._squares - self._variables_before(self._centering_squares, self._linear)

    @cached_property
    def _averages(self) -> set[int]:
        """Variables other than weights that store values of gradients, and that updates depend on."""
        return self._gradient_state & self._state

    @cached_property
    def _gradient_state(self) -> set[int]:
        """Variables that store values of gradients."""
        return self._written_by(np.flatnonzero(self.behind & self.side.graph.meaning.writes).tolist())

    @cached_property
    def _state(self) -> set[int]:
        """Variables other than weights that updates depend on."""
        outside = self.bodies.outside & ~self.side.graph.meaning.writes
        return self._variables_before(self.updates, outside) - self.training.trained

    @cached_property
    def _squares(self) -> set[int]:
        """Averages of which a root is taken."""
        return self._averages & self._variables_before(self._roots, self._linear)

    def _variables_before(self, ends: Bools, through: Bools) -> set[int]:
        """Return the variables whose values lead to `ends`, directly or through some nodes."""
        graph = self.side.graph
        edges = ~graph.control & (ends | through)[graph.target]
        return set(graph.meaning.origin[reachable_mask(ends, graph.target[edges], graph.source[edges])].tolist())

    @cached_property
    def _linear(self) -> Bools:
        graph = self.side.graph
        return graph.nodes_of_types(LINEAR_OPS.__contains__) & ~graph.meaning.writes

    @cached_property
    def _linear_in_averages(self) -> Bools:
        """Nodes that read averages, or are linear in them."""
        graph = self.side.graph
        reads, into = np.isin(graph.meaning.origin, list(self._averages)), ~graph.control & self._linear[graph.target]
        return reachable_mask(reads, graph.source[into], graph.target[into])

    def _users_of(self, nodes: Bools) -> Bools:
        graph = self.side.graph
        users = np.zeros(len(graph), bool)
        users[graph.target[~graph.control & nodes[graph.source]]] = True
        return users

    @cached_property
    def _roots(self) -> Bools:
        """Roots of averages before an update, which is divided by them."""
        roots = self.before & self.side.graph.nodes_of_types(ROOT_OPS.__contains__)
        return roots & self._users_of(self._linear_in_averages)

    @cached_property
    def _centering_squares(self) -> Bools:
        """Squares of averages that are summed under a root."""
        graph = self.side.graph
        factors = ~graph.control & ~self._linear_in_averages[graph.source]
        squares = graph.nodes_of_types(SQUARE_OPS.__contains__) & self._users_of(self._linear_in_averages)
        squares[graph.target[factors]] = False
        edges = ~graph.control & (self._roots | self._linear)[graph.target]
        return squares & reachable_mask(self._roots, graph.target[edges], graph.source[edges])

    @cached_property
    def _look_ahead(self) -> Bools:
        """Sums of a stored momentum and a gradient that go into weights, but are not stored: they look ahead."""
        graph = self.side.graph
        sums = graph.nodes_of_types(SUM_OPS.__contains__) & self._linear_in_averages & self.behind
        sums &= self._users_of((self.behind | self.bodies.gradient) & ~self._linear_in_averages)
        writes = graph.meaning.writes
        edges = ~graph.control & self._linear[graph.source] & (self._linear | writes)[graph.target]
        given, kept = (
            reachable_mask(ends, graph.target[edges], graph.source[edges])
            for ends in (self.updates, writes & ~self.updates)
        )
        return sums & given & ~kept

    @cached_property
    def settings(self) -> Bools:
        """Return which nodes are constants of a schedule or of a clip."""
        graph = self.side.graph
        near = self.rate_ops.copy()
        near[[each for node in self._clips for each in (node, *self.side.data_users(node))]] = True
        taken = near & ~self.updates
        found: Bools = np.zeros(len(graph), bool)
        found[graph.source[taken[graph.target] & ~graph.control]] = True
        return found & graph.nodes_of_types(CONSTANT_OPS.__contains__)

    @cached_property
    def rate_ops(self) -> Bools:
        """Return which nodes compute the learning rate: those that lead to this input of an update; if updates have
        none, the nodes before updates that no gradient reaches, outside of the optimizer's scopes."""
        graph = self.side.graph
        candidates: Bools = self.before & ~self.behind & ~self.updates & ~self._keeping
        rates = np.zeros(len(graph), bool)
        for node in self.training.updates:
            for edge in self.side.in_edges(node).tolist():
                if setting_input_name(self.side.op_type(node), int(graph.slot[edge])) == RATE_INPUT:
                    rates[graph.source[edge]] = True
        if rates.any():
            data = ~graph.control & candidates[graph.source] & candidates[graph.target]
            return reachable_mask(rates, graph.target[data], graph.source[data]) & candidates
        computing = (node for node in np.flatnonzero(candidates).tolist() if not self.bodies.is_plumbing(node))
        rates[[node for node in computing if self._scope(node) not in self._own_scopes]] = True
        return rates

    @cached_property
    def _own_scopes(self) -> set[str]:
        """Scopes of updates, of the whole optimizer, and the root."""
        updates = list(self.training.updates)
        return {*map(self._scope, updates), "", shared_scope([self.side.graph.name[node] for node in updates])}

    def _scope(self, node: int) -> str:
        row = int(self.side.scopes.of_node[node])
        return str(self.side.scopes.name[row]) if exists(row) else ""

    def rate(self) -> str:
        """Return the source of the learning rate: the scope of a schedule, "variable", the number of a constant, or
        "constant"; "" without updates."""
        if not self.training.trained:
            return ""
        rates = np.flatnonzero(self.rate_ops).tolist()
        loud = [node for node in rates if not self.bodies.is_plumbing(node)]
        around = Counter(scope for scope in map(self._scope, loud) if scope)
        shared = shared_scope([f"{scope}/" for scope in around.elements()])
        if shared in self._own_scopes:  # no schedule: an optimizer computes numbers in several places
            made = filter(None, map(self.side.graph.node_def, rates))
            numbers = {str(tensor_numbers(each.attr["value"].tensor)) for each in made if each.op in CONSTANT_OPS}
            known = numbers.pop() if len(numbers) == 1 else "constant"
            return "variable" if keeps_rate_in_variable(self.bodies.layers) else known
        return without_counters(last_segment(shared))

    def setting(self, part: str) -> tuple[str, str | bool]:
        """Return a part of the training as a setting, its key and its value; the value is "" if there is no choice."""
        if part == LEARNING_RATE:
            return part, self.rate()
        if part in self._directions:
            return part, bool(self._directions[part].any())
        return (CLIPPING, self.clipping()) if part.startswith(CLIPPING) else (part, "")

    def _made_from(self, node: int) -> tuple[int, bool, set[str]]:
        """Return the number of gradients, up to 2, that an op depends on, whether it depends on variables, and the op
        types in between."""
        graph, seen, todo = self.side.graph, {node}, [node]
        gradients, reads_variables, types = 0, False, set[str]()
        while todo and gradients <= 1:
            for source in self.side.data_sources(todo.pop()):
                if source in seen:
                    continue
                seen.add(source)
                if self.bodies.gradient[source]:  # a table's gradient comes with the numbers of its rows
                    gradients += not _is_integer_op(self.side, source, "T")
                elif self.bodies.outside[source]:
                    op = graph.op_types[graph.op[source]]
                    types.add(op)
                    reads_variables |= op in VARIABLE_READ_OPS or graph.meaning.origin[source] >= 0
                    todo.append(source)
        return gradients, reads_variables, types

    def _take_weights(self, nodes: Sequence[int]) -> bool:
        """Return whether ops depend on trained weights other than through gradients."""
        origins, through = self.side.graph.meaning.origin, self.bodies.outside & ~self.behind
        starts, sources = set(nodes), self.side.data_sources
        reached = reachable_from(starts, lambda node: sources(node) if node in starts or through[node] else ())
        return not self.training.trained.isdisjoint(origins[list(reached - starts)].tolist())

    def _written_by(self, nodes: Sequence[int]) -> set[int]:
        """Return the variables that some ops write."""
        return {variable for variable in self.bodies.layers.written_variables[list(nodes)].tolist() if exists(variable)}

    def updated_by(self, nodes: Sequence[int]) -> list[int]:
        """Return the weights that some ops update."""
        return sorted(self._written_by([node for node in nodes if self.updates[node]]))

    def _feed_rate(self, nodes: Sequence[int]) -> bool:
        """Return whether ops compute a learning rate, or read it from a variable that nothing writes."""
        if self.rate_ops[list(nodes)].any():
            return True
        reads = {read for node in nodes for read in (node, *self.side.data_users(node))}
        return any(_reads_rate(self.side, read) for read in reads)


def _widest_clip(clips: Collection[str]) -> str:
    """Return one of several ways of clipping, preferably that by the global norm."""
    return BY_GLOBAL_NORM if BY_GLOBAL_NORM in clips else min(clips, default="")


def _reads_rate(side: GraphColumns, node: int) -> bool:
    """Return whether an op reads a scalar float variable that the graph does not write."""
    graph, definition = side.graph, side.graph.node_def(node)
    if (
        definition is None
        or definition.op not in VARIABLE_READ_OPS
        or attr_value(definition, "dtype").type not in FLOAT_DTYPES
    ):
        return False
    takers = (edge for handle in side.data_sources(node) for edge in side.out_edges(handle).tolist())
    writes = (not graph.slot[edge] and graph.meaning.writes[graph.target[edge]] for edge in takers)
    return not any(writes) and not side.tensors.tensors_of_node(node)("0").shape


def keeps_rate_in_variable(layers: Layers) -> bool:
    """Return whether the first update depends on a learning rate in a variable, also through other variables."""
    side, updates = layers.side, training_of(layers).updates
    meaning = side.graph.meaning

    def makers(node: int) -> set[int]:
        # Not into the model, nor into gradients, nor to the updated variable.
        ahead = side.data_sources(node)[1 if meaning.writes[node] else 0 :]
        outside = {each for each in ahead if not layers.forward[each] and not meaning.flow().gradient[each]}
        if side.op_type(node) in VARIABLE_READ_OPS:
            outside |= {user for handle in outside for user in side.data_users(handle) if meaning.writes[user]}
        return outside

    return any(_reads_rate(side, node) for node in reachable_from(updates[:1], makers))


def changes_beside_optimizer(optimizer: Sequence[Change], parts: tuple[TrainingParts, TrainingParts]) -> list[Change]:
    """Return the changes of clipping and of the learning rate next to a change of the optimizer."""
    # Unknown for updates in a branch.
    known = all(part.training.trained for part in parts)
    change = next((change for change in optimizer if known and change.key == OPTIMIZER), None)
    words = ((CLIPPING, parts[0].clipping(), parts[1].clipping()), (LEARNING_RATE, parts[0].rate(), parts[1].rate()))
    return [
        Change("changed", "attribute", change.old, change.new, 0, Setting(key, old or None, new or None))
        for key, old, new in words
        if change is not None and old != new
    ]
