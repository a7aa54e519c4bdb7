"""Sources of text: bytes, or a large file that is read a window at a time."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Protocol

from graphviz_tb.errors import MalformedText
from graphviz_tb.sources.bounds import is_nested_too_deep


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


# Parse the JSON of a source, which may be damaged or hostile.

LONE_SURROGATE_ESCAPE = re.compile(rb"\\u[dD][89a-fA-F]")  # the escape of a surrogate, perhaps without its partner


def parse_json(data: bytes, name: str) -> Any:
    """Parse JSON; lone surrogates, which no name can have, become question marks. Raises MalformedText."""
    # JSON may also be UTF-16 or UTF-32; the first bytes show which.
    try:
        text = data.decode(json.detect_encoding(data))
        if is_nested_too_deep(text):
            raise RecursionError
        parsed = json.loads(text)
        if LONE_SURROGATE_ESCAPE.search(data):
            # Encode and parse again, so that surrogates are replaced everywhere.
            parsed = json.loads(json.dumps(parsed, ensure_ascii=False).encode("utf-8", "replace"))
    except json.JSONDecodeError as error:
        raise MalformedText(f"no JSON: {error.msg}", line=error.lineno, column=error.colno, name=name) from None
    except UnicodeDecodeError as error:
        raise MalformedText(f"no JSON: not {error.encoding.upper()}", line=1, column=1, name=name) from None
    except RecursionError:
        raise MalformedText("no JSON: nested too deep", line=1, column=1, name=name) from None
    except ValueError:  # int() of more digits than Python reads
        raise MalformedText("no JSON: a number of thousands of digits", line=1, column=1, name=name) from None
    return parsed
