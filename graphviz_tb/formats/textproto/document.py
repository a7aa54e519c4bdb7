"""State while text is read: open messages, finished wire bytes, skipped fields and names."""

from __future__ import annotations

from typing import Any, NamedTuple

from graphviz_tb.errors import MalformedText
from graphviz_tb.formats.textproto.schema import MessageType, encode_varint
from graphviz_tb.limits import MAX_BUFFERED_TEXT_BYTES, MAX_UNKNOWN_NAMES
from graphviz_tb.model.notice import Notice
from graphviz_tb.sources.text import TextSource


class OpenMessage(NamedTuple):
    """An open message: its tag on the wire (empty if it is skipped), its parts, and the bracket that closes it."""

    table: MessageType
    tag: bytes
    parts: list[bytes]
    closer: bytes
    start: int  # position of its opening bracket, for errors
    in_list: bool = False


class Document:
    """A message being read; finished top-level fields are merged into it a few megabytes at a time."""

    def __init__(self, message: Any, table: MessageType, source: TextSource) -> None:
        self.message = message
        self.source = source
        self.table = table
        self.parts: list[bytes] = []
        self.waiting = 0
        self.skipped: dict[tuple[str, str], list[int]] = {}
        self.skips = 0

    @property
    def data(self) -> bytes:
        """All of the text; a large file is read at the first use."""
        return self.source.read_all()

    def add_field(self, parts: list[bytes]) -> None:
        """Add a finished top-level field; it is merged now or at the next flush."""
        self.parts += parts
        self.waiting += sum(map(len, parts))
        if self.waiting > MAX_BUFFERED_TEXT_BYTES:
            self.merge_fields()

    def merge_fields(self) -> None:
        self.message.MergeFromString(b"".join(self.parts))
        self.parts, self.waiting = [], 0

    def note_skipped(self, code: str, what: str, position: int) -> None:
        """Count a field or enum name that our messages do not know."""
        # A file may have a million unknown names.
        if len(self.skipped) >= MAX_UNKNOWN_NAMES and (code, what) not in self.skipped:
            what = "and others"
        seen = self.skipped.setdefault((code, what), [position, 0])
        seen[1] += 1
        self.skips += 1

    def skipped_notices(self) -> tuple[Notice, ...]:
        """Return a notice for each unknown field or name, with its first position."""
        made = []
        for (code, what), (position, count) in self.skipped.items():
            line, column = _line_and_column(self.data, position)
            kind = "field" if code == "unknown-field" else "value"
            where = f"line {line}, column {column}"
            made.append(Notice(code, f"{kind} {what} is not known here and was skipped", where, count))
        return tuple(made)

    def error_at(self, message: str, position: int) -> MalformedText:
        line, column = _line_and_column(self.data, position)
        return MalformedText(message, line=line, column=column, name=self.source.name)


def encode_message(frame: OpenMessage) -> bytes:
    """Return tag, length and bytes of a finished message; b"" for a skipped one."""
    if not frame.tag:
        return b""
    payload = b"".join(frame.parts)
    return frame.tag + encode_varint(len(payload)) + payload


def _line_and_column(data: bytes, position: int) -> tuple[int, int]:
    """Return line and column of a byte, both from 1, columns in characters.

    >>> _line_and_column(b"node {\\n  name: 7\\n}", 15)
    (2, 9)
    """
    start = data.rfind(b"\n", 0, position) + 1
    return data.count(b"\n", 0, position) + 1, len(data[start:position].decode("utf-8", "replace")) + 1
