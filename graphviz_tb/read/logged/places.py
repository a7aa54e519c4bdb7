"""Values that stay on disk and are read on demand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphviz_tb.algorithms.constants import claimed_element_count, decode_elements, pad_with_last, stored_elements
from graphviz_tb.errors import MalformedProto, ReadError, TooLarge
from graphviz_tb.limits import MAX_CLAIMED_BYTES
from graphviz_tb.model.logged import FileRange
from graphviz_tb.proto import Event, TensorProto
from graphviz_tb.read.logged.tail import FileHandle, open_event_stream
from graphviz_tb.read.opened import unreadable_error
from graphviz_tb.read.pb import DECODE_ERRORS


def read_place(path: Path, place: FileRange) -> bytes:
    """Read the bytes at a place. Raises ReadError if the file is gone or truncated."""
    try:
        with open_event_stream(path) as stream:
            data = FileHandle(stream).read_bytes(place.offset, place.length)
    except OSError as error:
        raise unreadable_error(path, error) from None
    if len(data) < place.length:
        raise ReadError(f"{path} is shorter than it was when it was read", hint="read the log again")
    return data


def tensor_of_event(event: bytes, value: int) -> NDArray[Any]:
    """Return the tensor of one value of an event. Raises ReadError if there is none."""
    try:
        return array_of_tensor(Event.FromString(event).summary.value[value].tensor)
    except (*DECODE_ERRORS, IndexError):
        raise MalformedProto("the event that held a tensor is damaged") from None


def array_of_tensor(tensor: TensorProto) -> NDArray[Any]:
    """Return a tensor as a numpy array, text as bytes. The last value fills up the claimed size.

    Raises MalformedProto if shape and values do not fit, TooLarge if it claims far more than it holds.
    """
    shape = tuple(dim.size for dim in tensor.tensor_shape.dim)
    count, elements = claimed_element_count(tensor), stored_elements(tensor)
    if elements is None:
        elements = np.empty(len(tensor.string_val), object)
        elements[:] = list(tensor.string_val)
    if len(elements) > count or count < 0:
        raise MalformedProto(f"a tensor of shape {shape} holds {len(elements):,} values")
    if (count - len(elements)) * elements.itemsize > MAX_CLAIMED_BYTES:
        raise TooLarge(f"a tensor claims {count:,} values and holds {len(elements):,}")
    if not elements.dtype.hasobject:
        elements = decode_elements(elements, tensor.dtype)
    return pad_with_last(elements, count).reshape(shape)
