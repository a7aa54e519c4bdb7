"""The fastest reader: whole nodes, as TensorFlow prints them.

The text is split at lines that open a node, and a node at lines that open an attribute. The text of an attribute means
the same in every node, so its bytes are cached: most attributes of a graph repeat. Everything between is read line by
line. Each split is checked, so text that only looks printed is never misread: a piece counts only if it begins and
ends inside the message that it was split from.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from graphviz_tb.read.textproto.document import Document
from graphviz_tb.read.textproto.lines import LineWalk, OpeningLine, OtherError, size_of
from graphviz_tb.read.textproto.source import Source

FIRST_WINDOW, WINDOW = 1 << 14, 1 << 22  # bytes: a small file at once, a large one without a copy of all of it
MEMO_BLOCKS, MEMO_BLOCK_LENGTH = 1 << 15, 1024  # number and bytes of cached blocks: together 32 MB


class _Level(NamedTuple):
    """Markers of printed nodes at one depth: lines that open and close one, and the line that opens an attribute."""

    opener: bytes
    closer: bytes
    attribute: bytes
    line: bytes


def _level(depth: int, field: bytes) -> _Level:
    indent = b"\n" + b"  " * depth
    line = indent[1:] + field + b" {"
    return _Level(b"\n" + line + b"\n", indent + b"}", indent + b"  attr {\n", line)


def _levels(depth: int) -> tuple[_Level, ...]:
    """Return the markers of nodes of a graph printed at a depth, and of nodes of its functions."""
    return _level(depth, b"node"), _level(depth + 2, b"node_def")


LEVELS = {
    "GraphDef": _levels(0),
    "MetaGraphDef": _levels(1),
    "SavedModel": _levels(2),
    "RunMetadata": _levels(1) + _levels(2),  # of partitions, of functions
}
_PLAIN = rb'"([^"\\\n]*+)"'
# name, op, inputs, device, in the order of their numbers, as printed; anything else is read line by line.
_HEAD = re.compile(
    rb" ++name: " + _PLAIN + rb"\n ++op: " + _PLAIN +
    rb'((?:\n ++input: "[^"\\\n]*+")*+)' + rb"(?:\n ++device: " + _PLAIN + rb")?+"
)  # fmt: skip


def read_blocks(document: Document, position: int) -> int:
    """Read top-level fields from `position` on as far as they are printed.

    Returns the position of the first field that is not; the end of the data if there is none.
    """
    blocks = _Blocks(document, position)
    try:
        for start, text in _windows(document.source, position):
            blocks.segment(text, start, 0)
            blocks.hand_over()
    except OtherError:
        blocks.hand_over()
        return min(blocks.done, document.source.size)
    if not blocks.walk.at_base:
        return blocks.done
    document.add(blocks.walk.base)
    return document.source.size


def _windows(source: Source, position: int) -> Iterator[tuple[int, bytes]]:
    """Yield position and text of windows of whole lines: small at first, then some megabytes each."""
    size = FIRST_WINDOW
    while position < source.size:
        text = source.window(position, size)
        yield position, text
        position, size = position + len(text) + 1, min(size * 4, WINDOW)


class _Blocks:
    """Reads nodes whole if possible. Top-level fields before the byte `done` are finished."""

    def __init__(self, document: Document, position: int) -> None:
        self.document = document
        self.walk = LineWalk(document, OpeningLine(document.table, b"", b""))
        self.done = position
        self.levels = LEVELS.get(document.table.name, ())
        self.known: dict[bytes, bytes] = {}  # text of an attribute, and of what follows it, to wire bytes

    def hand_over(self) -> None:
        """Move finished fields from the line reader to the document."""
        walk = self.walk
        self.document.add(walk.base[: walk.kept])
        del walk.base[: walk.kept]
        walk.kept = 0

    def segment(self, text: bytes, start: int, depth: int) -> None:
        """Read whole lines that begin at byte `start`, splitting off nodes of this depth and deeper ones."""
        if depth == len(self.levels):
            self._by_lines(text, start)
            return
        level = self.levels[depth]
        # The first piece precedes all nodes of this depth.
        pieces = text.split(level.opener)
        if pieces[0]:
            self.segment(pieces[0], start, depth + 1)
        start += len(pieces[0])
        for piece in pieces[1:]:
            self._piece(level, piece, start, depth)
            start += len(level.opener) + len(piece)

    def _by_lines(self, text: bytes, start: int) -> None:
        lines = text.split(b"\n")
        try:
            finished = self.walk.through(lines)
        except OtherError as other:
            self._finished(lines, other.finished, start)
            raise
        self._finished(lines, finished, start)

    def _finished(self, lines: list[bytes], count: int, start: int) -> None:
        if count:
            self.done = start + sum(map(len, lines[:count])) + count

    def _piece(self, level: _Level, piece: bytes, start: int, depth: int) -> None:
        """Read one node, whose opening line follows byte `start`, and the text after the node."""
        walk = self.walk
        opened = walk.opened.lines.get(level.line) or walk.understand(level.line, walk.opened)
        body, closer, tail = piece.partition(level.closer)
        # Not printed, or split inside a string or a longer node: reading by lines is correct then.
        if opened.__class__ is not OpeningLine or opened.table.name != "NodeDef" or not closer or tail[:1] not in b"\n":
            self._by_lines(level.opener[1:] + piece, start + 1)
            return
        payload = self._node(body, level, opened)
        walk.parts += (opened.tag, size_of(payload), payload)
        end = start + len(level.opener) + len(body) + len(closer)
        if walk.at_base:
            walk.kept = len(walk.parts)
            self.done = end + 1
        # Between this node and the next: other fields, functions of the library.
        if tail:
            self.segment(tail[1:], end + 1, depth + 1)

    def _node(self, body: bytes, level: _Level, opened: OpeningLine) -> bytes:
        """Return the wire bytes inside a node."""
        known = self.known
        head, *attributes = body.split(level.attribute)
        line = level.attribute[1:]
        made = [known.get(text) or self._attribute(text, line, opened) for text in attributes]
        return self._head(head, opened) + b"".join(made)

    def _attribute(self, text: bytes, line: bytes, opened: OpeningLine) -> bytes:
        skips = self.document.skips
        made = self._lines_in_node(line + text, opened)
        if len(text) <= MEMO_BLOCK_LENGTH and skips == self.document.skips:  # skipped fields must be counted each time
            if len(self.known) >= MEMO_BLOCKS:
                self.known.clear()
            self.known[text] = made
        return made

    def _head(self, text: bytes, opened: OpeningLine) -> bytes:
        """Return the wire bytes of name, op, inputs and device; a head with anything else is read by lines."""
        match = _HEAD.fullmatch(text)
        if match is None or not text.isascii():
            return self._lines_in_node(text, opened)
        name, op, inputs, device = match.groups()
        # Tags of NodeDef: name 1, op 2, input 3, device 4, each a length-delimited field.
        made = [b"\n", size_of(name), name, b"\x12", size_of(op), op]
        for each in inputs.split(b'"')[1::2]:
            made += (b"\x1a", size_of(each), each)
        if device:
            made += (b"\x22", size_of(device), device)
        return b"".join(made)

    def _lines_in_node(self, text: bytes, opened: OpeningLine) -> bytes:
        """Return the wire bytes of lines. Raises OtherError unless they begin and end inside the same node."""
        walk = LineWalk(self.document, opened)
        walk.through(text.split(b"\n"))
        if not walk.at_base:
            raise OtherError
        return b"".join(walk.base)
