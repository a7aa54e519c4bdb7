"""How a training step uses its gradients: the optimizer, and the variables that it trains."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

import numpy as np

from graphviz_tb.diff.changes.layers import Layers
from graphviz_tb.diff.columns.ids import exists
from graphviz_tb.diff.columns.side import GraphColumns
from graphviz_tb.diff.match.matching import Matching
from graphviz_tb.graphs.traversal import reachable_mask
from graphviz_tb.model.change import Change
from graphviz_tb.model.columns import Bools
from graphviz_tb.ops.roles import INPUT_OPS, VARIABLE_OPS, Role, has_role

UPDATES = (Role.ASSIGN, Role.SCATTER, Role.UPDATE)
APPLY = re.compile(r"^(?:Resource)?(?:Sparse)?Apply(\w+)$")
WHOLE = (3, 9, 22, 23)  # int32, int64, uint32, uint64 as TensorFlow numbers types
STATE = VARIABLE_OPS | INPUT_OPS
COUNTER = re.compile(r"_\d+$")


@dataclass(frozen=True, slots=True)
class TrainedVariables:
    """The optimizer in a word ("" for none), and the variables (nodes) of the model that it updates."""

    optimizer: str
    trained: frozenset[int]


def training(layers: Layers) -> TrainedVariables:
    """How one side trains.

    A variable is trained where something outside the layer that uses it updates it: statistics that a layer keeps
    itself are not trained, nor is what a saver restores or an initialiser sets.
    """
    side = layers.side
    if not side.graph.meaning.flow().gradient.any():
        return TrainedVariables("", frozenset())
    updates = side.graph.nodes_of_types(lambda op: has_role(op, *UPDATES)) & ~layers.forward
    computed = from_state(side)
    words: Counter[str] = Counter()
    trained = set()
    for node in np.flatnonzero(updates).tolist():
        # The first input of an update is its variable; the others are what it is set to.
        variable, *values = side.graph.source[side.in_edges(node)].tolist() or [node]
        if not computed[values].any() or not layers.forward[variable] or is_whole(side, node):
            continue
        if layers.of(variable) != layers.of(node):
            trained.add(variable)
            words[_word(side.graph.op_types[side.graph.op[node]], side.graph.name[node])] += 1
    return TrainedVariables(min(words, key=lambda word: (-words[word], word), default=""), frozenset(trained))


def from_state(side: GraphColumns) -> Bools:
    """Return the nodes computed from variables or inputs, not only from constants or a checkpoint."""
    data = ~side.graph.control
    return reachable_mask(
        side.graph.nodes_of_types(STATE.__contains__), side.graph.source[data], side.graph.target[data]
    )


def is_whole(side: GraphColumns, node: int) -> bool:
    """Whether an update is one of whole numbers: counters and the states of random numbers are not trained."""
    definition = side.graph.node_def(node)
    return definition is not None and "dtype" in definition.attr and definition.attr["dtype"].type in WHOLE


def _word(op: str, name: str) -> str:
    """The optimizer: by the type of its update, else by the scope that it is in."""
    match = APPLY.match(op)
    return match[1] if match else COUNTER.sub("", name.split("/")[0]) if "/" in name else ""


def training_changes(m: Matching, layers: tuple[Layers, Layers]) -> list[Change]:
    """Another optimizer, and variables that are trained no more or now."""
    old, new = training(layers[0]), training(layers[1])
    changes = []
    if old.optimizer and new.optimizer and old.optimizer != new.optimizer:
        detail: dict[str, object] = {"key": "optimizer", "old": old.optimizer, "new": new.optimizer}
        changes.append(Change("changed", "attribute", old.optimizer, new.optimizer, 0, detail))
    if not (old.trained and new.trained):
        return changes
    # Variables that either side trains, with their partners; -1 where there is none.
    pairs = {(node, int(m.to_b[node])) for node in old.trained} | {(int(m.to_a[node]), node) for node in new.trained}
    for word in (False, True):
        differences = {
            (mine, other)
            for mine, other in pairs
            if exists(mine) and exists(other) and (mine in old.trained) != word and (other in new.trained) == word
        }
        places = sorted(
            {(layers[0].name(layers[0].of(mine)), layers[1].name(layers[1].of(other))) for mine, other in differences}
        )
        if places:
            detail = {"key": "trainable", "old": not word, "new": word}
            also = tuple((mine, other) for mine, other in places[1:])
            changes.append(Change("changed", "attribute", places[0][0], places[0][1], len(differences), detail, also))
    return changes
