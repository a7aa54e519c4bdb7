"""The embeddings of a source, wherever they are: their points, what is known of these, and what is found of them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from graphviz_tb.errors import ReadError, TbGraphError, UnknownNode
from graphviz_tb.limits import EMBEDDING_DIMENSIONS, EMBEDDING_NUMBERS, EMBEDDING_POINTS, FEWEST_POINTS
from graphviz_tb.log import Log
from graphviz_tb.model.embeddings import Embedding, EmbeddingForm, Embeddings, PointColumn, Points
from graphviz_tb.model.later import KeptValues
from graphviz_tb.model.logged import Series, TensorPoints
from graphviz_tb.model.notice import Notice
from graphviz_tb.model.sources import lasting
from graphviz_tb.read.projector import find_embeddings, read_metadata, read_sprite, read_values

KEPT = 2  # embeddings whose values are in memory
# Tensors of an event file that may be points, by the names of their types.
NUMBERS = frozenset(("float32", "float64", "float16", "bfloat16", "int8", "int16", "int32", "int64", "uint8", "uint16"))
Stamp = tuple[int, ...]


class Projector:
    """Reads the embeddings of a log directory, of its event files, or of a checkpoint. `log` is the log of the source,
    where it has one. May be used by several threads."""

    def __init__(self, source: str | os.PathLike[str], log: Log | None = None) -> None:
        self.source, self.log = Path(lasting(source)), log
        self._values: KeptValues[Points] = KeptValues(KEPT)
        self._logged: dict[tuple[str, str], tuple[Stamp, Embedding | None]] = {}
        self.embeddings = Embeddings()

    def refresh(self) -> Embeddings:
        """Look which embeddings there are now. Raises ReadError where the source cannot be listed."""
        stored = find_embeddings(self.source)
        taken = {each.key for each in stored.found}
        every = [*stored.found, *(named(one, taken) for one in self._of_log())]
        order = {run: at for at, run in enumerate(dict.fromkeys(each.run for each in every))}
        every.sort(key=lambda each: order[each.run])
        self.embeddings = Embeddings(tuple(every), stored.notices)
        return self.embeddings

    def get(self, run: str | None, name: str) -> Embedding:
        """The embedding of a name, in one run or in the first that has it. Raises UnknownNode."""
        for one in self.embeddings.found:
            if one.name == name and run in (None, one.run):
                return one
        error = UnknownNode.among(name, [one.name for one in self.embeddings.found], "embedding")
        raise UnknownNode(error.message, hint="`tbgraph project LOGDIR` lists them")

    def values(self, one: Embedding) -> Points:
        """The points of an embedding, as many as limits allow. Raises ReadError."""
        stamp = self.stamp(one)
        values = self._values.get(one.key, stamp)
        if values is not None:
            return values
        values = self._tensor(one) if one.form is EmbeddingForm.LOGGED else read_values(one)
        values.setflags(write=False)
        return self._values.put(one.key, stamp, values)

    def columns(self, one: Embedding) -> tuple[tuple[PointColumn, ...], tuple[Notice, ...]]:
        """What is known of the points of an embedding. Raises ReadError where its points cannot be read."""
        if one.metadata is None:
            return (), ()
        return read_metadata(one.metadata, one.points, len(self.values(one)))

    def sprite(self, one: Embedding) -> bytes:
        """The bytes of the sprite of an embedding. Raises ReadError where there is none."""
        return read_sprite(one)

    def notices(self, one: Embedding) -> tuple[Notice, ...]:
        """What is odd about the points that were read of an embedding."""
        read = len(self.values(one))
        text = f"the first {read:,} of {one.points:,} points are read"
        return (Notice("points", text, one.name),) if read < one.points else ()

    def stamp(self, one: Embedding) -> Stamp:
        """What changes with the files of an embedding. Raises ReadError where one is gone."""
        files = [one.values, one.metadata, one.sprite.path if one.sprite else None]
        try:
            told = [path.stat() for path in files if path is not None]
        except OSError as error:
            raise ReadError(f"'{one.name[:80]}' is gone: {error.strerror}") from None
        return (
            one.points,
            one.dimensions,
            one.step or 0,
            *(n for each in told for n in (each.st_mtime_ns, each.st_size)),
        )

    def _of_log(self) -> Iterator[Embedding]:
        """Tensors of event files whose rows may be points: the last that counts of each series."""
        for series in self.log.logged.series if self.log is not None else ():
            if series.kind == "tensor":
                key, stamp = (series.run, series.tag), (series.generation, len(series))
                known = self._logged.get(key)
                if known is None or (known[0] != stamp and series.data is not None):
                    known = self._logged[key] = stamp, of_series(series)
                if known[1] is not None:
                    yield known[1]

    def _tensor(self, one: Embedding) -> Points:
        if self.log is None:
            raise ReadError("the log is gone")
        series = self.log.series(one.run, one.name.removesuffix(LOGGED))
        if series.dropped is not None:
            [series] = self.log.read_again([series])
        order = series.in_order()
        array = self.log.tensor(series, int(order[-1]))
        if array.ndim != 2:
            raise ReadError(f"'{one.name}' has no rows any more", hint="ask for the list again")
        rows = min(len(array), int(EMBEDDING_POINTS), EMBEDDING_NUMBERS // max(1, array.shape[1]))
        with np.errstate(over="ignore"):
            return array[:rows].astype(np.float32)


LOGGED = " (logged)"


def named(one: Embedding, taken: set[tuple[str, str]]) -> Embedding:
    """A logged tensor under another name, where its own is that of a stored one."""
    from dataclasses import replace

    return replace(one, name=one.name + LOGGED) if one.key in taken else one


def of_series(series: Series) -> Embedding | None:
    """The embedding that the last tensor of a series is, if its rows may be points."""
    if not isinstance(series.data, TensorPoints):
        return None
    order = series.in_order()
    if not len(order):
        return None
    dtype, shape = series.data.forms[int(series.data.form[order[-1]])]
    if dtype not in NUMBERS or len(shape) != 2 or shape[0] < FEWEST_POINTS or not 2 <= shape[1] <= EMBEDDING_DIMENSIONS:
        return None
    return Embedding(series.run, series.tag, EmbeddingForm.LOGGED, *shape, step=int(series.step[order[-1]]))


def projector_of(source: str | os.PathLike[str], log: Log | None = None) -> Projector | None:
    """The embeddings of a source; None where there are none, or where it cannot be listed."""
    projector = Projector(source, log)
    try:
        return projector if projector.refresh().found else None
    except TbGraphError:
        return None
