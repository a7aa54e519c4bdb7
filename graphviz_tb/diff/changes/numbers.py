"""Numbers of a whole graph before and after."""

from __future__ import annotations

from math import prod

from graphviz_tb.diff.changes.layers import Layers


def parameters(layers: Layers) -> int | None:
    """How many numbers the weights of the model hold, each variable once; None where that is not known.

    Slots of an optimizer are no weights of the model.
    """
    graph = layers.side.graph
    if graph.layers and graph.weights == {}:
        counts = [layer.parameters for name, layer in graph.layers.items() if name in graph.index[0]]
        return None if any(count is None for count in counts) else sum(count or 0 for count in counts)
    shapes = {one.variable: one.shape for node, one in graph.weights.items() if layers.forward[node]}
    if not shapes or any(shape is None or None in shape for shape in shapes.values()):
        return None
    return sum(prod(dim or 0 for dim in shape or ()) for shape in shapes.values())
