"""Sources of text: bytes, or a large file that is read a window at a time."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol


class TextSource(Protocol):
    """Text of a known size, read in windows of whole lines, or whole.

    `name` is its name in errors; it may be empty.
    """

    size: int
    name: str

    def read_window(self, position: int, size: int) -> bytes: ...
    def read_all(self) -> bytes: ...


class TextInMemory:
    """Text in memory."""

    def __init__(self, data: bytes, name: str = "") -> None:
        self.data = data
        self.name = name
        self.size = len(data)

    def read_window(self, position: int, size: int) -> bytes:
        """Return about `size` bytes up to a line end, without it; a longer line whole.

        >>> TextInMemory(b"ab\\ncd\\nef").read_window(0, 7)
        b'ab\\ncd'
        """
        stop = self.data.rfind(b"\n", position, position + size)
        if stop < 0:
            stop = self.data.find(b"\n", position + size)
        return self.data[position : stop if stop >= 0 else self.size]

    def read_all(self) -> bytes:
        return self.data


class TextOnDisk:
    """A file: only a window is in memory, until the whole is needed."""

    def __init__(self, path: Path, size: int, name: str = "") -> None:
        self.path = path
        self.name = name
        self.size = size
        self._data: bytes | None = None

    def read_window(self, position: int, size: int) -> bytes:
        """As in `TextInMemory`."""
        with self.path.open("rb") as handle:
            handle.seek(position)
            text = handle.read(min(size, self.size - position))
            stop = text.rfind(b"\n")
            # A line longer than the window: double it each time, so that a byte is read twice at most.
            while stop < 0 and position + len(text) < self.size:
                more = handle.read(min(len(text) + 1, self.size - position - len(text)))
                if not more:
                    break
                stop = more.find(b"\n")
                stop += len(text) if stop >= 0 else 0
                text += more
        return text[:stop] if stop >= 0 else text

    def read_all(self) -> bytes:
        if self._data is None:
            with self.path.open("rb") as handle:
                self._data = handle.read(self.size)
        return self._data
