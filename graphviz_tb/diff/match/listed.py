"""Match layers of Keras models, in the order of the file: the longest common subsequence of equal layers."""

from __future__ import annotations

from collections import Counter

import numpy as np

from graphviz_tb.diff.columns.hashing import Hashes, combined, digest
from graphviz_tb.diff.columns.ids import exists
from graphviz_tb.diff.columns.side import GraphColumns
from graphviz_tb.diff.match.anchors import unique_pairs
from graphviz_tb.diff.match.found import Findings, NodePairs, Reason, nodes
from graphviz_tb.diff.match.matching import Matching
from graphviz_tb.diff.match.series import align, numbered, runs_of
from graphviz_tb.model.paths import without_digits


def listed(m: Matching) -> Findings:
    """Match layers by the names that somebody gave, by class and configuration, then by the class alone; of equal ones
    by name.

    Before: nothing is matched. After, where both graphs are Keras models: what goes together without crossing.
    """
    if not m.a.graph.layers or not m.b.graph.layers:
        return
    # Every name and every wire is the same: each layer changed in its place, and goes by its name.
    if np.array_equal(np.sort(m.a.in_place), np.sort(m.b.in_place)):
        return
    if (same := by_given_names(m)) is not None:
        yield nodes(same, Reason.NAME)
        return
    # The file lists layers by their distance from the results: a longer parallel branch moves a layer in this order,
    # so that a kept name and kept wires prove more than the order.
    yield nodes(kept(m), Reason.NAME)
    tiers = [(m.a.node_label, m.b.node_label), (kinds(m.a), kinds(m.b))]
    pairs = align(
        [(given_names(m.a, m.b), given_names(m.b, m.a)), *((mine.tolist(), other.tolist()) for mine, other in tiers)],
        likely(m),
        m.common,
    )
    yield nodes(pairs or [], Reason.SERIES)
    named = [combined(side.node_label, side.scopes.node_leaf_hash) for side in (m.a, m.b)]
    for mine, other in (named, tiers[0]):  # what changed its place: the only one of its kind on both sides
        free_a, free_b = m.left()
        yield NodePairs(*unique_pairs(m, mine, other, free_a, free_b), Reason.ANCHOR)


def by_given_names(m: Matching) -> list[tuple[int, int]] | None:
    """Pairs by name, where one model has all layers of the other by name and settings, and somebody named those that
    take other tensors: only wires are others, and some layers came or went. Else None."""
    there = m.b.graph.index[0]
    pairs = [(node, there[name]) for node, name in enumerate(m.a.graph.name) if name in there]
    if len(pairs) < min(len(m.a), len(m.b)) or any(m.a.node_label[old] != m.b.node_label[new] for old, new in pairs):
        return None
    moved = [old for old, new in pairs if m.a.in_place[old] != m.b.in_place[new]]
    # Of a series of which one came or went, numbers are no names.
    alone = {*m.a.graph.name}.symmetric_difference(m.b.graph.name)
    series = {without_digits(name) for name in alone}
    numbered = any(without_digits(m.a.graph.name[old]) in series for old in moved)
    return None if numbered or any(is_counted(m.a, old) for old in moved) else pairs


def kept(m: Matching) -> list[tuple[int, int]]:
    """Pairs of layers of the same name, settings and sources, where somebody gave the name, or where as many layers of
    their kind were counted on both sides."""
    counted = [
        Counter(hash_of(side, node) for node in range(len(side)) if is_counted(side, node)) for side in (m.a, m.b)
    ]
    there = m.b.graph.index[0]
    pairs = ((node, there.get(name, -1)) for node, name in enumerate(m.a.graph.name))
    return [
        (old, new)
        for old, new in pairs
        if exists(new)
        and (m.a.in_place[old], m.a.node_label[old]) == (m.b.in_place[new], m.b.node_label[new])
        and (not is_counted(m.a, old) or counted[0][hash_of(m.a, old)] == counted[1][hash_of(m.b, new)])
    ]


def is_counted(side: GraphColumns, node: int) -> bool:
    """Whether a layer has the name that Keras makes of its class, as `dense_1`."""
    stem = side.scopes.node_leaf[node].rstrip("0123456789_").replace("_", "")
    kind = str(side.labels.configurations.get(node, {}).get("class", ""))
    return stem == kind.lower().rstrip("0123456789_")


def given_names(side: GraphColumns, other: GraphColumns) -> list[tuple[int, int]]:
    """For each layer whose name somebody gave what it is but for its settings; for one that was counted what no layer
    of the other side has."""
    leaves = side.scopes.node_leaf
    counted = {leaf for run in runs_of(leaves, other.scopes.node_leaf).values() for leaf in run.values()}
    whole = zip(leaves, side.in_place.tolist(), strict=True)
    return [(id(side), place) if leaf in counted else (0, own) for place, (leaf, own) in enumerate(whole)]


def likely(m: Matching) -> dict[int, int]:
    """Pair layers that probably correspond: those of one name; if both models have as many, also those at one position.

    Keras counts layers on while a program runs: where less than half of the names are equal, numbers prove nothing.
    """
    there = {name: position for position, name in enumerate(m.b.scopes.node_leaf)}
    same = {position: there[name] for position, name in enumerate(m.a.scopes.node_leaf) if name in there}
    if 2 * len(same) < min(len(m.a), len(m.b)):
        same = {position: place for position, place in same.items() if numbered(m.a.scopes.node_leaf[position]) is None}
    if len(m.a) == len(m.b):
        # A place that a name has claimed is no longer free for the layer at the same place.
        taken = set(same.values())
        same |= {position: position for position in range(len(m.a)) if position not in same and position not in taken}
    return same


def kinds(side: GraphColumns) -> Hashes:
    """A number for the class of each layer."""
    return np.array([hash_of(side, node) for node in range(len(side))], np.uint64)


def hash_of(side: GraphColumns, node: int) -> int:
    """A number for the class of a layer."""
    known = side.labels.configurations.get(node)
    return digest(str(known["class"]) if known else side.graph.op_types[side.graph.op[node]])
