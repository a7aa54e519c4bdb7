"""The elements of a constant, if they are few whole numbers."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from graphviz_tb.annotate.infer.op import MOST_FOLDED
from graphviz_tb.annotate.infer.symbols import stated
from graphviz_tb.annotate.infer.values import Value
from graphviz_tb.model.tensors import MOST_DIMENSIONS

# DataType → how `tensor_content` holds an element, and the field that holds elements one by one.
KINDS = {
    3: ("<i4", "int_val"),
    9: ("<i8", "int64_val"),
    10: ("?", "bool_val"),
    4: ("u1", "int_val"),
    6: ("i1", "int_val"),
    5: ("<i2", "int_val"),
    17: ("<u2", "int_val"),
    22: ("<u4", "uint32_val"),
}


def elements_of(tensor: Any) -> Value | None:
    """The elements of a TensorProto; the last of a short list represents all that follow.

    >>> from graphviz_tb.proto import TensorProto
    >>> elements_of(TensorProto(dtype=3, tensor_shape={"dim": [{"size": 3}]}, int_val=[4, 7]))
    (4, 7, 7)
    """
    kind, dims = KINDS.get(tensor.dtype), tensor.tensor_shape.dim
    if kind is None or len(dims) > MOST_DIMENSIONS:
        return None
    count = prod(dim.size for dim in dims)
    if not 0 <= count <= MOST_FOLDED:
        return None
    if tensor.tensor_content:
        size = np.dtype(kind[0]).itemsize
        if len(tensor.tensor_content) != count * size:
            return None
        return tuple(stated(int(number)) for number in np.frombuffer(tensor.tensor_content, kind[0]))
    listed = [stated(int(number)) for number in getattr(tensor, kind[1])[:count]]
    return tuple(listed + [listed[-1] if listed else 0] * (count - len(listed)))
