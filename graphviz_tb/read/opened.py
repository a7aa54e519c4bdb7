"""Where bytes come from: a file, stdin or memory, gzip or not, never more of them than the limit."""

from __future__ import annotations

import io
import os
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, Protocol

from graphviz_tb.errors import MalformedRecord, ReadError, TooLarge, UnknownFormat, demand
from graphviz_tb.limits import HEAD, LARGE_TEXT, MOST_BYTES
from graphviz_tb.options import ReadOptions
from graphviz_tb.read.limits import check_unpacked
from graphviz_tb.read.textproto.source import InMemory, OnDisk, Source

BLOCK = 1 << 20  # bytes: larger blocks read no faster
PIECE = 1 << 13  # of packed bytes: zlib copies those that it has not come to, whenever it is asked for more
GZIP = b"\x1f\x8b\x08"
AGAIN = "copy or download it once more"
Progress = Callable[[int, int | None], None]  # bytes read so far, and all there are where that is known


class Stream(Protocol):
    """Anything that reads forward."""

    def read(self, size: int, /) -> bytes: ...


class Opened:
    """A source whose first bytes were looked at; the rest is read once, by `data` or `stream`."""

    def __init__(self, name: str, stream: Stream, options: ReadOptions, path: Path | None = None) -> None:
        self.name = name
        self.path = path  # of a plain file, which can be read again at an offset
        self.limit = options.max_bytes or MOST_BYTES
        self.bounded = options.bounded
        head = read_up_to(stream, HEAD)
        self.gunzip: Gunzip | None = None
        if head.startswith(GZIP):
            # An offset in the unpacked bytes is none in the file.
            self.path = None
            stream = self.gunzip = Gunzip(head, stream, name, self.bounded)
            head = read_up_to(stream, HEAD)
            if not head and not self.gunzip.whole:
                raise MalformedRecord(
                    f"{name}: broken gzip data: it is cut short", offset=self.gunzip.taken, hint=AGAIN
                )
        self.head = head
        self._rest = stream
        self.ours: BinaryIO | None = None

    def __enter__(self) -> Opened:
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file; what was found in it is read again by its path."""
        if self.ours is not None:
            self.ours.close()

    def stream(self) -> Stream:
        """All bytes, forward, once."""
        return _Chained(self.head, self._rest)

    def tail(self, size: int) -> bytes:
        """The last bytes of a plain file or of one that was seen whole; none otherwise."""
        if self.path is None:
            return self.head[-size:] if len(self.head) < HEAD else b""
        with self.path.open("rb") as handle:
            handle.seek(max(0, self.path.stat().st_size - size))
            return handle.read(size)

    def data(self) -> bytes:
        """All bytes at once, if the limit allows."""
        if self.path is not None:
            return self._file()
        # One byte more than allowed shows that there is more.
        rest = read_up_to(self._rest, max(0, self.limit - len(self.head) + 1))
        if len(self.head) + len(rest) > self.limit:
            raise too_large(self.name, self.limit)
        return self.head + rest if rest else self.head

    def _file(self) -> bytes:
        """A plain file, read into one piece of memory."""
        if self._size() > self.limit:
            raise too_large(self.name, self.limit)
        return self.path.read_bytes() if self.path is not None else b""

    def on_disk(self, data: bytes) -> int | None:
        """The bytes that `data`, which is all of it, was read from; None where they are no bound."""
        return (self.gunzip.taken if self.gunzip else len(data)) if self.bounded else None

    def _size(self) -> int:
        return self.path.stat().st_size if self.path is not None else 0

    def text(self) -> Source:
        """All bytes as text; a large file is not taken into memory."""
        if LARGE_TEXT < self._size() <= self.limit and self.path is not None:
            return OnDisk(self.path, self._size(), self.name)
        return InMemory(self.data(), self.name)


def open_bytes(data: bytes, options: ReadOptions) -> Opened:
    return Opened("the data", io.BytesIO(data), options)


def open_stdin(options: ReadOptions) -> Opened:
    return Opened("standard input", sys.stdin.buffer, options)


def path_of(name: str | os.PathLike[str]) -> Path:
    """The path of something that is there; an empty name is refused rather than taken for the current folder."""
    demand("source", name, str, os.PathLike)
    if not os.fspath(name):
        raise ReadError("no file or folder '': the name is empty", hint="'.' is the current folder")
    path = Path(name)
    try:
        path.stat()
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        raise unreadable(path, error) from None
    return path


def open_path(path: Path, options: ReadOptions) -> Opened:
    """Before: the path of a file. After: it is open, or the error says why not."""
    try:
        handle = path.open("rb", buffering=BLOCK)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        raise unreadable(path, error) from None
    try:
        opened = Opened(str(path), handle, options, path if path.is_file() else None)
    except BaseException as error:
        # Ctrl-C, too, must not leave the file open.
        handle.close()
        raise unreadable(path, error) if isinstance(error, OSError) else error from None
    opened.ours = handle
    return opened


def unreadable(path: Path, error: OSError | ValueError) -> ReadError:
    if isinstance(error, FileNotFoundError) and path.with_name(f"{path.name}.index").is_file():
        return UnknownFormat(
            f"{path} is the prefix of a checkpoint, not a graph",
            hint="it holds values only: give the .meta file beside it, the SavedModel folder, or the log folder",
        )
    if isinstance(error, FileNotFoundError):
        return ReadError(f"no file or folder '{path}'", hint="check the path; '-' reads standard input")
    reason = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else str(error)
    return ReadError(f"cannot read '{path}': {reason}")


def check_size(size: int, options: ReadOptions, name: str) -> None:
    """Raise TooLarge where bytes that a source holds are more than the limit."""
    limit = options.max_bytes or MOST_BYTES
    if size > limit:
        raise too_large(name, limit)


def too_large(name: str, limit: int) -> TooLarge:
    return TooLarge(
        f"{name} holds more than {limit:,} bytes",
        hint="raise the limit with --max-bytes if it is your own file",
    )


def read_up_to(stream: Stream, size: int) -> bytes:
    """Exactly `size` bytes, or all there are: one block at a time, so a false size costs nothing."""
    first = stream.read(min(size, BLOCK))
    if len(first) == size:
        return first
    blocks, wanted = [first], size - len(first)
    while wanted > 0 and blocks[-1]:
        blocks.append(stream.read(min(wanted, BLOCK)))
        wanted -= len(blocks[-1])
    return b"".join(blocks)


class _Chained:
    """The head that was looked at, then the rest."""

    def __init__(self, head: bytes, rest: Stream) -> None:
        self._head = io.BytesIO(head)
        self._rest = rest

    def read(self, size: int, /) -> bytes:
        return self._head.read(size) or self._rest.read(size)


def _reason(error: zlib.error) -> str:
    """zlib's own words: "Error -3 while decompressing data: invalid …" to ": invalid …"."""
    _, colon, words = str(error).rpartition(": ")
    return f"{colon}{words}" if colon else ""


class Gunzip:
    """Decompresses forward, bounded: a bomb is refused before it fills memory."""

    def __init__(self, head: bytes, rest: Stream, name: str, bounded: bool) -> None:
        self._source: Callable[[int], bytes] = _Chained(head, rest).read
        self._engine = zlib.decompressobj(31)
        self._name = name
        self._bounded = bounded
        self._block = io.BytesIO()
        self._waiting = b""
        self._fed = 0  # packed bytes handed to zlib
        self.taken = self._given = 0  # bytes, packed and unpacked

    def read(self, size: int, /) -> bytes:
        """Up to `size` bytes; none at the end. A cut end is the end: what was whole was given."""
        # A block of packed bytes may give nothing yet; only the end of the source is the end.
        while True:
            self._waiting = self._waiting or self._piece()
            ended = not self._waiting
            block = self._inflate(size)
            if block or ended:
                self._given += len(block)
                if self._bounded:
                    check_unpacked(self._given, self.taken, self._name)
                return block

    @property
    def whole(self) -> bool:
        """Whether what was read so far ends where a gzip file may."""
        return self._engine.eof

    def _piece(self) -> bytes:
        """The next packed bytes; none at the end."""
        piece = self._block.read(PIECE)
        if not piece:
            block = self._source(BLOCK)
            self.taken += len(block)
            self._block = io.BytesIO(block)
            piece = self._block.read(PIECE)
        self._fed += len(piece)
        return piece

    def _inflate(self, size: int) -> bytes:
        if self._engine.eof:
            if len(self._waiting) == 1:
                self._waiting += self._piece()
            if self._waiting[:2] != GZIP[:2]:  # zero padding after the last member
                self._waiting = b""
                self._block.seek(0, io.SEEK_END)
                return b""
            # gzip files may be written one behind the other: the next one begins.
            self._engine = zlib.decompressobj(31)
        try:
            block = self._engine.decompress(self._waiting, size)
        except zlib.error as error:
            offset = self._fed - len(self._waiting)
            raise MalformedRecord(
                f"{self._name}: broken gzip data{_reason(error)}", offset=offset, hint=AGAIN
            ) from None
        self._waiting = self._engine.unused_data or self._engine.unconsumed_tail
        return block
