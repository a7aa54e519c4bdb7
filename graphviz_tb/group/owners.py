"""Every edge is filed under the group that owns it: the lowest common ancestor of its ends."""

from __future__ import annotations

import numpy as np

from graphviz_tb.model.columns import Ints, Longs, filed, ints


def meet(parent: Ints, depth: Ints, source: Ints, target: Ints) -> tuple[Ints, Ints, Ints]:
    """For each pair of rows the owner, and the owner's children that hold the two ends.

    Before: rows of leaves. After: `(owner, from, to)`; equal ends are owned by their parent. In jumps of 2ᵏ levels: one
    by one, thousands of edges into a deep scope would each take a step for each level.
    """
    source, target = source.copy(), target.copy()
    active = np.flatnonzero(parent[source] != parent[target])
    if not len(active):
        return parent[source], source, target
    s, t = source[active], target[active]
    jumps = jumps_of(parent, int(max(np.max(depth[s]), np.max(depth[t]))))
    # The deeper end goes up to the depth of the other.
    for levels, up in jumps:
        gap = depth[s] - depth[t]
        s, t = np.where(gap >= levels, up[s], s), np.where(-gap >= levels, up[t], t)
    # Both go up as far as their parents differ, and once more.
    for _, up in jumps:
        apart = parent[up[s]] != parent[up[t]]
        s, t = np.where(apart, up[s], s), np.where(apart, up[t], t)
    apart = parent[s] != parent[t]
    source[active], target[active] = np.where(apart, parent[s], s), np.where(apart, parent[t], t)
    return parent[source], source, target


def jumps_of(parent: Ints, deepest: int) -> list[tuple[int, Ints]]:
    """For each power of two, from the largest that is no more than `deepest`: the rows so many levels up.

    >>> [(levels, up.tolist()) for levels, up in jumps_of(np.array([-1, 0, 1, 2]), 3)]
    [(2, [0, 0, 0, 1]), (1, [0, 0, 1, 2])]
    """
    # What has no parent stays.
    jumps = [(1, np.where(parent < 0, np.arange(len(parent), dtype=parent.dtype), parent))]
    while (levels := 2 * jumps[-1][0]) <= deepest:
        up = jumps[-1][1]
        jumps.append((levels, up[up]))
    return jumps[::-1]


def file_by_owner(owner: Ints, rows: int) -> tuple[Ints, Longs]:
    """Edge ids sorted by owner row (-1: owned by nobody, left out), and where each row's run starts."""
    held = np.flatnonzero(owner >= 0)
    order, start = filed(owner[held], rows)
    return ints(held[order]), start
