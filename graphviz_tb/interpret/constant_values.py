"""The numbers of a constant: whether weights are stored so, and whether a program writes such down."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from graphviz_tb.model.graph import Graph
from graphviz_tb.model.tensors import DTYPE_TABLE, MAX_DIMENSIONS, NON_INTEGER_DTYPES

if TYPE_CHECKING:
    from graphviz_tb.proto import TensorProto

SMALL_WHOLE = frozenset({"int8", "uint8", "qint8", "quint8", "int4", "uint4", "qint16", "qint32"})  # quantised weights
STORED_DTYPES = frozenset(
    number
    for number, each in DTYPE_TABLE.items()
    if (each.form and each.name in NON_INTEGER_DTYPES) or each.name in SMALL_WHOLE
)
MOST_LOOKED_AT = 100_000  # numbers of a constant
# Formulas take roots, ratios and powers of these.
FORMULA_NUMBERS = (2 / np.pi, np.pi, 2 * np.pi, np.e, np.log(2), np.log(10000))
OF_FORMULAS = (0.044715, 1.702)  # of GELU, and of its quick form
MAX_WHOLE = 1e6
LARGEST_EPSILON = 1e-2
LEAST_COMPARED = 32  # numbers of a constant of which it says something that they repeat
MOST_COMPARED = 2048


def is_stored(graph: Graph, node: int) -> bool:
    """Return whether a constant is of a type that weights are stored in, however few numbers it holds."""
    definition = graph.node_def(node)
    if definition is None or "value" not in definition.attr:
        return False
    tensor = definition.attr["value"].tensor
    return tensor.dtype in STORED_DTYPES and len(tensor.tensor_shape.dim) <= MAX_DIMENSIONS


def is_splat(graph: Graph, node: int) -> bool:
    """Return whether all numbers of a constant are one, as a state begins with zeros; an argument has none."""
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
    """Return whether the numbers of a constant are zeros and ones, and both."""
    definition = graph.node_def(node)
    if definition is None or "value" not in definition.attr:
        return False
    numbers = _stored_numbers(definition.attr["value"].tensor, MOST_LOOKED_AT)
    return numbers is not None and set(np.unique(numbers).tolist()) == {0, 1}


def _stored_numbers(tensor: TensorProto, most: int) -> NDArray[Any] | None:
    """Return the first numbers of a tensor, at most so many; None if it holds no numbers or is damaged."""
    dtype = DTYPE_TABLE.get(tensor.dtype)
    if dtype is None or not dtype.form or len(tensor.tensor_content) % dtype.size:
        return None
    if content := tensor.tensor_content:
        return np.frombuffer(content, dtype.form, min(len(content) // dtype.size, most))
    return np.array(getattr(tensor, dtype.field)[:most])


def numbers_in(graph: Graph, node: int) -> int:
    """Count the elements of a constant."""
    definition = graph.node_def(node)
    if definition is None or "value" not in definition.attr:
        return 0
    return prod(dim.size for dim in definition.attr["value"].tensor.tensor_shape.dim)


def is_scalar(graph: Graph, node: int) -> bool:
    """Return whether a constant is a number, and no list of one."""
    definition = graph.node_def(node)
    return definition is not None and not definition.attr["value"].tensor.tensor_shape.dim


def is_vector(graph: Graph, node: int) -> bool:
    """Return whether a constant has several numbers along one dimension."""
    definition = graph.node_def(node)
    if definition is None or "value" not in definition.attr:
        return False
    sizes = [dim.size for dim in definition.attr["value"].tensor.tensor_shape.dim]
    return prod(sizes) > 1 and max(sizes) == prod(sizes)


def is_literal(graph: Graph, node: int) -> bool:
    """Return whether a single number is one that a program writes down, rather than a trained one: a small power of
    ten, a whole number or half of one, the root or the inverse of one, or a constant of a formula."""
    definition = graph.node_def(node)
    if definition is None or "value" not in definition.attr:
        return True
    tensor = definition.attr["value"].tensor
    dtype = DTYPE_TABLE.get(tensor.dtype)
    if dtype is None or dtype.field not in ("float_val", "double_val"):
        return True
    numbers = _stored_numbers(tensor, 1)
    value = 0.0 if numbers is None or not len(numbers) else abs(float(numbers[0]))
    if not np.isfinite(value) or value == 0:
        return True
    near = {2: 1e-3, 4: 1e-6}.get(dtype.size, 1e-12)
    short = abs(float(f"{value:.0e}") - value) <= near * value
    if (short and (value <= LARGEST_EPSILON or value > MAX_WHOLE)) or 1 / value == 0:
        return True
    forms = (value, 2 * value, 1 / value, value**2, value**-2)
    return any(
        abs(form - exact) <= 4 * near * form
        for form in forms
        for exact in (round(form), *FORMULA_NUMBERS, *OF_FORMULAS)
        if exact and form < MAX_WHOLE
    )


def has_repeated_numbers(graph: Graph, node: int) -> bool:
    """Return whether the numbers of a constant repeat, as those of a grid, a blur or a cosine transform do and those of
    a trained kernel do not."""
    definition = graph.node_def(node)
    if definition is None or "value" not in definition.attr or numbers_in(graph, node) < LEAST_COMPARED:
        return False
    tensor = definition.attr["value"].tensor
    dtype = DTYPE_TABLE.get(tensor.dtype)
    numbers = _stored_numbers(tensor, MOST_COMPARED) if dtype and dtype.name in NON_INTEGER_DTYPES else None
    return numbers is not None and 1 < len(np.unique(numbers)) <= len(numbers) // 2
