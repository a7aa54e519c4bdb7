"""Select nodes by their op type."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from graphviz_tb.model.columns import Bools
from graphviz_tb.model.graph import Graph


def nodes_of(graph: Graph, is_one: Callable[[str], object]) -> Bools:
    """Which nodes have an op type that something holds for; it is asked once for each type."""
    kinds: Bools = np.fromiter(map(bool, map(is_one, graph.op_types)), bool, len(graph.op_types))
    return kinds[graph.op]
