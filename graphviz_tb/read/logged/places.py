"""Values that stay on disk and are read on demand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphviz_tb.algorithms.constants import claimed, repeated_to, stored, values
from graphviz_tb.errors import MalformedProto, ReadError, TooLarge
from graphviz_tb.limits import CLAIMED_BYTES
from graphviz_tb.model.logged import Place
from graphviz_tb.proto import Event, TensorProto
from graphviz_tb.read.logged.tail import Handle, opened
from graphviz_tb.read.opened import unreadable
from graphviz_tb.read.pb import BROKEN


def bytes_at(path: Path, place: Place) -> bytes:
    """Read the bytes at a place. Raises ReadError if the file is gone or truncated."""
    try:
        with opened(path) as stream:
            data = Handle(stream).bytes(place.offset, place.length)
    except OSError as error:
        raise unreadable(path, error) from None
    if len(data) < place.length:
        raise ReadError(f"{path} is shorter than it was when it was read", hint="read the log again")
    return data


def tensor_in(event: bytes, value: int) -> NDArray[Any]:
    """Return the tensor of one value of an event. Raises ReadError if there is none."""
    try:
        return array_of(Event.FromString(event).summary.value[value].tensor)
    except (*BROKEN, IndexError):
        raise MalformedProto("the event that held a tensor is damaged") from None


def array_of(tensor: TensorProto) -> NDArray[Any]:
    """Return a tensor as a numpy array, text as bytes. The last value fills up the claimed size.

    Raises MalformedProto if shape and values do not fit, TooLarge if it claims far more than it holds.
    """
    shape = tuple(dim.size for dim in tensor.tensor_shape.dim)
    count, elements = claimed(tensor), stored(tensor)
    if elements is None:
        elements = np.empty(len(tensor.string_val), object)
        elements[:] = list(tensor.string_val)
    if len(elements) > count or count < 0:
        raise MalformedProto(f"a tensor of shape {shape} holds {len(elements):,} values")
    if (count - len(elements)) * elements.itemsize > CLAIMED_BYTES:
        raise TooLarge(f"a tensor claims {count:,} values and holds {len(elements):,}")
    if not elements.dtype.hasobject:
        elements = values(elements, tensor.dtype)
    return repeated_to(elements, count).reshape(shape)
