"""Open a file, stdin or bytes, decompress gzip, and never read more than the limit."""

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
PIECE = 1 << 13  # compressed bytes at once: zlib copies unused input on every call
GZIP = b"\x1f\x8b\x08"
AGAIN = "copy or download it once more"
Progress = Callable[[int, int | None], None]  # bytes read so far, and the total if known


class Stream(Protocol):
    """Anything that reads forward."""

    def read(self, size: int, /) -> bytes: ...


class Opened:
    """A source whose first bytes were read; the rest is read once, by `data` or `stream`."""

    def __init__(self, name: str, stream: Stream, options: ReadOptions, path: Path | None = None) -> None:
        self.name = name
        self.path = path  # of a regular file, which can be read again at an offset
        self.limit = options.max_bytes or MOST_BYTES
        self.bounded = options.bounded
        head = read_up_to(stream, HEAD)
        self.gunzip: Gunzip | None = None
        if head.startswith(GZIP):
            # Offsets after decompression are no offsets in the file.
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
        """Close the file; parts found in it are read again by path."""
        if self.ours is not None:
            self.ours.close()

    def stream(self) -> Stream:
        """Return a stream of all bytes, to be read once."""
        return _Chained(self.head, self._rest)

    def tail(self, size: int) -> bytes:
        """Return the last bytes of a regular file or of one read as a whole, else none."""
        if self.path is None:
            return self.head[-size:] if len(self.head) < HEAD else b""
        with self.path.open("rb") as handle:
            handle.seek(max(0, self.path.stat().st_size - size))
            return handle.read(size)

    def data(self) -> bytes:
        """Return all bytes. Raises `TooLarge`."""
        if self.path is not None:
            return self._file()
        # One byte more than allowed shows that there is more.
        rest = read_up_to(self._rest, max(0, self.limit - len(self.head) + 1))
        if len(self.head) + len(rest) > self.limit:
            raise too_large(self.name, self.limit)
        return self.head + rest if rest else self.head

    def _file(self) -> bytes:
        """Read a regular file at once."""
        if self._size() > self.limit:
            raise too_large(self.name, self.limit)
        return self.path.read_bytes() if self.path is not None else b""

    def on_disk(self, data: bytes) -> int | None:
        """Return the number of bytes on disk that `data` came from; None if memory is not limited by it."""
        return (self.gunzip.taken if self.gunzip else len(data)) if self.bounded else None

    def _size(self) -> int:
        return self.path.stat().st_size if self.path is not None else 0

    def text(self) -> Source:
        """Return all bytes as a text source; a large file stays on disk."""
        if LARGE_TEXT < self._size() <= self.limit and self.path is not None:
            return OnDisk(self.path, self._size(), self.name)
        return InMemory(self.data(), self.name)


def open_bytes(data: bytes, options: ReadOptions) -> Opened:
    return Opened("the data", io.BytesIO(data), options)


def open_stdin(options: ReadOptions) -> Opened:
    return Opened("standard input", sys.stdin.buffer, options)


def path_of(name: str | os.PathLike[str]) -> Path:
    """Return an existing path. An empty name raises, rather than meaning the current folder."""
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
    """Open a file. Raises `ReadError`."""
    try:
        handle = path.open("rb", buffering=BLOCK)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        raise unreadable(path, error) from None
    try:
        opened = Opened(str(path), handle, options, path if path.is_file() else None)
    except BaseException as error:
        # Close the file on Ctrl-C, too.
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
    """Raise TooLarge if `size` is over the limit."""
    limit = options.max_bytes or MOST_BYTES
    if size > limit:
        raise too_large(name, limit)


def too_large(name: str, limit: int) -> TooLarge:
    return TooLarge(
        f"{name} holds more than {limit:,} bytes",
        hint="raise the limit with --max-bytes if it is your own file",
    )


def read_up_to(stream: Stream, size: int) -> bytes:
    """Read `size` bytes, or all there are, block by block, so that a false size costs nothing."""
    first = stream.read(min(size, BLOCK))
    if len(first) == size:
        return first
    blocks, wanted = [first], size - len(first)
    while wanted > 0 and blocks[-1]:
        blocks.append(stream.read(min(wanted, BLOCK)))
        wanted -= len(blocks[-1])
    return b"".join(blocks)


class _Chained:
    """The bytes read ahead, then the rest."""

    def __init__(self, head: bytes, rest: Stream) -> None:
        self._head = io.BytesIO(head)
        self._rest = rest

    def read(self, size: int, /) -> bytes:
        return self._head.read(size) or self._rest.read(size)


def _reason(error: zlib.error) -> str:
    """Shorten zlib's message: "Error -3 while decompressing data: invalid …" to ": invalid …"."""
    _, colon, words = str(error).rpartition(": ")
    return f"{colon}{words}" if colon else ""


class Gunzip:
    """Streaming gzip decompression that refuses zip bombs before they fill memory."""

    def __init__(self, head: bytes, rest: Stream, name: str, bounded: bool) -> None:
        self._source: Callable[[int], bytes] = _Chained(head, rest).read
        self._engine = zlib.decompressobj(31)
        self._name = name
        self._bounded = bounded
        self._block = io.BytesIO()
        self._waiting = b""
        self._fed = 0  # compressed bytes passed to zlib
        self.taken = self._given = 0  # bytes before and after decompression

    def read(self, size: int, /) -> bytes:
        """Return up to `size` bytes; none at the end. A truncated stream ends early without an error."""
        # A compressed block may yield nothing yet; only the end of the source ends the loop.
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
        """Return whether the bytes so far end at the end of a gzip member."""
        return self._engine.eof

    def _piece(self) -> bytes:
        """Return the next compressed bytes; none at the end."""
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
            # gzip members may be concatenated: the next one begins.
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
