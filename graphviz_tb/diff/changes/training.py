"""How a training step uses its gradients: the optimizer, and the variables that it trains."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from graphviz_tb.diff.changes.layers import Layers
from graphviz_tb.diff.changes.precision import shared_scope
from graphviz_tb.diff.columns.ids import exists
from graphviz_tb.diff.columns.side import GraphColumns
from graphviz_tb.diff.match.matching import Matching
from graphviz_tb.model.change import Change
from graphviz_tb.model.interpretation import Part
from graphviz_tb.model.paths import last_segment
from graphviz_tb.ops.roles import Role, has_role

UPDATES = (Role.ASSIGN, Role.SCATTER, Role.UPDATE)
APPLY = re.compile(r"^(?:Resource)?(?:Sparse)?Apply(\w+)$")
WHOLE = (3, 9, 22, 23)  # int32, int64, uint32, uint64 as TensorFlow numbers types
COUNTER = re.compile(r"_\d+$")


@dataclass(frozen=True, slots=True)
class TrainedVariables:
    """The optimizer in a word ("" for none), and the variables (nodes) of the model that it updates."""

    optimizer: str
    trained: frozenset[int]


def training(layers: Layers) -> TrainedVariables:
    """How one side trains.

    A variable is trained where something outside the layer that uses it updates it with what comes from gradients:
    statistics that a layer keeps itself are not trained, nor is what a saver restores or an initialiser sets.
    """
    side = layers.side
    graph = side.graph
    if not graph.meaning.flow().gradient.any():
        return TrainedVariables("", frozenset())
    updates = graph.nodes_of_types(lambda op: has_role(op, *UPDATES)) & (graph.meaning.part() == Part.UPDATE)
    names: list[str] = []
    types: Counter[str] = Counter()
    trained = set()
    for node in np.flatnonzero(updates).tolist():
        # The first input of an update is its variable.
        variable = next(iter(graph.source[side.in_edges(node)].tolist()), node)
        if not layers.forward[variable] or is_whole(side, node) or layers.of(variable) == layers.of(node):
            continue
        trained.add(variable)
        names.append(graph.name[node])
        if match := APPLY.match(graph.op_types[graph.op[node]]):
            types[match[1]] += 1
    # By the type of its updates, else by the scope that they are in.
    word = min(types, key=lambda word: (-types[word], word), default="") or scope_word(names)
    return TrainedVariables(word, frozenset(trained))


def scope_word(names: Sequence[str]) -> str:
    """The innermost scope that most of some ops are in, without its number.

    >>> scope_word(["run/adam_1/Sub", "run/adam_1/Mul/Sub"]), scope_word(["Sub"])
    ('adam', '')
    """
    return COUNTER.sub("", last_segment(shared_scope(names)))


def is_whole(side: GraphColumns, node: int) -> bool:
    """Whether an update is one of whole numbers: counters and the states of random numbers are not trained."""
    definition = side.graph.node_def(node)
    return definition is not None and "dtype" in definition.attr and definition.attr["dtype"].type in WHOLE


def training_changes(m: Matching, layers: tuple[Layers, Layers]) -> list[Change]:
    """Another optimizer, and variables that are trained no more or now."""
    old, new = training(layers[0]), training(layers[1])
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
            {(layers[0].name(layers[0].of(mine)), layers[1].name(layers[1].of(other))) for mine, other in differences}
        )
        if places:
            detail = {"key": "trainable", "old": not word, "new": word}
            also = tuple((mine, other) for mine, other in places[1:])
            changes.append(Change("changed", "attribute", places[0][0], places[0][1], len(differences), detail, also))
    return changes
