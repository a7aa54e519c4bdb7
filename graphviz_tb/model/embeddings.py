"""Embeddings: tensors with two axes whose rows are points, and what is known of these points."""

from __future__ import annotations

import re
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.notice import Notice

ADDED = re.compile(r"/\.ATTRIBUTES/VARIABLE_VALUE$|:\d{5}$| \(logged\)$")  # behind the name of a variable
Points = NDArray[np.float32]  # [points, dimensions]
DistanceMetric = Literal["cosine", "euclidean"]


class EmbeddingForm(StrEnum):
    """Where the values of an embedding are."""

    TEXT = "tsv"  # a line for each point, tabs between its numbers
    BINARY = "bytes"  # float32, little-endian, row after row
    CHECKPOINT = "checkpoint"  # a variable of a TensorFlow checkpoint
    LOGGED = "logged"  # a tensor of an event file


@dataclass(frozen=True, slots=True)
class Sprite:
    """One image with a small picture of each point, in rows from the left: `size` is that of one, in pixels."""

    path: Path
    size: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Embedding:
    """A tensor of `points` rows and `dimensions` columns.

    `run` is its folder, from the source; `name` is that of the tensor, unique in its run. `values` is the file with the
    numbers: of a checkpoint its index, of a logged tensor none: then `step` says when it was logged. `full_name` is
    that of its variable, where a checkpoint of objects says it.
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
    def variable(self) -> str:
        """The name of the variable that it is of, as a graph may have it: without what checkpoints and torch add.

        >>> Embedding(".", "words:00003", EmbeddingForm.TEXT, 9, 2).variable
        'words'
        """
        return ADDED.sub("", self.full_name or self.name)

    @property
    def key(self) -> tuple[str, str]:
        """What it is known by."""
        return self.run, self.name


@dataclass(frozen=True, slots=True)
class Embeddings:
    """All embeddings of a source, in the order of their runs, those that a configuration names first in each."""

    found: tuple[Embedding, ...] = ()
    notices: tuple[Notice, ...] = ()


@dataclass(frozen=True, slots=True)
class PointColumn:
    """One column of what is known of points: a text for each. `numeric`: each text that is not empty is a number."""

    name: str
    texts: tuple[str, ...]
    numeric: bool

    def numbers(self) -> NDArray[np.float64]:
        """The numbers of a numeric column; NaN where the text is empty."""
        return np.array([float(text) if text.strip() else np.nan for text in self.texts], np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class Projection:
    """Points on few axes: `axes` is [points, axes], NaN for a point whose values are not finite.

    `method` made it. Of principal components `variance` has the share of the whole variance that each explains; of
    others it is empty. `fitted` is how many points the axes were found from.
    """

    method: str
    axes: Points
    variance: tuple[float, ...] = ()
    fitted: int = 0
    notices: tuple[Notice, ...] = ()
    settings: tuple[tuple[str, Any], ...] = ()
