"""A separate program that prints the configuration and the items of a Keras HDF5 file as JSON.

`hdf5_items.py FILE FIRST SIZE` reads `SIZE` bytes of a file from byte `FIRST`.

A damaged file can make HDF5's library loop or crash, so it runs in a process that the reader of weights can end. It
imports only the limits of the package.
"""

import io
import json
import sys
from typing import IO, Any

from graphviz_tb.limits import MAX_HDF5_ITEMS, MAX_HDF5_MEMORY_BYTES, MAX_HDF5_PATH_LETTERS


class FileSlice(io.RawIOBase):
    """A range of bytes of a file, seen as a file."""

    def __init__(self, file: IO[bytes], first: int, size: int) -> None:
        self._file, self._first, self._size, self._at = file, first, size, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        self._at = max(0, start + offset)
        return self._at

    def readinto(self, buffer: Any) -> int:
        self._file.seek(self._first + self._at)
        data = self._file.read(min(len(buffer), max(0, self._size - self._at)))
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)


def _clean_text(name: str | bytes) -> str:
    """Replace bytes that are not UTF-8 (h5py returns lone surrogates, or the whole name as bytes)."""
    name = name.decode("utf-8", "surrogateescape") if isinstance(name, bytes) else name
    return name.encode("utf-8", "replace").decode()


def _list_items(file: Any) -> list[tuple[str, list[int] | None, str | None]]:
    """List path, shape (None: a group) and attribute `name` of all items of an open HDF5 file, links excluded."""
    listed: list[tuple[str, list[int] | None, str | None]] = []
    letters = 0

    def visit(path: str, item: Any) -> bool | None:
        nonlocal letters
        shape = getattr(item, "shape", None)
        name = item.attrs.get("name") if shape is None else None
        sizes = None if shape is None else [int(size) for size in shape]
        listed.append((_clean_text(path), sizes, _clean_text(name) if isinstance(name, str) else None))
        letters += len(path)
        # A result other than None ends the visit.
        return True if len(listed) >= MAX_HDF5_ITEMS or letters > MAX_HDF5_PATH_LETTERS else None

    file.visititems(visit)
    return listed


def _root_attribute(file: Any, name: str) -> str | None:
    value = file.attrs.get(name)
    return _clean_text(value) if isinstance(value, str | bytes) else None


def _print_items() -> None:
    """Read the byte range of the command line and print its items as JSON."""
    import h5py

    try:
        import resource

        with open("/proc/self/statm") as memory:  # noqa: PTH123
            max_bytes = MAX_HDF5_MEMORY_BYTES + int(memory.read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (max_bytes, max_bytes))
    except (ImportError, OSError, ValueError):
        pass  # other systems have no such limit, or do not enforce it
    path, first, size = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    with open(path, "rb") as stored, h5py.File(io.BufferedReader(FileSlice(stored, first, size)), "r") as file:  # noqa: PTH123
        settings = {name: _root_attribute(file, name) for name in ("model_config", "training_config")}
        json.dump({**settings, "items": _list_items(file)}, sys.stdout)


if __name__ == "__main__":
    _print_items()
