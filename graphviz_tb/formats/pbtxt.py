"""Parse text protos: `parse` for a GraphDef, `parse_text_message` and `parse_text_source` for any message.

Programs print one field a line; `textproto.blocks` reads that at tens of megabytes a second. Everything else that the
format allows is read by `textproto.tokens`, field by field. Both write the same wire bytes.
"""

from __future__ import annotations

from typing import TypeVar

from google.protobuf.message import Message

from graphviz_tb.errors import MalformedProto
from graphviz_tb.formats.protobuf import DECODE_ERRORS
from graphviz_tb.formats.textproto.lines import read_printed_fields
from graphviz_tb.formats.textproto.schema import Document, clear_line_memos, message_type_of
from graphviz_tb.formats.textproto.tokens import read_fields
from graphviz_tb.model.notice import Notice
from graphviz_tb.proto import GraphDef
from graphviz_tb.sources.text import TextInMemory, TextSource

TextMessage = TypeVar("TextMessage", bound=Message)
UTF8_BYTE_ORDER_MARK = b"\xef\xbb\xbf"  # the byte order mark some editors put first


def parse(data: bytes) -> GraphDef:
    """Parse a GraphDef in text format.

    >>> parse(b"node { name: 'x' op: 'NoOp' }").node[0].op
    'NoOp'
    """
    return parse_text_message(data, GraphDef)[0]


def parse_text_message(data: bytes, kind: type[TextMessage]) -> tuple[TextMessage, tuple[Notice, ...]]:
    """Parse a message in text format; also return notices of what was skipped."""
    return parse_text_source(TextInMemory(data), kind)


def parse_text_source(source: TextSource, kind: type[TextMessage]) -> tuple[TextMessage, tuple[Notice, ...]]:
    """Parse text in memory or in a file; also return notices of what was skipped."""
    message = kind()
    document = Document(message, message_type_of(kind.DESCRIPTOR), source)
    try:
        _read_document(document)
        document.merge_fields()
    except DECODE_ERRORS as error:
        raise MalformedProto(f"{source.name or 'this text'} makes no sound message: {error}") from None
    finally:
        clear_line_memos()
    return message, document.skipped_notices()


def _read_document(document: Document) -> None:
    """Read as far as the fast reader goes, then some fields by tokens, and so on."""
    size = document.source.size
    position = (
        len(UTF8_BYTE_ORDER_MARK)
        if document.source.read_window(0, len(UTF8_BYTE_ORDER_MARK)).startswith(UTF8_BYTE_ORDER_MARK)
        else 0
    )
    # Handwritten text fails the fast reader repeatedly: each time twice as many fields are read by tokens.
    patience = 1
    while position < size:
        position = read_printed_fields(document, position)
        if position < size:
            position = read_fields(document, position, patience)
            patience *= 2
