"""The fast reader: text as programs print it, one field, opening or closing brace a line.

A line means the same in every message of one type, so each is parsed once and cached with its message type: except for
names, a graph of a million nodes has few different lines. Any other line ends the fast reader: OtherError.
"""

from __future__ import annotations

import re
from typing import Any

from graphviz_tb.limits import MAX_CACHED_LINE_LETTERS, MAX_CACHED_LINES, MAX_TEXT_DEPTH
from graphviz_tb.read.textproto.document import Document
from graphviz_tb.read.textproto.literals import SCALAR_PATTERN, STRING_PATTERN, encode_varint, unescape_string
from graphviz_tb.read.textproto.schema import SKIPPED_MESSAGE, FieldWriter, MessageType, UnknownNameError, encode_field

# `name {`, `name: "text"`, `name: 7`, `name: [1, 2]`, `}`, or nothing; spaces around any of them
_PRINTED_LINE = re.compile(
    rb"[ \t]*+(?:(\w++):?[ \t]*+([{<])"
    rb"|(\w++):[ \t]*+(?:(" + STRING_PATTERN + rb")|(-?" + SCALAR_PATTERN + rb")|\[([-\w., ]*+)\])"
    rb"|([}>]))?[ \t\r]*+"
)  # fmt: skip
_CLOSER_OF_OPENER = {b"{": b"}", b"<": b">"}
_LENGTH_PREFIXES = [encode_varint(size) for size in range(2048)]


def length_prefix(payload: bytes) -> bytes:
    """Return the length of some bytes as a varint."""
    size = len(payload)
    return _LENGTH_PREFIXES[size] if size < 2048 else encode_varint(size)


def _list_items(listed: bytes) -> list[bytes]:
    """Split the text between the brackets of a list of numbers or names."""
    return listed.split(b",") if listed.strip() else []


class UnprintedLineError(Exception):
    """A line that the fast reader cannot read; `finished` lines before it end whole fields."""

    def __init__(self, finished: int = 0) -> None:
        super().__init__(finished)
        self.finished = finished


class OpeningLine:
    """A line that opens a message."""

    __slots__ = ("closer", "lines", "table", "tag")

    def __init__(self, table: MessageType, tag: bytes, closer: bytes) -> None:
        self.table = table
        self.lines = table.lines
        self.tag = tag
        self.closer = closer


class ClosingLine:
    """A line that closes a message."""

    __slots__ = ("closer",)

    def __init__(self, closer: bytes) -> None:
        self.closer = closer


class LineReader:
    """Reads the lines of one message, with a stack of the messages opened in it.

    `base` are the parts of the outermost message; the first `kept` of them are finished fields.
    """

    def __init__(self, document: Document, opened: OpeningLine) -> None:
        self.document = document
        self.stack: list[tuple[OpeningLine, list[bytes]]] = []
        self.opened = opened
        self.base: list[bytes] = []
        self.parts = self.base
        self.kept = 0

    @property
    def at_base(self) -> bool:
        return not self.stack

    def read_lines(self, lines: list[bytes]) -> int:
        """Read whole lines; return how many of them, from the first, end finished fields.

        Raises OtherError with that number at a line that is not printed.
        """
        # Local variables: this loop runs for every line outside blocks.
        opened, parts, stack = self.opened, self.parts, self.stack
        memo, finished = opened.lines, 0
        for index, line in enumerate(lines):
            known = memo.get(line)
            if known is None:
                known = self.parse_line(line, opened)
            if known.__class__ is bytes:
                parts.append(known)
            elif known is None or (known.__class__ is ClosingLine and (known.closer != opened.closer or not stack)):
                raise UnprintedLineError(finished)
            elif known.__class__ is OpeningLine:
                if len(stack) >= MAX_TEXT_DEPTH:
                    raise UnprintedLineError(finished)
                stack.append((opened, parts))
                opened, parts = known, []
                memo = opened.lines
            # A closing line: append the message, after its length, to the one around it.
            else:
                payload, tag = b"".join(parts), opened.tag
                opened, parts = stack.pop()
                memo = opened.lines
                if tag:
                    parts += (tag, length_prefix(payload), payload)
                if not stack:
                    finished, self.kept = index + 1, len(parts)
        self.opened = opened
        self.parts = parts
        return finished

    def parse_line(self, line: bytes, opened: OpeningLine) -> Any:
        """Parse a line of the open message: bytes to write, OpeningLine, Close, or None for any other line."""
        match = _PRINTED_LINE.fullmatch(line)
        if match is None:
            return b"" if line.lstrip().startswith(b"#") else None
        try:
            known, lasting = self._parse_match(match, opened)
        except UnprintedLineError:
            return None
        if lasting and len(line) <= MAX_CACHED_LINE_LETTERS:
            if len(opened.lines) >= MAX_CACHED_LINES:
                opened.lines.clear()
            opened.lines[line] = known
        return known

    def _parse_match(self, match: re.Match[bytes], opened: OpeningLine) -> tuple[Any, bool]:
        """Return the meaning of a line, and whether it may be cached: skipped fields must be counted each time."""
        message, opener, scalar, literal, plain, listed, closer = match.groups()
        if closer:
            return ClosingLine(closer), True
        name = message or scalar
        if name is None:
            return b"", True
        field = opened.table.fields.get(name)
        if field is None:
            self._note_skipped("unknown-field", f"{opened.table.name}.{name.decode()}", opened)
            return (OpeningLine(SKIPPED_MESSAGE, b"", _CLOSER_OF_OPENER[opener]) if opener else b""), False
        if opener:
            if not field.is_message:
                raise UnprintedLineError
            return OpeningLine(field.message_table, field.tag, _CLOSER_OF_OPENER[opener]), True
        if listed is not None:
            return b"".join(
                self._encode_scalar(field, None, each.strip(), opened)[0] for each in _list_items(listed)
            ), False
        return self._encode_scalar(field, literal, plain, opened)

    def _encode_scalar(
        self, field: FieldWriter, literal: bytes | None, plain: bytes | None, opened: OpeningLine
    ) -> tuple[bytes, bool]:
        try:
            if literal is not None:
                return encode_field(field, unescape_string(literal[1:-1]), True), True
            return encode_field(field, plain or b"", False), True
        except UnknownNameError as unknown:
            self._note_skipped("unknown-value", str(unknown), opened)
            return b"", False
        except ValueError:
            raise UnprintedLineError from None  # the token reader says where and why

    def _note_skipped(self, code: str, what: str, opened: OpeningLine) -> None:
        """Count an unknown name. The first of its kind is left to the token reader, which knows its line."""
        if not opened.table.fields:
            return
        if (code, what) not in self.document.skipped:
            raise UnprintedLineError
        self.document.note_skipped(code, what, 0)
