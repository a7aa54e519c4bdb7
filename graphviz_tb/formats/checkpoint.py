"""Checkpoints: find the indexes that a path means, and list the tensors of an index.

A path means an index, its prefix (PREFIX.index), or a folder of indexes. An index lists the name, type
and shape of each tensor; slices of a partitioned variable are part of its tensor.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from math import prod
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphviz_tb.errors import MalformedProto, ReadError, TbGraphError, TooLarge, UnknownFormat, UnknownNode
from graphviz_tb.formats.protobuf import BYTES_TYPE, CutError, decode_message, parse_wire_varint, wire_fields
from graphviz_tb.formats.records import masked_crc
from graphviz_tb.graphs.tensors import decode_elements
from graphviz_tb.limits import MAX_INDEX_BYTES, MAX_INDEX_NAME_LETTERS, MAX_OBJECT_GRAPH_BYTES, Meter
from graphviz_tb.model.paths import natural_name_key
from graphviz_tb.model.sources import Checkpoint, StoredTensor
from graphviz_tb.model.tensors import DTYPE_TABLE, ELEMENT_SIZES, MAX_DIMENSIONS, dtype_name
from graphviz_tb.proto import BundleEntryProto, BundleHeaderProto
from graphviz_tb.sources.streams import unreadable_error

# A table of sorted keys on disk (the SSTable of LevelDB): its blocks, and the entries of these.
#
#     block    entries, offsets of whole keys, their number · 1 byte: compression · 4 bytes: checksum
#     entry    lengths: of the prefix shared with the key before, of the rest of the key, of the value · rest · value
#     footer   40 bytes: places of two blocks, padded · 8 bytes: magic; the second block lists all data blocks
# Numbers in the file are not trusted: blocks must be in order, keys must ascend, and their total length is bounded.

FOOTER_BYTES, TABLE_MAGIC = 48, b"\x57\xfb\x80\x8b\x24\x75\x47\xdb"
BLOCK_TRAILER_BYTES = 5  # bytes after a block: compression and checksum
UNCOMPRESSED, SNAPPY = 0, 1
MAX_VARINT_BYTES = 10  # at most, of a number


class SortedTable:
    """The entries of a table. Raises ReadError if it is damaged, compressed, or claims more than it contains."""

    def __init__(self, data: bytes, name: str) -> None:
        self.data, self.name = data, name
        self.end = len(data) - FOOTER_BYTES  # where the blocks end
        if self.end < 0 or not data.endswith(TABLE_MAGIC):
            raise self.damaged_error("it does not end as an index does", max(0, self.end))

    def entries(self) -> Iterator[tuple[bytes, bytes]]:
        """Yield keys and values, in the order of the keys."""
        meter, behind, last = Meter(MAX_INDEX_NAME_LETTERS), 0, None
        _, at = self.read_handle(self.data, self.end)  # the first block is unused
        listing, _ = self.read_handle(self.data, at)
        for _, value in self.block_entries(*listing, Meter(MAX_INDEX_NAME_LETTERS)):
            (start, size), _ = self.read_handle(value, 0)
            if start < behind:
                raise self.damaged_error("two of its blocks lie over each other", start)
            behind = start + size + BLOCK_TRAILER_BYTES
            for key, inner in self.block_entries(start, size, meter):
                if last is not None and key <= last:
                    raise self.damaged_error("its names are not in order", start)
                last = key
                yield key, inner

    def block_entries(self, start: int, size: int, meter: Meter) -> Iterator[tuple[bytes, bytes]]:
        """Yield the entries of one block."""
        end = start + size
        if end + BLOCK_TRAILER_BYTES > self.end:
            raise self.damaged_error("a block ends beyond the file", start)
        self.check_block(start, end)
        restarts = int.from_bytes(self.data[end - 4 : end], "little")  # number of whole keys
        if size < 4 or 4 * restarts + 4 > size:
            raise self.damaged_error("a block has no end", start)
        position, end, key = start, end - 4 * restarts - 4, b""
        while position < end:
            first = position
            shared, position = self.read_number(self.data, position)
            own_length, position = self.read_number(self.data, position)
            length, position = self.read_number(self.data, position)
            if shared > len(key) or position + own_length + length > end:
                raise self.damaged_error("an entry is cut", first)
            if not meter.take(shared + own_length):
                raise TooLarge(f"the names in {self.name} have more than {MAX_INDEX_NAME_LETTERS:,} letters")
            key = key[:shared] + self.data[position : position + own_length]
            yield key, self.data[position + own_length : position + own_length + length]
            position += own_length + length

    def check_block(self, start: int, end: int) -> None:
        """Raise ReadError for a block that is compressed or damaged."""
        packed = self.data[end]
        if packed == SNAPPY:
            raise UnknownFormat(
                f"{self.name} is packed with Snappy", hint="TensorFlow writes no such index: save again"
            )
        if packed != UNCOMPRESSED:
            raise self.damaged_error("a block is packed in an unknown way", end)
        stored_crc = int.from_bytes(self.data[end + 1 : end + BLOCK_TRAILER_BYTES], "little")
        if stored_crc != masked_crc(self.data[start : end + 1]):
            raise self.damaged_error("the checksum of a block is wrong", start)

    def read_handle(self, data: bytes, at: int) -> tuple[tuple[int, int], int]:
        """Return offset and size of a block, and the position after them."""
        start, at = self.read_number(data, at)
        size, at = self.read_number(data, at)
        return (start, size), at

    def read_number(self, data: bytes, at: int) -> tuple[int, int]:
        """Return a varint, and the position after it."""
        value = 0
        for shift, byte in enumerate(data[at : at + MAX_VARINT_BYTES]):
            value |= (byte & 0x7F) << 7 * shift
            if byte < 0x80:
                return value, at + shift + 1
        raise self.damaged_error("a number has no end", at if data is self.data else 0)

    def damaged_error(self, why: str, offset: int) -> MalformedProto:
        hint = "copy the checkpoint again; training writes it again at its next save"
        return MalformedProto(f"the checkpoint index {self.name} is damaged: {why}", offset=offset, hint=hint)


# Values of a tensor of a checkpoint, read from the data file at their offset.

READABLE_DTYPES = frozenset(("float32", "float64", "float16", "bfloat16"))
DATA_FILE_NAME = "{prefix}.data-{shard:05d}-of-{shards:05d}"
BIG_ENDIAN = 1


class RowSlice(NamedTuple):
    """Contiguous rows: `rows` of them at `offset` in the file of `shard`."""

    rows: int
    shard: int
    offset: int


def read_stored_rows(index: Path, name: str, rows: int) -> NDArray[np.float32]:
    """Read the first rows of a tensor with two axes, as float32.

    Raises ReadError if a file is missing, cut or damaged, UnknownNode if there is no such tensor.
    """
    shards, entry, slice_entries = _find_entry(index, name)
    dtype, slices = DTYPE_TABLE[entry.dtype], list(_row_slices(entry, slice_entries, str(index)))
    columns = entry.shape.dim[1].size
    parts, rows_left = [], rows
    for each in slices:
        taken = min(rows_left, each.rows)
        if taken <= 0:
            break
        count = taken * columns
        raw = _read_file_range(
            _data_file_path(index, each.shard, shards), index.parent, each.offset, count * dtype.size
        )
        elements = decode_elements(np.frombuffer(raw, dtype.form), entry.dtype)
        with np.errstate(over="ignore"):
            parts.append(elements.astype(np.float32).reshape(taken, columns))
        rows_left -= taken
    return np.concatenate(parts) if parts else np.zeros((0, columns), np.float32)


def _data_file_path(index: Path, shard: int, shards: int) -> Path:
    return Path(DATA_FILE_NAME.format(prefix=str(index).removesuffix(".index"), shard=shard, shards=shards))


def _find_entry(index: Path, name: str) -> tuple[int, BundleEntryProto, list[BundleEntryProto]]:
    """Return the number of shards, the entry of a tensor, and those of its slices. Raises as `read_stored_rows`."""
    try:
        entries = SortedTable(index.read_bytes(), str(index)).entries()
    except OSError as error:
        raise unreadable_error(index, error) from None
    header = decode_message(next(entries, (b"", b""))[1], BundleHeaderProto, str(index))
    if header.endianness == BIG_ENDIAN:
        raise ReadError(f"{index} was written by a big-endian machine", hint="save the checkpoint again")
    wanted, slices = name.encode(), []
    start = b"\0" + wanted.replace(b"\xff", b"\xff\0") + b"\0\1"  # prefix of the keys of its slices, which are in order
    entry: BundleEntryProto | None = None
    for key, value in entries:
        if key == wanted:
            entry = decode_message(value, BundleEntryProto, str(index))
        elif key.startswith(start):
            slices.append(decode_message(value, BundleEntryProto, str(index)))
    if entry is None or entry.dtype not in DTYPE_TABLE:
        raise UnknownNode(f"no tensor '{name[:80]}' in {index}")
    return header.num_shards, entry, slices


def _row_slices(entry: BundleEntryProto, parts: list[BundleEntryProto], name: str) -> Iterator[RowSlice]:
    """Yield the slices that contain the rows of a tensor. Raises MalformedProto if its slices do not add up to it."""
    shape = [dim.size for dim in entry.shape.dim]
    each = parts if entry.slices else [entry]
    shapes = [[dim.size for dim in one.shape.dim] for one in each]
    if len(shape) != 2 or any(len(one) != 2 or one[1] != shape[1] for one in shapes):
        raise MalformedProto(f"a tensor of {name} is not stored in rows")
    if sum(one[0] for one in shapes) != shape[0]:
        raise MalformedProto(f"the parts of a tensor of {name} do not have the rows of the whole")
    for one, (rows, columns) in zip(each, shapes, strict=True):
        if one.offset < 0 or one.size != prod((rows, columns, DTYPE_TABLE[entry.dtype].size)):
            raise MalformedProto(f"the place of a tensor of {name} does not fit its shape")
        yield RowSlice(rows, one.shard_id, one.offset)


def _read_file_range(path: Path, folder: Path, offset: int, size: int) -> bytes:
    """Read bytes of a file next to the index. Raises ReadError if it is missing or cut, or a link out of the folder."""
    try:
        if not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder)):
            raise ReadError(f"{path} is a link out of its folder: it is not read")
        with path.open("rb") as handle:
            handle.seek(offset)
            data = handle.read(size)
    except OSError as error:
        raise unreadable_error(path, error) from None
    if len(data) < size:
        raise ReadError(f"{path} is shorter than its index says", hint="copy the checkpoint again")
    return data


# Names that the program gave to the variables of a checkpoint, whose keys are paths of attributes.

OBJECT_GRAPH_KEY = "_CHECKPOINTABLE_OBJECT_GRAPH"
# Field numbers of TensorFlow's trackable_object_graph.proto.
TRACKABLE_NODES_FIELD, ATTRIBUTES_FIELD = 1, 2  # TrackableObjectGraph, TrackableObject
FULL_NAME_FIELD, CHECKPOINT_KEY_FIELD = 2, 3  # SerializedTensor
CHECKSUM_BYTES = 4  # bytes between the lengths of texts and the texts


def read_full_names(index: Path) -> dict[str, str]:
    """Read the name of each variable by its key; {} if the checkpoint has no names, or they are damaged."""
    try:
        shards, entry, _ = _find_entry(index, OBJECT_GRAPH_KEY)
        if (
            DTYPE_TABLE[entry.dtype].name != "string"
            or not 0 < entry.size <= MAX_OBJECT_GRAPH_BYTES
            or entry.offset < 0
        ):
            return {}
        raw = _read_file_range(_data_file_path(index, entry.shard_id, shards), index.parent, entry.offset, entry.size)
        length, start = parse_wire_varint(raw, 0, len(raw))
        message = raw[start + CHECKSUM_BYTES :][:length]
        return dict(_variable_attributes(message))
    except (TbGraphError, CutError, UnicodeDecodeError):
        return {}


def _variable_attributes(message: bytes) -> Iterator[tuple[str, str]]:
    """Yield key and name of each variable that has both."""
    for node in _message_spans(message, 0, len(message), TRACKABLE_NODES_FIELD):
        for first, last in _message_spans(message, *node, ATTRIBUTES_FIELD):
            fields = {piece.number: message[piece.first : piece.last] for piece in wire_fields(message, first, last)}
            if fields.get(CHECKPOINT_KEY_FIELD) and fields.get(FULL_NAME_FIELD):
                yield fields[CHECKPOINT_KEY_FIELD].decode(), fields[FULL_NAME_FIELD].decode()


def _message_spans(message: bytes, first: int, last: int, number: int) -> Iterator[tuple[int, int]]:
    """Yield the first and last byte of each value of one message field."""
    for piece in wire_fields(message, first, last):
        if piece.number == number and piece.wire == BYTES_TYPE:
            yield piece.first, piece.last


INDEX_SUFFIX = ".index"
STATE_FILE_BYTES = 1 << 16  # bytes of the file `checkpoint` that are read
LATEST_CHECKPOINT = re.compile(rb'^model_checkpoint_path:\s*"([^"\n]*)"', re.MULTILINE)


def find_index_files(path: Path) -> list[Path]:
    """Return the indexes of the checkpoints that a path means, the latest last; [] if there are none."""
    index_path = path.with_name(path.name + INDEX_SUFFIX) if path.name else path
    try:
        is_folder, is_there = path.is_dir(), path.exists()
    except (OSError, ValueError):  # a name that is too long, or none
        return []
    if is_folder:
        with suppress(OSError):
            found = [each for each in path.iterdir() if each.name.endswith(INDEX_SUFFIX) and is_index_file(each)]
            latest = _latest_index_name(path)
            return sorted(found, key=lambda index: (index.name == latest, natural_name_key(index.name)))
        return []
    if not is_there and is_index_file(index_path):
        return [index_path]
    return [path] if is_index_file(path) else []


def is_index_file(path: Path) -> bool:
    """Return whether a file ends like an index."""
    try:
        with path.open("rb") as handle:
            if not path.is_file():  # a pipe cannot seek to its end
                return False
            handle.seek(0, os.SEEK_END)
            handle.seek(max(0, handle.tell() - len(TABLE_MAGIC)))
            return handle.read(len(TABLE_MAGIC)) == TABLE_MAGIC
    except (OSError, ValueError):
        return False


def _latest_index_name(folder: Path) -> str:
    """Return the name of the index that the file `checkpoint` of a folder states; "" for none."""
    with suppress(OSError), (folder / "checkpoint").open("rb") as handle:
        found = LATEST_CHECKPOINT.search(handle.read(STATE_FILE_BYTES))
        if found:
            return found[1].rpartition(b"/")[2].decode("utf-8", "replace") + INDEX_SUFFIX
    return ""


def read_checkpoint(path: Path) -> Checkpoint:
    """Read the tensors that an index lists. Raises ReadError if it is damaged, too large or not from TensorFlow."""
    try:
        if path.stat().st_size > MAX_INDEX_BYTES:
            raise TooLarge(f"{path} has more than {MAX_INDEX_BYTES:,} bytes, which no index of a checkpoint has")
        data = path.read_bytes()
    except OSError as error:
        raise unreadable_error(path, error) from None
    entries = SortedTable(data, str(path)).entries()
    key, value = next(entries, (b"", b""))
    header = decode_message(value, BundleHeaderProto, str(path))
    if key or header.num_shards < 1:
        raise UnknownFormat(
            f"{path} is an index, but of no checkpoint that TensorFlow 1.0 or later writes",
            hint="load it with the TensorFlow that wrote it, and save it again",
        )
    return Checkpoint(path.name.removesuffix(INDEX_SUFFIX), header.num_shards, tuple(_read_tensors(entries, str(path))))


def _read_tensors(entries: Iterator[tuple[bytes, bytes]], name: str) -> Iterator[StoredTensor]:
    """Yield the tensors of a checkpoint; slices of a partitioned variable are part of its tensor."""
    for key, value in entries:
        if key.startswith(b"\0"):  # a slice of a partitioned variable, which is listed under the variable's name
            continue
        entry = decode_message(value, BundleEntryProto, name)
        shape = tuple(dim.size for dim in entry.shape.dim)
        word = key.decode("utf-8", "replace")
        if len(shape) > MAX_DIMENSIONS or any(size < 0 for size in shape) or entry.size < 0:
            raise MalformedProto(f"the checkpoint index {name} is damaged: '{word[:80]}' has no shape that can be")
        dtype = dtype_name(entry.dtype)
        size = prod(shape) * ELEMENT_SIZES.get(dtype, 0) if entry.slices else entry.size
        yield StoredTensor(word, dtype, shape, size, len(entry.slices))
