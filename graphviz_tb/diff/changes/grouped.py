"""A convolution in groups: on a CPU, Keras writes it as a call of a function that holds the convolution."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from graphviz_tb.diff.changes.layers import SHAPING, Layers
from graphviz_tb.diff.columns.side import Side
from graphviz_tb.model.change import Change
from graphviz_tb.model.tensors import Shape

CONVOLUTIONS = frozenset({"Conv2D", "Conv3D", "Conv"})  # a convolution of one dimension is written as one of two
MOST_STEPS = 8  # from a convolution through reads, casts and new dimensions to its kernel


def group_counts(layers: tuple[Layers, Layers], changes: Sequence[Change]) -> tuple[int, int] | None:
    """How many groups a convolution has, old and new; None where no call came in its place, or went.

    A kernel is …×in×out; in groups it takes only its share of what comes in.
    """
    removed = [node for change in changes for node in change.edits.removed]
    added = [node for change in changes for node in change.edits.added]
    inputs = input_sizes(layers[0].side, removed), input_sizes(layers[1].side, added)
    if len(inputs[0]) != 1 or len(inputs[1]) != 1:
        return None
    (old, called_before), (new, called_now) = inputs[0].pop(), inputs[1].pop()
    # Groups divide what comes in evenly; without a call on exactly one side it is another edit.
    if called_before == called_now or max(old, new) % min(old, new):
        return None
    return (1, old // new) if called_now and new < old else (new // old, 1) if called_before and old < new else None


def input_sizes(side: Side, nodes: Iterable[int]) -> set[tuple[int, bool]]:
    """The inputs that the kernels of convolutions take, and whether a function that is called holds the convolution."""
    sizes = set()
    for node in nodes:
        called = holds_convolution(side, node)
        if called or side.graph.op_types[side.graph.op[node]] in CONVOLUTIONS:
            for shape in kernels(side, node):
                # The last two dimensions of a kernel are what comes in and what goes out.
                if shape[-2]:
                    sizes.add((shape[-2], called))
    return sizes


def holds_convolution(side: Side, node: int) -> bool:
    """Whether an op calls a function with one convolution in it."""
    graph = side.graph
    return any(
        sum(graph.op_types[graph.op[inner]] in CONVOLUTIONS for inner in side.body(function)) == 1
        for _, function in side.called.get(node, ())
    )


def kernels(side: Side, node: int) -> Iterator[tuple[int | None, ...]]:
    """The shapes of the weights of three and more dimensions that an op takes."""
    graph, front = side.graph, [node]
    for _ in range(MOST_STEPS):
        sources = [source for user in front for source in graph.source[side.in_edges(user)].tolist()]
        yield from (shape for source in sources if len(shape := weight_shape(side, source) or ()) >= 3)
        front = [source for source in dict.fromkeys(sources) if graph.op_types[graph.op[source]] in SHAPING]


def weight_shape(side: Side, node: int) -> Shape:
    """The shape of a weight, or of a constant."""
    known, definition = side.graph.weights.get(node), side.graph.node_def(node)
    if known is not None:
        return known.shape
    if definition is None or definition.op != "Const" or "value" not in definition.attr:
        return None
    return tuple(int(dim.size) for dim in definition.attr["value"].tensor.tensor_shape.dim)
