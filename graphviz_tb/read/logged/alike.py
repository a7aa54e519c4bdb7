"""Decode all events of one structure together.

Records of equal length form lines of bytes. The first is parsed by hand; all records whose bytes are equal outside the
spans of time, step, tags and values share its structure, and those spans become columns. The rest is tried again in the
next round, or decoded one by one if a structure has few events.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from graphviz_tb.limits import STRUCTURES_OF_LENGTH
from graphviz_tb.model.columns import Bytes, Longs, runs
from graphviz_tb.read.logged.block import PADDING, RecordBlock
from graphviz_tb.read.logged.group import (
    WAV_HEAD,
    Found,
    ValueGroup,
    distinct_lines,
    gathered,
    mask_of,
    numbers_of,
    varints,
)
from graphviz_tb.read.logged.structure import ByteSpan, CutError, LoggedValue, OddError, Structure, structure_of
from graphviz_tb.read.records import HEADER

FEW = 48  # up to so many events, decoding one by one is as fast
WIDE = 4096  # bytes of an event above which only the needed spans are copied
Tag = Callable[[bytes], int]


class Unlike(list[int]):
    """Records that are decoded one by one."""


def found_alike(block: RecordBlock, tag: Tag, unlike: Unlike, damaged: Callable[[int], None]) -> Iterator[Found]:
    """Yield the values of a block's events of common structures; add all other records to `unlike`."""
    order = np.argsort(block.sizes, kind="stable")
    cuts = runs(block.sizes[order])
    for first, stop in zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True):
        rows = order[first:stop]
        if len(rows) < FEW:
            unlike += rows.tolist()
        else:
            yield from _of_one_length(block, rows, tag, unlike, damaged)


def _of_one_length(
    block: RecordBlock, rows: Longs, tag: Tag, unlike: Unlike, damaged: Callable[[int], None]
) -> Iterator[Found]:
    lines = _Lines(block, rows)
    tried, failed, allowed = 0, 0, len(rows) // (2 * FEW)
    while len(lines.rows) >= FEW and tried < STRUCTURES_OF_LENGTH and failed <= allowed:
        first = int(lines.rows[0])
        structure = _structure(block, first)
        tried += 1
        if structure is None:
            unlike.append(first)
            lines, failed = lines.without_first(), failed + 1
            continue
        if not block.sound(first):
            damaged(first)
            lines, failed = lines.without_first(), failed + 1
            continue
        same = lines.like_first(structure)
        alike = lines.only(same)
        if len(alike.rows) < FEW:
            unlike += alike.rows.tolist()
            failed += 1
        else:
            yield from alike.values(structure, tag)
        lines = lines.only(~same)
    unlike += lines.rows.tolist()


def _structure(block: RecordBlock, record: int) -> Structure | None:
    """Return the structure of an event; None if it is no summary or needs protobuf."""
    payload = block.payload(record)
    try:
        structure = structure_of(payload, len(payload))
    except (OddError, CutError):
        return None
    return structure if structure and structure.values else None


class _Lines:
    """Records of one length, as lines of bytes if these are short."""

    def __init__(self, block: RecordBlock, rows: Longs, lines: Bytes | None = None) -> None:
        self.block, self.rows = block, rows
        self.width = int(block.sizes[rows[0]]) if len(rows) else 0
        self.lines = lines
        if lines is None and self.width <= WIDE:
            self.lines = gathered(block.data, block.starts[rows] + HEADER, -(-self.width // PADDING) * PADDING)

    def only(self, which: NDArray[np.bool_]) -> _Lines:
        """Return some of the lines."""
        if np.all(which):
            return self
        return _Lines(self.block, self.rows[which], None if self.lines is None else self.lines[which])

    def without_first(self) -> _Lines:
        """Return all lines but the first."""
        return _Lines(self.block, self.rows[1:], None if self.lines is None else self.lines[1:])

    def cut(self, span: ByteSpan) -> Bytes:
        """Return the bytes of a span, for each line."""
        first, last = span
        if self.lines is not None:
            return self.lines[:, first:last]
        return gathered(self.block.data, self.block.starts[self.rows] + HEADER + first, last - first)

    def like_first(self, structure: Structure) -> NDArray[np.bool_]:
        """Mark the events that equal the first one outside the spans of its structure."""
        outside = mask_of(structure.spans, self.width)
        same = self._equal_words(outside) if self.lines is not None else self._equal_parts(outside)
        if structure.step is not None:
            same &= varints(self.cut(structure.step))[1]
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
            part = self.cut((first, last))
            same &= np.all(part == part[0], axis=1)
        return same

    def values(self, structure: Structure, tag: Tag) -> Iterator[Found]:
        """Yield the values of a structure that all lines share, each with one line per event."""
        place = self.block.offset + self.block.starts[self.rows]
        wall = numbers_of(self.cut(structure.wall), "<f8")[:, 0]
        step = np.zeros(len(place), np.int64) if structure.step is None else varints(self.cut(structure.step))[0]
        for index, value in enumerate(structure.values):
            yield self._value(index, value, tag, place, step, wall)

    def _value(
        self, index: int, value: LoggedValue, tag: Tag, place: Longs, step: Longs, wall: NDArray[np.float64]
    ) -> Found:
        names, number, first = distinct_lines(self.cut(value.tag))
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
            numbers={name: self.cut(span) for name, span in value.numbers.items()},
            at=place[:, None] + HEADER + spans[:, 0],
            length=np.broadcast_to(spans[:, 1] - spans[:, 0], (len(place), len(spans))),
            heads=self._heads(value),
        )
        return Found(group, value.about, dict(zip(tags, place[first].tolist(), strict=True)))

    def _heads(self, value: LoggedValue) -> Bytes | None:
        if value.form.plugin != "audio" or not value.blobs:
            return None
        first, last = value.blobs[0]
        return self.cut((first, min(last, first + WAV_HEAD)))
