"""Open a file, stdin, bytes or the copy of a remote source, decompress gzip, and never read more than the limit."""

from __future__ import annotations

import io
import os
import sys
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from graphviz_tb.errors import MalformedRecord, ReadError, RequestError, TooLarge, UnknownFormat, require_type
from graphviz_tb.limits import HEAD_BYTES, LARGE_TEXT_BYTES, MAX_GRAPH_BYTES
from graphviz_tb.model.sources import URL_SEPARATOR
from graphviz_tb.options import ReadOptions
from graphviz_tb.sources.bounds import check_unpacked_size
from graphviz_tb.sources.text import TextInMemory, TextOnDisk, TextSource

READ_BLOCK_BYTES = 1 << 20  # bytes: larger blocks read no faster
GZIP_PIECE_BYTES = 1 << 13  # compressed bytes at once: zlib copies unused input on every call
GZIP_MAGIC = b"\x1f\x8b\x08"
COPY_AGAIN_HINT = "copy or download it again"
FileSource = str | os.PathLike[str] | bytes | bytearray | memoryview
FILE_SOURCE_TYPES = (str, os.PathLike, bytes, bytearray, memoryview)
ReadProgress = Callable[[int, int | None], None]  # bytes read so far, and the total if known


class ByteStream(Protocol):
    """Anything that reads forward."""

    def read(self, size: int, /) -> bytes: ...


class OpenedSource:
    """A source whose first bytes were read; the rest is read once, by `data` or `stream`."""

    def __init__(self, name: str, stream: ByteStream, options: ReadOptions, path: Path | None = None) -> None:
        self.name = name
        self.path = path  # of a regular file, which can be read again at an offset
        self.limit = options.max_bytes or MAX_GRAPH_BYTES
        self.bounded = options.limits_memory
        head = _read_up_to(stream, HEAD_BYTES)
        self.gunzip: GzipStream | None = None
        if head.startswith(GZIP_MAGIC):
            # Offsets after decompression are not offsets in the file.
            self.path = None
            stream = self.gunzip = GzipStream(head, stream, name, self.bounded)
            head = _read_up_to(stream, HEAD_BYTES)
            if not head and not self.gunzip.is_complete:
                raise MalformedRecord(
                    f"{name}: broken gzip data: it is cut short", offset=self.gunzip.taken, hint=COPY_AGAIN_HINT
                )
        self.head = head
        self._rest = stream
        self.ours: BinaryIO | None = None

    def __enter__(self) -> OpenedSource:
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file; parts found in it are read again by path."""
        if self.ours is not None:
            self.ours.close()

    def stream(self) -> ByteStream:
        """Return a stream of all bytes, to be read once."""
        return ChainedStream(self.head, self._rest)

    def tail(self, size: int) -> bytes:
        """Return the last bytes of a regular file or of one read as a whole, else none."""
        if self.path is None:
            return self.head[-size:] if len(self.head) < HEAD_BYTES else b""
        with self.path.open("rb") as handle:
            handle.seek(max(0, self.path.stat().st_size - size))
            return handle.read(size)

    def data(self) -> bytes:
        """Return all bytes. Raises `TooLarge`."""
        if self.path is not None:
            return self._read_file()
        # One byte more than allowed shows that there is more.
        rest = _read_up_to(self._rest, max(0, self.limit - len(self.head) + 1))
        if len(self.head) + len(rest) > self.limit:
            raise too_large_error(self.name, self.limit)
        return self.head + rest if rest else self.head

    def _read_file(self) -> bytes:
        if self._file_size() > self.limit:
            raise too_large_error(self.name, self.limit)
        return self.path.read_bytes() if self.path is not None else b""

    def size_on_disk(self, data: bytes) -> int | None:
        """Return the number of bytes on disk that `data` came from; None if memory is not limited by it."""
        return (self.gunzip.taken if self.gunzip else len(data)) if self.bounded else None

    def _file_size(self) -> int:
        return self.path.stat().st_size if self.path is not None else 0

    def text(self) -> TextSource:
        """Return all bytes as a text source; a large file stays on disk."""
        if LARGE_TEXT_BYTES < self._file_size() <= self.limit and self.path is not None:
            return TextOnDisk(self.path, self._file_size(), self.name)
        return TextInMemory(self.data(), self.name)


def open_source(source: FileSource, options: ReadOptions) -> OpenedSource | Path:
    """Open bytes, a file, or standard input ("-"); return the path of a folder. Raises `ReadError`."""
    if isinstance(source, bytes | bytearray | memoryview):
        return open_bytes(bytes(source), options)
    if source == "-":
        return OpenedSource("standard input", sys.stdin.buffer, options)
    path = existing_path(source)
    return path if path.is_dir() else open_path(path, options)


def open_bytes(data: bytes, options: ReadOptions) -> OpenedSource:
    return OpenedSource("the data", io.BytesIO(data), options)


def existing_path(name: str | os.PathLike[str]) -> Path:
    """Return an existing path. An empty name raises, rather than meaning the current folder."""
    require_type("source", name, str, os.PathLike)
    if not os.fspath(name):
        raise ReadError("no file or folder '': the name is empty", hint="'.' is the current folder")
    path = Path(name)
    try:
        path.stat()
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        raise unreadable_error(path, error) from None
    return path


def open_path(path: Path, options: ReadOptions) -> OpenedSource:
    """Open a file. Raises `ReadError`."""
    try:
        handle = path.open("rb", buffering=READ_BLOCK_BYTES)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        raise unreadable_error(path, error) from None
    try:
        opened = OpenedSource(str(path), handle, options, path if path.is_file() else None)
    except BaseException as error:
        # Close the file on Ctrl-C, too.
        handle.close()
        raise unreadable_error(path, error) if isinstance(error, OSError) else error from None
    opened.ours = handle
    return opened


def unreadable_error(path: Path, error: OSError | ValueError) -> ReadError:
    if isinstance(error, FileNotFoundError) and path.with_name(f"{path.name}.index").is_file():
        return UnknownFormat(
            f"{path} is the prefix of a checkpoint, not a graph",
            hint="it holds values only: give the .meta file beside it, the SavedModel folder, or the log folder",
        )
    if isinstance(error, FileNotFoundError):
        return ReadError(f"no file or folder '{path}'", hint="check the path; '-' reads standard input")
    reason = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else str(error)
    return ReadError(f"cannot read '{path}': {reason}")


def check_source_size(size: int, options: ReadOptions, name: str) -> None:
    """Raise TooLarge if `size` is over the limit."""
    limit = options.max_bytes or MAX_GRAPH_BYTES
    if size > limit:
        raise too_large_error(name, limit)


def too_large_error(name: str, limit: int) -> TooLarge:
    return TooLarge(
        f"{name} holds more than {limit:,} bytes",
        hint="raise the limit with --max-bytes if it is your own file",
    )


def _read_up_to(stream: ByteStream, size: int) -> bytes:
    """Read `size` bytes, or all there are, block by block, so that a false size costs nothing."""
    first = stream.read(min(size, READ_BLOCK_BYTES))
    if len(first) == size:
        return first
    blocks, wanted = [first], size - len(first)
    while wanted > 0 and blocks[-1]:
        blocks.append(stream.read(min(wanted, READ_BLOCK_BYTES)))
        wanted -= len(blocks[-1])
    return b"".join(blocks)


class ChainedStream:
    """The bytes read ahead, then the rest."""

    def __init__(self, head: bytes, rest: ByteStream) -> None:
        self._head = io.BytesIO(head)
        self._rest = rest

    def read(self, size: int, /) -> bytes:
        return self._head.read(size) or self._rest.read(size)


def _zlib_reason(error: zlib.error) -> str:
    """Shorten zlib's message: "Error -3 while decompressing data: invalid …" to ": invalid …"."""
    _, colon, words = str(error).rpartition(": ")
    return f"{colon}{words}" if colon else ""


class GzipStream:
    """Streaming gzip decompression that refuses zip bombs before they fill memory."""

    def __init__(self, head: bytes, rest: ByteStream, name: str, bounded: bool) -> None:
        self._source: Callable[[int], bytes] = ChainedStream(head, rest).read
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
            self._waiting = self._waiting or self._next_piece()
            ended = not self._waiting
            block = self._inflate(size)
            if block or ended:
                self._given += len(block)
                if self._bounded:
                    check_unpacked_size(self._given, self.taken, self._name)
                return block

    @property
    def is_complete(self) -> bool:
        """Return whether the bytes so far end at the end of a gzip member."""
        return self._engine.eof

    def _next_piece(self) -> bytes:
        """Return the next compressed bytes; none at the end."""
        piece = self._block.read(GZIP_PIECE_BYTES)
        if not piece:
            block = self._source(READ_BLOCK_BYTES)
            self.taken += len(block)
            self._block = io.BytesIO(block)
            piece = self._block.read(GZIP_PIECE_BYTES)
        self._fed += len(piece)
        return piece

    def _inflate(self, size: int) -> bytes:
        if self._engine.eof:
            if len(self._waiting) == 1:
                self._waiting += self._next_piece()
            if self._waiting[:2] != GZIP_MAGIC[:2]:  # zero padding after the last member
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
                f"{self._name}: broken gzip data{_zlib_reason(error)}", offset=offset, hint=COPY_AGAIN_HINT
            ) from None
        self._waiting = self._engine.unused_data or self._engine.unconsumed_tail
        return block


# Local copies of remote sources with the name that the user gave, and small user files.

ADDRESS_OF_COPY: dict[str, str] = {}  # path of a local copy → its address


def localize_source(source: Any) -> Any:
    """Return the path of a local copy for a remote source (`gs://bucket/logs`), else the source itself.

    Raises `ReadError` if there is nothing, `ToolMissing` if the package for this kind of address is not installed.
    """
    if not (isinstance(source, str) and URL_SEPARATOR in source):
        return source
    from graphviz_tb.sources.remote import local_copy  # most sources are local

    path = local_copy(source)
    ADDRESS_OF_COPY[str(path)] = source
    return path


def name_of_user(path: str) -> str:
    """Return the user's name for a path: the address, for a local copy of a remote source."""
    whole = next((copy for copy in ADDRESS_OF_COPY if path == copy or path.startswith(f"{copy}{os.sep}")), None)
    return path if whole is None else ADDRESS_OF_COPY[whole].rstrip("/") + path[len(whole) :].replace(os.sep, "/")


def read_small_file(path: Path, limit: int, hint: str) -> bytes:
    """Read a small user file. Raises `ReadError` if it cannot be read, `TooLarge` above `limit`."""
    try:
        with path.open("rb") as file:
            data = file.read(limit + 1)  # a device may be endless
    except OSError as error:
        raise ReadError(f"cannot read {str(path)!r}: {error.strerror}", hint=hint) from None
    if len(data) > limit:
        raise TooLarge(f"{path.name} has more than {limit:,} bytes", hint=hint)
    return data


def check_stdin_once(sources: Iterable[Any]) -> None:
    """Raise if standard input is given for more than one source."""
    if sum(isinstance(source, str) and source == "-" for source in sources) > 1:
        raise RequestError("standard input can be read only once: - is given twice", hint="give one of them as a file")
