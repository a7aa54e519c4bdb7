"""Mark points that a later restart of the run supersedes. No point is deleted.

A run that crashed and continued from a checkpoint writes some steps again, into a new file. TensorFlow 1 marks this
with a SessionLog; otherwise two files whose times do not overlap show it. Files with overlapping times are two writers
of one run.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graphviz_tb.model.columns import Bools, Longs
from graphviz_tb.model.logged import Restart, SeriesKind

# Kinds written once per run, or again at every restart: their steps mean nothing.
STEPLESS_KINDS: frozenset[SeriesKind] = frozenset(("hparams", "graph", "layout", "text"))


@dataclass(frozen=True, slots=True)
class FileLife:
    """The points of one series in one file, in the order of writing, and the time range of the whole file."""

    file: int
    step: Longs
    place: Longs
    first_wall: float
    last_wall: float


@dataclass(frozen=True, slots=True)
class ProgramStart:
    """A SessionLog record: a program started at `step`."""

    file: int
    place: int
    step: int


@dataclass(frozen=True, slots=True)
class SupersededPoints:
    """A mark per point of a series, and the restarts that superseded any: file, step, count, by SessionLog or not."""

    points: Bools
    by: tuple[tuple[int, int, int, bool], ...]


def mark_superseded(lives: list[FileLife], starts: list[ProgramStart]) -> SupersededPoints:
    """Mark superseded points of a series.

    `lives` are in the order of the files, `starts` are the SessionLogs of the run in the order of writing.
    """
    marks = [np.zeros(len(life.step), np.bool_) for life in lives]
    by: dict[tuple[int, int, bool], int] = {}
    for start in starts[1:]:  # the first one is the run's own start
        for life, mark in zip(lives, marks, strict=True):
            before = life.file < start.file or (life.place < start.place if life.file == start.file else False)
            mark_points(mark, before & (life.step >= start.step), (start.file, start.step, True), by)
    for number, step in enumerate(find_later_lives(lives)):
        if step is not None:
            later, first = step
            mark_points(marks[number], lives[number].step >= first, (lives[later].file, first, False), by)
    return SupersededPoints(
        np.concatenate(marks), tuple((file, step, count, said) for (file, step, said), count in by.items())
    )


def mark_points(mark: Bools, which: Bools, by: tuple[int, int, bool], counts: dict[tuple[int, int, bool], int]) -> None:
    new = int(np.count_nonzero(which & ~mark))
    if new:
        counts[by] = counts.get(by, 0) + new
        mark |= which


def find_later_lives(lives: list[FileLife]) -> list[tuple[int, int] | None]:
    """For each life, return the later life with the lowest first step that starts after it ended, and that step."""
    found: list[tuple[int, int] | None] = [None] * len(lives)
    if len(lives) < 2:
        return found
    first_step = np.array([life.step[0] for life in lives])
    first_wall = np.array([life.first_wall for life in lives])
    for number, life in enumerate(lives[:-1]):
        later = np.flatnonzero(first_wall[number + 1 :] >= life.last_wall) + number + 1
        if len(later):
            least = int(later[np.argmin(first_step[later])])
            found[number] = least, int(first_step[least])
    return found


def summarize_restarts(found: list[tuple[int, int, int, bool]], walls: list[float]) -> tuple[Restart, ...]:
    """Return the restarts of a run, over all its series: one per file, or one per SessionLog.

    `walls` are the first times of the files.
    """
    made: dict[tuple[int, int | None], tuple[int, int]] = {}
    for file, step, count, marked in found:
        key = file, step if marked else None
        least, total = made.get(key, (step, 0))
        made[key] = min(least, step), total + count
    return tuple(
        Restart(step, file, walls[file], count, marked is not None)
        for (file, marked), (step, count) in sorted(made.items(), key=lambda item: (item[0][0], item[1][0]))
    )
