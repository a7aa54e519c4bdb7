"""Some records of an event file in memory, and the names and damage that are noted while they are decoded."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from graphviz_tb.model.columns import Bytes, Longs
from graphviz_tb.read import crc
from graphviz_tb.read.crc import masked_crc
from graphviz_tb.read.records import FOOTER, HEADER

T = TypeVar("T", bound=Hashable)
PADDING = 8  # bytes behind the records: lines are compared in words of eight bytes
CHECKED_BYTES = 1 << 20  # payloads whose checksum plain Python can afford


@dataclass(slots=True)
class RecordBlock:
    """Bytes of a file from `offset` on, and where the whole records in them start; `PADDING` bytes follow the last."""

    data: Bytes
    offset: int
    starts: Longs
    sizes: Longs

    def payload(self, record: int) -> bytes:
        """The bytes of an event."""
        first = int(self.starts[record]) + HEADER
        return self.data[first : first + int(self.sizes[record])].tobytes()

    def place(self, record: int) -> int:
        """Where a record starts in the file."""
        return self.offset + int(self.starts[record])

    def sound(self, record: int) -> bool:
        """Whether the checksum of a payload is the one that was written; a large one is believed without a fast CRC."""
        size = int(self.sizes[record])
        if size > CHECKED_BYTES and not crc.FAST:
            return True
        stop = int(self.starts[record]) + HEADER + size
        return masked_crc(self.payload(record)) == int.from_bytes(self.data[stop : stop + FOOTER].tobytes(), "little")

    def only(self, records: Longs) -> RecordBlock:
        """Return the block with only some of the records."""
        return RecordBlock(self.data, self.offset, self.starts[records], self.sizes[records])


class NumberOf(Generic[T]):
    """Things that come again and again, by number: tags, shapes, forms."""

    def __init__(self) -> None:
        self._numbers: dict[T, int] = {}
        self._all: tuple[T, ...] = ()

    def number(self, thing: T) -> int:
        """The number of a thing, a new one if it is new."""
        return self._numbers.setdefault(thing, len(self._numbers))

    @property
    def all(self) -> tuple[T, ...]:
        """The things in the order of their numbers; the same tuple as long as there is no new one."""
        if len(self._all) < len(self._numbers):
            self._all = tuple(self._numbers)
        return self._all


def sound_records(block: RecordBlock) -> Longs:
    """The records whose payloads are as they were written."""
    return np.array([each for each in range(len(block.starts)) if block.sound(each)], np.int64)
