"""Sources of text: bytes, or a large file that is read a window at a time."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

from graphviz_tb.caches import compile_on_use
from graphviz_tb.errors import MalformedText
from graphviz_tb.limits import MAX_JSON_DEPTH
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

LONE_SURROGATE_ESCAPE = compile_on_use(rb"\\u[dD][89a-fA-F]")  # the escape of a surrogate, perhaps without its partner


WHITESPACE = compile_on_use(r"[ \t\n\r]*")
COMMA = compile_on_use(r"[ \t\n\r]*,[ \t\n\r]*")
# Limits of the cache of values that are converted once for equal texts.
LETTERS_OF_KNOWN_START, MAX_KNOWN_LETTERS, MAX_KNOWN_TEXTS = 128, 4096, 1024
PLAIN_NAME = compile_on_use(r'"([^"\\\0-\x1f]*+)":[ \t\n\r]*')  # of a member, without an escape


class JsonWalk:
    """A position in JSON. Values are parsed one by one, so that each can be converted to a small object before the next
    is parsed: the tree of a large text takes five times its bytes."""

    def __init__(self, text: str) -> None:
        self._text, self._at = text, 0
        self._scan = json.JSONDecoder().scan_once  # type: ignore[attr-defined]  # what `raw_decode` calls

    def parse_value(self) -> Any:
        """Parse the next value whole. Raises RecursionError for one that nests deeper than any model."""
        first = self._skip()
        try:
            value, self._at = self._scan(self._text, first)
        except StopIteration as stop:
            raise json.JSONDecodeError("Expecting value", self._text, stop.value) from None
        if self._at - first > 2 * MAX_JSON_DEPTH:  # this many opening and closing brackets
            brackets = self._text.count("[", first, self._at) + self._text.count("{", first, self._at)
            if brackets > MAX_JSON_DEPTH and is_nested_too_deep(self._text[first : self._at]):
                raise RecursionError
        return value

    def parse_object(self, members: Mapping[str, ParseStep]) -> Any:
        """Parse the next value; if it is an object, parse the members in `members` by their steps."""
        return self._parse_members(lambda key: members[key](self) if key in members else self.parse_value())

    def parse_members(self, make: Callable[[Any], Any]) -> Any:
        """Parse the next value; if it is an object, convert each member by `make`, once for equal texts, of which there
        are few."""
        known: dict[str, tuple[str, Any]] = {}  # first letters → whole text and value of an object

        def parse(key: str) -> Any:
            first = self._skip()
            start = self._text[first : first + LETTERS_OF_KNOWN_START]
            text, made = known.get(start, ("", None))
            if text and self._text.startswith(text, first):
                self._at = first + len(text)
                return made
            made = make(self.parse_value())
            if start[0] == "{" and self._at - first < MAX_KNOWN_LETTERS and len(known) < MAX_KNOWN_TEXTS:
                known[start] = self._text[first : self._at], made
            return made

        return self._parse_members(parse)

    def parse_array(self, make: Callable[[Any], Any]) -> Any:
        """Parse the next value; if it is an array, convert each element by `make`."""
        if not self._take("["):
            return self.parse_value()
        return [make(self.parse_value()) for _ in self._places("]")]

    def check_end(self) -> None:
        """Raise JSONDecodeError if text is left."""
        if self._skip() < len(self._text):
            raise json.JSONDecodeError("Extra data", self._text, self._at)

    def _parse_members(self, parse: Callable[[str], Any]) -> Any:
        if not self._take("{"):
            return self.parse_value()
        found = {}
        for _ in self._places("}"):
            if plain := PLAIN_NAME.match(self._text, self._at):
                key, self._at = plain[1], plain.end()
            else:
                key = self.parse_value() if self._text.startswith('"', self._skip()) else None
                if key is None or not self._take(":"):
                    raise json.JSONDecodeError("Expecting a name and a colon", self._text, self._at)
            found[key] = parse(key)
        return found

    def _places(self, closing: str) -> Iterator[None]:
        """Yield at the place of each element until the closing bracket."""
        if self._take(closing):
            return
        yield
        while comma := COMMA.match(self._text, self._at):
            self._at = comma.end()
            yield
        if not self._take(closing):
            raise json.JSONDecodeError("Expecting ',' delimiter", self._text, self._at)

    def _skip(self) -> int:
        """Skip whitespace, and return the position after it."""
        if self._text[self._at : self._at + 1] <= " ":
            self._at = WHITESPACE.match(self._text, self._at).end()  # type: ignore[union-attr]
        return self._at

    def _take(self, letter: str) -> bool:
        """Skip a letter if it is the next; return whether it was."""
        found = self._text.startswith(letter, self._skip())
        self._at += found
        return found


ParseStep = Callable[[JsonWalk], Any]


def parse_json(data: bytes, name: str, step: ParseStep = JsonWalk.parse_value) -> Any:
    """Parse JSON; `step` reads the outermost value in place of the usual parser. Lone surrogates, which no name can
    have, become question marks. Raises `MalformedText`."""
    # JSON may also be UTF-16 or UTF-32; the first bytes show which.
    try:
        text = data.decode(json.detect_encoding(data))
        has_surrogates = LONE_SURROGATE_ESCAPE.search(data) is not None
        del data  # text and values take many times as much
        if has_surrogates:
            # Encode again, so that surrogates are replaced everywhere.
            text = json.dumps(json.loads(text), ensure_ascii=False).encode("utf-8", "replace").decode()
        walk = JsonWalk(text)
        parsed = step(walk)
        walk.check_end()
    except json.JSONDecodeError as error:
        raise MalformedText(f"no JSON: {error.msg}", line=error.lineno, column=error.colno, name=name) from None
    except UnicodeDecodeError as error:
        raise MalformedText(f"no JSON: not {error.encoding.upper()}", line=1, column=1, name=name) from None
    except RecursionError:
        raise MalformedText("no JSON: nested too deep", line=1, column=1, name=name) from None
    except ValueError:  # int() of more digits than Python reads
        raise MalformedText("no JSON: a number of thousands of digits", line=1, column=1, name=name) from None
    return parsed
