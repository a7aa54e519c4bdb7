"""Read an event file incrementally: new data is read in blocks, from where reading stopped.

A file that was replaced or truncated is read from its start. Of records over `LARGE_RECORD_BYTES` bytes, only the
needed parts are
read.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from io import BytesIO, FileIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from graphviz_tb.errors import MalformedRecord
from graphviz_tb.model.columns import Bytes
from graphviz_tb.options import ReadOptions
from graphviz_tb.read.logged.block import BLOCK_PADDING_BYTES, RecordBlock
from graphviz_tb.read.opened import GZIP_MAGIC, open_path
from graphviz_tb.read.records import (
    RECORD_FOOTER_BYTES,
    RECORD_HEADER_BYTES,
    RecordFrames,
    damaged_length_error,
    find_record_frames,
)

LARGE_RECORD_BYTES = 1 << 16  # bytes of a record that is read only in parts
PAGE_BYTES = 1 << 12  # bytes of a large record that are read at once
PEEK_BYTES, MAX_BLOCK_BYTES = 1 << 16, 1 << 23  # bytes that show whether large records follow, and bytes of a block
MARK_BYTES = 64  # bytes at the start, and before the position, that identify the file


def open_event_stream(path: Path) -> FileIO | BytesIO:
    """Open an event file, decompressing gzip. Raises OSError, and ReadError for damaged gzip data."""
    stream = path.open("rb", buffering=0)
    if stream.read(len(GZIP_MAGIC)) != GZIP_MAGIC:
        return stream
    stream.close()
    with open_path(path, ReadOptions()) as whole:
        return BytesIO(whole.data())


class FileHandle:
    """An open file with random access, and the number of bytes read."""

    def __init__(self, stream: FileIO | BytesIO) -> None:
        self._stream, self.read = stream, 0
        self.size = stream.seek(0, os.SEEK_END)

    def read_into(self, into: Bytes, place: int) -> int:
        """Read from an offset until `into` is full or the file ends; return the number of bytes."""
        self._stream.seek(place)
        got = 0
        while got < len(into) and (more := self._stream.readinto(into.data[got:])):
            got += more
        self.read += got
        return got

    def read_bytes(self, place: int, size: int) -> bytes:
        """Return bytes of the file, fewer at its end."""
        into = np.empty(size, np.uint8)
        return into[: self.read_into(into, place)].tobytes()


class RecordWindow:
    """The payload of a large record, read page by page on access."""

    def __init__(self, handle: FileHandle, offset: int, size: int, page: bytes = b"") -> None:
        self._handle, self._offset, self._size = handle, offset, size
        self._first, self._page = 0, page

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, where: Any, /) -> Any:
        if isinstance(where, slice):
            return self._read_range(where.start, where.stop)
        if not self._first <= where < self._first + len(self._page):
            self._first, self._page = where, self._read_range(where, min(self._size, where + PAGE_BYTES))
        return self._page[where - self._first]

    def _read_range(self, first: int, stop: int) -> bytes:
        inner = first - self._first
        if inner >= 0 and stop <= self._first + len(self._page):
            return self._page[inner : inner + stop - first]
        return self._handle.read_bytes(self._offset + first, stop - first)


class LargeRecord(NamedTuple):
    """A record at `place` whose payload of `size` bytes is not read as a whole."""

    place: int
    size: int
    window: RecordWindow


@dataclass(slots=True)
class FileTail:
    """The position up to which a file was read.

    `torn`: the last record was incomplete. `damage`: the file is unreadable from there on.
    """

    path: Path
    offset: int = 0
    torn: bool = False
    damage: MalformedRecord | None = None
    read: int = 0  # bytes read from the system, in all
    end: int | None = None  # stop here although there may be more
    _identity: tuple[int, int] = (0, 0)
    _size: int = 0
    _time: int = 0
    _mark: tuple[bytes, bytes] = (b"", b"")
    _checked: dict[int, int] = field(default_factory=dict)

    def reset_if_replaced(self) -> bool:
        """Return whether the file was replaced, and reset the position if so. Raises OSError."""
        status = self.path.stat()
        identity = status.st_dev, status.st_ino
        known = self._identity == identity and status.st_size >= self._size
        if known and (status.st_size, status.st_mtime_ns) != (self._size, self._time) and self.offset:
            with open_event_stream(self.path) as stream:
                known = not isinstance(stream, BytesIO) and self._read_marks(FileHandle(stream)) == self._mark
        if known:
            return False
        again = self.offset > 0 or self.damage is not None
        self._identity, self._size, self._time = identity, 0, 0
        self.offset, self.torn, self.damage, self._mark = 0, False, None, (b"", b"")
        return again

    def is_unchanged(self) -> bool:
        """Return whether the file still has what was read, neither replaced nor truncated. Raises OSError."""
        status = self.path.stat()
        if (status.st_dev, status.st_ino) != self._identity or status.st_size < self._size:
            return False
        with open_event_stream(self.path) as stream:
            return self._read_marks(FileHandle(stream)) == self._mark

    def has_grown(self) -> bool:
        """Return whether the file was written since."""
        status = self.path.stat()
        return (status.st_size, status.st_mtime_ns) != (self._size, self._time) or self._identity != (
            status.st_dev,
            status.st_ino,
        )

    def _read_marks(self, handle: FileHandle) -> tuple[bytes, bytes]:
        start = max(0, self.offset - MARK_BYTES)
        return handle.read_bytes(0, min(MARK_BYTES, self.offset)), handle.read_bytes(start, self.offset - start)

    def read_blocks(self, stream: FileIO | BytesIO) -> Iterator[RecordBlock | LargeRecord]:
        """Yield the unread rest as whole records; afterwards `offset` is the end of the last one."""
        status = self.path.stat()
        self._size, self._time = status.st_size, status.st_mtime_ns
        handle = FileHandle(stream)
        handle.size = handle.size if self.end is None else min(handle.size, self.end)
        peek = PEEK_BYTES
        while self.offset < handle.size:
            data, found = self._next_block(handle, peek)
            if len(found.starts):
                yield RecordBlock(data, self.offset, found.starts, found.sizes)
            self.offset += found.end
            if found.damaged:
                self.damage = damaged_length_error(
                    data[found.end : found.end + RECORD_HEADER_BYTES].tobytes(), self.offset
                )
                break
            left = handle.size - self.offset
            if left < max(found.wanted, RECORD_HEADER_BYTES) or not (found.wanted or found.end):
                break
            peek = PEEK_BYTES
            if found.wanted > LARGE_RECORD_BYTES:
                page = data[found.end + RECORD_HEADER_BYTES : -BLOCK_PADDING_BYTES].tobytes()
                size = found.wanted - RECORD_HEADER_BYTES - RECORD_FOOTER_BYTES
                yield LargeRecord(
                    self.offset, size, RecordWindow(handle, self.offset + RECORD_HEADER_BYTES, size, page)
                )
                self.offset += found.wanted
                peek = PAGE_BYTES
        self.torn = self.damage is None and self.offset < handle.size
        self._mark = self._read_marks(handle)
        self.read += handle.read

    def _next_block(self, handle: FileHandle, peek: int) -> tuple[Bytes, RecordFrames]:
        """Return the next bytes with `BLOCK_PADDING_BYTES`, and their records.

        A peek if a large record follows, else a block.
        """
        room = min(MAX_BLOCK_BYTES, handle.size - self.offset)
        data = np.empty(room + BLOCK_PADDING_BYTES, np.uint8)
        got = handle.read_into(data[: min(peek, room)], self.offset)
        found = find_record_frames(data[:got], self._checked)
        if got < room and not found.damaged and found.wanted <= LARGE_RECORD_BYTES:
            got += handle.read_into(data[got:room], self.offset + got)
            rest = find_record_frames(data[found.end : got], self._checked)
            starts = np.concatenate([found.starts, rest.starts + found.end])
            sizes = np.concatenate([found.sizes, rest.sizes])
            found = rest._replace(starts=starts, sizes=sizes, end=found.end + rest.end)
        data[got : got + BLOCK_PADDING_BYTES] = 0
        return data[: got + BLOCK_PADDING_BYTES], found
