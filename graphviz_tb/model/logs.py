"""Logged data of runs: series of points as columns, custom charts, hyperparameters, embeddings.

A *source* is a log directory or one event file. It has *runs*, one per folder with event files; a run has *series*, one
per tag and kind; a series has *points*, in the order of writing: file after file sorted by name, record after record.
Every point is kept; large values stay on disk.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphviz_tb.model.columns import Bools, Ints, Longs
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.notice import Notice

Doubles = NDArray[np.float64]
Floats32 = NDArray[np.float32]
SeriesKind = Literal[
    "scalar", "histogram", "image", "audio", "text", "tensor", "pr_curve", "hparams", "mesh", "layout", "graph"
]
LogState = Literal["reading", "ready", "gone"]
RunTag = tuple[str, str]  # the name of a run, and a tag in it: a series
RestartMode = Literal["last", "keep"]  # overlapping points of a restarted run: keep only the later ones, or both


@dataclass(frozen=True, slots=True)
class TagMetadata:
    """The metadata of a tag, taken from its first point.

    `plugin` is the name of TensorBoard's plugin ("" if none is named), `content` the plugin's own message, undecoded:
    the hyperparameters of a session, the drawing of a mesh. `description` is Markdown.
    """

    plugin: str = ""
    display_name: str = ""
    description: str = ""
    content: bytes = b""


class FileRange(NamedTuple):
    """A byte range on disk: `file` is an index into `Run.files`."""

    file: int
    offset: int
    length: int


@dataclass(frozen=True, slots=True, eq=False)
class HistogramPoints:
    """Histograms, one per point: the buckets of point i are `left`, `right` and `count` from `start[i]` to
    `start[i+1]`.

    Edges never decrease. In a summary of version 1, empty buckets at both ends are dropped, the first left edge is the
    minimum, the last right edge the maximum, and `minimum` to `sum_squares` are as written; version 2 has none of these
    (NaN).
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
class BlobPoints:
    """Encoded values on disk: the samples of point i are `file`, `offset` and `length` from `start[i]` to `start[i+1]`.

    `shape` has one number per point, an index into `shapes`. Samples are the images of a point, its sounds, or the
    cells of its table of texts in row-major order. `width` and `height` are those of the images of a point, in pixels;
    `rate` (Hz) and `frames` those of its sounds (0: not stated).
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

    def sample_ranges(self, point: int) -> list[FileRange]:
        first, stop = self.start[point : point + 2].tolist()
        columns = (self.file[first:stop], self.offset[first:stop], self.length[first:stop])
        return [FileRange(*place) for place in zip(*(column.tolist() for column in columns), strict=True)]


class TensorForm(NamedTuple):
    """The type of a tensor: its dtype, as TensorFlow names it ("float32", "string"), and its shape."""

    dtype: str
    shape: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class TensorPoints:
    """Tensors on disk, one per point, each in an Event of `length` bytes at `offset`, as its value number `value`;
    `form` is an index into `forms`."""

    file: Ints
    offset: Longs
    length: Longs
    value: Ints
    form: Ints
    forms: tuple[TensorForm, ...]

    def event_range(self, point: int) -> FileRange:
        """Return the byte range of the event with the tensor of a point."""
        return FileRange(int(self.file[point]), int(self.offset[point]), int(self.length[point]))


@dataclass(frozen=True, slots=True, eq=False)
class CurvePoints:
    """Precision and recall, one curve per point: one value per threshold, from `start[i]` to `start[i+1]`."""

    start: Longs
    true_positives: Floats32
    false_positives: Floats32
    true_negatives: Floats32
    false_negatives: Floats32
    precision: Floats32
    recall: Floats32


SeriesData = HistogramPoints | BlobPoints | TensorPoints | CurvePoints


@dataclass(frozen=True, slots=True)
class SeriesExtent:
    """Summary of a series without its columns: number of points, least and greatest step and time, number of values
    that are not finite (`odd`), and the last value that counts, with its step and time."""

    points: int
    first_step: int
    last_step: int
    first_wall: float
    last_wall: float
    odd: int
    last: tuple[int, float, float] | None

    def extended_by(self, later: SeriesExtent) -> SeriesExtent:
        """Return the extent of these points and of later ones, none of which supersedes any of these."""
        both = [point for point in (later.last, self.last) if point is not None]
        return SeriesExtent(
            self.points + later.points,
            min(self.first_step, later.first_step),
            max(self.last_step, later.last_step),
            float(np.minimum(self.first_wall, later.first_wall)),
            float(np.maximum(self.last_wall, later.last_wall)),
            self.odd + later.odd,
            max(both, key=lambda point: point[:2], default=None),
        )


@dataclass(frozen=True, slots=True, eq=False)
class Series:
    """All points of one tag in one run, in the order of writing.

    `tag` is unique in its run: if a tag has two kinds, the name of the second series is "TAG (KIND)", and `logged_as`
    is the tag. `wall` is in seconds since 1970. `superseded` marks points that a restarted run wrote again; they are
    kept. `value` has the scalars, float32 if the file has float32, else float64; other kinds use `data`, and `value` is
    empty. `generation` increases whenever points are added or read again. A reader short of memory drops the columns of
    a series: they are empty then, and `dropped` is their summary.
    """

    run: str
    tag: str
    kind: SeriesKind
    about: TagMetadata
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
        """Return the summary of the points; None if there are none."""
        if self.dropped is not None or not len(self.step):
            return self.dropped
        points = self.point_order()
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

    def point_order(self, superseded: bool = False) -> Longs:
        """Return the numbers of the points in drawing order: by step, then time, then place in the file.

        Superseded points are left out unless requested.
        """
        points = np.arange(len(self)) if superseded or not np.any(self.superseded) else np.flatnonzero(~self.superseded)
        step, wall = self.step[points], self.wall[points]
        rising = (step[1:] > step[:-1]) | ((step[1:] == step[:-1]) & (wall[1:] >= wall[:-1]))
        return points if np.all(rising) else points[np.lexsort((wall, step))]


@dataclass(frozen=True, slots=True)
class Restart:
    """A restart of a run at `step`, in `file` (an index into `Run.files`): `points` earlier points are superseded.

    `marked` if a SessionLog says so, as TensorFlow 1 writes it; otherwise deduced from steps and times of two files.
    `wall` is the time of the first point afterwards.
    """

    step: int
    file: int
    wall: float
    points: int
    marked: bool


@dataclass(frozen=True, slots=True)
class Run:
    """One folder with event files.

    `name` is the path of the folder relative to the source, with "/" as separator ("." for the source); `files` are the
    paths of the event files relative to the source, in reading order. Steps and times are the extremes over all series
    (None: no points). `graphs` is the number of records with a graph, `points` the number of points, of which
    `superseded` are superseded.
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
class LogContents:
    """The contents of a source at its last reading: runs and series sorted by name.

    `generation` increases with each reading that finds something new.
    """

    runs: tuple[Run, ...]
    series: tuple[Series, ...]
    notices: tuple[Notice, ...] = ()
    generation: int = 0


@dataclass(frozen=True, slots=True)
class LogChanges:
    """Changes of a log since the previous reading.

    `points` is the number of new points by run and tag; `again` are series that were read from the start, because a
    file was replaced or removed: anything derived from them is outdated. `graphs` are runs with a new graph, `gone`
    runs whose files are gone.
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


# Custom charts: the layout that a training wrote for TensorBoard's plugin `custom_scalars`.


class MarginLine(NamedTuple):
    """A line with a band around it: the tags of the line and of its two borders."""

    value: str
    lower: str
    upper: str


@dataclass(frozen=True, slots=True)
class CustomChart:
    """One chart: patterns of its tags (regular expressions, matched from the start of a tag), or lines with bands."""

    title: str
    tags: tuple[str, ...] = ()
    margins: tuple[MarginLine, ...] = ()


@dataclass(frozen=True, slots=True)
class CustomCategory:
    """Charts under one title; `closed` if they are folded at first."""

    title: str
    closed: bool
    charts: tuple[CustomChart, ...]


# Hyperparameters of trials: the settings of each session, and the metrics to compare sessions by.

HParamWord = Literal["", "string", "bool", "float64"]  # "": not stated
StatusWord = Literal["unknown", "success", "failure", "running"]
HParamSetting = str | bool | float | None


class HParamInterval(NamedTuple):
    """All numbers from `least` to `greatest`."""

    least: float
    greatest: float


@dataclass(frozen=True, slots=True)
class HParam:
    """A hyperparameter. `domain` are the values to be tried (None: not stated); `about` is Markdown."""

    name: str
    title: str = ""
    about: str = ""
    type: HParamWord = ""
    domain: tuple[HParamSetting, ...] | HParamInterval | None = None


@dataclass(frozen=True, slots=True)
class Metric:
    """A scalar to compare sessions by: its tag, in the run of the session or in the run `group` below it."""

    tag: str
    group: str = ""
    title: str = ""
    about: str = ""


@dataclass(frozen=True, slots=True)
class TrialSession:
    """One run with hyperparameters. Sessions of one `group` repeat one trial; times are in seconds since 1970."""

    run: str
    group: str
    hparams: Mapping[str, HParamSetting] = field(default_factory=dict)
    status: StatusWord = "unknown"
    start: float | None = None
    end: float | None = None


@dataclass(frozen=True, slots=True)
class Trials:
    """All sessions of a log, in the order of their runs, with hyperparameters and metrics."""

    hparams: tuple[HParam, ...] = ()
    metrics: tuple[Metric, ...] = ()
    sessions: tuple[TrialSession, ...] = ()


# Embeddings: tensors with two axes whose rows are points, and the metadata of these points.

VARIABLE_SUFFIX = re.compile(r"/\.ATTRIBUTES/VARIABLE_VALUE$|:\d{5}$| \(logged\)$")  # suffixes of variable names
Points = NDArray[np.float32]  # [points, dimensions]
DistanceMetric = Literal["cosine", "euclidean"]


class EmbeddingForm(StrEnum):
    """The storage of an embedding's values."""

    TEXT = "tsv"  # a line for each point, tabs between its numbers
    BINARY = "bytes"  # float32, little-endian, row after row
    CHECKPOINT = "checkpoint"  # a variable of a TensorFlow checkpoint
    LOGGED = "logged"  # a tensor of an event file


@dataclass(frozen=True, slots=True)
class Sprite:
    """One image with a thumbnail of each point, row by row from the left; `size` is that of a thumbnail, in pixels."""

    path: Path
    size: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Embedding:
    """A tensor of `points` rows and `dimensions` columns.

    `run` is its folder relative to the source; `name` is unique in its run. `values` is the file with the numbers: the
    index file for a checkpoint, None for a logged tensor, which has the `step` at which it was logged. `full_name` is
    the variable's name, if an object-based checkpoint states it.
    """

    run: str
    name: str
    form: EmbeddingForm
    points: int
    dimensions: int
    values: Path | None = None
    metadata: Path | None = None
    sprite: Sprite | None = None
    step: int | None = None
    full_name: str = ""

    @property
    def variable_name(self) -> str:
        """The name of its variable as a graph may have it, without the suffixes that checkpoints and torch add.

        >>> Embedding(".", "words:00003", EmbeddingForm.TEXT, 9, 2).variable_name
        'words'
        """
        return VARIABLE_SUFFIX.sub("", self.full_name or self.name)

    @property
    def key(self) -> tuple[str, str]:
        """Run and name, which identify it."""
        return self.run, self.name


@dataclass(frozen=True, slots=True)
class Embeddings:
    """All embeddings of a source, by run; within a run those named in a configuration come first."""

    found: tuple[Embedding, ...] = ()
    notices: tuple[Notice, ...] = ()


@dataclass(frozen=True, slots=True)
class PointColumn:
    """One metadata column of points: a text per point. `numeric` if each non-empty text is a number."""

    name: str
    texts: tuple[str, ...]
    numeric: bool

    def numbers(self) -> NDArray[np.float64]:
        """Return the numbers of a numeric column; NaN for an empty text."""
        return np.array([float(text) if text.strip() else np.nan for text in self.texts], np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class Projection:
    """Points on few axes: `axes` is [points, axes], NaN for a point with values that are not finite.

    `method` names the projection. `variance` is the share of the variance that each principal component explains; empty
    for other methods. `fitted` is the number of points from which the axes were computed.
    """

    method: str
    axes: Points
    variance: tuple[float, ...] = ()
    fitted: int = 0
    notices: tuple[Notice, ...] = ()
    settings: tuple[tuple[str, Any], ...] = ()
