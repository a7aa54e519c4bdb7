"""Find the children of a level that train the model, and the lines to them that can be left out.

A line is informative where the training begins: from the loss to its gradients, from a group of layers to its
gradients, from gradients to updates. Other lines are implied and not drawn, not even as stubs: from single ops and from
groups without weights to gradients, waits of updates for the model, and all lines of bookkeeping (savers,
initialisers, metrics).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from graphviz_tb.graphs.rows import count_ops_below, training_rows
from graphviz_tb.graphs.traversal import reachable_from
from graphviz_tb.model.columns import Bools, Bytes, Longs, positions_of_rows
from graphviz_tb.model.hierarchy import TRAINING_ORIGIN, Hierarchy
from graphviz_tb.model.interpretation import Part
from graphviz_tb.model.metagraph import IMPLIED_LINE, WRITTEN_WEIGHTS, Metaedge
from graphviz_tb.model.skeleton import TARGET_TRAINS

TRAINS, BOOKKEEPING = 1, 2  # roles of rows; 0: the model


def training_roles(hierarchy: Hierarchy) -> Bytes:
    """Return the role of each row. All rows in a group with a role have that role."""
    behind = count_ops_below(hierarchy, hierarchy.graph.meaning.flow().behind)
    folded = hierarchy.how == TRAINING_ORIGIN
    role = np.where(training_rows(hierarchy)[0] | (folded & (behind > 0)), TRAINS, 0)
    role[folded & (behind == 0)] = BOOKKEEPING
    role[0] = 0
    roles = np.zeros(len(hierarchy), np.uint8)
    outside = 0
    for row in np.flatnonzero(role).tolist():
        if row >= outside:
            outside = int(hierarchy.end[row])
            roles[row:outside] = role[row]
    return roles


def learning_rows(hierarchy: Hierarchy) -> Bools:
    """Mark the rows with an op of the forward pass that reads a weight."""
    graph, meaning = hierarchy.graph, hierarchy.graph.meaning
    reads = np.zeros(len(graph), bool)
    reads[graph.target[(meaning.origin[graph.source] >= 0) & ~graph.control]] = True
    found: Bools = count_ops_below(hierarchy, reads & meaning.flow().forward) > 0
    return found


def written_weights(hierarchy: Hierarchy) -> Longs:
    """Return, for each weight that training writes, the rows of the first op of the forward pass that reads it and of
    the first op that writes it: shape (weights, 2)."""
    graph, meaning = hierarchy.graph, hierarchy.graph.meaning
    origin = meaning.origin[graph.source]
    carries = (origin >= 0) & ~graph.control & (meaning.origin[graph.target] < 0)
    reads = np.flatnonzero(carries & meaning.flow().forward[graph.target])
    calls = np.zeros(len(graph), bool)
    calls[hierarchy.node[list(hierarchy.calls)]] = True  # a call that applies gradients writes its variables
    applies = meaning.part()[graph.target] == Part.UPDATE
    writes = meaning.writes[graph.target] & (graph.slot == 0) | calls[graph.target] & (origin == graph.source)
    writes = np.flatnonzero(carries & applies & writes)
    _, first, second = np.intersect1d(origin[reads], origin[writes], return_indices=True)
    ends = graph.target[np.stack((reads[first], writes[second]), axis=1)]
    return hierarchy.row_of_node[ends].astype(np.int64)


def metaedges_of_written_weights(
    hierarchy: Hierarchy, written: Longs, rows: Sequence[int], roles: Sequence[int]
) -> list[Metaedge]:
    """Return a metaedge from each child of the model to each child that writes its weights.

    `written` is the result of `written_weights`.
    """
    if all(roles) or TRAINS not in roles:
        return []
    inside = (written >= min(rows)) & (written < max(hierarchy.end[rows].tolist()))
    pairs: Counter[tuple[int, int]] = Counter(
        (owner, writer)
        for owner, writer in positions_of_rows(rows, written[inside.all(axis=1)]).tolist()
        if roles[writer] == TRAINS and not roles[owner]
    )
    marked = TARGET_TRAINS | IMPLIED_LINE | WRITTEN_WEIGHTS
    return [Metaedge(*ends, 0, 0, count, training=marked) for ends, count in sorted(pairs.items())]


def children_apart(roles: Sequence[int]) -> list[int]:
    """Return the positions of children with a role; empty if all children have one.

    >>> children_apart([0, 1, 2]), children_apart([1, 2])
    ([1, 2], [])
    """
    return [] if all(roles) else [position for position, role in enumerate(roles) if role]


def mark_training_lines(edges: list[Metaedge], roles: Sequence[int], learns: Sequence[bool]) -> list[Metaedge]:
    """Mark the metaedges to and from children with a role, unless all children have the same.

    `roles` and `learns` (whether the child is a group with weights) are by child.
    """
    if not any(roles) or len(set(roles)) == 1:
        return edges
    implied = _implied_lines(edges, roles, learns)
    ends = [(roles[edge.source] > 0) | (roles[edge.target] > 0) << 1 for edge in edges]
    return [
        replace(edge, training=end | (IMPLIED_LINE if index in implied else 0)) if end else edge
        for index, (edge, end) in enumerate(zip(edges, ends, strict=True))
    ]


def _implied_lines(edges: Sequence[Metaedge], roles: Sequence[int], learns: Sequence[bool]) -> set[int]:
    """Return the implied lines to and from children with a role."""
    feeders: dict[int, list[int]] = {}
    trained: set[int] = set()  # children of the model that feed a child that trains it
    joined: set[int] = set()  # children with data edges
    for edge in edges:
        if edge.tensors:
            joined.update((edge.source, edge.target))
            if not roles[edge.source]:
                if roles[edge.target] == TRAINS:
                    trained.add(edge.source)
                elif not roles[edge.target]:
                    feeders.setdefault(edge.target, []).append(edge.source)
    # Children of the model that feed a trained child, at any distance.
    feeding_trained = reachable_from([source for end in trained for source in feeders.get(end, ())], feeders.get)
    implied = set()
    for index, edge in enumerate(edges):
        source, target = roles[edge.source], roles[edge.target]
        if source == target:
            continue
        waits = not edge.tensors and not edge.reference and edge.source in joined and edge.target in joined
        passes = not source and edge.source in feeding_trained and not learns[edge.source]
        if BOOKKEEPING in (source, target) or waits or passes:
            implied.add(index)
    return implied
