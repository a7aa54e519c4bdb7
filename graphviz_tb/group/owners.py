"""Every edge is filed under the group that owns it: the lowest common ancestor of its ends."""

from __future__ import annotations

import numpy as np

from graphviz_tb.model.columns import Ints, Longs, ints


def meet(parent: Ints, depth: Ints, source: Ints, target: Ints) -> tuple[Ints, Ints, Ints]:
    """For each pair of rows the owner, and the owner's children that hold the two ends.

    Before: rows of leaves. After: `(owner, from, to)`; equal ends are owned by their parent. One step a level, on the
    edges that have not met.
    """
    source, target = source.copy(), target.copy()
    active = np.flatnonzero(parent[source] != parent[target])
    while len(active):
        s, t = source[active], target[active]
        # The deeper end goes up one level.
        deep_s, deep_t = depth[s], depth[t]
        s = np.where(deep_s >= deep_t, parent[s], s)
        t = np.where(deep_t >= deep_s, parent[t], t)  # both do where they are equally deep: only saves time
        source[active], target[active] = s, t
        active = active[parent[s] != parent[t]]
    return parent[source], source, target


def file_by_owner(owner: Ints, rows: int) -> tuple[Ints, Longs]:
    """Edge ids sorted by owner row (-1: owned by nobody, left out), and where each row's run starts."""
    held = np.flatnonzero(owner >= 0)
    order = held[np.argsort(owner[held], kind="stable")]
    counts = np.bincount(owner[held], minlength=rows) if len(held) else np.zeros(rows, np.int64)
    return ints(order), np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
