"""Text protos: the way in.

Programs print text one field to a line; `textproto.blocks` reads that at tens of megabytes a second.
Whatever else the format allows is read by `textproto.tokens`, field by field; both write the same bytes.
"""

from __future__ import annotations

from typing import TypeVar

from google.protobuf.message import Message

from graphviz_tb.errors import MalformedProto
from graphviz_tb.model.notice import Notice
from graphviz_tb.proto import GraphDef
from graphviz_tb.read.pb import BROKEN
from graphviz_tb.read.textproto.blocks import read_blocks
from graphviz_tb.read.textproto.document import Document
from graphviz_tb.read.textproto.schema import forget, table_of
from graphviz_tb.read.textproto.source import InMemory, Source
from graphviz_tb.read.textproto.tokens import read_fields

M = TypeVar("M", bound=Message)
MARK = b"\xef\xbb\xbf"  # the byte order mark some editors put first


def parse(data: bytes) -> GraphDef:
    """Before: a GraphDef as text. After: the message.

    >>> parse(b"node { name: 'x' op: 'NoOp' }").node[0].op
    'NoOp'
    """
    return parse_message(data, GraphDef)[0]


def parse_message(data: bytes, kind: type[M]) -> tuple[M, tuple[Notice, ...]]:
    """Before: text. After: the message, and what was skipped in it."""
    return parse_source(InMemory(data), kind)


def parse_source(source: Source, kind: type[M]) -> tuple[M, tuple[Notice, ...]]:
    """Before: text in memory or in a file. After: the message, and what was skipped in it."""
    message = kind()
    document = Document(message, table_of(kind.DESCRIPTOR), source)
    try:
        _read_all(document)
        document.flush()
    except BROKEN as error:
        raise MalformedProto(f"{source.name or 'this text'} makes no sound message: {error}") from None
    finally:
        forget()
    return message, document.notices()


def _read_all(document: Document) -> None:
    """The fast ways as far as they go, then a field or more by tokens; more of them each time that happens."""
    size = document.source.size
    position = len(MARK) if document.source.window(0, len(MARK)).startswith(MARK) else 0
    # Text that no program printed fails the fast way again and again: each time twice as many fields go by tokens.
    patience = 1
    while position < size:
        position = read_blocks(document, position)
        if position < size:
            position = read_fields(document, position, patience)
            patience *= 2
