"""Colour by XLA cluster: the attribute `_XlaCluster` of each node, clusters in order of appearance."""

from __future__ import annotations

import numpy as np

from graphviz_tb.color.shares import CategoryColouring, category_colouring
from graphviz_tb.model.facts import Facts
from graphviz_tb.model.graph import Graph
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.theme import Theme

CLUSTER_ATTRIBUTE = "_XlaCluster"


def xla_cluster_colouring(hierarchy: Hierarchy, theme: Theme, facts: Facts) -> CategoryColouring:
    """Make the colouring "xla-cluster". It reads one attribute of every definition, once."""
    graph = hierarchy.graph
    clusters: dict[str, int] = {}
    known = {-1: -1}  # by definition; arguments of functions have none
    by_node = np.full(len(graph), -1, np.int32)
    for node in range(len(graph)):
        number = facts.definition(node)
        if number not in known:
            name = cluster_name(graph, node)
            known[number] = clusters.setdefault(name, len(clusters)) if name else -1
        by_node[node] = known[number]
    return category_colouring(hierarchy, theme, ("xla-cluster", "XLA cluster"), by_node, list(clusters), "no cluster")


def cluster_name(graph: Graph, node: int) -> str:
    """Return the cluster of a node; "" for none."""
    definition = graph.node_def(node)
    if definition is None or CLUSTER_ATTRIBUTE not in definition.attr:
        return ""
    return definition.attr[CLUSTER_ATTRIBUTE].s.decode("utf-8", "replace")
