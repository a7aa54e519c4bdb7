"""Logged data of runs: series of points as columns, every point kept, of large values the place on disk.

A *source* is a log directory or one event file. It holds *runs*, one a folder with event files; a run holds *series*,
one a tag and kind; a series holds *points*, in the order in which they were written: file after file in the order of
their names, record after record.
"""

from __future__ import annotations

from dataclasses import field
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphviz_tb.model.columns import Bools, Ints, Longs
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.notice import Notice

Doubles = NDArray[np.float64]
Floats32 = NDArray[np.float32]
Kind = Literal[
    "scalar", "histogram", "image", "audio", "text", "tensor", "pr_curve", "hparams", "mesh", "layout", "graph"
]
LogState = Literal["reading", "ready", "gone"]
RunTag = tuple[str, str]  # the name of a run, and a tag in it: a series
Restarts = Literal["last", "keep"]  # of two lives of a run only the later counts where they overlap; or both do


@dataclass(frozen=True, slots=True)
class About:
    """The metadata of a tag, which its first point has.

    `plugin` is the name of TensorBoard's plugin ("" where none is named), `content` its own message, undecoded: what
    the hyperparameters of a session are, how a mesh is drawn. `description` is Markdown.
    """

    plugin: str = ""
    display_name: str = ""
    description: str = ""
    content: bytes = b""


class Place(NamedTuple):
    """Bytes on disk: `file` is a number in `Run.files`."""

    file: int
    offset: int
    length: int


@dataclass(frozen=True, slots=True, eq=False)
class Histograms:
    """Histograms, one a point: the buckets of point i are `left`, `right` and `count` from `start[i]` to `start[i+1]`.

    Edges do not fall. Of a summary of version 1 empty buckets at both ends are dropped, the first left edge is the
    minimum and the last right edge the maximum; and `minimum` to `sum_squares` are as they were written (of version 2,
    which has none of them, NaN).
    """

    start: Longs
    left: Doubles
    right: Doubles
    count: Doubles
    minimum: Doubles
    maximum: Doubles
    number: Doubles
    sum: Doubles
    sum_squares: Doubles


@dataclass(frozen=True, slots=True, eq=False)
class Blobs:
    """Encoded values on disk: the samples of point i are `file`, `offset` and `length` from `start[i]` to `start[i+1]`.

    `shape` has a number for each point, of its shape in `shapes`. Samples are the images of a point, its sounds, or the
    cells of its table of texts in row-major order. `width` and `height`, in pixels, are those of the images of a point;
    `rate`, in Hz, and `frames` those of its sounds (0: not said).
    """

    start: Longs
    file: Ints
    offset: Longs
    length: Longs
    shape: Ints
    shapes: tuple[tuple[int, ...], ...]
    width: Ints
    height: Ints
    rate: Doubles
    frames: Longs

    def places(self, point: int) -> list[Place]:
        """Where the samples of a point are."""
        first, stop = self.start[point : point + 2].tolist()
        columns = (self.file[first:stop], self.offset[first:stop], self.length[first:stop])
        return [Place(*each) for each in zip(*(column.tolist() for column in columns), strict=True)]


class TensorForm(NamedTuple):
    """The type of a tensor: its dtype, as TensorFlow names it ("float32", "string"), and its shape."""

    dtype: str
    shape: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class TensorPoints:
    """Tensors on disk, one a point: each in an Event of `length` bytes at `offset`, whose value number `value` it is;
    `form` is a number in `forms`."""

    file: Ints
    offset: Longs
    length: Longs
    value: Ints
    form: Ints
    forms: tuple[TensorForm, ...]

    def place(self, point: int) -> Place:
        """Where the event that holds the tensor of a point is."""
        return Place(int(self.file[point]), int(self.offset[point]), int(self.length[point]))


@dataclass(frozen=True, slots=True, eq=False)
class Curves:
    """Precision and recall, one curve a point: a value for each threshold, from `start[i]` to `start[i+1]`."""

    start: Longs
    true_positives: Floats32
    false_positives: Floats32
    true_negatives: Floats32
    false_negatives: Floats32
    precision: Floats32
    recall: Floats32


SeriesData = Histograms | Blobs | TensorPoints | Curves


@dataclass(frozen=True, slots=True)
class SeriesExtent:
    """What is known of the points of a series without its columns: how many there are, their least and greatest step
    and time, how many values are not finite, and the last value that counts, behind its step and time."""

    points: int
    first_step: int
    last_step: int
    first_wall: float
    last_wall: float
    odd: int
    last: tuple[int, float, float] | None

    def with_more(self, later: SeriesExtent) -> SeriesExtent:
        """The extent of these points and of later ones, none of which supersedes any of these."""
        both = [each for each in (later.last, self.last) if each is not None]
        return SeriesExtent(
            self.points + later.points,
            min(self.first_step, later.first_step),
            max(self.last_step, later.last_step),
            float(np.minimum(self.first_wall, later.first_wall)),
            float(np.maximum(self.last_wall, later.last_wall)),
            self.odd + later.odd,
            max(both, key=lambda each: each[:2], default=None),
        )


@dataclass(frozen=True, slots=True, eq=False)
class Series:
    """All points of one tag in one run, in the order of writing.

    `tag` is unique in its run: where a tag has two kinds, the second series is called "TAG (KIND)" and `logged_as` is
    the tag. `wall` is in seconds since 1970. `superseded` marks points that a later life of the run wrote again: they
    are kept. `value` is that of scalars, float32 where the file has float32, else float64; other kinds have `data`, and
    none in `value`. `generation` grows whenever points were added or read again. A reader with little room drops the
    columns of a series: then they are empty, and `dropped` is what is known of them.
    """

    run: str
    tag: str
    kind: Kind
    about: About
    step: Longs
    wall: Doubles
    superseded: Bools
    value: NDArray[np.floating]
    data: SeriesData | None = None
    logged_as: str = ""
    generation: int = 0
    dropped: SeriesExtent | None = None

    def __len__(self) -> int:
        return len(self.step) if self.dropped is None else self.dropped.points

    def extent(self) -> SeriesExtent | None:
        """What is known of the points as a whole; None where there is none."""
        if self.dropped is not None or not len(self.step):
            return self.dropped
        points = self.in_order()
        last = int(points[-1]) if len(points) and len(self.value) else None
        return SeriesExtent(
            len(self),
            int(np.min(self.step)),
            int(np.max(self.step)),
            float(np.min(self.wall)),
            float(np.max(self.wall)),
            int(np.count_nonzero(~np.isfinite(self.value))),
            None if last is None else (int(self.step[last]), float(self.wall[last]), float(self.value[last])),
        )

    def in_order(self, superseded: bool = False) -> Longs:
        """The numbers of the points in the order in which they are drawn: by step, then time, then place in the file.

        Those that are superseded are left out, unless they are asked for.
        """
        points = np.arange(len(self)) if superseded or not np.any(self.superseded) else np.flatnonzero(~self.superseded)
        step, wall = self.step[points], self.wall[points]
        rising = (step[1:] > step[:-1]) | ((step[1:] == step[:-1]) & (wall[1:] >= wall[:-1]))
        return points if np.all(rising) else points[np.lexsort((wall, step))]


@dataclass(frozen=True, slots=True)
class Restart:
    """A run that began again at `step`, in `file` (a number in `Run.files`): `points` earlier ones are superseded.

    `marked`: by a SessionLog, as TensorFlow 1 writes it; else the steps and times of two files show it. `wall` is the
    time of the first point afterwards.
    """

    step: int
    file: int
    wall: float
    points: int
    marked: bool


@dataclass(frozen=True, slots=True)
class Run:
    """One folder with event files.

    `name` is the path of the folder from the source, with "/" between ("." is the source itself); `files` are paths of
    the event files from the source, in the order in which they are read. Steps and times are the least and greatest of
    all its series (None: no points). `graphs` counts the records that hold a graph. `points` counts all, `superseded`
    those of them.
    """

    name: str
    files: tuple[str, ...]
    state: LogState = "ready"
    points: int = 0
    superseded: int = 0
    graphs: int = 0
    first_step: int | None = None
    last_step: int | None = None
    first_wall: float | None = None
    last_wall: float | None = None
    restarts: tuple[Restart, ...] = ()
    notices: tuple[Notice, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Logged:
    """All that a source held when it was last read: runs and series in the order of their names.

    `generation` grows with each reading that found something new.
    """

    runs: tuple[Run, ...]
    series: tuple[Series, ...]
    notices: tuple[Notice, ...] = ()
    generation: int = 0


@dataclass(frozen=True, slots=True)
class LogChanges:
    """The changes that a reading of the log found since the one before.

    `points` says how many points came to a series, by run and tag; `again` are series that were read from the start,
    because a file was replaced or is gone: what was known of them no longer holds. `graphs` are runs that hold a graph
    more, `gone` those whose files are gone.
    """

    generation: int = 0
    runs: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    graphs: tuple[str, ...] = ()
    points: dict[tuple[str, str], int] = field(default_factory=dict)
    again: tuple[tuple[str, str], ...] = ()
    notices: tuple[Notice, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.runs or self.gone or self.graphs or self.points or self.again or self.notices)
