"""The fast readers of text protos as programs print them: line by line, and whole nodes at once."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

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
        # Local variables: this loop runs for every line outside blocks.
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


# The fastest reader: whole nodes, as TensorFlow prints them.
#
# The text is split at lines that open a node, and a node at lines that open an attribute. The text of an attribute
# means the same in every node, so its bytes are cached: most attributes of a graph repeat. Everything between is read
# line by line. Each split is checked, so text that only looks printed is never misread: a piece counts only if it
# begins and ends inside the message that it was split from.

# bytes: a small file at once, a large one without a copy of all of it
FIRST_WINDOW_BYTES, WINDOW_BYTES = 1 << 14, 1 << 22
MAX_MEMO_BLOCKS, MAX_MEMO_BLOCK_BYTES = 1 << 15, 1024  # number and bytes of cached blocks: together 32 MB


class _NodeMarkers(NamedTuple):
    """Markers of printed nodes at one depth: lines that open and close one, and the line that opens an attribute."""

    opener: bytes
    closer: bytes
    attribute: bytes
    line: bytes


def _markers_at(depth: int, field: bytes) -> _NodeMarkers:
    indent = b"\n" + b"  " * depth
    line = indent[1:] + field + b" {"
    return _NodeMarkers(b"\n" + line + b"\n", indent + b"}", indent + b"  attr {\n", line)


def _graph_markers(depth: int) -> tuple[_NodeMarkers, ...]:
    """Return the markers of nodes of a graph printed at a depth, and of nodes of its functions."""
    return _markers_at(depth, b"node"), _markers_at(depth + 2, b"node_def")


MARKERS_BY_MESSAGE = {
    "GraphDef": _graph_markers(0),
    "MetaGraphDef": _graph_markers(1),
    "SavedModel": _graph_markers(2),
    "RunMetadata": _graph_markers(1) + _graph_markers(2),  # of partitions, of functions
}
_PLAIN_STRING = rb'"([^"\\\n]*+)"'
# name, op, inputs, device, in the order of their numbers, as printed; anything else is read line by line.
_NODE_HEAD = re.compile(
    rb" ++name: " + _PLAIN_STRING + rb"\n ++op: " + _PLAIN_STRING +
    rb'((?:\n ++input: "[^"\\\n]*+")*+)' + rb"(?:\n ++device: " + _PLAIN_STRING + rb")?+"
)  # fmt: skip


def read_blocks(document: Document, position: int) -> int:
    """Read top-level fields from `position` on as far as they are printed.

    Returns the position of the first field that is not; the end of the data if there is none.
    """
    blocks = _BlockReader(document, position)
    try:
        for start, text in _text_windows(document.source, position):
            blocks.read_segment(text, start, 0)
            blocks.flush_fields()
    except UnprintedLineError:
        blocks.flush_fields()
        return min(blocks.done, document.source.size)
    if not blocks.walk.at_base:
        return blocks.done
    document.add_field(blocks.walk.base)
    return document.source.size


def _text_windows(source: TextSource, position: int) -> Iterator[tuple[int, bytes]]:
    """Yield position and text of windows of whole lines: small at first, then some megabytes each."""
    size = FIRST_WINDOW_BYTES
    while position < source.size:
        text = source.read_window(position, size)
        yield position, text
        position, size = position + len(text) + 1, min(size * 4, WINDOW_BYTES)


class _BlockReader:
    """Reads nodes whole if possible. Top-level fields before the byte `done` are finished."""

    def __init__(self, document: Document, position: int) -> None:
        self.document = document
        self.walk = LineReader(document, OpeningLine(document.table, b"", b""))
        self.done = position
        self.levels = MARKERS_BY_MESSAGE.get(document.table.name, ())
        self.known: dict[bytes, bytes] = {}  # text of an attribute, and of what follows it, to wire bytes

    def flush_fields(self) -> None:
        """Move finished fields from the line reader to the document."""
        walk = self.walk
        self.document.add_field(walk.base[: walk.kept])
        del walk.base[: walk.kept]
        walk.kept = 0

    def read_segment(self, text: bytes, start: int, depth: int) -> None:
        """Read whole lines that begin at byte `start`, splitting off nodes of this depth and deeper ones."""
        if depth == len(self.levels):
            self._read_lines(text, start)
            return
        level = self.levels[depth]
        # The first piece precedes all nodes of this depth.
        pieces = text.split(level.opener)
        if pieces[0]:
            self.read_segment(pieces[0], start, depth + 1)
        start += len(pieces[0])
        for piece in pieces[1:]:
            self._read_node(level, piece, start, depth)
            start += len(level.opener) + len(piece)

    def _read_lines(self, text: bytes, start: int) -> None:
        lines = text.split(b"\n")
        try:
            finished = self.walk.read_lines(lines)
        except UnprintedLineError as other:
            self._mark_done(lines, other.finished, start)
            raise
        self._mark_done(lines, finished, start)

    def _mark_done(self, lines: list[bytes], count: int, start: int) -> None:
        if count:
            self.done = start + sum(map(len, lines[:count])) + count

    def _read_node(self, level: _NodeMarkers, piece: bytes, start: int, depth: int) -> None:
        """Read one node, whose opening line follows byte `start`, and the text after the node."""
        walk = self.walk
        opened = walk.opened.lines.get(level.line) or walk.parse_line(level.line, walk.opened)
        body, closer, tail = piece.partition(level.closer)
        # Not printed, or split inside a string or a longer node: reading by lines is correct then.
        if opened.__class__ is not OpeningLine or opened.table.name != "NodeDef" or not closer or tail[:1] not in b"\n":
            self._read_lines(level.opener[1:] + piece, start + 1)
            return
        payload = self._encode_node(body, level, opened)
        walk.parts += (opened.tag, _length_prefix(payload), payload)
        end = start + len(level.opener) + len(body) + len(closer)
        if walk.at_base:
            walk.kept = len(walk.parts)
            self.done = end + 1
        # Between this node and the next: other fields, functions of the library.
        if tail:
            self.read_segment(tail[1:], end + 1, depth + 1)

    def _encode_node(self, body: bytes, level: _NodeMarkers, opened: OpeningLine) -> bytes:
        """Return the wire bytes inside a node."""
        known = self.known
        head, *attributes = body.split(level.attribute)
        line = level.attribute[1:]
        made = [known.get(text) or self._encode_attribute(text, line, opened) for text in attributes]
        return self._encode_head(head, opened) + b"".join(made)

    def _encode_attribute(self, text: bytes, line: bytes, opened: OpeningLine) -> bytes:
        skips = self.document.skips
        made = self._encode_lines(line + text, opened)
        # skipped fields must be counted each time
        if len(text) <= MAX_MEMO_BLOCK_BYTES and skips == self.document.skips:
            if len(self.known) >= MAX_MEMO_BLOCKS:
                self.known.clear()
            self.known[text] = made
        return made

    def _encode_head(self, text: bytes, opened: OpeningLine) -> bytes:
        """Return the wire bytes of name, op, inputs and device; a head with anything else is read by lines."""
        match = _NODE_HEAD.fullmatch(text)
        if match is None or not text.isascii():
            return self._encode_lines(text, opened)
        name, op, inputs, device = match.groups()
        # Tags of NodeDef: name 1, op 2, input 3, device 4, each a length-delimited field.
        made = [b"\n", _length_prefix(name), name, b"\x12", _length_prefix(op), op]
        for word in inputs.split(b'"')[1::2]:
            made += (b"\x1a", _length_prefix(word), word)
        if device:
            made += (b"\x22", _length_prefix(device), device)
        return b"".join(made)

    def _encode_lines(self, text: bytes, opened: OpeningLine) -> bytes:
        """Return the wire bytes of lines. Raises `UnprintedLineError` unless they begin and end inside the same
        node."""
        walk = LineReader(self.document, opened)
        walk.read_lines(text.split(b"\n"))
        if not walk.at_base:
            raise UnprintedLineError
        return b"".join(walk.base)
