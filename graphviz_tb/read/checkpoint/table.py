"""A table of sorted keys on disk (the SSTable of LevelDB): its blocks, and the entries of these.

    block    entries, offsets of whole keys, their number · 1 byte: compression · 4 bytes: checksum
    entry    lengths: of the prefix shared with the key before, of the rest of the key, of the value · rest · value
    footer   40 bytes: places of two blocks, padded · 8 bytes: magic; the second block lists all data blocks

No number in it is trusted: blocks must be in order, keys must rise, and their total length is bounded.
"""

from __future__ import annotations

from collections.abc import Iterator

from graphviz_tb.errors import MalformedProto, TooLarge, UnknownFormat
from graphviz_tb.limits import MAX_INDEX_NAME_LETTERS, Meter
from graphviz_tb.read.crc import masked_crc

FOOTER_BYTES, TABLE_MAGIC = 48, b"\x57\xfb\x80\x8b\x24\x75\x47\xdb"
BLOCK_TRAILER_BYTES = 5  # bytes after a block: compression and checksum
UNCOMPRESSED, SNAPPY = 0, 1
MAX_VARINT_BYTES = 10  # at most, of a number


class SortedTable:
    """The entries of a table. Raises ReadError if it is damaged, compressed, or claims more than it contains."""

    def __init__(self, data: bytes, name: str) -> None:
        self.data, self.name = data, name
        self.end = len(data) - FOOTER_BYTES  # where the blocks end
        if self.end < 0 or not data.endswith(TABLE_MAGIC):
            raise self.damaged_error("it does not end as an index does", max(0, self.end))

    def entries(self) -> Iterator[tuple[bytes, bytes]]:
        """Yield keys and values, in the order of the keys."""
        meter, behind, last = Meter(MAX_INDEX_NAME_LETTERS), 0, None
        _, at = self.read_handle(self.data, self.end)  # the first block is unused
        listing, _ = self.read_handle(self.data, at)
        for _, value in self.block_entries(*listing, Meter(MAX_INDEX_NAME_LETTERS)):
            (start, size), _ = self.read_handle(value, 0)
            if start < behind:
                raise self.damaged_error("two of its blocks lie over each other", start)
            behind = start + size + BLOCK_TRAILER_BYTES
            for key, inner in self.block_entries(start, size, meter):
                if last is not None and key <= last:
                    raise self.damaged_error("its names are not in order", start)
                last = key
                yield key, inner

    def block_entries(self, start: int, size: int, meter: Meter) -> Iterator[tuple[bytes, bytes]]:
        """Yield the entries of one block."""
        end = start + size
        if end + BLOCK_TRAILER_BYTES > self.end:
            raise self.damaged_error("a block ends beyond the file", start)
        self.check_block(start, end)
        whole = int.from_bytes(self.data[end - 4 : end], "little")  # number of whole keys
        if size < 4 or 4 * whole + 4 > size:
            raise self.damaged_error("a block has no end", start)
        at, end, key = start, end - 4 * whole - 4, b""
        while at < end:
            first = at
            shared, at = self.read_number(self.data, at)
            more, at = self.read_number(self.data, at)
            length, at = self.read_number(self.data, at)
            if shared > len(key) or at + more + length > end:
                raise self.damaged_error("an entry is cut", first)
            if not meter.take(shared + more):
                raise TooLarge(f"the names in {self.name} have more than {MAX_INDEX_NAME_LETTERS:,} letters")
            key = key[:shared] + self.data[at : at + more]
            yield key, self.data[at + more : at + more + length]
            at += more + length

    def check_block(self, start: int, end: int) -> None:
        """Raise ReadError for a block that is compressed or damaged."""
        packed = self.data[end]
        if packed == SNAPPY:
            raise UnknownFormat(
                f"{self.name} is packed with Snappy", hint="TensorFlow writes no such index: save again"
            )
        if packed != UNCOMPRESSED:
            raise self.damaged_error("a block is packed in an unknown way", end)
        told = int.from_bytes(self.data[end + 1 : end + BLOCK_TRAILER_BYTES], "little")
        if told != masked_crc(self.data[start : end + 1]):
            raise self.damaged_error("the checksum of a block is wrong", start)

    def read_handle(self, data: bytes, at: int) -> tuple[tuple[int, int], int]:
        """Return offset and size of a block, and the position after them."""
        start, at = self.read_number(data, at)
        size, at = self.read_number(data, at)
        return (start, size), at

    def read_number(self, data: bytes, at: int) -> tuple[int, int]:
        """Return a varint, and the position after it."""
        value = 0
        for shift, byte in enumerate(data[at : at + MAX_VARINT_BYTES]):
            value |= (byte & 0x7F) << 7 * shift
            if byte < 0x80:
                return value, at + shift + 1
        raise self.damaged_error("a number has no end", at if data is self.data else 0)

    def damaged_error(self, why: str, offset: int) -> MalformedProto:
        """Return the error for damage at an offset."""
        hint = "copy the checkpoint again; training writes it anew when it saves next"
        return MalformedProto(f"the checkpoint index {self.name} is damaged: {why}", offset=offset, hint=hint)
