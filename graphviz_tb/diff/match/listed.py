"""Layers of a Keras model, in the order that the file lists them: the longest common subsequence of what they are."""

from __future__ import annotations

import numpy as np

from graphviz_tb.diff.columns.hashing import Hashes, digest, joined
from graphviz_tb.diff.columns.side import Side
from graphviz_tb.diff.match.anchors import unique_pairs
from graphviz_tb.diff.match.matching import Matching, Reason
from graphviz_tb.diff.match.series import align


def listed(m: Matching) -> None:
    """Match layers by class, configuration and name, then by the first two, then by the class alone.

    Before: nothing is matched. After, where both graphs are Keras models: what goes together without crossing.
    """
    if not m.a.graph.layers or not m.b.graph.layers:
        return
    tiers = list(zip(keys(m.a), keys(m.b), strict=True))
    pairs = align([(one.tolist(), two.tolist()) for one, two in tiers], {})
    for old, new in pairs or ():
        m.pair(old, new, Reason.SERIES)
    for one, two in tiers[:2]:  # what changed its place: the only one of its kind on both sides
        free_a, free_b = m.left()
        m.pair_many(*unique_pairs(m, one, two, free_a, free_b), Reason.ANCHOR)


def keys(side: Side) -> list[Hashes]:
    """What must be equal of two layers, the strictest first."""
    kinds = np.array([hash_of(side, node) for node in range(len(side))], np.uint64)
    name = side.scopes.node_leaf_hash
    return [joined(side.node_label, name), side.node_label, joined(kinds, name), kinds]


def hash_of(side: Side, node: int) -> int:
    """A number for the class of a layer."""
    known = side.labels.configurations.get(node)
    return digest(str(known["class"]) if known else side.graph.op_types[side.graph.op[node]])
