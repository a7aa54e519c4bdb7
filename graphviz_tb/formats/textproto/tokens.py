"""Reader of the whole text format, one token at a time: comments, lists, both brackets, adjacent strings, extensions.

It does not recurse: open messages are a list of frames.
"""

from __future__ import annotations

import re

from graphviz_tb.formats.textproto.lines import ClosingLine, LineReader, OpeningLine
from graphviz_tb.formats.textproto.schema import (
    SCALAR_PATTERN,
    SKIPPED_MESSAGE,
    STRING_PATTERN,
    Document,
    FieldWriter,
    MessageType,
    OpenMessage,
    UnknownNameError,
    encode_field,
    encode_message,
    unescape_string,
)
from graphviz_tb.limits import MAX_TEXT_DEPTH

_SPACE_PATTERN = re.compile(rb"(?:[ \t\r\n\f\v]++|\#[^\n]*+)*+")
_FIELD_GAP = re.compile(rb"(?:[ \t\r\n\f\v;,]++|\#[^\n]*+)*+")  # between fields, with optional separators
_FIELD_NAME = re.compile(rb"[A-Za-z_]\w*+|[0-9]++")
_EXTENSION_NAME = re.compile(rb"\[[\w\s./%~-]*+\]")
_UNQUOTED_VALUE = re.compile(rb"(-?)[ \t\r\n]*+(" + SCALAR_PATTERN + rb")")
# The longest piece that can be read without its context: a string followed by a second one is not complete.
_QUOTED_STRING = re.compile(STRING_PATTERN)
_PRINTED_PIECE = re.compile(
    _FIELD_GAP.pattern
    + rb"(\w++[ \t]*+:?[ \t]*+[{<]|[}>]|\w++:[ \t]*+(?:-?"
    + SCALAR_PATTERN
    + rb"|(?:"
    + STRING_PATTERN
    + rb")(?![ \t\r\n]*+[\"'#])))"
)
_CLOSERS = {b"{": b"}", b"<": b">"}


def read_fields(document: Document, position: int, count: int) -> int:
    """Read at most `count` top-level fields from `position` on.

    Returns the position of the next one; the end of the data if there is none.
    """
    reader = _TokenReader(document, position)
    for _ in range(count):
        if not reader.read_top_level_field():
            break
    return reader.position


class _TokenReader:
    """A position in the text and the frames open there."""

    def __init__(self, document: Document, position: int) -> None:
        self.document = document
        self.data = document.data
        self.position = position
        self.frames: list[OpenMessage] = []
        self.walk = LineReader(document, OpeningLine(document.table, b"", b""))  # caches printed lines

    def read_top_level_field(self) -> bool:
        """Read one field with its content; return False at the end of the data."""
        parts: list[bytes] = []
        self.frames = [OpenMessage(self.document.table, b"", parts, b"", self.position)]
        self._skip_pattern(_FIELD_GAP)
        if not self._peek_byte():
            return False
        self._read_field()
        while len(self.frames) > 1:
            if self._read_printed_piece():
                continue
            self._skip_pattern(_FIELD_GAP)
            if self._peek_byte() in (b"}", b">"):
                self._close_message()
            else:
                self._read_field()
        self.document.add_field(parts)
        return True

    def _read_printed_piece(self) -> bool:
        """Read a field, an opening or a closing brace if it is written as programs print it; return whether it is."""
        match = _PRINTED_PIECE.match(self.data, self.position)
        if match is None:
            return False
        frame = self.frames[-1]
        # Without a closer: only the meaning of the line matters here, not where it is.
        known = frame.table.lines.get(match[1]) or self.walk.parse_line(match[1], OpeningLine(frame.table, b"", b""))
        if known.__class__ is bytes:
            frame.parts.append(known)
        elif known.__class__ is OpeningLine and len(self.frames) <= MAX_TEXT_DEPTH:
            self.frames.append(OpenMessage(known.table, known.tag, [], known.closer, match.start(1)))
        elif known.__class__ is ClosingLine and known.closer == frame.closer and not frame.in_list:
            self.frames.pop()
            self.frames[-1].parts.append(encode_message(frame))
        else:
            return False
        self.position = match.end()
        return True

    # one field

    def _read_field(self) -> None:
        start = self.position
        field, table = self._read_field_name()
        self._skip_pattern(_SPACE_PATTERN)
        colon = self._take_token(b":")
        self._skip_pattern(_SPACE_PATTERN)
        head = self._peek_byte()
        if head in _CLOSERS:
            self._open_message(field, table, start, in_list=False)
        # A list of numbers needs its colon; one of messages, or of an unknown field, does not.
        elif head == b"[" and (colon or field is None or field.is_message):
            self._read_list(field, table, start)
        elif not colon:
            raise self._error_here("expected ':' or '{' after a field name")
        else:
            self._read_scalar(field)

    def _read_field_name(self) -> tuple[FieldWriter | None, MessageType]:
        """Read a field name; return the field and the table of its message, or (None, SKIPPED) if it is unknown."""
        table = self.frames[-1].table
        match = _FIELD_NAME.match(self.data, self.position) or _EXTENSION_NAME.match(self.data, self.position)
        if not match:
            raise self._error_here(self._missing_field_message())
        field = table.fields.get(match[0])
        if field is None:
            if table.fields:
                name = f"{table.name}.{match[0].decode('utf-8', 'replace')}"
                self.document.note_skipped("unknown-field", name, self.position)
            self.position = match.end()
            return None, SKIPPED_MESSAGE
        self.position = match.end()
        return field, (field.message_table if field.is_message else SKIPPED_MESSAGE)

    def _missing_field_message(self) -> str:
        if not self._peek_byte():
            frame = self.frames[-1]
            start = self.document.error_at("", frame.start)
            return f"the text ends inside the message opened at line {start.line}, column {start.column}"
        if self._peek_byte() in (b"}", b">"):
            return f"'{self._peek_byte().decode()}' closes nothing"
        return f"expected a field name, not {self._quote_word()}"

    def _read_scalar(self, field: FieldWriter | None) -> None:
        start = self.position
        if self._peek_byte() in (b'"', b"'"):
            literal, quoted = self._read_strings(), True
        else:
            literal, quoted = self._read_unquoted(), False
        if field is None:
            return
        try:
            self.frames[-1].parts.append(encode_field(field, literal, quoted))
        except UnknownNameError as unknown:
            self.document.note_skipped("unknown-value", str(unknown), start)
        except ValueError as error:
            raise self.document.error_at(f"{field.name}: {error}", start) from None

    def _read_unquoted(self) -> bytes:
        """Read a number or name; spaces may follow its minus sign."""
        match = _UNQUOTED_VALUE.match(self.data, self.position)
        if not match:
            raise self._error_here(f"expected a value, not {self._quote_word()}")
        self.position = match.end()
        return b"-" + match[2] if match[1] else match[2]

    def _read_strings(self) -> bytes:
        """Read adjacent strings as one, and return its bytes."""
        pieces = []
        while self._peek_byte() in (b'"', b"'"):
            match = _QUOTED_STRING.match(self.data, self.position)
            if not match:
                raise self._error_here("this string does not end on its line")
            try:
                pieces.append(unescape_string(match[0][1:-1]))
            except ValueError as error:
                raise self._error_here(str(error)) from None
            self.position = match.end()
            self._skip_pattern(_SPACE_PATTERN)
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    # messages and lists

    def _open_message(self, field: FieldWriter | None, table: MessageType, start: int, in_list: bool) -> None:
        if field is not None and not field.is_message:
            raise self._error_here(f"{field.name} takes one value, not a message")
        # The frames include the outermost message.
        if len(self.frames) > MAX_TEXT_DEPTH:
            raise self._error_here(f"messages are nested deeper than {MAX_TEXT_DEPTH}")
        closer = _CLOSERS[self._peek_byte()]
        self.position += 1
        self.frames.append(OpenMessage(table, field.tag if field else b"", [], closer, start, in_list))

    def _close_message(self) -> None:
        frame = self.frames[-1]
        if self._peek_byte() != frame.closer:
            raise self._error_here(f"expected '{frame.closer.decode()}'")
        self.position += 1
        self.frames.pop()
        self.frames[-1].parts.append(encode_message(frame))
        if frame.in_list:
            self._read_next_in_list(frame)

    def _read_next_in_list(self, frame: OpenMessage) -> None:
        """After a message of a list, open the next one or end the list."""
        self._skip_pattern(_SPACE_PATTERN)
        if self._take_token(b"]"):
            return
        if not self._take_token(b","):
            raise self._error_here("expected ',' or ']' in a list")
        self._skip_pattern(_SPACE_PATTERN)
        if self._peek_byte() not in _CLOSERS:
            raise self._error_here("expected a message in braces")
        closer = _CLOSERS[self._peek_byte()]
        self.frames.append(OpenMessage(frame.table, frame.tag, [], closer, self.position, True))
        self.position += 1

    def _read_list(self, field: FieldWriter | None, table: MessageType, start: int) -> None:
        self.position += 1
        self._skip_pattern(_SPACE_PATTERN)
        if self._take_token(b"]"):
            return
        if self._peek_byte() in _CLOSERS:
            self._open_message(field, table, start, in_list=True)
            return
        while True:
            self._read_scalar(field)
            self._skip_pattern(_SPACE_PATTERN)
            if self._take_token(b"]"):
                return
            if not self._take_token(b","):
                raise self._error_here("expected ',' or ']' in a list")
            self._skip_pattern(_SPACE_PATTERN)

    # one token

    def _skip_pattern(self, pattern: re.Pattern[bytes]) -> None:
        match = pattern.match(self.data, self.position)
        if match:
            self.position = match.end()

    def _peek_byte(self) -> bytes:
        return self.data[self.position : self.position + 1]

    def _take_token(self, token: bytes) -> bool:
        if self._peek_byte() != token:
            return False
        self.position += 1
        return True

    def _quote_word(self) -> str:
        """Quote the word at this position, short enough for a message."""
        match = _FIELD_NAME.match(self.data, self.position)
        word = match[0][:30] if match else self._peek_byte()
        return repr(word.decode("utf-8", "replace")) if word else "the end of the text"

    def _error_here(self, message: str) -> Exception:
        return self.document.error_at(message, self.position)
