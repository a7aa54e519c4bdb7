"""A table of sorted keys on disk (the SSTable of LevelDB): its blocks, and the entries of these.

    block    entries, offsets of whole keys, their number · 1 byte: compression · 4 bytes: checksum
    entry    lengths: of the prefix shared with the key before, of the rest of the key, of the value · rest · value
    footer   40 bytes: places of two blocks, padded · 8 bytes: magic; the second block lists all data blocks

No number in it is trusted: blocks must be in order, keys must rise, and their total length is bounded.
"""

from __future__ import annotations

from collections.abc import Iterator

from graphviz_tb.errors import MalformedProto, TooLarge, UnknownFormat
from graphviz_tb.limits import INDEX_NAMES, Meter
from graphviz_tb.read.crc import masked_crc

FOOTER, MARK = 48, b"\x57\xfb\x80\x8b\x24\x75\x47\xdb"
TRAILER = 5  # bytes after a block: compression and checksum
PLAIN, SNAPPY = 0, 1
VARINT = 10  # at most, of a number


class Table:
    """The entries of a table. Raises ReadError if it is damaged, compressed, or claims more than it contains."""

    def __init__(self, data: bytes, name: str) -> None:
        self.data, self.name = data, name
        self.end = len(data) - FOOTER  # where the blocks end
        if self.end < 0 or not data.endswith(MARK):
            raise self.broken("it does not end as an index does", max(0, self.end))

    def entries(self) -> Iterator[tuple[bytes, bytes]]:
        """Yield keys and values, in the order of the keys."""
        meter, behind, last = Meter(INDEX_NAMES), 0, None
        _, at = self.handle(self.data, self.end)  # the first block is unused
        listing, _ = self.handle(self.data, at)
        for _, value in self.block(*listing, Meter(INDEX_NAMES)):
            (start, size), _ = self.handle(value, 0)
            if start < behind:
                raise self.broken("two of its blocks lie over each other", start)
            behind = start + size + TRAILER
            for key, inner in self.block(start, size, meter):
                if last is not None and key <= last:
                    raise self.broken("its names are not in order", start)
                last = key
                yield key, inner

    def block(self, start: int, size: int, meter: Meter) -> Iterator[tuple[bytes, bytes]]:
        """Yield the entries of one block."""
        end = start + size
        if end + TRAILER > self.end:
            raise self.broken("a block ends beyond the file", start)
        self.check(start, end)
        whole = int.from_bytes(self.data[end - 4 : end], "little")  # number of whole keys
        if size < 4 or 4 * whole + 4 > size:
            raise self.broken("a block has no end", start)
        at, end, key = start, end - 4 * whole - 4, b""
        while at < end:
            first = at
            shared, at = self.number(self.data, at)
            more, at = self.number(self.data, at)
            length, at = self.number(self.data, at)
            if shared > len(key) or at + more + length > end:
                raise self.broken("an entry is cut", first)
            if not meter.take(shared + more):
                raise TooLarge(f"the names in {self.name} have more than {INDEX_NAMES:,} letters")
            key = key[:shared] + self.data[at : at + more]
            yield key, self.data[at + more : at + more + length]
            at += more + length

    def check(self, start: int, end: int) -> None:
        """Raise ReadError for a block that is compressed or damaged."""
        packed = self.data[end]
        if packed == SNAPPY:
            raise UnknownFormat(
                f"{self.name} is packed with Snappy", hint="TensorFlow writes no such index: save again"
            )
        if packed != PLAIN:
            raise self.broken("a block is packed in an unknown way", end)
        told = int.from_bytes(self.data[end + 1 : end + TRAILER], "little")
        if told != masked_crc(self.data[start : end + 1]):
            raise self.broken("the checksum of a block is wrong", start)

    def handle(self, data: bytes, at: int) -> tuple[tuple[int, int], int]:
        """Return offset and size of a block, and the position after them."""
        start, at = self.number(data, at)
        size, at = self.number(data, at)
        return (start, size), at

    def number(self, data: bytes, at: int) -> tuple[int, int]:
        """Return a varint, and the position after it."""
        value = 0
        for shift, byte in enumerate(data[at : at + VARINT]):
            value |= (byte & 0x7F) << 7 * shift
            if byte < 0x80:
                return value, at + shift + 1
        raise self.broken("a number has no end", at if data is self.data else 0)

    def broken(self, why: str, offset: int) -> MalformedProto:
        """Return the error for damage at an offset."""
        hint = "copy the checkpoint again; training writes it anew when it saves next"
        return MalformedProto(f"the checkpoint index {self.name} is damaged: {why}", offset=offset, hint=hint)
