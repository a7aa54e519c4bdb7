"""Read from a training step its optimizer and the variables that it trains."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from graphviz_tb.diff.changes.across_layers import shared_scope
from graphviz_tb.diff.changes.layers import VALUE_PLUMBING, Layers
from graphviz_tb.diff.changes.names import without_counters
from graphviz_tb.diff.columns.labels import LOSS_SCALING, NOISE_ATTRIBUTES
from graphviz_tb.diff.columns.side import GraphColumns
from graphviz_tb.diff.columns.values import Hashes, word_hash
from graphviz_tb.diff.match.matching import Matching
from graphviz_tb.diff.match.numbered import takes_any_number
from graphviz_tb.graphs.tensors import attr_value
from graphviz_tb.graphs.traversal import reachable_mask
from graphviz_tb.model.change import Change
from graphviz_tb.model.change_content import Setting
from graphviz_tb.model.columns import Bools, Ints, exists
from graphviz_tb.model.graph import COLOCATION_ATTR
from graphviz_tb.model.interpretation import Part, VariableUse
from graphviz_tb.model.paths import last_segment
from graphviz_tb.ops.roles import ADD_OPS, CONSTANT_OPS, FILL_OPS, MULTIPLY_OPS, VARIABLE_READ_OPS, Role, has_role
from graphviz_tb.ops.signatures import setting_input_name

UPDATE_ROLES = (Role.ASSIGN, Role.SCATTER, Role.UPDATE)
APPLY_PREFIX = re.compile(r"^(?:Resource)?(?:Sparse)?Apply(\w+)$")
WHOLE = (3, 9, 22, 23)  # int32, int64, uint32, uint64 as TensorFlow numbers types
FINITE_OPS = frozenset({"IsFinite"})
CLEARING_OPS = CONSTANT_OPS | FILL_OPS
ADD_TO_VARIABLE_OPS = frozenset({"AssignAdd", "AssignAddVariableOp"})
ACCUMULATION = "accumulation of gradients"
OPTIMIZER_KEYS = frozenset({"optimizer", LOSS_SCALING, ACCUMULATION})  # changes that replace the ops of an optimizer
IN_BRANCH = "in a branch"  # where an optimizer works that skips some steps
STEP_COUNTER = re.compile(r"_\d+$")


@dataclass(frozen=True, slots=True)
class TrainedVariables:
    """The training of a graph: the optimizer's name ("" for none), the variables of the model that it updates, and the
    updating ops, the ops that scale the loss for these, and whether gradients of several steps are added first."""

    optimizer: str
    trained: frozenset[int]
    updates: tuple[int, ...] = ()
    scaling: frozenset[int] = frozenset()
    accumulates: bool = False


def training_of(layers: Layers) -> TrainedVariables:
    """Return how one side is trained.

    A variable is trained if an op outside of the layer that uses it updates it with a value computed from gradients.
    Statistics that a layer updates itself, and variables that only a saver or an initialiser sets, are not trained.
    """
    side = layers.side
    graph = side.graph
    if not graph.meaning.flow().gradient.any():
        return TrainedVariables("", frozenset())
    updates = graph.nodes_of_types(lambda op: has_role(op, *UPDATE_ROLES)) & (graph.meaning.part() == Part.UPDATE)
    names: list[str] = []
    types: Counter[str] = Counter()
    trained, updating = set(), []
    for node in np.flatnonzero(updates).tolist():
        # The first input of an update is its variable.
        variable = next(iter(graph.source[side.in_edges(node)].tolist()), node)
        if (
            not layers.forward[variable]
            or _is_whole_training(side, node)
            or layers.layer_of_node(variable) == layers.layer_of_node(node)
        ):
            continue
        trained.add(variable)
        updating.append(node)
        names.append(graph.name[node])
        if match := APPLY_PREFIX.match(graph.op_types[graph.op[node]]):
            types[match[1]] += 1
    if not updating:
        return _branched_training(side)
    # By the type of its updates, else by the scope that they are in.
    word = min(types, key=lambda word: (-types[word], word), default="") or _scope_word(names)
    return TrainedVariables(word, frozenset(trained), tuple(updating))


def _branched_training(side: GraphColumns) -> TrainedVariables:
    """Return how one side trains whose gradients, or sums of them, go to a call that updates the variables: in a
    branch, as they may be not finite where losses are scaled, or are those of one of several steps."""
    graph = side.graph
    given = graph.meaning.flow().gradient[graph.source] & ~graph.control
    taken = np.bincount(graph.target[given], minlength=len(graph)) * (graph.meaning.part() == Part.UPDATE)
    sums = _summed_gradients(side)
    for node, calls in side.functions_called_by_node.items():
        accumulates = not sums.isdisjoint(side.data_sources(node))
        if not taken[node] and not accumulates:
            continue
        writes = [np.flatnonzero((graph.function == function) & graph.meaning.writes) for _, function in calls]
        stored = graph.nodes_of_types(CLEARING_OPS.__contains__)[graph.source] & (graph.slot == 1)
        # Storing a constant clears a sum.
        updates = np.setdiff1d(np.concatenate(writes), graph.target[stored])
        around = shared_scope([graph.name[written] for written in updates.tolist()])
        own = around.rpartition("/")[0] if around == graph.name[node] else around
        if word := STEP_COUNTER.sub("", last_segment(own)):
            scaling = _loss_scaling(side, node)
            # Whichever branch is taken, it stores something for each gradient.
            accumulates |= not scaling and bool(min(map(len, writes)) >= taken[node])
            word = word if scaling or accumulates else f"{word} {IN_BRANCH}"
            return TrainedVariables(word, frozenset(), (node,), scaling, accumulates)
    return TrainedVariables("", frozenset())


def _summed_gradients(side: GraphColumns) -> frozenset[int]:
    """Return the variables that gradients are added to."""
    graph = side.graph
    adds = graph.nodes_of_types(ADD_TO_VARIABLE_OPS.__contains__) & (graph.meaning.part() == Part.UPDATE)
    return frozenset(side.data_sources(node)[0] for node in np.flatnonzero(adds).tolist())


def _loss_scaling(side: GraphColumns, call: int) -> frozenset[int]:
    """Return the ops that multiply a loss by a number that a call keeps, if the call updates only where gradients are
    finite; none otherwise."""
    graph, taken = side.graph, side.data_sources(call)
    data, gradient = ~graph.control, graph.meaning.flow().gradient
    finite = graph.nodes_of_types(FINITE_OPS.__contains__)
    finite[graph.target[data & ~gradient[graph.source]]] = False
    if not taken or not reachable_mask(finite, graph.source[data], graph.target[data])[taken[0]]:
        return frozenset()
    found: set[int] = set()
    for read in (user for handle in taken for user in side.data_users(handle)):
        users = side.data_users(read)
        is_read = side.op_type(read) in VARIABLE_READ_OPS
        # The loss, which only gradients take.
        scaled = [user for user in users if not gradient[user]]
        ends = (end for user in scaled for end in side.data_users(user))
        if (
            is_read
            and scaled
            and all(side.op_type(user) in MULTIPLY_OPS for user in users)
            and all(gradient[end] for end in ends)
        ):
            found |= {read, *users, *side.data_sources(read)}
    return frozenset(found)


def _scope_word(names: Sequence[str]) -> str:
    """Return the innermost scope that most of some ops are in, without its number.

    >>> _scope_word(["run/adam_1/Sub", "run/adam_1/Mul/Sub"]), _scope_word(["Sub"])
    ('adam', '')
    """
    return STEP_COUNTER.sub("", last_segment(shared_scope(names)))


def _is_whole_training(side: GraphColumns, node: int) -> bool:
    """Return whether an update is one of whole numbers: counters and the states of random numbers are not trained."""
    definition = side.graph.node_def(node)
    return definition is not None and "dtype" in definition.attr and definition.attr["dtype"].type in WHOLE


def training_changes(m: Matching, layers: tuple[Layers, Layers]) -> list[Change]:
    """Return the changes of optimizer, and of the set of trained variables."""
    old, new = training_of(layers[0]), training_of(layers[1])
    changes = []
    if old.optimizer and new.optimizer and old.optimizer != new.optimizer:
        content = Setting("optimizer", old.optimizer, new.optimizer)
        names = [side.optimizer.removesuffix(f" {IN_BRANCH}") for side in (old, new)]
        changes.append(Change("changed", "attribute", names[0], names[1], 0, content))
    steps = (LOSS_SCALING, bool(old.scaling), bool(new.scaling)), (ACCUMULATION, old.accumulates, new.accumulates)
    for key, before, after in steps:
        if old.optimizer and new.optimizer and before != after:
            content = Setting(key, before, after)
            changes.append(Change("changed", "attribute", old.optimizer, new.optimizer, 0, content))
    if not (old.trained and new.trained):
        return changes
    # Variables whose result is no longer used, and that therefore have no gradient, were not frozen.
    feeds = [side.side.graph.meaning.flow().forward for side in layers]
    # Variables that either side trains, with their partners; -1 where there is none.
    pairs = {(node, int(m.to_b[node])) for node in old.trained} | {(int(m.to_a[node]), node) for node in new.trained}
    for word in (False, True):
        differences = {
            (mine, other)
            for mine, other in pairs
            if exists(mine)
            and exists(other)
            and feeds[0][mine]
            and feeds[1][other]
            and (mine in old.trained) != word
            and (other in new.trained) == word
        }
        places = sorted({(layers[0].name_around(mine), layers[1].name_around(other)) for mine, other in differences})
        if places:
            content, also = Setting("trainable", not word, word), tuple(places[1:])
            changes.append(Change("changed", "attribute", *places[0], len(differences), content, also))
    return changes


# The body of each node outside of the model: the computation behind it, down to gradients, variables or the model.
#
# gradients/w ─▶ Mul ─▶ ApplyAdam(w, w/m)        gradients/v ─▶ Mul ─▶ ApplyAdam(v, v/m)        two nodes of each body

MODEL_HASH, GRADIENT_HASH, PARAMETER_HASH, CIRCLE_HASH = map(word_hash, ("model", "gradient", "parameter", "circle"))
# Sizes, numbers of inputs and devices: not part of the computation.
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
FLOAT_ATTRIBUTES = frozenset({1, 2, 14, 19})


class Bodies:
    """The bodies of one side. `of[node]` is 0 for a node of the model or of gradients."""

    def __init__(self, layers: Layers) -> None:
        self.layers = layers
        side = layers.side
        graph = side.graph
        self.part = graph.meaning.part()
        self.gradient: Bools = graph.meaning.flow().gradient | (self.part == Part.GRADIENT)
        # Computed for gradients, in any scope: a custom gradient may be anywhere.
        data = ~graph.control
        feeding = reachable_mask(self.gradient, graph.target[data], graph.source[data])
        self.gradient |= feeding & graph.meaning.flow().behind & ~layers.forward
        self.gradient |= self._sums(~layers.forward)
        self.outside: Bools = ~layers.forward & ~self.gradient
        self.uses = {variable.node: variable.use for variable in graph.meaning.variables()}
        self.of: Hashes = np.zeros(len(side), np.uint64)
        self._colour()

    def _sums(self, outside: Bools) -> Bools:
        """Mark the `AddN` ops that add gradients only, as for a variable that is used several times."""
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
        return self._of_variable(node) if use is not None else None

    def _of_variable(self, node: int) -> int:
        """Return the body of a variable outside of the model, by its uses."""
        graph, edges = self.layers.side.graph, self.layers.side.out_edges(node)
        users = {(graph.op_types[graph.op[graph.target[edge]]], int(graph.slot[edge])) for edge in edges.tolist()}
        return word_hash(repr(sorted(users)))

    def _colour(self) -> None:
        known: dict[int, int] = {}
        open_nodes: set[int] = set()
        for root in np.flatnonzero(self.outside).tolist():
            waiting = [root]
            while waiting:
                node = waiting[-1]
                if node in known:
                    waiting.pop()
                    continue
                if (leaf := self._leaf(node)) is not None:
                    known[node] = leaf
                    continue
                sources = self.layers.side.data_sources(node)
                left = [source for source in sources if source not in known and source not in open_nodes]
                if left and node not in open_nodes:
                    open_nodes.add(node)
                    waiting += left
                    continue
                known[node] = self._own(node, [known.get(source, CIRCLE_HASH) for source in sources])
                open_nodes.discard(node)
        nodes = np.flatnonzero(self.outside)
        self.of[nodes] = [known[node] for node in nodes.tolist()]

    def _own(self, node: int, inputs: list[int]) -> int:
        graph = self.layers.side.graph
        op = graph.op_types[graph.op[node]]
        # An op with one input for each variable is the same for any number of variables.
        if takes_any_number(self.layers.side, node):
            inputs = sorted(set(inputs))
        return word_hash(f"{op} {self._settings(node)} {inputs}")

    def _settings(self, node: int) -> str:
        """Return the settings of an op as text: its attributes but for types and sizes; of a constant a single
        float."""
        side = self.layers.side
        definition = side.graph.node_def(node)
        if definition is None:
            return ""
        if definition.op in CONSTANT_OPS:
            tensor = definition.attr["value"].tensor if "value" in definition.attr else None
            plain = tensor is not None and tensor.dtype in FLOAT_ATTRIBUTES and self.part[node] != Part.BOOKKEEPING
            return str(int(side.labels.constants[node] ^ side.labels.core[node])) if plain else ""
        words = []
        for key in sorted(definition.attr):
            value = definition.attr[key]
            if key not in SIZES_AND_PLACES and value.WhichOneof("value") in ("b", "f", "i", "s"):
                words.append(f"{key}={value.SerializeToString(deterministic=True)!r}")
        return " ".join(words)


def written_variables(layers: Layers) -> Ints:
    """Return, for each node that writes a variable, the node that makes that variable; -1 for other nodes."""
    graph = layers.side.graph
    first = np.full(len(graph), -1, np.int32)
    edges = np.flatnonzero((graph.slot == 0) & ~graph.control & graph.meaning.writes[graph.target])
    origin = graph.meaning.origin[graph.source[edges]]
    first[graph.target[edges]] = np.where(origin >= 0, origin, graph.source[edges])
    return first


def nodes_only_before(layers: Layers, among: Bools, known: Bools) -> Bools:
    """Return the nodes that lead only to known nodes."""
    side = layers.side
    graph = side.graph
    left = np.bincount(graph.source[~graph.control], minlength=len(graph)).tolist()
    found = np.zeros(len(graph), bool)
    todo = np.flatnonzero(known).tolist()
    while todo:
        node = todo.pop()
        for before in side.data_sources(node):
            left[before] -= 1
            if not left[before] and among[before] and not known[before] and not found[before]:
                found[before] = True
                todo.append(before)
    return found


def equal_bodies(old: Bodies, new: Bodies, old_nodes: Ints, new_nodes: Ints) -> frozenset[int]:
    """Return the bodies of matched nodes whose body did not change."""
    mine, other = old.of[old_nodes], new.of[new_nodes]
    return frozenset(mine[(mine == other) & (mine != 0)].tolist())


# The part that some ops outside of the model have in a training: a schedule, a clip, an average of weights.

OPTIMIZER, LEARNING_RATE, WEIGHT_DECAY, AVERAGES = (
    "optimizer",
    "learning rate",
    "weight decay",
    "moving averages of weights",
)
CONSTRAINT, LARGEST_AVERAGES = "constraint on weights", "largest averages of gradients (AMSGrad)"
CLIPPING, BY_GLOBAL_NORM = "clipping of gradients", "by their global norm"
RATE_INPUT = "learning_rate"
NORM_OPS = frozenset({"L2Loss", "Sqrt", "Rsqrt"})
SHARE_OPS = VALUE_PLUMBING | MULTIPLY_OPS | {"RealDiv"}
BOUND_OPS = frozenset({"Minimum", "Maximum", "ClipByValue"})


class TrainingParts:
    """The parts of one side's training: `updates` change weights, `behind` are ops computed from gradients, `before`
    ops that lead to an update."""

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
        # An optimizer of Keras stores averages of gradients, between these and the weights.
        applied = self.updates | (self.behind & graph.meaning.writes)
        self.before: Bools = reachable_mask(applied, graph.target[data], graph.source[data]) & bodies.outside

    def optimizing(self) -> Bools:
        """Return the nodes of the optimizer, with its variables and the ops that wait for it."""
        graph, outside = self.side.graph, self.bodies.outside
        work: Bools = self.before | self.behind | self.updates
        data = ~graph.control
        origin = graph.meaning.origin
        kept = work.copy()
        # Variables outside of the model that the work reads or writes, not those that it trains.
        ends = graph.source[data & work[graph.target]]
        ends = np.concatenate((ends, origin[ends]))
        kept[ends[ends >= 0]] = True
        # Ops that give these variables their first values, or restore or count them; steps are counted anyway.
        variables = [
            node
            for node in self.bodies.uses
            if kept[node] and outside[node] and not _is_whole_training(self.side, node)
        ]
        writes = np.isin(written_variables(self.bodies.layers), variables) & outside
        kept |= writes | nodes_only_before(self.bodies.layers, outside, kept | writes)
        groups = graph.nodes_of_types(lambda op: has_role(op, Role.GROUP))
        kept |= reachable_mask(work, graph.source[groups[graph.target]], graph.target[groups[graph.target]]) & groups
        kept &= outside
        return kept

    def part_of(self, nodes: Sequence[int], has_other: bool) -> str:
        """Return the part of the training that some added or removed ops are, "" for none; `has_other`: the other graph
        has an optimizer."""
        graph = self.side.graph
        types = {graph.op_types[op] for op in graph.op[list(nodes)].tolist()}
        if self.updates[list(nodes)].any():
            return f"{OPTIMIZER} {self.training.optimizer}" if not has_other and self.training.optimizer else ""
        if any(map(self._sums_gradients, nodes)):
            return ACCUMULATION
        leading = [node for node in nodes if self.before[node]]
        if not leading:
            written = self._written_variables(nodes)
            if not written or self.behind[list(nodes)].any() or not self._take_weights(nodes):
                return ""
            # Ops that take only weights and write them bound or decay them; those that write others keep averages.
            if not written <= self.training.trained:
                return AVERAGES
            return CONSTRAINT if types & (BOUND_OPS | NORM_OPS) else WEIGHT_DECAY
        if self._take_weights(leading):
            return WEIGHT_DECAY
        clipped = [node for node in leading if self.behind[node]]
        if not clipped:
            if self._feed_rate(leading):
                return LEARNING_RATE
            return LARGEST_AVERAGES if types & BOUND_OPS and self._written_variables(nodes) else ""
        if not types & BOUND_OPS:
            return ""
        bounds = [node for node in clipped if graph.op_types[graph.op[node]] in BOUND_OPS]
        if any(self._made_from(node)[0] > 1 for node in bounds):
            return f"{CLIPPING} {BY_GLOBAL_NORM}"
        return f"{CLIPPING} by {'norm' if types & NORM_OPS else 'value'}"

    def clipping(self) -> str:
        """Return how gradients are clipped before the optimizer takes them; "" if they are not."""
        graph = self.side.graph
        bounds = self.before & self.behind & graph.nodes_of_types(BOUND_OPS.__contains__)
        found = set()
        for node in np.flatnonzero(bounds).tolist():
            gradients, stored, types = self._made_from(node)
            if not stored and gradients:
                word = "norm" if types & NORM_OPS else "value"
                found.add(BY_GLOBAL_NORM if gradients > 1 else f"by {word}")
        return BY_GLOBAL_NORM if BY_GLOBAL_NORM in found else min(found, default="")

    @cached_property
    def rate_ops(self) -> Bools:
        """Mark the nodes that lead to the learning rate of an update; if updates have no such input, those in scopes of
        their own that no gradient reaches."""
        graph, scopes = self.side.graph, self.side.scopes
        free: Bools = self.before & ~self.behind & ~self.updates
        rates = np.zeros(len(graph), bool)
        for node in self.training.updates:
            for edge in self.side.in_edges(node).tolist():
                if setting_input_name(self.side.op_type(node), int(graph.slot[edge])) == RATE_INPUT:
                    rates[graph.source[edge]] = True
        if rates.any():
            data = ~graph.control & free[graph.source] & free[graph.target]
            return reachable_mask(rates, graph.target[data], graph.source[data]) & free
        updates = list(self.training.updates)
        optimizer = shared_scope([graph.name[node] for node in updates])
        own = {scopes.name[row] for row in scopes.of_node[updates].tolist()} | {"", optimizer}
        loud = (node for node in np.flatnonzero(free).tolist() if not self.bodies.is_plumbing(node))
        rates[[node for node in loud if self._scope(node) not in own]] = True
        return rates

    def _scope(self, node: int) -> str:
        row = int(self.side.scopes.of_node[node])
        return str(self.side.scopes.name[row]) if exists(row) else ""

    def rate(self) -> str:
        """Return what the learning rate comes from: a schedule, by the scope that computes it, a variable, or a
        constant; "" where the updates are not in this graph."""
        if not self.training.trained:
            return ""
        loud = [node for node in np.flatnonzero(self.rate_ops).tolist() if not self.bodies.is_plumbing(node)]
        around = Counter(scope for scope in map(self._scope, loud) if scope)
        if not around:
            return "variable" if keeps_rate_in_variable(self.bodies.layers) else "constant"
        shared = shared_scope([f"{scope}/" for scope in around.elements()])
        names = [self.side.graph.name[node] for node in self.training.updates]
        if f"{shared_scope(names)}/".startswith(f"{shared}/"):
            shared = min(around, key=lambda scope: (-around[scope], scope))
        return without_counters(last_segment(shared))

    def setting(self, part: str) -> tuple[str, str]:
        """Return a part of the training that is one of several, and which it is; "" for any other part."""
        if part == LEARNING_RATE:
            return part, self.rate()
        return (CLIPPING, self.clipping()) if part.startswith(CLIPPING) else (part, "")

    def _made_from(self, node: int) -> tuple[int, bool, set[str]]:
        """Return the number of gradients, up to 2, that lead to an op, whether stored numbers do, and the op types on
        the way."""
        graph, seen, todo = self.side.graph, {node}, [node]
        gradients, stored, types = 0, False, set[str]()
        while todo and gradients <= 1:
            for source in self.side.data_sources(todo.pop()):
                if source in seen:
                    continue
                seen.add(source)
                if self.bodies.gradient[source]:
                    gradients += 1
                elif self.bodies.outside[source]:
                    op = graph.op_types[graph.op[source]]
                    types.add(op)
                    stored |= op in VARIABLE_READ_OPS or graph.meaning.origin[source] >= 0
                    todo.append(source)
        return gradients, stored, types

    def _sums_gradients(self, node: int) -> bool:
        """Return whether an op adds a gradient, or a share of one, to a variable."""
        if self.side.op_type(node) not in ADD_TO_VARIABLE_OPS or not self.behind[node]:
            return False
        value = self.side.data_sources(node)[1]
        _, stored, types = self._made_from(value)
        return (not stored and {*types, self.side.op_type(value)} <= SHARE_OPS) or bool(self.bodies.gradient[value])

    def _take_weights(self, nodes: Sequence[int]) -> bool:
        """Return whether ops compute with trained weights, and not through gradients."""
        origins, through = self.side.graph.meaning.origin, self.bodies.outside & ~self.behind
        todo, seen = list(nodes), set(nodes)
        while todo:
            sources = set(self.side.data_sources(todo.pop())) - seen
            if not self.training.trained.isdisjoint(origins[list(sources)].tolist()):
                return True
            seen |= sources
            todo += [source for source in sources if through[source]]
        return False

    def _written_variables(self, nodes: Sequence[int]) -> set[int]:
        graph = self.side.graph
        first = [next(iter(self.side.data_sources(node)), node) for node in nodes if graph.meaning.writes[node]]
        return {int(graph.meaning.origin[node]) if exists(int(graph.meaning.origin[node])) else node for node in first}

    def _feed_rate(self, nodes: Sequence[int]) -> bool:
        """Return whether ops compute a learning rate: the matching input of an update, or the value of a variable that
        feeds it."""
        if self.rate_ops[list(nodes)].any():
            return True
        # A variable that an optimizer of Keras reads, and nothing writes.
        reads = {read for node in nodes for read in (node, *self.side.data_users(node))}
        return any(_reads_rate(self.side, read) for read in reads)


def _reads_rate(side: GraphColumns, node: int) -> bool:
    """Return whether an op reads a fractional number, no tensor, that the graph neither holds nor writes."""
    graph, definition = side.graph, side.graph.node_def(node)
    if (
        definition is None
        or definition.op not in VARIABLE_READ_OPS
        or attr_value(definition, "dtype").type not in FLOAT_ATTRIBUTES
    ):
        return False
    takers = (edge for handle in side.data_sources(node) for edge in side.out_edges(handle).tolist())
    writes = (not graph.slot[edge] and graph.meaning.writes[graph.target[edge]] for edge in takers)
    return not any(writes) and not side.tensors.tensors_of_node(node)("0").shape


def keeps_rate_in_variable(layers: Layers) -> bool:
    """Return whether the first update of a training reads its learning rate from a variable, or takes a variable of the
    optimizer that it went into."""
    side, updates = layers.side, training_of(layers).updates
    meaning = side.graph.meaning
    todo = list(updates[:1])
    seen = set(todo)
    while todo:
        node = todo.pop()
        if _reads_rate(side, node):
            return True
        # Neither into the model nor into gradients, nor to the variable that is updated.
        sources = side.data_sources(node)
        ahead = sources[1:] if meaning.writes[node] else sources
        outside = {each for each in ahead if not layers.forward[each] and not meaning.flow().gradient[each]}
        if side.op_type(node) in VARIABLE_READ_OPS:
            outside |= {user for handle in outside for user in side.data_users(handle) if meaning.writes[user]}
        todo += outside - seen
        seen |= outside
    return False


def changes_beside_optimizer(optimizer: Sequence[Change], parts: tuple[TrainingParts, TrainingParts]) -> list[Change]:
    """Return the changes of clipping and of the learning rate's schedule next to a new optimizer, which makes the ops
    around them differ."""
    # Of updates in a branch these are not known.
    known = all(part.training.trained for part in parts)
    change = next((change for change in optimizer if known and change.key == OPTIMIZER), None)
    words = ((CLIPPING, parts[0].clipping(), parts[1].clipping()), (LEARNING_RATE, parts[0].rate(), parts[1].rate()))
    return [
        Change("changed", "attribute", change.old, change.new, 0, Setting(key, old or None, new or None))
        for key, old, new in words
        if change is not None and old != new
    ]


# The loss: a scope of the program in the place of another one, and what is done to labels before it.

LOSS, LABEL_SMOOTHING = "loss", "label smoothing"
SMOOTHING_OPS = ADD_OPS | MULTIPLY_OPS | VALUE_PLUMBING | {"Sub", "RealDiv"}


def name_loss_part(layers: tuple[Layers, Layers], change: Change) -> Change:
    """Name the part of the loss that a change is: an exchanged loss, or label smoothing."""
    nodes = change.edits.removed, change.edits.added
    if change.unit and not change.unit.training and change.function is None:
        new = change.kind == "added"
        if _smooths_labels(layers[new], nodes[new]):
            return replace(change, content=replace(change.unit, training=LABEL_SMOOTHING))
    names = tuple(without_counters(last_segment(name or "")) for name in (change.old, change.new))
    if change.setting and change.key == "op" and names[0] != names[1] and all(names):
        parts = [side.side.graph.meaning.part()[list(own)] for side, own in zip(layers, nodes, strict=True)]
        if all((part == Part.LOSS).any() for part in parts):
            return replace(change, content=replace(change.setting, key=LOSS, old=names[0], new=names[1]))
    return change


def _smooths_labels(layers: Layers, nodes: Sequence[int]) -> bool:
    """Return whether ops smooth labels: they scale and shift what a loss takes, and nothing in it depends on a
    weight."""
    graph = layers.side.graph
    types = {graph.op_types[op] for op in graph.op[list(nodes)].tolist()}
    part = graph.meaning.part()
    if not (types <= SMOOTHING_OPS and types & ADD_OPS and types & MULTIPLY_OPS) or not (part == Part.LOSS).any():
        return False
    data = ~graph.control
    start = np.zeros(len(graph), bool)
    start[list(nodes)] = True
    behind = reachable_mask(start, graph.source[data], graph.target[data]) & layers.forward
    weighs = layers.forward[graph.target] & (graph.meaning.origin[graph.source] >= 0) & data
    weighed = np.zeros(len(graph), bool)
    weighed[graph.target[weighs]] = True
    made = reachable_mask(weighed, graph.source[data], graph.target[data])
    return bool((behind & (part == Part.LOSS)).any()) and not (made & start).any() and not (weighed & behind).any()
