"""An event file whose reading goes on: what was read stays read, what was written since comes in blocks.

A file that was replaced or cut is read from its start. Of a record of more than `LARGE` bytes only those parts are read
that are asked for.
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
from graphviz_tb.read.logged.block import PADDING, RecordBlock
from graphviz_tb.read.opened import GZIP, open_path
from graphviz_tb.read.records import FOOTER, HEADER, Frames, damaged_length, frames

LARGE = 1 << 16  # bytes of a record of which only what is needed is read
PAGE = 1 << 12  # bytes of such a record that are read at once
PEEK, MOST = 1 << 16, 1 << 23  # bytes that show whether large records follow, and those of a whole block
MARK = 64  # bytes at the start, and before the place where reading stopped, that show whether it is the same file


def opened(path: Path) -> FileIO | BytesIO:
    """Open an event file; a gzip file is unpacked. Raises OSError, and ReadError for a damaged gzip file."""
    stream = path.open("rb", buffering=0)
    if stream.read(len(GZIP)) != GZIP:
        return stream
    stream.close()
    with open_path(path, ReadOptions()) as whole:
        return BytesIO(whole.data())


class Handle:
    """An open file that is read at given places, and how many bytes were asked of it."""

    def __init__(self, stream: FileIO | BytesIO) -> None:
        self._stream, self.read = stream, 0
        self.size = stream.seek(0, os.SEEK_END)

    def fill(self, into: Bytes, place: int) -> int:
        """Read from a place on until `into` is full or the file ends; how many bytes that were."""
        self._stream.seek(place)
        got = 0
        while got < len(into) and (more := self._stream.readinto(into.data[got:])):
            got += more
        self.read += got
        return got

    def bytes(self, place: int, size: int) -> bytes:
        """Some bytes of the file, fewer where it ends."""
        into = np.empty(size, np.uint8)
        return into[: self.fill(into, place)].tobytes()


class Window:
    """The payload of a large record: pages of it are read when they are looked at."""

    def __init__(self, handle: Handle, offset: int, size: int, page: bytes = b"") -> None:
        self._handle, self._offset, self._size = handle, offset, size
        self._first, self._page = 0, page

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, where: Any, /) -> Any:
        if isinstance(where, slice):
            return self._bytes(where.start, where.stop)
        if not self._first <= where < self._first + len(self._page):
            self._first, self._page = where, self._bytes(where, min(self._size, where + PAGE))
        return self._page[where - self._first]

    def _bytes(self, first: int, stop: int) -> bytes:
        inner = first - self._first
        if inner >= 0 and stop <= self._first + len(self._page):
            return self._page[inner : inner + stop - first]
        return self._handle.bytes(self._offset + first, stop - first)


class LargeRecord(NamedTuple):
    """A record that starts at `place`, whose payload of `size` bytes is not read as a whole."""

    place: int
    size: int
    window: Window


@dataclass(slots=True)
class FileTail:
    """How far a file was read. `torn`: a record was not whole then; `damage` ends the file where it was found."""

    path: Path
    offset: int = 0
    torn: bool = False
    damage: MalformedRecord | None = None
    read: int = 0  # bytes that were asked of the system, in all
    end: int | None = None  # where reading ends although there may be more
    _identity: tuple[int, int] = (0, 0)
    _size: int = 0
    _time: int = 0
    _mark: tuple[bytes, bytes] = (b"", b"")
    _checked: dict[int, int] = field(default_factory=dict)

    def restarted(self) -> bool:
        """Whether the file is another one than before, so that what was read of it no longer holds. Raises OSError."""
        status = self.path.stat()
        identity = status.st_dev, status.st_ino
        known = self._identity == identity and status.st_size >= self._size
        if known and (status.st_size, status.st_mtime_ns) != (self._size, self._time) and self.offset:
            with opened(self.path) as stream:
                known = not isinstance(stream, BytesIO) and self._marks(Handle(stream)) == self._mark
        if known:
            return False
        again = self.offset > 0 or self.damage is not None
        self._identity, self._size, self._time = identity, 0, 0
        self.offset, self.torn, self.damage, self._mark = 0, False, None, (b"", b"")
        return again

    def holds(self) -> bool:
        """Whether the file still has what was read of it: it was neither replaced nor cut. Raises OSError."""
        status = self.path.stat()
        if (status.st_dev, status.st_ino) != self._identity or status.st_size < self._size:
            return False
        with opened(self.path) as stream:
            return self._marks(Handle(stream)) == self._mark

    def grown(self) -> bool:
        """Whether there is more than was read, or it was written again."""
        status = self.path.stat()
        return (status.st_size, status.st_mtime_ns) != (self._size, self._time) or self._identity != (
            status.st_dev,
            status.st_ino,
        )

    def _marks(self, handle: Handle) -> tuple[bytes, bytes]:
        start = max(0, self.offset - MARK)
        return handle.bytes(0, min(MARK, self.offset)), handle.bytes(start, self.offset - start)

    def blocks(self, stream: FileIO | BytesIO) -> Iterator[RecordBlock | LargeRecord]:
        """Yield the unread rest of the file as whole records; afterwards `offset` is behind the last of them."""
        status = self.path.stat()
        self._size, self._time = status.st_size, status.st_mtime_ns
        handle = Handle(stream)
        handle.size = handle.size if self.end is None else min(handle.size, self.end)
        peek = PEEK
        while self.offset < handle.size:
            data, found = self._next(handle, peek)
            if len(found.starts):
                yield RecordBlock(data, self.offset, found.starts, found.sizes)
            self.offset += found.end
            if found.damaged:
                self.damage = damaged_length(data[found.end : found.end + HEADER].tobytes(), self.offset)
                break
            left = handle.size - self.offset
            if left < max(found.wanted, HEADER) or not (found.wanted or found.end):
                break
            peek = PEEK
            if found.wanted > LARGE:
                page = data[found.end + HEADER : -PADDING].tobytes()
                size = found.wanted - HEADER - FOOTER
                yield LargeRecord(self.offset, size, Window(handle, self.offset + HEADER, size, page))
                self.offset += found.wanted
                peek = PAGE
        self.torn = self.damage is None and self.offset < handle.size
        self._mark = self._marks(handle)
        self.read += handle.read

    def _next(self, handle: Handle, peek: int) -> tuple[Bytes, Frames]:
        """The next bytes with `PADDING` behind them, and the records in them: no more than a peek where a large record
        follows, else a whole block."""
        room = min(MOST, handle.size - self.offset)
        data = np.empty(room + PADDING, np.uint8)
        got = handle.fill(data[: min(peek, room)], self.offset)
        found = frames(data[:got], self._checked)
        if got < room and not found.damaged and found.wanted <= LARGE:
            got += handle.fill(data[got:room], self.offset + got)
            rest = frames(data[found.end : got], self._checked)
            starts = np.concatenate([found.starts, rest.starts + found.end])
            sizes = np.concatenate([found.sizes, rest.sizes])
            found = rest._replace(starts=starts, sizes=sizes, end=found.end + rest.end)
        data[got : got + PADDING] = 0
        return data[: got + PADDING], found
