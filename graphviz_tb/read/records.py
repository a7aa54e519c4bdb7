"""Read TFRecord frames forward: length, its checksum, payload, its checksum.

A file that is still written ends within a record, which is no error. A wrong length checksum is: the records after it
cannot be found.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from graphviz_tb.errors import MalformedRecord
from graphviz_tb.limits import KNOWN_HEADERS
from graphviz_tb.model.columns import Bytes, Longs, runs
from graphviz_tb.read.crc import masked_crc
from graphviz_tb.read.opened import Stream

HEADER, FOOTER = 12, 4  # bytes: length and its checksum; checksum of the payload
BLOCK = 1 << 20  # bytes of a stream that are read at once
RECORD_LIMIT = 2**31 - 1  # an event is one message, limited by protobuf
_LENGTH, _HEADER = struct.Struct("<Q"), struct.Struct("<QI")  # little-endian: 8 bytes of length, 4 of its checksum


class Record(NamedTuple):
    """A payload, the offset of its record, and the stored checksum."""

    payload: bytes
    offset: int
    checksum: int

    @property
    def sound(self) -> bool:
        return masked_crc(self.payload) == self.checksum


class Torn(NamedTuple):
    """The file ends within the record at `offset`."""

    offset: int


class Frames(NamedTuple):
    """The complete records in a buffer: start and payload size of each, and where the last one ends.

    `damaged`: the next length is invalid. `wanted` is the size of the next record, 0 if its header is incomplete.
    """

    starts: Longs
    sizes: Longs
    end: int
    damaged: bool = False
    wanted: int = 0


def frames(data: Bytes, checked: dict[int, int]) -> Frames:
    """Find the records in a buffer that starts with one. `checked` caches the checksums of lengths.

    Every length is verified; its checksum is computed once per distinct length.
    """
    view, size = data.data, len(data)
    starts: list[int] = []
    add, length = starts.append, _LENGTH.unpack_from
    offset, last = 0, size - HEADER - FOOTER
    while offset <= last:
        following = offset + HEADER + FOOTER + length(view, offset)[0]
        if following > size:
            break
        add(offset)
        offset = following
    begins = np.array(starts, np.int64)
    sizes = np.diff(begins, append=offset) - (HEADER + FOOTER)
    sound = sound_lengths(data, begins, sizes, checked)
    if sound < len(begins):
        return Frames(begins[:sound], sizes[:sound], int(begins[sound]), damaged=True)
    if offset + HEADER > size:
        return Frames(begins, sizes, offset)
    claimed, checksum = _HEADER.unpack_from(view, offset)
    damaged = claimed > RECORD_LIMIT or masked_crc(bytes(view[offset : offset + 8])) != checksum
    return Frames(begins, sizes, offset, damaged, claimed + HEADER + FOOTER)


def sound_lengths(data: Bytes, starts: Longs, sizes: Longs, checked: dict[int, int]) -> int:
    """Return the number of records before the first one with a wrong length checksum."""
    if not len(starts):
        return 0
    written = data[starts[:, None] + np.arange(8, HEADER)].view("<u4")[:, 0]
    order = np.argsort(sizes, kind="stable")
    cuts = runs(sizes[order])
    expected = np.zeros(len(starts), np.uint32)
    for first, stop, number in zip(
        cuts[:-1].tolist(), cuts[1:].tolist(), sizes[order[cuts[:-1]]].tolist(), strict=True
    ):
        if number not in checked:
            if len(checked) >= KNOWN_HEADERS:
                checked.clear()
            checked[number] = masked_crc(_LENGTH.pack(number))
        expected[order[first:stop]] = checked[number]
    wrong = np.flatnonzero(written != expected)
    return int(wrong[0]) if len(wrong) else len(starts)


def records(stream: Stream) -> Iterator[Record | Torn]:
    """Yield the records of a stream, and possibly a last Torn.

    Memory holds one block, or one larger record. Raises MalformedRecord for a length that is damaged or too large.
    """
    before, block = 0, b""  # file offset of the block
    checked: dict[int, int] = {}
    wanted = BLOCK
    while True:
        more, failure = _next(stream, wanted - len(block))
        block += more
        found = frames(np.frombuffer(block, np.uint8), checked)
        for start, size in zip(found.starts.tolist(), found.sizes.tolist(), strict=True):
            stop = start + HEADER + size
            checksum = int.from_bytes(block[stop : stop + FOOTER], "little")
            yield Record(block[start + HEADER : stop], before + start, checksum)
        before, block = before + found.end, block[found.end :]
        if found.damaged:
            raise damaged_length(block, before)
        if failure is not None:
            raise failure
        if not more:
            break
        wanted = max(BLOCK, found.wanted)
    if block:
        yield Torn(before)


def _next(stream: Stream, size: int) -> tuple[bytes, MalformedRecord | None]:
    """Read up to `size` bytes. If a compressed stream is damaged, also return the error."""
    pieces: list[bytes] = []
    try:
        while size > 0 and (piece := stream.read(min(size, BLOCK))):
            pieces.append(piece)
            size -= len(piece)
    except MalformedRecord as damage:
        return b"".join(pieces), damage
    return b"".join(pieces), None


def damaged_length(header: bytes, offset: int) -> MalformedRecord:
    """Return the error for an invalid header."""
    claimed, checksum = _HEADER.unpack_from(header)
    if masked_crc(header[:8]) != checksum:
        return MalformedRecord("the length of a record is damaged", offset=offset)
    return MalformedRecord(f"a record claims {claimed:,} bytes, more than an event can hold", offset=offset)
