"""Read from a training step its optimizer and the variables that it trains."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from graphviz_tb.diff.changes.across_layers import shared_scope
from graphviz_tb.diff.changes.layers import VALUE_PLUMBING, Layers
from graphviz_tb.diff.columns.labels import NOISE_ATTRIBUTES
from graphviz_tb.diff.columns.side import GraphColumns
from graphviz_tb.diff.columns.values import Hashes, word_hash
from graphviz_tb.diff.match.matching import Matching
from graphviz_tb.diff.match.numbered import takes_any_number
from graphviz_tb.graphs.traversal import reachable_mask
from graphviz_tb.model.change import Change
from graphviz_tb.model.columns import Bools, Ints, exists
from graphviz_tb.model.graph import COLOCATION_ATTR
from graphviz_tb.model.interpretation import Part, VariableUse
from graphviz_tb.model.paths import last_segment
from graphviz_tb.ops.roles import CONSTANT_OPS, Role, has_role

UPDATE_ROLES = (Role.ASSIGN, Role.SCATTER, Role.UPDATE)
APPLY_PREFIX = re.compile(r"^(?:Resource)?(?:Sparse)?Apply(\w+)$")
WHOLE = (3, 9, 22, 23)  # int32, int64, uint32, uint64 as TensorFlow numbers types
STEP_COUNTER = re.compile(r"_\d+$")


@dataclass(frozen=True, slots=True)
class TrainedVariables:
    """The optimizer in a word ("" for none), and the variables (nodes) of the model that it updates."""

    optimizer: str
    trained: frozenset[int]


def training_of(layers: Layers) -> TrainedVariables:
    """Return how one side trains.

    A variable is trained where something outside the layer that uses it updates it with what comes from gradients:
    statistics that a layer keeps itself are not trained, nor is what a saver restores or an initialiser sets.
    """
    side = layers.side
    graph = side.graph
    if not graph.meaning.flow().gradient.any():
        return TrainedVariables("", frozenset())
    updates = graph.nodes_of_types(lambda op: has_role(op, *UPDATE_ROLES)) & (graph.meaning.part() == Part.UPDATE)
    names: list[str] = []
    types: Counter[str] = Counter()
    trained = set()
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
        names.append(graph.name[node])
        if match := APPLY_PREFIX.match(graph.op_types[graph.op[node]]):
            types[match[1]] += 1
    # By the type of its updates, else by the scope that they are in.
    word = min(types, key=lambda word: (-types[word], word), default="") or _scope_word(names)
    return TrainedVariables(word, frozenset(trained))


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
    """Another optimizer, and variables that are trained no more or now."""
    old, new = training_of(layers[0]), training_of(layers[1])
    changes = []
    if old.optimizer and new.optimizer and old.optimizer != new.optimizer:
        detail: dict[str, object] = {"key": "optimizer", "old": old.optimizer, "new": new.optimizer}
        changes.append(Change("changed", "attribute", old.optimizer, new.optimizer, 0, detail))
    if not (old.trained and new.trained):
        return changes
    # Of what leads to no gradient any more, as its result is not used, nobody set whether it is trained.
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
        places = sorted(
            {
                (layers[0].name(layers[0].layer_of_node(mine)), layers[1].name(layers[1].layer_of_node(other)))
                for mine, other in differences
            }
        )
        if places:
            detail = {"key": "trainable", "old": not word, "new": word}
            also = tuple((mine, other) for mine, other in places[1:])
            changes.append(Change("changed", "attribute", places[0][0], places[0][1], len(differences), detail, also))
    return changes


# The body of each node outside of the model: what it is worked out by, down to gradients, variables or the model.
#
# gradients/w ─▶ Mul ─▶ ApplyAdam(w, w/m)        gradients/v ─▶ Mul ─▶ ApplyAdam(v, v/m)        two nodes of each body

MODEL_HASH, GRADIENT_HASH, PARAMETER_HASH, CIRCLE_HASH = map(word_hash, ("model", "gradient", "parameter", "circle"))
# What says how large something is, how many inputs there are, or where it runs: no part of what is computed.
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
        # What is worked out for gradients, in whatever scope: a custom gradient is written anywhere.
        data = ~graph.control
        feeding = reachable_mask(self.gradient, graph.target[data], graph.source[data])
        self.gradient |= feeding & graph.meaning.flow().behind & ~layers.forward
        self.gradient |= self._sums(~layers.forward)
        self.outside: Bools = ~layers.forward & ~self.gradient
        self.uses = {variable.node: variable.use for variable in graph.meaning.variables()}
        self.of: Hashes = np.zeros(len(side), np.uint64)
        self._colour()

    def _sums(self, outside: Bools) -> Bools:
        """Sums of gradients alone: of a variable that is used several times."""
        graph = self.layers.side.graph
        data = ~graph.control
        summed = outside & graph.nodes_of_types("AddN".__eq__)
        summed[graph.target[data & ~self.gradient[graph.source]]] = False
        return summed

    def is_plumbing(self, node: int) -> bool:
        """Return whether an op only brings a value or hands it on."""
        graph = self.layers.side.graph
        return graph.op_types[graph.op[node]] in VALUE_PLUMBING

    def parameters(self) -> list[int]:
        """Return the variables that the model computes with."""
        return [node for node, use in self.uses.items() if use == VariableUse.PARAMETER or self.layers.forward[node]]

    def _leaf(self, node: int) -> int | None:
        """Return the body of what is not looked into; None for anything else."""
        use = self.uses.get(node)
        if self.layers.forward[node] or use == VariableUse.PARAMETER:
            return PARAMETER_HASH if use is not None else MODEL_HASH
        if self.gradient[node]:
            return GRADIENT_HASH
        return self._of_variable(node) if use is not None else None

    def _of_variable(self, node: int) -> int:
        """Return a variable that the model does not use, by what uses it."""
        graph, edges = self.layers.side.graph, self.layers.side.out_edges(node)
        users = {(graph.op_types[graph.op[graph.target[edge]]], int(graph.slot[edge])) for edge in edges.tolist()}
        return word_hash(repr(sorted(users)))

    def _colour(self) -> None:
        graph = self.layers.side.graph
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
                edges = self.layers.side.in_edges(node)
                sources = graph.source[edges[~graph.control[edges]]].tolist()
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
        # What takes one input for each variable is the same for any number of these.
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


def equal_bodies(old: Bodies, new: Bodies, old_nodes: Ints, new_nodes: Ints) -> frozenset[int]:
    """Return the bodies of matched nodes that stayed what they were."""
    mine, other = old.of[old_nodes], new.of[new_nodes]
    return frozenset(mine[(mine == other) & (mine != 0)].tolist())
