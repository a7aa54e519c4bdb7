"""The elements of a constant, if they are a few integers."""

from __future__ import annotations

from typing import Any

from graphviz_tb.algorithms.constants import claimed_element_count, decode_elements, pad_with_last, stored_elements
from graphviz_tb.annotate.infer.symbols import number_from_file
from graphviz_tb.annotate.infer.values import Elements
from graphviz_tb.limits import MAX_FOLDED_ELEMENTS


def constant_elements(tensor: Any) -> Elements | None:
    """Return the elements of a TensorProto; the last of a short list fills the rest.

    >>> from graphviz_tb.proto import TensorProto
    >>> constant_elements(TensorProto(dtype=3, tensor_shape={"dim": [{"size": 3}]}, int_val=[4, 7]))
    (4, 7, 7)
    """
    count = claimed_element_count(tensor)
    if not 0 <= count <= MAX_FOLDED_ELEMENTS:
        return None
    elements = stored_elements(tensor, MAX_FOLDED_ELEMENTS + 1)
    if elements is None or (tensor.tensor_content and len(elements) != count):  # text, or damaged
        return None
    numbers = decode_elements(elements[:count], tensor.dtype)
    if numbers.dtype.kind not in "biu":
        return None
    return tuple(number_from_file(int(number)) for number in pad_with_last(numbers, count))
