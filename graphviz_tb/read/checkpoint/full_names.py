"""Names that the program gave to the variables of a checkpoint, whose keys are paths of attributes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from graphviz_tb.errors import TbGraphError
from graphviz_tb.limits import OBJECTS_BYTES
from graphviz_tb.model.dtypes import DTYPES
from graphviz_tb.read.checkpoint.values import bytes_of, data_file, entry_of
from graphviz_tb.read.wire import BYTES, CutError, pieces, varint

OBJECTS = "_CHECKPOINTABLE_OBJECT_GRAPH"
# Field numbers of TensorFlow's trackable_object_graph.proto.
NODES, ATTRIBUTES = 1, 2  # TrackableObjectGraph, TrackableObject
FULL_NAME, KEY = 2, 3  # SerializedTensor
CHECKSUM = 4  # bytes between the lengths of texts and the texts


def full_names(index: Path) -> dict[str, str]:
    """Read the name of each variable by its key; {} if the checkpoint has no names, or they are damaged."""
    try:
        shards, entry, _ = entry_of(index, OBJECTS)
        if DTYPES[entry.dtype].name != "string" or not 0 < entry.size <= OBJECTS_BYTES or entry.offset < 0:
            return {}
        raw = bytes_of(data_file(index, entry.shard_id, shards), index.parent, entry.offset, entry.size)
        length, start = varint(raw, 0, len(raw))
        message = raw[start + CHECKSUM :][:length]
        return dict(attributes(message))
    except (TbGraphError, CutError, UnicodeDecodeError):
        return {}


def attributes(message: bytes) -> Iterator[tuple[str, str]]:
    """Yield key and name of each variable that has both."""
    for node in fields(message, 0, len(message), NODES):
        for first, last in fields(message, *node, ATTRIBUTES):
            told = {piece.number: message[piece.first : piece.last] for piece in pieces(message, first, last)}
            if told.get(KEY) and told.get(FULL_NAME):
                yield told[KEY].decode(), told[FULL_NAME].decode()


def fields(message: bytes, first: int, last: int, number: int) -> Iterator[tuple[int, int]]:
    """Yield the first and last byte of each value of one message field."""
    for piece in pieces(message, first, last):
        if piece.number == number and piece.wire == BYTES:
            yield piece.first, piece.last
