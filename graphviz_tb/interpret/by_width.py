"""Weights of frozen graphs that no input slot names: an added bias, a multiplied scale or slope.

    x ─▶ Conv2D [5, 5, 1, 56] ─▶ Add [56] ─▶ … ─▶ Mul [56]

Each holds one number per channel of the preceding convolution or product. Follow the channel count from there through
ops that keep it.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from graphviz_tb.model.columns import Bools, Ints
from graphviz_tb.model.graph import Graph
from graphviz_tb.ops.roles import ADD_OPS, CONVOLUTION_OPS, DEPTHWISE_OPS, MATRIX_PRODUCT_OPS

CHANNEL_JOINING_OPS = ADD_OPS | {"Sub", "Mul", "RealDiv", "BiasAdd"}  # combine an operand with one number per channel
CHANNEL_KEEPING_OPS = CHANNEL_JOINING_OPS | {
    *("Abs", "Elu", "Exp", "Identity", "LeakyRelu", "Maximum", "Minimum", "Neg", "Relu", "Relu6", "Selu", "Sigmoid"),
    *("Softplus", "Softsign", "Square", "Tanh", "AvgPool", "MaxPool", "FusedBatchNorm", "FusedBatchNormV3", "Mean"),
}
KERNEL_SLOT = 1  # input slot


def find_channel_weights(graph: Graph, origin: Ints) -> list[int]:
    """Return the constants that are joined, element by element, to the result of a convolution or product with a
    constant kernel, one number per channel.

    `origin` is the constant whose value each node passes on, -1 for none.
    """
    keeps, joins = (graph.nodes_of_types(ops.__contains__) for ops in (CHANNEL_KEEPING_OPS, CHANNEL_JOINING_OPS))
    width = output_channels_by_op(graph, origin)
    if not width or not joins.any():
        return []
    waiting = list(width)
    after = channel_keeping_users(graph, keeps)
    while waiting:
        node = waiting.pop()
        for target in after.get(node, ()):
            # The first width wins: operands of a different width are broadcast.
            if target not in width:
                width[target] = width[node]
                waiting.append(target)
    found: list[int] = []
    edges = np.flatnonzero(joins[graph.target] & ~graph.control & (origin[graph.source] >= 0))
    for target, constant in zip(graph.target[edges].tolist(), origin[graph.source[edges]].tolist(), strict=True):
        if target in width and is_one_per_channel(constant_sizes(graph, constant), width[target]):
            found.append(constant)
    return found


def output_channels_by_op(graph: Graph, origin: Ints) -> dict[int, int]:
    """Return the output channels of each convolution and product with a constant kernel."""
    convolves = graph.nodes_of_types(lambda op: op in CONVOLUTION_OPS or op in MATRIX_PRODUCT_OPS)
    edges = np.flatnonzero(
        convolves[graph.target] & (graph.slot == KERNEL_SLOT) & ~graph.control & (origin[graph.source] >= 0)
    )
    channels: dict[int, int] = {}
    for target, constant in zip(graph.target[edges].tolist(), origin[graph.source[edges]].tolist(), strict=True):
        kernel, op = constant_sizes(graph, constant), graph.op_types[graph.op[target]]
        if len(kernel) < 2:
            continue
        if op in DEPTHWISE_OPS:
            channels[target] = kernel[-1] * kernel[-2]
            continue
        channels[target] = kernel[-2] if has_transposed_kernel(graph, target, int(constant), origin) else kernel[-1]
    return channels


def has_transposed_kernel(graph: Graph, product: int, constant: int, origin: Ints) -> bool:
    """Return whether a product takes its kernel transposed, by its attribute or by an op in between."""
    definition = graph.node_def(product)
    by_attribute = definition is not None and any(
        definition.attr[key].b for key in TRANSPOSE_ATTRS if key in definition.attr
    )
    between = (graph.op_types[graph.op[node]] for node in node_inputs(graph, product) if origin[node] == constant)
    return by_attribute != ("Transpose" in between)


TRANSPOSE_ATTRS = ("transpose_b", "adj_y")


def node_inputs(graph: Graph, node: int) -> list[int]:
    """Return the inputs of a node."""
    start, stop = np.searchsorted(graph.target, (node, node + 1))
    sources: list[int] = graph.source[start:stop].tolist()
    return sources


def channel_keeping_users(graph: Graph, keeps: Bools) -> dict[int, list[int]]:
    """Return, by node, the users of its value that keep its channels."""
    edges = np.flatnonzero(keeps[graph.target] & ~graph.control)
    after: dict[int, list[int]] = {}
    for source, target in zip(graph.source[edges].tolist(), graph.target[edges].tolist(), strict=True):
        after.setdefault(source, []).append(target)
    return after


def constant_sizes(graph: Graph, constant: int) -> Sequence[int]:
    """Return the sizes of a constant; () without a value."""
    definition = graph.node_def(constant)
    if definition is None or "value" not in definition.attr:
        return ()
    return [dim.size for dim in definition.attr["value"].tensor.tensor_shape.dim]


def is_one_per_channel(sizes: Sequence[int], width: int) -> bool:
    """Return whether a shape is one number per channel: channels last, or third from the end.

    >>> (
    ...     is_one_per_channel([56], 56),
    ...     is_one_per_channel([56, 1, 1], 56),
    ...     is_one_per_channel([8, 7], 56),
    ...     is_one_per_channel([1], 1),
    ... )
    (True, True, False, False)
    """
    return width > 1 and prod(sizes) == width and width in sizes
