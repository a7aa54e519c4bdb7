"""A convolution in groups: on a CPU, Keras writes it as a call of a function that holds the convolution."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from graphviz_tb.diff.changes.layers import DENSE_CONVOLUTIONS, SHAPING, Layers
from graphviz_tb.diff.columns.side import GraphColumns
from graphviz_tb.limits import MAX_STEPS_TO_KERNEL
from graphviz_tb.model.change import Change
from graphviz_tb.model.tensors import Shape
from graphviz_tb.ops.roles import CONSTANT_OPS


def group_counts(layers: tuple[Layers, Layers], changes: Sequence[Change]) -> tuple[int, int] | None:
    """Return the old and new number of groups of a convolution; None where no call replaced it, or was replaced.

    A kernel is …×in×out; in groups it takes only its share of the input channels.
    """
    removed = [node for change in changes for node in change.edits.removed]
    added = [node for change in changes for node in change.edits.added]
    inputs = input_sizes(layers[0], removed), input_sizes(layers[1], added)
    if len(inputs[0]) != 1 or len(inputs[1]) != 1:
        return None
    (old, called_before), (new, called_now) = inputs[0].pop(), inputs[1].pop()
    # Groups divide what comes in evenly; without a call on exactly one side it is another edit.
    if called_before == called_now or max(old, new) % min(old, new):
        return None
    return (1, old // new) if called_now and new < old else (new // old, 1) if called_before and old < new else None


def input_sizes(layers: Layers, nodes: Iterable[int]) -> set[tuple[int, bool]]:
    """The inputs that the kernels of convolutions take, and whether a function that is called holds the convolution; of
    more than one two at least."""
    graph, sizes = layers.side.graph, set()
    for node in nodes:
        called = any(layers.holds_convolution[function] for _, function in layers.side.called.get(node, ()))
        if called or graph.op_types[graph.op[node]] in DENSE_CONVOLUTIONS:
            sizes |= {(size, called) for size in kernels(layers, node, MAX_STEPS_TO_KERNEL)}
    return sizes


def kernels(layers: Layers, node: int, steps: int) -> tuple[int, ...]:
    """How many inputs the weights of three and more dimensions have that an op takes, so many steps back; of more than
    two the least and the most. Found once for each op: thousands may take what one reads."""
    known = layers.kernels.get((node, steps))
    if known is None:
        side, found = layers.side, set()
        for source in dict.fromkeys(side.graph.source[side.in_edges(node)].tolist()):
            shape = weight_shape(side, source) or ()
            # The last two dimensions of a kernel are what comes in and what goes out.
            if len(shape) >= 3 and shape[-2]:
                found.add(shape[-2])
            if steps > 1 and side.graph.op_types[side.graph.op[source]] in SHAPING:
                found.update(kernels(layers, source, steps - 1))
        known = layers.kernels[node, steps] = (min(found), max(found)) if len(found) > 1 else tuple(found)
    return known


def weight_shape(side: GraphColumns, node: int) -> Shape:
    """The shape of a weight, or of a constant."""
    known, definition = side.graph.meaning.weights.get(node), side.graph.node_def(node)
    if known is not None:
        return known.shape
    if definition is None or definition.op not in CONSTANT_OPS or "value" not in definition.attr:
        return None
    return tuple(int(dim.size) for dim in definition.attr["value"].tensor.tensor_shape.dim)
