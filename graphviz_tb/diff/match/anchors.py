"""Nodes with a neighbourhood of their own, wherever they went.

Neighbourhoods are compared by Weisfeiler-Lehman hashes, largest radius first; a node that is found anchors what lies
around it, as in GumTree (Falleri et al., ASE 2014).
"""

from __future__ import annotations

import numpy as np

from graphviz_tb.diff.columns.hashing import Hashes, combined
from graphviz_tb.diff.match.follow import follow
from graphviz_tb.diff.match.found import Findings, NodePairs, Reason
from graphviz_tb.diff.match.matching import Matching
from graphviz_tb.diff.match.spread import spread
from graphviz_tb.model.columns import Ints

# Edges that a neighbourhood reaches, and which way: both ways, then far along the flow where one side was edited.
RADII = ((4, "both"), (8, "in"), (8, "out"), (3, "both"), (2, "both"), (4, "in"), (4, "out"))


def anchors(m: Matching, radii: tuple[tuple[int, str], ...] = RADII) -> Findings:
    """Match free nodes whose neighbourhood occurs once on each side, the largest radius first."""
    for radius, direction in radii:
        free_a, free_b = m.left()
        if not len(free_a) or not len(free_b):
            return
        old, new = unique_pairs(m, m.a.around(radius, direction), m.b.around(radius, direction), free_a, free_b)
        old, new = plausible(m, old, new, radius)
        if len(old):
            yield NodePairs(old, new, Reason.ANCHOR)
            # What an anchor leads to is matched before smaller, more ambiguous neighbourhoods are compared.
            yield from follow(m)
            yield from spread(m)
    yield from spread(m)  # where no neighbourhood is the only one: beside what was matched by name


def plausible(m: Matching, old: Ints, new: Ints, radius: int) -> tuple[Ints, Ints]:
    """Leave out nodes with next to no neighbourhood, unless they keep their name or their scope."""
    edges = np.diff(m.a.in_start)[old] + np.diff(m.a.out_start)[old]
    same = m.a.scopes.node_leaf_hash[old] == m.b.scopes.node_leaf_hash[new]
    keep = (edges >= 2) | m.parents_match(old, new) | (same & (edges >= 1))
    return old[keep], new[keep]


def unique_pairs(m: Matching, hash_a: Hashes, hash_b: Hashes, free_a: Ints, free_b: Ints) -> tuple[Ints, Ints]:
    """Free nodes of compared blocks whose hash occurs once among the free nodes of either side."""
    blocks_a, blocks_b = m.block_pair()
    # With the number of the pair of blocks: a node of one function is never matched with one of another.
    key_a = combined(hash_a[free_a], blocks_a[m.a.block[free_a]].astype(np.int64).view(np.uint64))
    key_b = combined(hash_b[free_b], blocks_b[m.b.block[free_b]].astype(np.int64).view(np.uint64))
    once_a, at_a = _once(key_a)
    once_b, at_b = _once(key_b)
    _, in_a, in_b = np.intersect1d(once_a, once_b, assume_unique=True, return_indices=True)
    return free_a[at_a[in_a]], free_b[at_b[in_b]]


def _once(keys: Hashes) -> tuple[Hashes, Ints]:
    """The keys that occur once, and where."""
    values, first, count = np.unique(keys, return_index=True, return_counts=True)
    return values[count == 1], first[count == 1].astype(np.int32)
