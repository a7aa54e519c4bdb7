"""Settings of ONNX ops as plain values: attributes, and small stored tensors at inputs that are settings.

Conv   kernel_shape = [3, 3]      attribute       ─▶ kernel_shape = [3, 3]
Clip   x, min, max                stored numbers  ─▶ min = 0.0, max = 6.0
If     then_branch                a graph         ─▶ none: it is a body
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

from graphviz_tb.formats.onnx_messages import FORM_BY_DTYPE, Attribute, TensorValue
from graphviz_tb.formats.wire_nodes import DTYPE_NUMBERS
from graphviz_tb.limits import MAX_SHOWN_NUMBERS
from graphviz_tb.ops.signatures import is_size_input, setting_input_name
from graphviz_tb.proto import AttrValue

LIST_SETTINGS = frozenset(
    ("axes", "pads", "split", "starts", "ends", "steps", "repeats", "roi", "scales", "sizes", "shape", "image_shape")
)
SIZE_SETTING = "shape"  # name of the setting at a size input
EMPTY_LIST_TYPES = frozenset((6, 7, 8))  # types of attributes: lists of floats, whole numbers, texts


def input_as_setting(op: str, slot: int, numbers: Sequence[Any]) -> tuple[str, Any] | None:
    """Return name and value of the setting at an input with these numbers; None if it is not a setting, or too long.

    >>> input_as_setting("onnx::Reshape", 1, [1, -1])
    ('shape', [1, -1])
    """
    name = setting_input_name(op, slot) or (SIZE_SETTING if is_size_input(op, slot) else "")
    if not name or len(numbers) > MAX_SHOWN_NUMBERS:
        return None
    if name in LIST_SETTINGS:
        return name, numbers
    return (name, numbers[0] if len(numbers) == 1 else numbers) if numbers else None


def attribute_value(attribute: Attribute) -> Any:
    """Return the value of an attribute; None for a graph, and for a reference to an attribute of the function
    around."""
    if attribute.ref_name or attribute.g is not None or attribute.graphs:
        return None
    for single in (attribute.i, attribute.f):
        if single is not None:
            return single
    if attribute.s is not None:
        return attribute.s.decode("utf-8", "replace")
    if attribute.t is not None:
        return _tensor_attribute(attribute.t)
    for several in (attribute.ints, attribute.floats, attribute.strings):
        if several:
            return (
                [each.decode("utf-8", "replace") if isinstance(each, bytes) else each for each in several]
                if len(several) <= MAX_SHOWN_NUMBERS
                else f"{len(several):,} values"
            )
    return [] if attribute.type in EMPTY_LIST_TYPES else None


def _tensor_attribute(tensor: TensorValue) -> AttrValue:
    """Return an attribute that is a tensor, with its elements if they are few."""
    made = AttrValue()
    made.tensor.dtype = DTYPE_NUMBERS.get(tensor.dtype, 0)
    for size in tensor.dims:
        made.tensor.tensor_shape.dim.add(size=max(-1, size))
    content = tensor.content()
    if content is not None:
        made.tensor.tensor_content = content
    return made


def small_tensor_elements(tensor: TensorValue) -> list[Any] | None:
    """Return the integers, floats or bools of a small tensor.

    >>> small_tensor_elements(TensorValue(dims=(2,), data_type=7, int64_data=(3, -1)))
    [3, -1]
    """
    content, form = tensor.content(), FORM_BY_DTYPE.get(tensor.dtype)
    if content is None or form is None or tensor.dtype in ("float16", "bfloat16"):
        return None
    numbers = [each for (each,) in struct.iter_unpack(form, content)]
    return [bool(number) for number in numbers] if tensor.dtype == "bool" else numbers
