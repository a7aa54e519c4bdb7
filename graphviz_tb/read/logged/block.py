"""A block of records in memory, and numbering of repeated things."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from graphviz_tb.model.columns import Bytes, Longs
from graphviz_tb.read.crc import IS_CRC_FAST, masked_crc
from graphviz_tb.read.records import RECORD_FOOTER_BYTES, RECORD_HEADER_BYTES

ThingT = TypeVar("ThingT", bound=Hashable)
BLOCK_PADDING_BYTES = 8  # bytes after the records, as lines are compared in words of eight bytes
MAX_SLOW_CRC_BYTES = 1 << 20  # largest payload whose checksum is computed in pure Python


@dataclass(slots=True)
class RecordBlock:
    """Bytes of a file from `offset` on, and where its complete records start.

    `BLOCK_PADDING_BYTES` bytes follow the last.
    """

    data: Bytes
    offset: int
    starts: Longs
    sizes: Longs

    def payload(self, record: int) -> bytes:
        """Return the bytes of an event."""
        first = int(self.starts[record]) + RECORD_HEADER_BYTES
        return self.data[first : first + int(self.sizes[record])].tobytes()

    def record_offset(self, record: int) -> int:
        """Return the file offset of a record."""
        return self.offset + int(self.starts[record])

    def is_record_sound(self, record: int) -> bool:
        """Return whether a payload has the stored checksum. Large ones are not verified without a fast CRC."""
        size = int(self.sizes[record])
        if size > MAX_SLOW_CRC_BYTES and not IS_CRC_FAST:
            return True
        stop = int(self.starts[record]) + RECORD_HEADER_BYTES + size
        return masked_crc(self.payload(record)) == int.from_bytes(
            self.data[stop : stop + RECORD_FOOTER_BYTES].tobytes(), "little"
        )

    def select_records(self, records: Longs) -> RecordBlock:
        """Return the block with some of its records."""
        return RecordBlock(self.data, self.offset, self.starts[records], self.sizes[records])


class Numbering(Generic[ThingT]):
    """Numbers for repeated things: tags, shapes, forms."""

    def __init__(self) -> None:
        self._numbers: dict[ThingT, int] = {}
        self._all: tuple[ThingT, ...] = ()

    def number_of(self, thing: ThingT) -> int:
        """Return the number of a thing, assigned on first use."""
        return self._numbers.setdefault(thing, len(self._numbers))

    @property
    def things(self) -> tuple[ThingT, ...]:
        """The things in the order of their numbers; the same tuple until a new one is added."""
        if len(self._all) < len(self._numbers):
            self._all = tuple(self._numbers)
        return self._all


def sound_records(block: RecordBlock) -> Longs:
    """Return the records whose payloads have the stored checksum."""
    return np.array([each for each in range(len(block.starts)) if block.is_record_sound(each)], np.int64)
