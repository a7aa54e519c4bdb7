"""What marks are: which nodes are drawn as one, and the ordinary nodes that they are drawn beside."""

from __future__ import annotations

import numpy as np

from graphviz_tb.flatten.edges import Edges
from graphviz_tb.model.columns import Bools, Bytes, Ints
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.graph import Beside


@dataclass(frozen=True, slots=True, eq=False)
class Marks:
    """The mark of each node, which nodes are kept, the edges, which marks are beside which nodes, and which belong to
    other marks."""

    mark: Bytes
    kept: Bools
    edges: Edges
    beside: Beside
    within: dict[int, tuple[int, ...]]


def unique_pairs(marks: Ints, hosts: Ints, inward: Bools) -> Beside:
    """One row for each (mark, host, side), in the order of hosts and then of first appearance."""
    # 32 bits for the mark, one for the side.
    key = (hosts.astype(np.int64) << 33) + (marks.astype(np.int64) << 1) + inward
    _, first, counts = np.unique(key, return_index=True, return_counts=True)
    order = np.lexsort((first, hosts[first]))
    first, counts = first[order], counts[order]  # the last key is the first to sort by
    return Beside(marks[first].astype(np.int32), hosts[first].astype(np.int32), inward[first], counts.astype(np.int32))
