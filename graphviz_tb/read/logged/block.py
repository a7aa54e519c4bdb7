"""A block of records in memory, and numbering of repeated things."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from graphviz_tb.model.columns import Bytes, Longs
from graphviz_tb.read.crc import FAST, masked_crc
from graphviz_tb.read.records import FOOTER, HEADER

T = TypeVar("T", bound=Hashable)
PADDING = 8  # bytes after the records, as lines are compared in words of eight bytes
CHECKED_BYTES = 1 << 20  # largest payload whose checksum is computed in pure Python


@dataclass(slots=True)
class RecordBlock:
    """Bytes of a file from `offset` on, and where its complete records start. `PADDING` bytes follow the last."""

    data: Bytes
    offset: int
    starts: Longs
    sizes: Longs

    def payload(self, record: int) -> bytes:
        """Return the bytes of an event."""
        first = int(self.starts[record]) + HEADER
        return self.data[first : first + int(self.sizes[record])].tobytes()

    def place(self, record: int) -> int:
        """Return the file offset of a record."""
        return self.offset + int(self.starts[record])

    def sound(self, record: int) -> bool:
        """Return whether a payload has the stored checksum. Large ones are not verified without a fast CRC."""
        size = int(self.sizes[record])
        if size > CHECKED_BYTES and not FAST:
            return True
        stop = int(self.starts[record]) + HEADER + size
        return masked_crc(self.payload(record)) == int.from_bytes(self.data[stop : stop + FOOTER].tobytes(), "little")

    def only(self, records: Longs) -> RecordBlock:
        """Return the block with some of its records."""
        return RecordBlock(self.data, self.offset, self.starts[records], self.sizes[records])


class NumberOf(Generic[T]):
    """Numbers for repeated things: tags, shapes, forms."""

    def __init__(self) -> None:
        self._numbers: dict[T, int] = {}
        self._all: tuple[T, ...] = ()

    def number(self, thing: T) -> int:
        """Return the number of a thing, assigned on first use."""
        return self._numbers.setdefault(thing, len(self._numbers))

    @property
    def all(self) -> tuple[T, ...]:
        """The things in the order of their numbers; the same tuple until a new one is added."""
        if len(self._all) < len(self._numbers):
            self._all = tuple(self._numbers)
        return self._all


def sound_records(block: RecordBlock) -> Longs:
    """Return the records whose payloads have the stored checksum."""
    return np.array([each for each in range(len(block.starts)) if block.sound(each)], np.int64)
