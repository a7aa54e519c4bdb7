"""Values of one form, cut out of a file's bytes together: columns of bytes, not yet numbers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from graphviz_tb.model.columns import Bytes, Ints, Longs, run_bounds
from graphviz_tb.model.logged import Doubles, TagMetadata
from graphviz_tb.read.logged.structure import ByteSpan, ValueForm

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


def gather_lines(data: Bytes, starts: Longs, width: int) -> Bytes:
    """Return `width` bytes from each start, one line each. All must be within the data.

    >>> gather_lines(np.arange(9, dtype=np.uint8), np.array([0, 5]), 3).tolist()
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


def decode_varint_lines(lines: Bytes) -> tuple[Longs, NDArray[np.bool_]]:
    """Decode lines of bytes as varints of this width; also return which lines are valid.

    >>> [column.tolist() for column in decode_varint_lines(np.array([[0x96, 0x01], [0x16, 0x81]], np.uint8))]
    [[150, 150], [True, False]]
    """
    more = lines >= 128
    sound = np.all(more[:, :-1], axis=1) & ~more[:, -1]
    made = np.zeros(len(lines), np.uint64)
    for position in range(lines.shape[1]):
        made |= (lines[:, position] & np.uint8(127)).astype(np.uint64) << np.uint64(7 * position)
    return made.view(np.int64), sound


def distinct_lines(lines: Bytes) -> tuple[list[bytes], Longs, Longs]:
    """Return the distinct lines, the index of each line among them, and the first occurrence of each.

    >>> names, number, first = distinct_lines(np.frombuffer(b"bbaabb", np.uint8).reshape(3, 2))
    >>> sorted(names), [names[each] for each in number], sorted(first.tolist())
    ([b'aa', b'bb'], [b'bb', b'aa', b'bb'], [0, 1])
    """
    count, width = lines.shape
    if not width or np.array_equal(lines, np.broadcast_to(lines[0], lines.shape)):
        return [lines[0].tobytes()], np.zeros(count, np.int64), np.zeros(1, np.int64)
    keys = hash_lines(lines)
    order = np.argsort(keys, kind="stable")
    cuts = run_bounds(keys[order])
    first = order[cuts[:-1]]
    number = np.empty(count, np.int64)
    number[order] = np.repeat(np.arange(len(first)), np.diff(cuts))
    if not np.array_equal(lines[first][number], lines):  # a hash collision
        return distinct_lines_exact(lines)
    return [lines[each].tobytes() for each in first.tolist()], number, first


def hash_lines(lines: Bytes) -> NDArray[np.uint64]:
    """Return a hash of each line."""
    width = lines.shape[1]
    words = np.zeros((len(lines), -(-width // 8) * 8), np.uint8)
    words[:, :width] = lines
    keys = np.zeros(len(lines), np.uint64)
    for word in words.view("<u8").T:
        keys = (keys ^ word) * HASH_MULTIPLIER
        keys ^= keys >> np.uint64(29)
    return keys


def distinct_lines_exact(lines: Bytes) -> tuple[list[bytes], Longs, Longs]:
    seen: dict[bytes, int] = {}
    number = np.array([seen.setdefault(line.tobytes(), len(seen)) for line in lines], np.int64)
    first = np.unique(number, return_index=True)[1].astype(np.int64)
    return list(seen), number, first


def mask_outside_spans(spans: Iterable[ByteSpan], width: int) -> NDArray[np.bool_]:
    """Mark the bytes outside all spans."""
    outside = np.ones(width, np.bool_)
    for first, last in spans:
        outside[first:last] = False
    return outside
