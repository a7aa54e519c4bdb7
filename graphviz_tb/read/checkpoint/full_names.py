"""Names that the program gave to the variables of a checkpoint, whose keys are paths of attributes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from graphviz_tb.errors import TbGraphError
from graphviz_tb.limits import MAX_OBJECT_GRAPH_BYTES
from graphviz_tb.model.dtypes import DTYPE_TABLE
from graphviz_tb.read.checkpoint.values import data_file_path, find_entry, read_file_range
from graphviz_tb.read.wire import BYTES_TYPE, CutError, parse_wire_varint, wire_fields

OBJECT_GRAPH_KEY = "_CHECKPOINTABLE_OBJECT_GRAPH"
# Field numbers of TensorFlow's trackable_object_graph.proto.
TRACKABLE_NODES_FIELD, ATTRIBUTES_FIELD = 1, 2  # TrackableObjectGraph, TrackableObject
FULL_NAME_FIELD, CHECKPOINT_KEY_FIELD = 2, 3  # SerializedTensor
CHECKSUM_BYTES = 4  # bytes between the lengths of texts and the texts


def read_full_names(index: Path) -> dict[str, str]:
    """Read the name of each variable by its key; {} if the checkpoint has no names, or they are damaged."""
    try:
        shards, entry, _ = find_entry(index, OBJECT_GRAPH_KEY)
        if (
            DTYPE_TABLE[entry.dtype].name != "string"
            or not 0 < entry.size <= MAX_OBJECT_GRAPH_BYTES
            or entry.offset < 0
        ):
            return {}
        raw = read_file_range(data_file_path(index, entry.shard_id, shards), index.parent, entry.offset, entry.size)
        length, start = parse_wire_varint(raw, 0, len(raw))
        message = raw[start + CHECKSUM_BYTES :][:length]
        return dict(variable_attributes(message))
    except (TbGraphError, CutError, UnicodeDecodeError):
        return {}


def variable_attributes(message: bytes) -> Iterator[tuple[str, str]]:
    """Yield key and name of each variable that has both."""
    for node in message_spans(message, 0, len(message), TRACKABLE_NODES_FIELD):
        for first, last in message_spans(message, *node, ATTRIBUTES_FIELD):
            told = {piece.number: message[piece.first : piece.last] for piece in wire_fields(message, first, last)}
            if told.get(CHECKPOINT_KEY_FIELD) and told.get(FULL_NAME_FIELD):
                yield told[CHECKPOINT_KEY_FIELD].decode(), told[FULL_NAME_FIELD].decode()


def message_spans(message: bytes, first: int, last: int, number: int) -> Iterator[tuple[int, int]]:
    """Yield the first and last byte of each value of one message field."""
    for piece in wire_fields(message, first, last):
        if piece.number == number and piece.wire == BYTES_TYPE:
            yield piece.first, piece.last
