"""Values that stayed on disk, read when they are asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from graphviz_tb.errors import MalformedProto, ReadError
from graphviz_tb.model.logged import Place
from graphviz_tb.proto import Event
from graphviz_tb.read.logged.tail import Handle, opened
from graphviz_tb.read.logged.tensor import array_of
from graphviz_tb.read.opened import unreadable
from graphviz_tb.read.pb import BROKEN


def bytes_at(path: Path, place: Place) -> bytes:
    """The bytes of a place. Raises ReadError where the file is gone, or shorter than it was."""
    try:
        with opened(path) as stream:
            data = Handle(stream).bytes(place.offset, place.length)
    except OSError as error:
        raise unreadable(path, error) from None
    if len(data) < place.length:
        raise ReadError(f"{path} is shorter than it was when it was read", hint="read the log again")
    return data


def tensor_in(event: bytes, value: int) -> NDArray[Any]:
    """The tensor of one value of an event. Raises ReadError where there is none."""
    try:
        return array_of(Event.FromString(event).summary.value[value].tensor)
    except (*BROKEN, IndexError):
        raise MalformedProto("the event that held a tensor is damaged") from None
