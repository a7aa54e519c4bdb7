"""TFRecord framing, read forward: length, checksum of it, payload, checksum of that.

A file that is being written ends within a record: that is no error. A length whose checksum is wrong is: what
follows cannot be found again.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

from graphviz_tb.errors import MalformedRecord
from graphviz_tb.read.crc import masked_crc
from graphviz_tb.read.opened import Stream, read_up_to

HEADER, FOOTER = 12, 4  # bytes: a length and its checksum; the checksum of the data
KNOWN_HEADERS = 4096  # that are remembered as sound: a log has few distinct lengths
RECORD_LIMIT = 2**31 - 1  # an event is one message, and a message ends there


class Record(NamedTuple):
    """A payload, the byte where its record starts, and the checksum that was written for it."""

    payload: bytes
    offset: int
    checksum: int

    @property
    def sound(self) -> bool:
        return masked_crc(self.payload) == self.checksum


class Torn(NamedTuple):
    """The file ends within the record that starts at `offset`."""

    offset: int


def records(stream: Stream) -> Iterator[Record | Torn]:
    """Before: a stream at its start. After: its records, in order, one in memory at a time; maybe a last Torn.

    Raises MalformedRecord where a length is not what was written, or more than a record can hold.
    """
    offset = 0
    sound: set[bytes] = set()  # headers that were checked: lengths come again and again
    while header := read_up_to(stream, HEADER):
        if len(header) < HEADER:
            yield Torn(offset)
            return
        # little-endian: 8 bytes of length, 4 of its checksum
        size, checksum = struct.unpack("<QI", header)
        if header not in sound:
            if masked_crc(header[:8]) != checksum:
                raise MalformedRecord("the length of a record is damaged", offset=offset)
            if len(sound) < KNOWN_HEADERS:
                sound.add(header)
        if size > RECORD_LIMIT:
            raise MalformedRecord(f"a record claims {size:,} bytes, more than an event can hold", offset=offset)
        body = read_up_to(stream, size + FOOTER)
        if len(body) < size + FOOTER:
            yield Torn(offset)
            return
        yield Record(body[:size], offset, int.from_bytes(body[size:], "little"))
        offset += HEADER + size + FOOTER
