"""The nodes of a graph that are layers: in a conceptual graph all of them, in any other none."""

from __future__ import annotations

from graphviz_tb.model.graph import Graph
from graphviz_tb.model.layers import Layer


def layer_nodes(graph: Graph) -> dict[int, Layer]:
    """Return the nodes that are Keras layers, not ops; an op with the name of a layer's scope is not a layer."""
    named = ((graph.index[0].get(name, -1), layer) for name, layer in graph.layers.items())
    return {node: layer for node, layer in named if node >= 0 and graph.op_types[graph.op[node]] == layer.class_name}
