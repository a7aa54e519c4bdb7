"""Decode all events of one structure together.

Records of equal length form lines of bytes. The first is parsed by hand; all records whose bytes are equal outside the
spans of time, step, tags and values share its structure, and those spans become columns. The rest is tried again in the
next round, or decoded one by one if a structure has few events.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from graphviz_tb.limits import MAX_STRUCTURES_PER_LENGTH
from graphviz_tb.model.columns import Bytes, Longs, run_bounds
from graphviz_tb.read.logged.block import BLOCK_PADDING_BYTES, RecordBlock
from graphviz_tb.read.logged.group import (
    WAV_HEADER_BYTES,
    FoundValues,
    ValueGroup,
    decode_varint_lines,
    distinct_lines,
    gather_lines,
    lines_as_numbers,
    mask_outside_spans,
)
from graphviz_tb.read.logged.structure import (
    ByteSpan,
    CutError,
    EventStructure,
    UnusualEventError,
    ValueStructure,
    locate_event_structure,
)
from graphviz_tb.read.records import RECORD_HEADER_BYTES

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
            yield from decode_one_length(block, rows, tag, unlike, damaged)


def decode_one_length(
    block: RecordBlock, rows: Longs, tag: TagNumber, unlike: SingleRecords, damaged: Callable[[int], None]
) -> Iterator[FoundValues]:
    lines = RecordLines(block, rows)
    tried, failed, allowed = 0, 0, len(rows) // (2 * MIN_BATCH_EVENTS)
    while len(lines.rows) >= MIN_BATCH_EVENTS and tried < MAX_STRUCTURES_PER_LENGTH and failed <= allowed:
        first = int(lines.rows[0])
        structure = event_structure(block, first)
        tried += 1
        if structure is None:
            unlike.append(first)
            lines, failed = lines.without_first(), failed + 1
            continue
        if not block.is_record_sound(first):
            damaged(first)
            lines, failed = lines.without_first(), failed + 1
            continue
        same = lines.equal_to_first(structure)
        alike = lines.select_lines(same)
        if len(alike.rows) < MIN_BATCH_EVENTS:
            unlike += alike.rows.tolist()
            failed += 1
        else:
            yield from alike.decode_values(structure, tag)
        lines = lines.select_lines(~same)
    unlike += lines.rows.tolist()


def event_structure(block: RecordBlock, record: int) -> EventStructure | None:
    """Return the structure of an event; None if it is no summary or needs protobuf."""
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
            self.lines = gather_lines(
                block.data,
                block.starts[rows] + RECORD_HEADER_BYTES,
                -(-self.width // BLOCK_PADDING_BYTES) * BLOCK_PADDING_BYTES,
            )

    def select_lines(self, which: NDArray[np.bool_]) -> RecordLines:
        """Return some of the lines."""
        if np.all(which):
            return self
        return RecordLines(self.block, self.rows[which], None if self.lines is None else self.lines[which])

    def without_first(self) -> RecordLines:
        """Return all lines but the first."""
        return RecordLines(self.block, self.rows[1:], None if self.lines is None else self.lines[1:])

    def span_bytes(self, span: ByteSpan) -> Bytes:
        """Return the bytes of a span, for each line."""
        first, last = span
        if self.lines is not None:
            return self.lines[:, first:last]
        return gather_lines(self.block.data, self.block.starts[self.rows] + RECORD_HEADER_BYTES + first, last - first)

    def equal_to_first(self, structure: EventStructure) -> NDArray[np.bool_]:
        """Mark the events that equal the first one outside the spans of its structure."""
        outside = mask_outside_spans(structure.spans, self.width)
        same = self._equal_words(outside) if self.lines is not None else self._equal_parts(outside)
        if structure.step is not None:
            same &= decode_varint_lines(self.span_bytes(structure.step))[1]
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
            else decode_varint_lines(self.span_bytes(structure.step))[0]
        )
        for index, value in enumerate(structure.values):
            yield self._decode_value(index, value, tag, place, step, wall)

    def _decode_value(
        self, index: int, value: ValueStructure, tag: TagNumber, place: Longs, step: Longs, wall: NDArray[np.float64]
    ) -> FoundValues:
        names, number, first = distinct_lines(self.span_bytes(value.tag))
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
