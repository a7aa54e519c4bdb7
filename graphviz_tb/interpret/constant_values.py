"""The numbers of a constant: whether weights are stored so, and whether a program writes such down."""

from __future__ import annotations

from math import prod

import numpy as np

from graphviz_tb.model.graph import Graph
from graphviz_tb.model.tensors import DTYPE_TABLE, MAX_DIMENSIONS, NON_INTEGER_DTYPES

SMALL_WHOLE = frozenset({"int8", "uint8", "qint8", "quint8", "int4", "uint4", "qint16", "qint32"})  # quantised weights
STORED = frozenset(
    number
    for number, each in DTYPE_TABLE.items()
    if (each.form and each.name in NON_INTEGER_DTYPES) or each.name in SMALL_WHOLE
)
MOST_LOOKED_AT = 100_000  # numbers of a constant
LITERAL = (2 / np.pi, np.pi, np.e, np.log(2), np.log(10000))  # what formulas take roots, ratios and powers of


def is_stored(graph: Graph, node: int) -> bool:
    """Whether a constant is of a type that weights are stored in, however few numbers it holds."""
    definition = graph.node_def(node)
    if definition is None or "value" not in definition.attr:
        return False
    tensor = definition.attr["value"].tensor
    return tensor.dtype in STORED and len(tensor.tensor_shape.dim) <= MAX_DIMENSIONS


def is_splat(graph: Graph, node: int) -> bool:
    """Whether all numbers of a constant are one, as a state begins with zeros; an argument has none."""
    definition = graph.node_def(node)
    if definition is None:
        return False
    if "value" not in definition.attr:
        return True
    tensor = definition.attr["value"].tensor
    content = tensor.tensor_content
    if content:
        count = max(1, int(np.prod([dim.size for dim in tensor.tensor_shape.dim])))
        size = max(1, len(content) // count)
        return content == content[:size] * (len(content) // size)
    field = DTYPE_TABLE[tensor.dtype].field if tensor.dtype in DTYPE_TABLE else ""
    return not field or len(set(getattr(tensor, field))) < 2


def is_mask(graph: Graph, node: int) -> bool:
    """Whether the numbers of a constant are zeros and ones, and both."""
    definition = graph.node_def(node)
    if definition is None or "value" not in definition.attr:
        return False
    tensor = definition.attr["value"].tensor
    dtype = DTYPE_TABLE.get(tensor.dtype)
    if dtype is None or not dtype.form or len(tensor.tensor_content) % dtype.size:
        return False
    stored = tensor.tensor_content or getattr(tensor, dtype.field)
    numbers = np.frombuffer(stored, dtype.form) if isinstance(stored, bytes) else np.array(stored)
    return set(np.unique(numbers[:MOST_LOOKED_AT]).tolist()) == {0, 1}


def numbers_in(graph: Graph, node: int) -> int:
    """Count the elements of a constant."""
    definition = graph.node_def(node)
    if definition is None or "value" not in definition.attr:
        return 0
    return prod(dim.size for dim in definition.attr["value"].tensor.tensor_shape.dim)


def is_scalar(graph: Graph, node: int) -> bool:
    """Whether a constant is a number, and no list of one."""
    definition = graph.node_def(node)
    return definition is not None and not definition.attr["value"].tensor.tensor_shape.dim


def is_literal(graph: Graph, node: int) -> bool:
    """Whether a single number is one that a program writes down, and no trained one: of few digits, the root or the
    inverse of a whole number, or a constant of mathematics."""
    definition = graph.node_def(node)
    if definition is None or "value" not in definition.attr:
        return True
    tensor = definition.attr["value"].tensor
    dtype = DTYPE_TABLE.get(tensor.dtype)
    if dtype is None or dtype.field not in ("float_val", "double_val"):
        return True
    numbers = (
        np.frombuffer(tensor.tensor_content, dtype.form) if tensor.tensor_content else getattr(tensor, dtype.field)
    )
    value = abs(float(numbers[0])) if len(numbers) else 0.0
    if not np.isfinite(value) or value == 0:
        return True
    near = 1e-6 if dtype.size == 4 else 1e-12
    if abs(float(f"{value:.4e}") - value) <= near * value:
        return True
    forms = (value, 1 / value, value**2, value**-2)
    return any(
        abs(form - exact) <= 4 * near * form
        for form in forms
        for exact in (round(form), *LITERAL)
        if exact and form < 1e6
    )
