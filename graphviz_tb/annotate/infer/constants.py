"""The elements of a constant, if they are a few integers."""

from __future__ import annotations

from typing import Any

from graphviz_tb.algorithms.constants import claimed, repeated_to, stored, values
from graphviz_tb.annotate.infer.symbols import stated
from graphviz_tb.annotate.infer.values import Elements
from graphviz_tb.limits import FOLDED_ELEMENTS


def elements_of(tensor: Any) -> Elements | None:
    """Return the elements of a TensorProto; the last of a short list fills the rest.

    >>> from graphviz_tb.proto import TensorProto
    >>> elements_of(TensorProto(dtype=3, tensor_shape={"dim": [{"size": 3}]}, int_val=[4, 7]))
    (4, 7, 7)
    """
    count = claimed(tensor)
    if not 0 <= count <= FOLDED_ELEMENTS:
        return None
    elements = stored(tensor, FOLDED_ELEMENTS + 1)
    if elements is None or (tensor.tensor_content and len(elements) != count):  # text, or damaged
        return None
    numbers = values(elements[:count], tensor.dtype)
    if numbers.dtype.kind not in "biu":
        return None
    return tuple(stated(int(number)) for number in repeated_to(numbers, count))
