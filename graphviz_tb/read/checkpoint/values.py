"""Values of a tensor of a checkpoint, read from the data file at their offset."""

from __future__ import annotations

import os
from collections.abc import Iterator
from math import prod
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphviz_tb.algorithms.constants import decode_elements
from graphviz_tb.errors import MalformedProto, ReadError, UnknownNode
from graphviz_tb.model.dtypes import DTYPE_TABLE
from graphviz_tb.proto import BundleEntryProto, BundleHeaderProto
from graphviz_tb.read.checkpoint.table import SortedTable
from graphviz_tb.read.opened import unreadable_error
from graphviz_tb.read.pb import decode_message

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
    shards, entry, own = find_entry(index, name)
    dtype, slices = DTYPE_TABLE[entry.dtype], list(row_slices(entry, own, str(index)))
    columns = entry.shape.dim[1].size
    parts, left = [], rows
    for each in slices:
        take = min(left, each.rows)
        if take <= 0:
            break
        count = take * columns
        raw = read_file_range(data_file_path(index, each.shard, shards), index.parent, each.offset, count * dtype.size)
        elements = decode_elements(np.frombuffer(raw, dtype.form), entry.dtype)
        with np.errstate(over="ignore"):
            parts.append(elements.astype(np.float32).reshape(take, columns))
        left -= take
    return np.concatenate(parts) if parts else np.zeros((0, columns), np.float32)


def data_file_path(index: Path, shard: int, shards: int) -> Path:
    """Return the path of the file with the values of one shard."""
    return Path(DATA_FILE_NAME.format(prefix=str(index).removesuffix(".index"), shard=shard, shards=shards))


def find_entry(index: Path, name: str) -> tuple[int, BundleEntryProto, list[BundleEntryProto]]:
    """Return the number of shards, the entry of a tensor, and those of its slices. Raises as `read_stored_rows`."""
    try:
        entries = SortedTable(index.read_bytes(), str(index)).entries()
    except OSError as error:
        raise unreadable_error(index, error) from None
    header = decode_message(next(entries, (b"", b""))[1], BundleHeaderProto, str(index))
    if header.endianness == BIG_ENDIAN:
        raise ReadError(f"{index} was written by a big-endian machine", hint="save the checkpoint again")
    wanted, parts = name.encode(), []
    start = b"\0" + wanted.replace(b"\xff", b"\xff\0") + b"\0\1"  # prefix of the keys of its slices, which are in order
    found: BundleEntryProto | None = None
    for key, value in entries:
        if key == wanted:
            found = decode_message(value, BundleEntryProto, str(index))
        elif key.startswith(start):
            parts.append(decode_message(value, BundleEntryProto, str(index)))
    if found is None or found.dtype not in DTYPE_TABLE:
        raise UnknownNode(f"no tensor '{name[:80]}' in {index}")
    return header.num_shards, found, parts


def row_slices(entry: BundleEntryProto, parts: list[BundleEntryProto], name: str) -> Iterator[RowSlice]:
    """Yield where the rows of a tensor are. Raises MalformedProto if its slices do not add up to it."""
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


def read_file_range(path: Path, folder: Path, offset: int, size: int) -> bytes:
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
