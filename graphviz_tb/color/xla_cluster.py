"""Colour by XLA cluster: the attribute `_XlaCluster` of each node, clusters in order of appearance."""

from __future__ import annotations

import numpy as np

from graphviz_tb.color.shares import Shares, shares
from graphviz_tb.model.facts import Facts
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.theme import Theme

ATTRIBUTE = "_XlaCluster"


def xla_cluster(hierarchy: Hierarchy, theme: Theme, facts: Facts) -> Shares:
    """The colouring "xla-cluster". It reads one attribute of every node, once."""
    graph = hierarchy.graph
    clusters: dict[str, int] = {}
    by_node = np.full(len(graph), -1, np.int32)
    for node in range(len(graph)):
        definition = graph.node_def(node)
        if definition is not None and ATTRIBUTE in definition.attr:
            name = definition.attr[ATTRIBUTE].s.decode("utf-8", "replace")
            if name:
                by_node[node] = clusters.setdefault(name, len(clusters))
    return shares(hierarchy, theme, ("xla-cluster", "XLA cluster"), by_node, list(clusters), "no cluster")
