"""Facts about nodes and tensors: shapes, dtypes, devices, run statistics. Decoded when something is shown."""

from __future__ import annotations

from graphviz_tb.annotate.shapes import tensors_of
from graphviz_tb.model.facts import Facts
from graphviz_tb.model.hierarchy import Hierarchy


def annotate(hierarchy: Hierarchy) -> Facts:
    """The facts of a hierarchy's graph. Nothing is decoded yet."""
    graph = hierarchy.graph
    return Facts(graph, lambda node: tensors_of(graph, node))
