"""Properties that the file format of two models does not have, so that an edit of them is not seen."""

from __future__ import annotations

from collections import Counter

from graphviz_tb.diff.changes.layers import Layers
from graphviz_tb.diff.changes.traced_widths import is_traced

INFERENCE = ("dropout", "losses", "regularizers", "optimizer", "which layers are trained")
SHAPES_OF_WEIGHTS = "shapes of weights"  # a trace of PyTorch has none, nor what read variables of unknown shape
COMPILED = ("optimizer", "loss")  # of a Keras model, in the configuration of the outermost one


def left_out(layers: tuple[Layers, Layers]) -> tuple[str, ...]:
    """Of Keras models how they are compiled, where neither says, and what custom layers compute; of graphs with weights
    all that only trains, and shapes of weights that are not known."""
    graphs = [side.side.graph for side in layers]
    if all(graph.layers for graph in graphs):
        said = {key for graph in graphs for layer in graph.layers.values() for key in layer.config}
        unseen = Counter(layer.class_name for layer in graphs[1].layers.values() if layer.custom)
        computed = (
            f"what {kind}{f' ×{count}' if count > 1 else ''} computes" for kind, count in sorted(unseen.items())
        )
        return (*(key for key in COMPILED if key not in said), *computed)
    if all(map(is_traced, graphs)):
        return (SHAPES_OF_WEIGHTS,)
    trained = any(graph.meaning.flow().gradient.any() for graph in graphs)
    inference = INFERENCE if all(graph.meaning.weights for graph in graphs) and not trained else ()
    unknown = any(weight.shape is None for graph in graphs for weight in graph.meaning.weights.values())
    return (*inference, SHAPES_OF_WEIGHTS) if unknown else inference
