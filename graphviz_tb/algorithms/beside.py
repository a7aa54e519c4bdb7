"""Which marks are drawn beside which nodes: one row for each pair."""

from __future__ import annotations

import numpy as np

from graphviz_tb.model.columns import Bools, Ints
from graphviz_tb.model.graph import MarkPairs


def unique_pairs(marks: Ints, hosts: Ints, inward: Bools) -> MarkPairs:
    """One row for each (mark, host, side), in the order of hosts and then of first appearance."""
    # 32 bits for the mark, one for the side.
    key = (hosts.astype(np.int64) << 33) + (marks.astype(np.int64) << 1) + inward
    _, first, counts = np.unique(key, return_index=True, return_counts=True)
    order = np.lexsort((first, hosts[first]))
    first, counts = first[order], counts[order]  # the last key is the first to sort by
    return MarkPairs(
        marks[first].astype(np.int32), hosts[first].astype(np.int32), inward[first], counts.astype(np.int32)
    )
