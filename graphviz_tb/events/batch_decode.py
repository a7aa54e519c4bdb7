"""Decode all events of one structure together.

Records of equal length form lines of bytes. The first is parsed by hand; all records whose bytes are equal outside
the spans of time, step, tags and values share its structure, and those spans become columns. The rest is tried again
in the next round, or decoded one by one if a structure has few events.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from graphviz_tb.events.structure import (
    ByteSpan,
    EventStructure,
    UnusualEventError,
    ValueForm,
    ValueStructure,
    locate_event_structure,
)
from graphviz_tb.formats.protobuf import CutError
from graphviz_tb.formats.records import IS_CRC_FAST, RECORD_FOOTER_BYTES, RECORD_HEADER_BYTES, masked_crc
from graphviz_tb.limits import MAX_STRUCTURES_PER_LENGTH
from graphviz_tb.model.columns import Bytes, Ints, Longs, run_bounds
from graphviz_tb.model.logs import Doubles, TagMetadata

# A block of records in memory, and numbering of repeated things.

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
        first = int(self.starts[record]) + RECORD_HEADER_BYTES
        return self.data[first : first + int(self.sizes[record])].tobytes()

    def record_offset(self, record: int) -> int:
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
    return np.array([line for line in range(len(block.starts)) if block.is_record_sound(line)], np.int64)


# Values of one form, cut out of a file's bytes together: columns of bytes, not yet numbers.

WAV_HEADER_BYTES = 44  # bytes of a WAV header: rate and length
HASH_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)  # the golden ratio in 64 bits; powers of it hash a tag


@dataclass(frozen=True, slots=True)
class ValueGroup:
    """Values of one form: number of their tag, offset of their record, step, wall time.

    `event` is the size of the record's payload, `index` the position of the value in it. `numbers` are the bytes of
    each named part, one line per value. Of its strings, `at` is the file offset of each, `length` its size, and `heads`
    are the first bytes of the first one, for sounds.
    """

    form: ValueForm
    tag: Ints
    place: Longs
    step: Longs
    wall: Doubles
    event: Longs
    index: Ints
    numbers: dict[str, Bytes]
    at: Longs
    length: Longs
    heads: Bytes | None = None

    def __len__(self) -> int:
        return len(self.tag)

    def select_values(self, which: NDArray[np.bool_], plugin: str | None) -> ValueGroup:
        """Return some of the values, assigned to a plugin: only the first value of a tag has metadata."""
        return replace(
            self,
            form=self.form._replace(plugin=plugin),
            tag=self.tag[which],
            place=self.place[which],
            step=self.step[which],
            wall=self.wall[which],
            event=self.event[which],
            index=self.index[which],
            numbers={name: column[which] for name, column in self.numbers.items()},
            at=self.at[which],
            length=self.length[which],
            heads=None if self.heads is None else self.heads[which],
        )


@dataclass(frozen=True, slots=True)
class FoundValues:
    """A group with the metadata of its values; `first` is the first offset of each tag."""

    group: ValueGroup
    about: TagMetadata | None
    first: dict[int, int]


def _gather_lines(data: Bytes, starts: Longs, width: int) -> Bytes:
    """Return `width` bytes from each start, one line each. All must be within the data.

    >>> _gather_lines(np.arange(9, dtype=np.uint8), np.array([0, 5]), 3).tolist()
    [[0, 1, 2], [5, 6, 7]]
    """
    if not width or not len(starts):
        return np.zeros((len(starts), width), np.uint8)
    lines = as_strided(data, (len(data) - width + 1, width), (1, 1))
    taken: Bytes = lines[starts]
    return taken


def lines_as_numbers(lines: Bytes, dtype: str) -> NDArray[Any]:
    """View lines of bytes as lines of numbers.

    >>> lines_as_numbers(np.array([[0, 0, 128, 63]], np.uint8), "<f4").tolist()
    [[1.0]]
    """
    kind = np.dtype(dtype)
    if not lines.shape[1]:
        return np.zeros((len(lines), 0), kind)
    return np.ascontiguousarray(lines).view(kind)


def _decode_varint_lines(lines: Bytes) -> tuple[Longs, NDArray[np.bool_]]:
    """Decode lines of bytes as varints of this width; also return which lines are valid.

    >>> [column.tolist() for column in _decode_varint_lines(np.array([[0x96, 0x01], [0x16, 0x81]], np.uint8))]
    [[150, 150], [True, False]]
    """
    more = lines >= 128
    sound = np.all(more[:, :-1], axis=1) & ~more[:, -1]
    made = np.zeros(len(lines), np.uint64)
    for position in range(lines.shape[1]):
        made |= (lines[:, position] & np.uint8(127)).astype(np.uint64) << np.uint64(7 * position)
    return made.view(np.int64), sound


def _distinct_lines(lines: Bytes) -> tuple[list[bytes], Longs, Longs]:
    """Return the distinct lines, the index of each line among them, and the first occurrence of each.

    >>> names, number, first = _distinct_lines(np.frombuffer(b"bbaabb", np.uint8).reshape(3, 2))
    >>> sorted(names), [names[at] for at in number], sorted(first.tolist())
    ([b'aa', b'bb'], [b'bb', b'aa', b'bb'], [0, 1])
    """
    count, width = lines.shape
    if not width or np.array_equal(lines, np.broadcast_to(lines[0], lines.shape)):
        return [lines[0].tobytes()], np.zeros(count, np.int64), np.zeros(1, np.int64)
    keys = _hash_lines(lines)
    order = np.argsort(keys, kind="stable")
    bounds = run_bounds(keys[order])
    first = order[bounds[:-1]]
    number = np.empty(count, np.int64)
    number[order] = np.repeat(np.arange(len(first)), np.diff(bounds))
    if not np.array_equal(lines[first][number], lines):  # a hash collision
        return _distinct_lines_exact(lines)
    return [lines[place].tobytes() for place in first.tolist()], number, first


def _hash_lines(lines: Bytes) -> NDArray[np.uint64]:
    width = lines.shape[1]
    words = np.zeros((len(lines), -(-width // 8) * 8), np.uint8)
    words[:, :width] = lines
    keys = np.zeros(len(lines), np.uint64)
    for word in words.view("<u8").T:
        keys = (keys ^ word) * HASH_MULTIPLIER
        keys ^= keys >> np.uint64(29)
    return keys


def _distinct_lines_exact(lines: Bytes) -> tuple[list[bytes], Longs, Longs]:
    seen: dict[bytes, int] = {}
    number = np.array([seen.setdefault(line.tobytes(), len(seen)) for line in lines], np.int64)
    first = np.unique(number, return_index=True)[1].astype(np.int64)
    return list(seen), number, first


MIN_BATCH_EVENTS = 48  # up to so many events, decoding one by one is as fast
WIDE_EVENT_BYTES = 4096  # bytes of an event above which only the needed spans are copied
TagNumber = Callable[[bytes], int]


class SingleRecords(list[int]):
    """Records that are decoded one by one."""


def decode_alike_events(
    block: RecordBlock, tag: TagNumber, unlike: SingleRecords, damaged: Callable[[int], None]
) -> Iterator[FoundValues]:
    """Yield the values of a block's events of common structures; add all other records to `unlike`."""
    order = np.argsort(block.sizes, kind="stable")
    cuts = run_bounds(block.sizes[order])
    for first, stop in zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True):
        rows = order[first:stop]
        if len(rows) < MIN_BATCH_EVENTS:
            unlike += rows.tolist()
        else:
            yield from _decode_one_length(block, rows, tag, unlike, damaged)


def _decode_one_length(
    block: RecordBlock, rows: Longs, tag: TagNumber, unlike: SingleRecords, damaged: Callable[[int], None]
) -> Iterator[FoundValues]:
    lines = RecordLines(block, rows)
    attempts, failures, max_failures = 0, 0, len(rows) // (2 * MIN_BATCH_EVENTS)
    while len(lines.rows) >= MIN_BATCH_EVENTS and attempts < MAX_STRUCTURES_PER_LENGTH and failures <= max_failures:
        first = int(lines.rows[0])  # the example: all records of equal structure are decoded with it
        structure = _event_structure(block, first)
        attempts += 1
        if structure is None:
            unlike.append(first)
            lines, failures = lines.without_first(), failures + 1
            continue
        if not block.is_record_sound(first):
            damaged(first)
            lines, failures = lines.without_first(), failures + 1
            continue
        is_alike = lines.equal_to_first(structure)
        alike = lines.select_lines(is_alike)
        if len(alike.rows) < MIN_BATCH_EVENTS:
            unlike += alike.rows.tolist()
            failures += 1
        else:
            yield from alike.decode_values(structure, tag)
        lines = lines.select_lines(~is_alike)
    unlike += lines.rows.tolist()


def _event_structure(block: RecordBlock, record: int) -> EventStructure | None:
    """Return the structure of an event; None if it is not a summary or needs protobuf."""
    payload = block.payload(record)
    try:
        structure = locate_event_structure(payload, len(payload))
    except (UnusualEventError, CutError):
        return None
    return structure if structure and structure.values else None


class RecordLines:
    """Records of one length, as lines of bytes if these are short."""

    def __init__(self, block: RecordBlock, rows: Longs, lines: Bytes | None = None) -> None:
        self.block, self.rows = block, rows
        self.width = int(block.sizes[rows[0]]) if len(rows) else 0
        self.lines = lines
        if lines is None and self.width <= WIDE_EVENT_BYTES:
            self.lines = _gather_lines(
                block.data,
                block.starts[rows] + RECORD_HEADER_BYTES,
                -(-self.width // BLOCK_PADDING_BYTES) * BLOCK_PADDING_BYTES,
            )

    def select_lines(self, which: NDArray[np.bool_]) -> RecordLines:
        if np.all(which):
            return self
        return RecordLines(self.block, self.rows[which], None if self.lines is None else self.lines[which])

    def without_first(self) -> RecordLines:
        return RecordLines(self.block, self.rows[1:], None if self.lines is None else self.lines[1:])

    def span_bytes(self, span: ByteSpan) -> Bytes:
        first, last = span
        if self.lines is not None:
            return self.lines[:, first:last]
        return _gather_lines(self.block.data, self.block.starts[self.rows] + RECORD_HEADER_BYTES + first, last - first)

    def equal_to_first(self, structure: EventStructure) -> NDArray[np.bool_]:
        """Mark the events that equal the first one outside the spans of its structure."""
        outside = np.ones(self.width, np.bool_)
        for first, last in structure.spans:
            outside[first:last] = False
        same = self._equal_words(outside) if self.lines is not None else self._equal_parts(outside)
        if structure.step is not None:
            same &= _decode_varint_lines(self.span_bytes(structure.step))[1]
        return same

    def _equal_words(self, outside: NDArray[np.bool_]) -> NDArray[np.bool_]:
        assert self.lines is not None
        words = self.lines.view(np.uint64)
        mask = np.zeros(self.lines.shape[1], np.uint8)
        mask[: self.width][outside] = 255
        same = np.ones(len(words), np.bool_)
        for column, part in enumerate(mask.view(np.uint64)):
            if part:
                same &= ((words[:, column] ^ words[0, column]) & part) == 0
        return same

    def _equal_parts(self, outside: NDArray[np.bool_]) -> NDArray[np.bool_]:
        edges = np.flatnonzero(np.diff(outside, prepend=False, append=False)).tolist()
        same = np.ones(len(self.rows), np.bool_)
        for first, last in zip(edges[::2], edges[1::2], strict=True):
            part = self.span_bytes((first, last))
            same &= np.all(part == part[0], axis=1)
        return same

    def decode_values(self, structure: EventStructure, tag: TagNumber) -> Iterator[FoundValues]:
        """Yield the values of a structure that all lines share, each with one line per event."""
        place = self.block.offset + self.block.starts[self.rows]
        wall = lines_as_numbers(self.span_bytes(structure.wall), "<f8")[:, 0]
        step = (
            np.zeros(len(place), np.int64)
            if structure.step is None
            else _decode_varint_lines(self.span_bytes(structure.step))[0]
        )
        for index, value in enumerate(structure.values):
            yield self._decode_value(index, value, tag, place, step, wall)

    def _decode_value(
        self, index: int, value: ValueStructure, tag: TagNumber, place: Longs, step: Longs, wall: NDArray[np.float64]
    ) -> FoundValues:
        names, number, first = _distinct_lines(self.span_bytes(value.tag))
        tags = [tag(name) for name in names]
        spans = np.array(value.blobs, np.int64).reshape(-1, 2)
        group = ValueGroup(
            form=value.form,
            tag=np.array(tags, np.int32)[number],
            place=place,
            step=step,
            wall=wall,
            event=np.full(len(place), self.width, np.int64),
            index=np.full(len(place), index, np.int32),
            numbers={name: self.span_bytes(span) for name, span in value.numbers.items()},
            at=place[:, None] + RECORD_HEADER_BYTES + spans[:, 0],
            length=np.broadcast_to(spans[:, 1] - spans[:, 0], (len(place), len(spans))),
            heads=self._sound_heads(value),
        )
        return FoundValues(group, value.about, dict(zip(tags, place[first].tolist(), strict=True)))

    def _sound_heads(self, value: ValueStructure) -> Bytes | None:
        if value.form.plugin != "audio" or not value.blobs:
            return None
        first, last = value.blobs[0]
        return self.span_bytes((first, min(last, first + WAV_HEADER_BYTES)))
