"""File every edge under the group that owns it: the lowest common ancestor of its ends."""

from __future__ import annotations

import numpy as np

from graphviz_tb.model.columns import Ints, Longs, group_by_key, int32_column


def lowest_common_owners(parent: Ints, depth: Ints, source: Ints, target: Ints) -> tuple[Ints, Ints, Ints]:
    """Return, for each pair of leaf rows, the owner and the owner's children that hold the two ends.

    Equal ends are owned by their parent. Both ends climb in jumps of 2ᵏ levels (binary lifting): one by one, thousands
    of edges into a deep scope would take a step per level each.
    """
    source, target = source.copy(), target.copy()
    active = np.flatnonzero(parent[source] != parent[target])
    if not len(active):
        return parent[source], source, target
    s, t = source[active], target[active]
    jumps = ancestor_jumps(parent, int(max(np.max(depth[s]), np.max(depth[t]))))
    # The deeper end climbs to the depth of the other.
    for levels, up in jumps:
        gap = depth[s] - depth[t]
        s, t = np.where(gap >= levels, up[s], s), np.where(-gap >= levels, up[t], t)
    # Both climb as long as their parents differ, and once more.
    for _, up in jumps:
        apart = parent[up[s]] != parent[up[t]]
        s, t = np.where(apart, up[s], s), np.where(apart, up[t], t)
    apart = parent[s] != parent[t]
    source[active], target[active] = np.where(apart, parent[s], s), np.where(apart, parent[t], t)
    return parent[source], source, target


def ancestor_jumps(parent: Ints, deepest: int) -> list[tuple[int, Ints]]:
    """Return, for each power of two from the largest up to `deepest` down to 1, the ancestors that many levels up.

    >>> [(levels, up.tolist()) for levels, up in ancestor_jumps(np.array([-1, 0, 1, 2]), 3)]
    [(2, [0, 0, 0, 1]), (1, [0, 0, 1, 2])]
    """
    # Roots are their own ancestors.
    jumps = [(1, np.where(parent < 0, np.arange(len(parent), dtype=parent.dtype), parent))]
    while (levels := 2 * jumps[-1][0]) <= deepest:
        up = jumps[-1][1]
        jumps.append((levels, up[up]))
    return jumps[::-1]


def file_edges_by_owner(owner: Ints, rows: int) -> tuple[Ints, Longs]:
    """Return edge ids sorted by owner row (unowned ones, -1, left out), and where each row's run starts."""
    held = np.flatnonzero(owner >= 0)
    order, start = group_by_key(owner[held], rows)
    return int32_column(held[order]), start
