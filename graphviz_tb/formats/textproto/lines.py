"""The fast reader of text protos as programs print them, line by line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from graphviz_tb.formats.textproto.schema import (
    SCALAR_PATTERN,
    SKIPPED_MESSAGE,
    STRING_PATTERN,
    Document,
    FieldWriter,
    MessageType,
    UnknownNameError,
    encode_field,
    encode_varint,
    unescape_string,
)
from graphviz_tb.limits import MAX_CACHED_LINE_LETTERS, MAX_CACHED_LINES, MAX_TEXT_DEPTH
from graphviz_tb.sources.text import TextSource

# The fast reader: text as programs print it, one field, opening or closing brace a line.
#
# A line means the same in every message of one type, so each is parsed once and cached with its message type: except
# for names, a graph of a million nodes has few different lines. Any other line ends the fast reader
# (`UnprintedLineError`).

# `name {`, `name: "text"`, `name: 7`, `name: [1, 2]`, `}`, or nothing; spaces around any of them
_PRINTED_LINE = re.compile(
    rb"[ \t]*+(?:(\w++):?[ \t]*+([{<])"
    rb"|(\w++):[ \t]*+(?:(" + STRING_PATTERN + rb")|(-?" + SCALAR_PATTERN + rb")|\[([-\w., ]*+)\])"
    rb"|([}>]))?[ \t\r]*+"
)  # fmt: skip
_CLOSER_OF_OPENER = {b"{": b"}", b"<": b">"}
_LENGTH_PREFIXES = [encode_varint(size) for size in range(2048)]


def _length_prefix(payload: bytes) -> bytes:
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

        Raises UnprintedLineError with that number at a line that is not printed.
        """
        # Local variables: this loop runs for every line.
        opened, parts, stack = self.opened, self.parts, self.stack
        memo, finished = opened.lines, 0
        for index, line in enumerate(lines):
            parsed = memo.get(line)
            if parsed is None:
                parsed = self.parse_line(line, opened)
            if parsed.__class__ is bytes:
                parts.append(parsed)
            elif parsed is None or (parsed.__class__ is ClosingLine and (parsed.closer != opened.closer or not stack)):
                raise UnprintedLineError(finished)
            elif parsed.__class__ is OpeningLine:
                if len(stack) >= MAX_TEXT_DEPTH:
                    raise UnprintedLineError(finished)
                stack.append((opened, parts))
                opened, parts = parsed, []
                memo = opened.lines
            # A closing line: append the message, after its length, to the one around it.
            else:
                payload, tag = b"".join(parts), opened.tag
                opened, parts = stack.pop()
                memo = opened.lines
                if tag:
                    parts += (tag, _length_prefix(payload), payload)
                if not stack:
                    finished, self.kept = index + 1, len(parts)
        self.opened = opened
        self.parts = parts
        return finished

    def parse_line(self, line: bytes, opened: OpeningLine) -> Any:
        """Parse a line of the open message: bytes to write, `OpeningLine`, `ClosingLine`, or None for any other
        line."""
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


# bytes: a small file at once, a large one without a copy of all of it
FIRST_WINDOW_BYTES, WINDOW_BYTES = 1 << 14, 1 << 22


def read_printed_fields(document: Document, position: int) -> int:
    """Read top-level fields from `position` on as far as they are printed.

    Returns the position of the first field that is not; the end of the data if there is none.
    """
    walk = LineReader(document, OpeningLine(document.table, b"", b""))
    done, is_printed = position, True
    for start, text in _text_windows(document.source, position):
        lines = text.split(b"\n")
        try:
            finished = walk.read_lines(lines)
        except UnprintedLineError as other:
            finished, is_printed = other.finished, False
        if finished:
            done = start + sum(map(len, lines[:finished])) + finished
        document.add_field(walk.base[: walk.kept])
        del walk.base[: walk.kept]
        walk.kept = 0
        if not is_printed:
            break
    if not is_printed or not walk.at_base:
        return min(done, document.source.size)
    document.add_field(walk.base)
    return document.source.size


def _text_windows(source: TextSource, position: int) -> Iterator[tuple[int, bytes]]:
    """Yield position and text of windows of whole lines: small at first, then some megabytes each."""
    size = FIRST_WINDOW_BYTES
    while position < source.size:
        text = source.read_window(position, size)
        yield position, text
        position, size = position + len(text) + 1, min(size * 4, WINDOW_BYTES)
