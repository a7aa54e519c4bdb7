"""Which class of layer the ops of one scope are, by what they compute rather than by their names."""

from __future__ import annotations

from collections.abc import Collection

from graphviz_tb.ops.roles import CONVOLUTIONS, DEPTHWISE, LOOKUPS, ROW_READS, Role, has_role

SPREAD = frozenset({"SquaredDifference", "Sub", "Neg"})  # what takes the mean away before it is squared
ROOTS = frozenset({"Rsqrt", "Sqrt"})
EMBEDDING = LOOKUPS | ROW_READS


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
    if types & {"MatMul", "Einsum"}:
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
