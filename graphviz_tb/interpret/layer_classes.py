"""Which class of layer the ops of one scope are, by what they compute rather than by their names."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from graphviz_tb.model.columns import span
from graphviz_tb.model.graph import Graph
from graphviz_tb.ops.roles import (
    BATCH_PRODUCTS,
    CONSTANTS,
    CONVOLUTIONS,
    DEPTHWISE,
    EMBEDDING,
    PRODUCTS,
    Role,
    has_role,
)

SPREAD = frozenset({"SquaredDifference", "Sub", "Neg"})  # what takes the mean away before it is squared
ROOTS = frozenset({"Rsqrt", "Sqrt"})
DENSE = (PRODUCTS - BATCH_PRODUCTS) | {"Einsum"}


def class_of_nodes(graph: Graph, nodes: Sequence[int]) -> str:
    """Return the class of layer that some nodes are together, "" where they say none."""
    return layer_class({graph.op_types[graph.op[node]] for node in nodes}, axes_of_mean(graph, nodes))


def axes_of_mean(graph: Graph, nodes: Sequence[int]) -> int:
    """Over how many dimensions the first mean among some nodes is taken: the numbers in the constant that says it."""
    for node in nodes:
        if graph.op_types[graph.op[node]] == "Mean":
            for source in graph.source[slice(*span(graph.target, node, node + 1))].tolist():
                definition = graph.node_def(source)
                if definition is not None and definition.op in CONSTANTS:
                    dims = definition.attr["value"].tensor.tensor_shape.dim
                    return max(1, *(int(dim.size) for dim in dims)) if dims else 1
    return 1


def layer_class(types: Collection[str], axes: int = 1) -> str:
    """Return the class of layer that ops of such types are, "" where they say none; `axes` is over how many dimensions
    they take a mean.

    >>> layer_class(["MatMul", "BiasAdd", "Relu"]), layer_class(["Mul", "AddV2"])
    ('Dense', '')
    >>> layer_class(["Mean", "SquaredDifference", "Rsqrt", "Mul"]), layer_class(["Square", "Mean", "Rsqrt", "Mul"])
    ('LayerNormalization', 'RMSNormalization')
    """
    types = frozenset(types)
    if any(has_role(op, Role.NORMALIZATION) for op in types):
        return "BatchNormalization"
    if types & CONVOLUTIONS:
        return convolution(types)
    if types & ROOTS and "Mul" in types:
        return normalization(types, axes)
    if types & DENSE:
        return "Dense"
    if types & EMBEDDING:
        return "Embedding"
    drawn = any(op.startswith(("StatelessRandom", "RandomUniform")) for op in types)
    return "Dropout" if drawn and types & {"SelectV2", "Mul"} else ""


def convolution(types: Collection[str]) -> str:
    """The class of a layer that holds convolutions."""
    wide = sorted(op for op in types if op in CONVOLUTIONS - DEPTHWISE)
    if not wide:
        return "DepthwiseConv2D"
    return "SeparableConv2D" if any(op in DEPTHWISE for op in types) else wide[0]


def normalization(types: Collection[str], axes: int) -> str:
    """The class of a layer that divides by a root: by that of moments that it takes, or that it has."""
    if "Mean" not in types or any(has_role(op, Role.ASSIGN) for op in types):
        return "BatchNormalization" if "Mean" in types or "Sub" in types else ""
    if not SPREAD & frozenset(types):
        return "RMSNormalization"
    return "GroupNormalization" if axes > 1 else "LayerNormalization"
