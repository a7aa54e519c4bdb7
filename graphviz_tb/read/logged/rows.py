"""Points of many series as columns: in decoding order, then sorted by series."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphviz_tb.model.columns import Ints, Longs, run_bounds
from graphviz_tb.model.logged import Doubles

RowColumn = NDArray[Any]


@dataclass(frozen=True, slots=True)
class PointRows:
    """Points: number of the tag, file offset of the record (`place`), step, wall time.

    `fixed` columns have one value per point; `ragged` ones have `size[i]` consecutive values for point i.
    """

    tag: Ints
    place: Longs
    step: Longs
    wall: Doubles
    fixed: dict[str, RowColumn] = field(default_factory=dict)
    ragged: dict[str, RowColumn] = field(default_factory=dict)
    size: Longs = field(default_factory=lambda: np.zeros(0, np.int64))

    def __len__(self) -> int:
        return len(self.tag)

    def take_points(self, points: Longs) -> PointRows:
        """Return some points, in this order."""
        made = replace(
            self,
            tag=self.tag[points],
            place=self.place[points],
            step=self.step[points],
            wall=self.wall[points],
            fixed={name: column[points] for name, column in self.fixed.items()},
        )
        if not self.ragged:
            return made
        size = self.size[points]
        start = np.cumsum(self.size) - self.size
        # Indexes of all ragged values: for each point its start plus 0, 1, 2 …
        inner = np.arange(int(size.sum())) - np.repeat(np.cumsum(size) - size, size)
        values = np.repeat(start[points], size) + inner
        return replace(made, size=size, ragged={name: column[values] for name, column in self.ragged.items()})

    def slice_points(self, part: slice, inner: slice) -> PointRows:
        """Return a slice of points, with `inner` as the slice of ragged values, without a copy."""
        return PointRows(
            self.tag[part],
            self.place[part],
            self.step[part],
            self.wall[part],
            {name: column[part] for name, column in self.fixed.items()},
            {name: column[inner] for name, column in self.ragged.items()},
            self.size[part],
        )

    def memory_bytes(self) -> int:
        """Return the memory of the columns, in bytes."""
        columns: list[RowColumn] = [self.tag, self.place, self.step, self.wall, self.size]
        return sum(column.nbytes for column in (*columns, *self.fixed.values(), *self.ragged.values()))

    def sort_by_tag(self) -> PointRows:
        """Return the points sorted by tag, within a tag in the order of the file."""
        order = np.lexsort((self.place, self.tag))
        return self if np.all(order[1:] > order[:-1]) else self.take_points(order)


def concatenate_rows(parts: Sequence[PointRows]) -> PointRows:
    """Concatenate rows that have the same columns."""
    if len(parts) == 1:
        return parts[0]

    def join(columns: list[RowColumn]) -> RowColumn:
        return np.concatenate(columns)

    first = parts[0]
    return PointRows(
        join([part.tag for part in parts]),
        join([part.place for part in parts]),
        join([part.step for part in parts]),
        join([part.wall for part in parts]),
        {name: join([part.fixed[name] for part in parts]) for name in first.fixed},
        {name: join([part.ragged[name] for part in parts]) for name in first.ragged},
        join([part.size for part in parts]),
    )


class SortedRows:
    """Rows sorted by tag, with the bounds of each tag."""

    def __init__(self, rows: PointRows) -> None:
        self.rows = rows.sort_by_tag()
        starts = run_bounds(self.rows.tag)
        tags = self.rows.tag[starts[:-1]].tolist()
        parts = map(slice, starts[:-1].tolist(), starts[1:].tolist())
        inner: Iterable[slice] = repeat(slice(0, 0))
        if self.rows.ragged:
            ends = np.concatenate(([0], np.cumsum(self.rows.size)))[starts].tolist()
            inner = map(slice, ends[:-1], ends[1:])
        self._bounds = dict(zip(tags, zip(parts, inner, strict=False), strict=True))

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def tags(self) -> list[int]:
        """Tags with points, by number."""
        return list(self._bounds)

    def rows_of_tag(self, tag: int) -> PointRows | None:
        """Return the points of one tag, or None."""
        bounds = self._bounds.get(tag)
        return None if bounds is None else self.rows.slice_points(*bounds)


class GrowingRows:
    """Rows of a growing file. New rows are merged with parts of similar size, so that there are few parts.

    `steps` and `walls` are minimum and maximum; `count` includes the points of `dropped` tags.
    """

    def __init__(self) -> None:
        self.parts: list[SortedRows] = []
        self.dropped: set[int] = set()
        self.steps, self.walls = (2**63 - 1, -(2**63)), (np.inf, -np.inf)
        self.count = 0

    def add_rows(self, rows: PointRows) -> None:
        """Add rows that were read next."""
        self.count += len(rows)
        self.steps = min(self.steps[0], int(np.min(rows.step))), max(self.steps[1], int(np.max(rows.step)))
        self.walls = (
            float(np.fmin.reduce(rows.wall, initial=self.walls[0])),
            float(np.fmax.reduce(rows.wall, initial=self.walls[1])),
        )
        self._merge_part(rows)

    def _merge_part(self, rows: PointRows) -> None:
        parts = self.parts
        while parts and len(parts[-1]) <= 2 * len(rows):
            rows = concatenate_rows([parts.pop().rows, rows])
        parts.append(SortedRows(rows))

    @property
    def tags(self) -> set[int]:
        """Tags with points, loaded or dropped."""
        return self.dropped.union(*(part.tags for part in self.parts))

    def drop_tags(self, tags: set[int]) -> None:
        """Drop the points of some tags, but remember that these exist."""
        listed, kept = np.array(sorted(tags), np.int64), []
        for part in self.parts:
            found = tags.intersection(part.tags)
            self.dropped |= found
            if not found:
                kept.append(part)
            elif len(found) < len(part.tags):
                kept.append(SortedRows(part.rows.take_points(np.flatnonzero(~np.isin(part.rows.tag, listed)))))
        self.parts = kept

    def restore_rows(self, rows: PointRows) -> None:
        """Add the points of dropped tags, read again."""
        self.dropped.difference_update(rows.tag.tolist())
        self._merge_part(rows)

    def rows_of_tag(self, tag: int) -> list[PointRows]:
        """Return the points of one tag, in the order of the file."""
        return [rows for part in self.parts if (rows := part.rows_of_tag(tag)) is not None]
