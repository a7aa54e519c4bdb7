"""Embeddings: tensors with two axes whose rows are points, and the metadata of these points."""

from __future__ import annotations

import re
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.notice import Notice

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
