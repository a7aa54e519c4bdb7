"""Read TFRecord frames forward: length, its checksum, payload, its checksum.

A file that is still written may end within a record, which is not an error. A wrong checksum of a length is an error,
since the records after it cannot be found.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from graphviz_tb.errors import MalformedRecord
from graphviz_tb.limits import MAX_CACHED_HEADERS
from graphviz_tb.model.columns import Bytes, Longs, run_bounds
from graphviz_tb.sources.streams import ByteStream

# CRC-32C of event file records: in C if google-crc32c is installed, else table-driven Python.

CASTAGNOLI_POLYNOMIAL = 0x82F63B78  # the Castagnoli polynomial, bits reversed (RFC 3720)
CRC_MASK_DELTA = 0xA282EAD8  # added by TFRecord: the CRC of data that contains CRCs would be weak


def _make_crc_table() -> list[int]:
    made = []
    for byte in range(256):
        # The remainder of this byte, divided by the polynomial bit by bit.
        value = byte
        for _ in range(8):
            value = value >> 1 ^ (CASTAGNOLI_POLYNOMIAL if value & 1 else 0)
        made.append(value)
    return made


CRC_TABLE = _make_crc_table()


def _crc_in_python(data: bytes) -> int:
    """Compute CRC-32C in plain Python, at about 6 MB/s.

    >>> hex(_crc_in_python(b"123456789"))
    '0xe3069283'
    """
    value = 0xFFFFFFFF
    for byte in data:
        value = CRC_TABLE[(value ^ byte) & 0xFF] ^ value >> 8
    return value ^ 0xFFFFFFFF


def _fastest_crc() -> tuple[Callable[[bytes], int], bool]:
    try:
        import google_crc32c
    except ImportError:
        return _crc_in_python, False
    return google_crc32c.value, google_crc32c.implementation == "c"


crc, IS_CRC_FAST = _fastest_crc()


def masked_crc(data: bytes) -> int:
    """Return the checksum as records store it: rotated and offset, so that data may contain checksums."""
    value = crc(data)
    # Rotate right by 15 bits and add the constant: TFRecord's "masked" checksum.
    return ((value >> 15 | value << 17) + CRC_MASK_DELTA) & 0xFFFFFFFF


RECORD_HEADER_BYTES, RECORD_FOOTER_BYTES = 12, 4  # bytes: length and its checksum; checksum of the payload
STREAM_BLOCK_BYTES = 1 << 20  # bytes of a stream that are read at once
MAX_RECORD_BYTES = 2**31 - 1  # an event is one message, limited by protobuf
# little-endian: 8 bytes of length, 4 of its checksum
LENGTH_STRUCT, HEADER_STRUCT = struct.Struct("<Q"), struct.Struct("<QI")


class EventRecord(NamedTuple):
    """A payload, the offset of its record, and the stored checksum."""

    payload: bytes
    offset: int
    checksum: int

    @property
    def is_sound(self) -> bool:
        return masked_crc(self.payload) == self.checksum


class TornRecord(NamedTuple):
    """The file ends within the record at `offset`."""

    offset: int


class RecordFrames(NamedTuple):
    """The complete records in a buffer: start and payload size of each, and where the last one ends.

    `damaged`: the next length is invalid. `wanted` is the size of the next record, 0 if its header is incomplete.
    """

    starts: Longs
    sizes: Longs
    end: int
    damaged: bool = False
    wanted: int = 0


def find_record_frames(data: Bytes, checked: dict[int, int]) -> RecordFrames:
    """Find the records in a buffer that starts with one. `checked` caches the checksums of lengths.

    Every length is verified; its checksum is computed once per distinct length.
    """
    view, size = data.data, len(data)
    starts: list[int] = []
    add, length = starts.append, LENGTH_STRUCT.unpack_from
    offset, last = 0, size - RECORD_HEADER_BYTES - RECORD_FOOTER_BYTES
    while offset <= last:
        following = offset + RECORD_HEADER_BYTES + RECORD_FOOTER_BYTES + length(view, offset)[0]
        if following > size:
            break
        add(offset)
        offset = following
    begins = np.array(starts, np.int64)
    sizes = np.diff(begins, append=offset) - (RECORD_HEADER_BYTES + RECORD_FOOTER_BYTES)
    sound = _count_sound_lengths(data, begins, sizes, checked)
    if sound < len(begins):
        return RecordFrames(begins[:sound], sizes[:sound], int(begins[sound]), damaged=True)
    if offset + RECORD_HEADER_BYTES > size:
        return RecordFrames(begins, sizes, offset)
    claimed, checksum = HEADER_STRUCT.unpack_from(view, offset)
    damaged = claimed > MAX_RECORD_BYTES or masked_crc(bytes(view[offset : offset + 8])) != checksum
    return RecordFrames(begins, sizes, offset, damaged, claimed + RECORD_HEADER_BYTES + RECORD_FOOTER_BYTES)


def _count_sound_lengths(data: Bytes, starts: Longs, sizes: Longs, checked: dict[int, int]) -> int:
    """Return the number of records before the first one with a wrong length checksum."""
    if not len(starts):
        return 0
    written = data[starts[:, None] + np.arange(8, RECORD_HEADER_BYTES)].view("<u4")[:, 0]
    order = np.argsort(sizes, kind="stable")
    cuts = run_bounds(sizes[order])
    expected = np.zeros(len(starts), np.uint32)
    for first, stop, number in zip(
        cuts[:-1].tolist(), cuts[1:].tolist(), sizes[order[cuts[:-1]]].tolist(), strict=True
    ):
        if number not in checked:
            if len(checked) >= MAX_CACHED_HEADERS:
                checked.clear()
            checked[number] = masked_crc(LENGTH_STRUCT.pack(number))
        expected[order[first:stop]] = checked[number]
    wrong = np.flatnonzero(written != expected)
    return int(wrong[0]) if len(wrong) else len(starts)


def read_records(stream: ByteStream) -> Iterator[EventRecord | TornRecord]:
    """Yield the records of a stream, and possibly a last `TornRecord`.

    Memory holds one block, or one larger record. Raises MalformedRecord for a length that is damaged or too large.
    """
    before, block = 0, b""  # file offset of the block
    checked: dict[int, int] = {}
    wanted = STREAM_BLOCK_BYTES
    while True:
        more, failure = _read_next_bytes(stream, wanted - len(block))
        block += more
        found = find_record_frames(np.frombuffer(block, np.uint8), checked)
        for start, size in zip(found.starts.tolist(), found.sizes.tolist(), strict=True):
            stop = start + RECORD_HEADER_BYTES + size
            checksum = int.from_bytes(block[stop : stop + RECORD_FOOTER_BYTES], "little")
            yield EventRecord(block[start + RECORD_HEADER_BYTES : stop], before + start, checksum)
        before, block = before + found.end, block[found.end :]
        if found.damaged:
            raise damaged_length_error(block, before)
        if failure is not None:
            raise failure
        if not more:
            break
        wanted = max(STREAM_BLOCK_BYTES, found.wanted)
    if block:
        yield TornRecord(before)


def _read_next_bytes(stream: ByteStream, size: int) -> tuple[bytes, MalformedRecord | None]:
    """Read up to `size` bytes. If a compressed stream is damaged, also return the error."""
    pieces: list[bytes] = []
    try:
        while size > 0 and (piece := stream.read(min(size, STREAM_BLOCK_BYTES))):
            pieces.append(piece)
            size -= len(piece)
    except MalformedRecord as damage:
        return b"".join(pieces), damage
    return b"".join(pieces), None


def damaged_length_error(header: bytes, offset: int) -> MalformedRecord:
    """Return the error for an invalid header."""
    claimed, checksum = HEADER_STRUCT.unpack_from(header)
    if masked_crc(header[:8]) != checksum:
        return MalformedRecord("the length of a record is damaged", offset=offset)
    return MalformedRecord(f"a record claims {claimed:,} bytes, more than an event can hold", offset=offset)
