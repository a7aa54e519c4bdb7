"""Reader of the whole text format, one token at a time: comments, lists, both brackets, adjacent strings, extensions.

It does not recurse: open messages are a list of frames.
"""

from __future__ import annotations

import re

from graphviz_tb.limits import TEXT_DEPTH
from graphviz_tb.read.textproto.document import Document, OpenMessage, closed
from graphviz_tb.read.textproto.lines import Close, LineWalk, OpeningLine
from graphviz_tb.read.textproto.literals import SCALAR, STRING, unescape
from graphviz_tb.read.textproto.schema import SKIPPED, Field, MessageType, UnknownNameError, write_value

_SPACE = re.compile(rb"(?:[ \t\r\n\f\v]++|\#[^\n]*+)*+")
_GAP = re.compile(rb"(?:[ \t\r\n\f\v;,]++|\#[^\n]*+)*+")  # between fields, with optional separators
_NAME = re.compile(rb"[A-Za-z_]\w*+|[0-9]++")
_EXTENSION = re.compile(rb"\[[\w\s./%~-]*+\]")
_PLAIN = re.compile(rb"(-?)[ \t\r\n]*+(" + SCALAR + rb")")
# The longest piece that can be read without its context: a string followed by a second one is not complete.
_STRING = re.compile(STRING)
_PIECE = re.compile(
    _GAP.pattern
    + rb"(\w++[ \t]*+:?[ \t]*+[{<]|[}>]|\w++:[ \t]*+(?:-?"
    + SCALAR
    + rb"|(?:"
    + STRING
    + rb")(?![ \t\r\n]*+[\"'#])))"
)
_OPENERS = {b"{": b"}", b"<": b">"}


def read_fields(document: Document, position: int, count: int) -> int:
    """Read at most `count` top-level fields from `position` on.

    Returns the position of the next one; the end of the data if there is none.
    """
    reader = _Reader(document, position)
    for _ in range(count):
        if not reader.top_level_field():
            break
    return reader.position


class _Reader:
    """A position in the text and the frames open there."""

    def __init__(self, document: Document, position: int) -> None:
        self.document = document
        self.data = document.data
        self.position = position
        self.frames: list[OpenMessage] = []
        self.walk = LineWalk(document, OpeningLine(document.table, b"", b""))  # caches printed lines

    def top_level_field(self) -> bool:
        """Read one field with its content; return False at the end of the data."""
        parts: list[bytes] = []
        self.frames = [OpenMessage(self.document.table, b"", parts, b"", self.position)]
        self._pass(_GAP)
        if not self._peek():
            return False
        self._field()
        while len(self.frames) > 1:
            if self._known_piece():
                continue
            self._pass(_GAP)
            if self._peek() in (b"}", b">"):
                self._close()
            else:
                self._field()
        self.document.add(parts)
        return True

    def _known_piece(self) -> bool:
        """Read a field, an opening or a closing brace if it is written as programs print it; return whether it is."""
        match = _PIECE.match(self.data, self.position)
        if match is None:
            return False
        frame = self.frames[-1]
        # Without a closer: only the meaning of the line matters here, not where it is.
        known = frame.table.lines.get(match[1]) or self.walk.understand(match[1], OpeningLine(frame.table, b"", b""))
        if known.__class__ is bytes:
            frame.parts.append(known)
        elif known.__class__ is OpeningLine and len(self.frames) <= TEXT_DEPTH:
            self.frames.append(OpenMessage(known.table, known.tag, [], known.closer, match.start(1)))
        elif known.__class__ is Close and known.closer == frame.closer and not frame.in_list:
            self.frames.pop()
            self.frames[-1].parts.append(closed(frame))
        else:
            return False
        self.position = match.end()
        return True

    # one field

    def _field(self) -> None:
        start = self.position
        field, table = self._name()
        self._pass(_SPACE)
        colon = self._take(b":")
        self._pass(_SPACE)
        head = self._peek()
        if head in _OPENERS:
            self._open(field, table, start, in_list=False)
        # A list of numbers needs its colon; one of messages, or of an unknown field, does not.
        elif head == b"[" and (colon or field is None or field.is_message):
            self._list(field, table, start)
        elif not colon:
            raise self._wrong("':' or '{' is wanted after a field name")
        else:
            self._scalar(field)

    def _name(self) -> tuple[Field | None, MessageType]:
        """Read a field name; return the field and the table of its message, or (None, SKIPPED) if it is unknown."""
        table = self.frames[-1].table
        match = _NAME.match(self.data, self.position) or _EXTENSION.match(self.data, self.position)
        if not match:
            raise self._wrong(self._no_field())
        field = table.fields.get(match[0])
        if field is None:
            if table.fields:
                name = f"{table.name}.{match[0].decode('utf-8', 'replace')}"
                self.document.skip("unknown-field", name, self.position)
            self.position = match.end()
            return None, SKIPPED
        self.position = match.end()
        return field, (field.table if field.is_message else SKIPPED)

    def _no_field(self) -> str:
        if not self._peek():
            frame = self.frames[-1]
            start = self.document.error("", frame.start)
            return f"the text ends inside the message opened at line {start.line}, column {start.column}"
        if self._peek() in (b"}", b">"):
            return f"'{self._peek().decode()}' closes nothing"
        return f"a field name is wanted, not {self._word()}"

    def _scalar(self, field: Field | None) -> None:
        start = self.position
        if self._peek() in (b'"', b"'"):
            literal, quoted = self._strings(), True
        else:
            literal, quoted = self._plain(), False
        if field is None:
            return
        try:
            self.frames[-1].parts.append(write_value(field, literal, quoted))
        except UnknownNameError as unknown:
            self.document.skip("unknown-value", str(unknown), start)
        except ValueError as error:
            raise self.document.error(f"{field.name}: {error}", start) from None

    def _plain(self) -> bytes:
        """Read a number or name; spaces may follow its minus sign."""
        match = _PLAIN.match(self.data, self.position)
        if not match:
            raise self._wrong(f"a value is wanted, not {self._word()}")
        self.position = match.end()
        return b"-" + match[2] if match[1] else match[2]

    def _strings(self) -> bytes:
        """Read adjacent strings as one, and return its bytes."""
        pieces = []
        while self._peek() in (b'"', b"'"):
            match = _STRING.match(self.data, self.position)
            if not match:
                raise self._wrong("this string does not end on its line")
            try:
                pieces.append(unescape(match[0][1:-1]))
            except ValueError as error:
                raise self._wrong(str(error)) from None
            self.position = match.end()
            self._pass(_SPACE)
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    # messages and lists

    def _open(self, field: Field | None, table: MessageType, start: int, in_list: bool) -> None:
        if field is not None and not field.is_message:
            raise self._wrong(f"{field.name} is no message, it takes one value")
        # The frames include the outermost message.
        if len(self.frames) > TEXT_DEPTH:
            raise self._wrong(f"messages are nested deeper than {TEXT_DEPTH}")
        closer = _OPENERS[self._peek()]
        self.position += 1
        self.frames.append(OpenMessage(table, field.tag if field else b"", [], closer, start, in_list))

    def _close(self) -> None:
        frame = self.frames[-1]
        if self._peek() != frame.closer:
            raise self._wrong(f"'{frame.closer.decode()}' is wanted here")
        self.position += 1
        self.frames.pop()
        self.frames[-1].parts.append(closed(frame))
        if frame.in_list:
            self._next_in_list(frame)

    def _next_in_list(self, frame: OpenMessage) -> None:
        """After a message of a list, open the next one or end the list."""
        self._pass(_SPACE)
        if self._take(b"]"):
            return
        if not self._take(b","):
            raise self._wrong("',' or ']' is wanted in a list")
        self._pass(_SPACE)
        if self._peek() not in _OPENERS:
            raise self._wrong("a message in braces is wanted here")
        closer = _OPENERS[self._peek()]
        self.frames.append(OpenMessage(frame.table, frame.tag, [], closer, self.position, True))
        self.position += 1

    def _list(self, field: Field | None, table: MessageType, start: int) -> None:
        self.position += 1
        self._pass(_SPACE)
        if self._take(b"]"):
            return
        if self._peek() in _OPENERS:
            self._open(field, table, start, in_list=True)
            return
        while True:
            self._scalar(field)
            self._pass(_SPACE)
            if self._take(b"]"):
                return
            if not self._take(b","):
                raise self._wrong("',' or ']' is wanted in a list")
            self._pass(_SPACE)

    # one token

    def _pass(self, pattern: re.Pattern[bytes]) -> None:
        match = pattern.match(self.data, self.position)
        if match:
            self.position = match.end()

    def _peek(self) -> bytes:
        return self.data[self.position : self.position + 1]

    def _take(self, token: bytes) -> bool:
        if self._peek() != token:
            return False
        self.position += 1
        return True

    def _word(self) -> str:
        """Quote the word at this position, short enough for a message."""
        match = _NAME.match(self.data, self.position)
        word = match[0][:30] if match else self._peek()
        return repr(word.decode("utf-8", "replace")) if word else "the end of the text"

    def _wrong(self, message: str) -> Exception:
        return self.document.error(message, self.position)
