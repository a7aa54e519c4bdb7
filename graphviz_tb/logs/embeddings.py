"""The embeddings of a source: discovery, values, metadata and notices."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from graphviz_tb.caches import BoundedCache
from graphviz_tb.errors import ReadError, TbGraphError, UnknownNode
from graphviz_tb.formats.projector import find_embeddings, read_point_metadata, read_points, read_sprite
from graphviz_tb.limits import EMBEDDING_POINTS, MAX_EMBEDDING_DIMENSIONS, MAX_EMBEDDING_NUMBERS, MIN_EMBEDDING_POINTS
from graphviz_tb.logs.log import Log
from graphviz_tb.model.logs import Embedding, EmbeddingForm, Embeddings, PointColumn, Points, Series, TensorPoints
from graphviz_tb.model.notice import Notice
from graphviz_tb.model.sources import absolute_sources

CACHED_EMBEDDINGS = 2  # embeddings whose values stay in memory
# Data types of logged tensors that may be points.
POINT_DTYPES = frozenset(
    ("float32", "float64", "float16", "bfloat16", "int8", "int16", "int32", "int64", "uint8", "uint16")
)
EmbeddingStamp = tuple[int, ...]


class Projector:
    """Reads the embeddings of a log directory, its event files, or a checkpoint. Thread-safe.

    `log` is the log of the source, if it has one.
    """

    def __init__(self, source: str | os.PathLike[str], log: Log | None = None) -> None:
        self.source, self.log = Path(absolute_sources(source)), log
        self._values: BoundedCache[Points] = BoundedCache(CACHED_EMBEDDINGS)
        self._logged: dict[tuple[str, str], tuple[EmbeddingStamp, Embedding | None]] = {}
        self.embeddings = Embeddings()

    def refresh(self) -> Embeddings:
        """List the embeddings that exist now. Raises ReadError if the source cannot be listed."""
        stored = find_embeddings(self.source)
        taken = {embedding.key for embedding in stored.found}
        every = [*stored.found, *(_with_unique_name(embedding, taken) for embedding in self._logged_embeddings())]
        order = {run: at for at, run in enumerate(dict.fromkeys(embedding.run for embedding in every))}
        every.sort(key=lambda embedding: order[embedding.run])
        self.embeddings = Embeddings(tuple(every), stored.notices)
        return self.embeddings

    def get(self, run: str | None, name: str) -> Embedding:
        """Return an embedding by name, in one run or in the first that has it. Raises UnknownNode."""
        for embedding in self.embeddings.found:
            if embedding.name == name and run in (None, embedding.run):
                return embedding
        error = UnknownNode.among(name, [embedding.name for embedding in self.embeddings.found], "embedding")
        raise UnknownNode(error.message, hint="`tbgraph project LOGDIR` lists them")

    def values(self, one: Embedding) -> Points:
        """Return the points of an embedding, as many as the limits allow. Raises ReadError."""
        stamp = self.embedding_stamp(one)
        values = self._values.get(one.key, stamp)
        if values is not None:
            return values
        values = self._read_logged_tensor(one) if one.form is EmbeddingForm.LOGGED else read_points(one)
        values.setflags(write=False)
        return self._values.store(one.key, stamp, values)

    def columns(self, one: Embedding) -> tuple[tuple[PointColumn, ...], tuple[Notice, ...]]:
        """Return the metadata columns of an embedding's points, and notices. Raises ReadError if its points cannot be
        read."""
        if one.metadata is None:
            return (), ()
        return read_point_metadata(one.metadata, one.points, len(self.values(one)))

    def sprite(self, one: Embedding) -> bytes:
        """Return the bytes of the sprite image. Raises ReadError if there is none."""
        return read_sprite(one)

    def notices(self, one: Embedding) -> tuple[Notice, ...]:
        """Return a notice if only some of the points were read."""
        read = len(self.values(one))
        text = f"the first {read:,} of {one.points:,} points are read"
        return (Notice("points", text, one.name),) if read < one.points else ()

    def embedding_stamp(self, one: Embedding) -> EmbeddingStamp:
        """Return a key that changes with the embedding's files. Raises ReadError if one is gone."""
        files = [one.values, one.metadata, one.sprite.path if one.sprite else None]
        try:
            stats = [path.stat() for path in files if path is not None]
        except OSError as error:
            raise ReadError(f"'{one.name[:80]}' is gone: {error.strerror}") from None
        return (
            one.points,
            one.dimensions,
            one.step or 0,
            *(n for each in stats for n in (each.st_mtime_ns, each.st_size)),
        )

    def _logged_embeddings(self) -> Iterator[Embedding]:
        """Yield the tensor series whose last tensor may be an embedding."""
        for series in self.log.logged.series if self.log is not None else ():
            if series.kind == "tensor":
                key, stamp = (series.run, series.tag), (series.generation, len(series))
                known = self._logged.get(key)
                if known is None or (known[0] != stamp and series.data is not None):
                    known = self._logged[key] = stamp, _embedding_of_series(series)
                if known[1] is not None:
                    yield known[1]

    def _read_logged_tensor(self, one: Embedding) -> Points:
        if self.log is None:
            raise ReadError("the log is gone")
        series = self.log.series(one.run, one.name.removesuffix(LOGGED_SUFFIX))
        if series.dropped is not None:
            [series] = self.log.read_again([series])
        order = series.point_order()
        array = self.log.tensor(series, int(order[-1]))
        if array.ndim != 2:
            raise ReadError(f"'{one.name}' has no rows any more", hint="ask for the list again")
        rows = min(len(array), int(EMBEDDING_POINTS), MAX_EMBEDDING_NUMBERS // max(1, array.shape[1]))
        with np.errstate(over="ignore"):
            return array[:rows].astype(np.float32)


LOGGED_SUFFIX = " (logged)"


def _with_unique_name(one: Embedding, taken: set[tuple[str, str]]) -> Embedding:
    """Return the embedding with " (logged)" added to its name if a stored one has that name."""
    return replace(one, name=one.name + LOGGED_SUFFIX) if one.key in taken else one


def _embedding_of_series(series: Series) -> Embedding | None:
    """Return the last tensor of a series as an embedding; None if its rows cannot be points."""
    if not isinstance(series.data, TensorPoints):
        return None
    order = series.point_order()
    if not len(order):
        return None
    dtype, shape = series.data.forms[int(series.data.form[order[-1]])]
    if (
        dtype not in POINT_DTYPES
        or len(shape) != 2
        or shape[0] < MIN_EMBEDDING_POINTS
        or not 2 <= shape[1] <= MAX_EMBEDDING_DIMENSIONS
    ):
        return None
    return Embedding(series.run, series.tag, EmbeddingForm.LOGGED, *shape, step=int(series.step[order[-1]]))


def find_projector(source: str | os.PathLike[str], log: Log | None = None) -> Projector | None:
    """Return the projector of a source; None if it has no embeddings or cannot be listed."""
    projector = Projector(source, log)
    try:
        return projector if projector.refresh().found else None
    except TbGraphError:
        return None
