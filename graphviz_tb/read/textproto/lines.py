"""The fast way: text as programs print it, one field, opening or closing brace on a line.

A line means the same in every message of one type, so each is understood once and remembered in the table
of its message type: a graph of a million nodes has few different lines but the names. A line that is
anything else ends the fast way; `tokens` then reads the top-level field that holds it from its start.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from graphviz_tb.read.textproto.document import DEPTH_LIMIT, Document
from graphviz_tb.read.textproto.literals import SCALAR, STRING, unescape, varint
from graphviz_tb.read.textproto.schema import MEMO_LINES, SKIPPED, Field, Table, UnknownNameError, write_value

FIRST_WINDOW, WINDOW = 1 << 14, 1 << 22
MEMO_LENGTH = 240  # longer lines are seldom met twice

_LINE = re.compile(
    rb"[ \t]*+(?:(\w++):?[ \t]*+([{<])|(\w++):[ \t]*+(?:("
    + STRING
    + rb")|(-?"
    + SCALAR
    + rb"))|([}>]))?[ \t\r]*+"
)
_OPENERS = {b"{": b"}", b"<": b">"}
_SIZES = [varint(size) for size in range(2048)]


class _OtherError(Exception):
    """This line is not for the fast way."""


class _Open:
    """A line that opens a message."""

    __slots__ = ("closer", "lines", "table", "tag")

    def __init__(self, table: Table, tag: bytes, closer: bytes) -> None:
        self.table = table
        self.lines = table.lines
        self.tag = tag
        self.closer = closer


class _Close:
    """A line that closes one."""

    __slots__ = ("closer",)

    def __init__(self, closer: bytes) -> None:
        self.closer = closer


def read_lines(document: Document, position: int) -> int:
    """Before: `position` stands before a top-level field. After: all fields that the fast way can read were.

    Gives back where the first other one starts; the end of the data when there is none.
    """
    walk = _Walk(document)
    done = position  # every top-level field before this byte is in the document
    for start, lines in _windows(document.data, position):
        finished, failed = walk.through(lines)
        if finished:
            done = start + sum(map(len, lines[:finished])) + finished
        if failed:
            return min(done, len(document.data))
    if not walk.at_top:
        return done
    walk.finish()
    return len(document.data)


def _windows(data: Any, position: int) -> Iterator[tuple[int, list[bytes]]]:
    """The rest of the data as lists of lines, a few to begin with, then some megabytes at a time."""
    size, end = FIRST_WINDOW, len(data)
    while position < end:
        stop = data.rfind(b"\n", position, position + size)
        if stop < 0:
            stop = data.find(b"\n", position + size)
        if stop < 0:
            stop = end
        yield position, data[position:stop].split(b"\n")
        position, size = stop + 1, min(size * 4, WINDOW)


class _Walk:
    """A walk down the lines; the open messages are its stack."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.stack: list[tuple[_Open, list[bytes]]] = []
        self.opened = _Open(document.table, b"", b"")
        self.parts: list[bytes] = []

    @property
    def at_top(self) -> bool:
        return not self.stack

    def through(self, lines: list[bytes]) -> tuple[int, bool]:
        """Before: whole lines. After: how many of them make finished fields, and whether one failed."""
        opened, parts, stack = self.opened, self.parts, self.stack
        memo, finished, index = opened.lines, 0, 0
        try:
            for index, line in enumerate(lines):
                known = memo.get(line)
                if known is None:
                    known = self._understand(line, opened)
                if known.__class__ is bytes:
                    parts.append(known)
                elif known.__class__ is _Open:
                    if len(stack) >= DEPTH_LIMIT:
                        raise _OtherError
                    stack.append((opened, parts))
                    opened, parts = known, []
                    memo = opened.lines
                else:
                    if known.closer != opened.closer:
                        raise _OtherError
                    payload, tag = b"".join(parts), opened.tag
                    opened, parts = stack.pop()
                    memo = opened.lines
                    if tag:
                        size = len(payload)
                        parts += (tag, _SIZES[size] if size < 2048 else varint(size), payload)
                    if not stack:
                        self._finish(parts)
                        finished = index + 1
        except _OtherError:
            return finished, True
        self.opened, self.parts = opened, parts
        return finished, False

    def finish(self) -> None:
        """Hand over what stands at the top after the last line."""
        self._finish(self.parts)

    def _finish(self, parts: list[bytes]) -> None:
        self.document.add(parts)
        parts.clear()

    def _understand(self, line: bytes, opened: _Open) -> Any:
        """What a line means in the message that is open: bytes to write, a message to open or to close."""
        found = _LINE.fullmatch(line)
        if found is None:
            if line.lstrip().startswith(b"#"):
                return b""
            raise _OtherError
        known, lasting = self._meaning(found, opened)
        if lasting and len(line) <= MEMO_LENGTH:
            if len(opened.lines) >= MEMO_LINES:
                opened.lines.clear()
            opened.lines[line] = known
        return known

    def _meaning(self, found: re.Match[bytes], opened: _Open) -> tuple[Any, bool]:
        """The meaning of a line, and whether it may be remembered: what is skipped must be counted."""
        message, opener, scalar, literal, plain, closer = found.groups()
        if closer:
            return _Close(closer), True
        name = message or scalar
        if name is None:
            return b"", True
        field = opened.table.fields.get(name)
        if field is None:
            self._skip("unknown-field", f"{opened.table.name}.{name.decode()}", opened)
            return (_Open(SKIPPED, b"", _OPENERS[opener]) if opener else b""), False
        if opener:
            if not field.is_message:
                raise _OtherError
            return _Open(field.table, field.tag, _OPENERS[opener]), True
        return self._scalar(field, literal, plain, opened)

    def _scalar(
        self, field: Field, literal: bytes | None, plain: bytes | None, opened: _Open
    ) -> tuple[bytes, bool]:
        try:
            if literal is not None:
                return write_value(field, unescape(literal[1:-1]), True), True
            return write_value(field, plain or b"", False), True
        except UnknownNameError as unknown:
            self._skip("unknown-value", str(unknown), opened)
            return b"", False
        except ValueError:
            raise _OtherError from None  # tokens says where and why

    def _skip(self, code: str, what: str, opened: _Open) -> None:
        """Count an unknown name. The first of its kind is left to `tokens`, which knows its line."""
        if opened.table is SKIPPED:
            return
        if (code, what) not in self.document.skipped:
            raise _OtherError
        self.document.skip(code, what, 0)
