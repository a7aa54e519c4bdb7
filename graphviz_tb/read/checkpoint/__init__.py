"""Checkpoints: find the indexes that a path means, and list the tensors of one.

A path means an index itself, the prefix of one (PREFIX.index), or a folder of indexes. An index lists the name, type
and shape of each tensor; slices of a partitioned variable are part of its tensor.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from math import prod
from pathlib import Path

from graphviz_tb.errors import MalformedProto, TooLarge, UnknownFormat
from graphviz_tb.limits import MAX_INDEX_BYTES
from graphviz_tb.model.checkpoint import Checkpoint, StoredTensor
from graphviz_tb.model.dtypes import ELEMENT_SIZES, dtype_name
from graphviz_tb.model.paths import natural_name_key
from graphviz_tb.model.tensors import MAX_DIMENSIONS
from graphviz_tb.proto import BundleEntryProto, BundleHeaderProto
from graphviz_tb.read.checkpoint.table import TABLE_MAGIC, SortedTable
from graphviz_tb.read.opened import unreadable_error
from graphviz_tb.read.pb import decode_message

INDEX_SUFFIX = ".index"
STATE_FILE_BYTES = 1 << 16  # bytes of the file `checkpoint` that are read
LATEST_CHECKPOINT = re.compile(rb'^model_checkpoint_path:\s*"([^"\n]*)"', re.MULTILINE)


def find_index_files(path: Path) -> list[Path]:
    """Return the indexes of the checkpoints that a path means, the latest last; [] if it is something else."""
    beside = path.with_name(path.name + INDEX_SUFFIX) if path.name else path
    try:
        is_folder, is_there = path.is_dir(), path.exists()
    except (OSError, ValueError):  # a name that is too long, or none
        return []
    if is_folder:
        with suppress(OSError):
            found = [each for each in path.iterdir() if each.name.endswith(INDEX_SUFFIX) and is_index_file(each)]
            latest = latest_index_name(path)
            return sorted(found, key=lambda each: (each.name == latest, natural_name_key(each.name)))
        return []
    if not is_there and is_index_file(beside):
        return [beside]
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


def latest_index_name(folder: Path) -> str:
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
    return Checkpoint(path.name.removesuffix(INDEX_SUFFIX), header.num_shards, tuple(read_tensors(entries, str(path))))


def read_tensors(entries: Iterator[tuple[bytes, bytes]], name: str) -> Iterator[StoredTensor]:
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
