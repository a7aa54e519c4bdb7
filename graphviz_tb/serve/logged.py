"""A served graph coloured by logged values of a step, and the rows that log tags are joined with."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from math import isfinite
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from graphviz_tb.chart.measures import MEASURES
from graphviz_tb.color.hues import plain_fill
from graphviz_tb.color.logged import ByLogged
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.joins import Join
from graphviz_tb.model.json_values import finite, whole
from graphviz_tb.model.later import KeptValues
from graphviz_tb.model.measured_tags import LoggedValues, RowValue
from graphviz_tb.model.theme import THEMES
from graphviz_tb.options import BY_LOG, PictureOptions
from graphviz_tb.page.blocks import TextTable
from graphviz_tb.page.colours import looks, plain_fills
from graphviz_tb.page.columns import packed
from graphviz_tb.serve.answers import Refused
from graphviz_tb.serve.graph_rows import GraphRows
from graphviz_tb.serve.loading import Job, NotLoaded, ServedPage
from graphviz_tb.training import Shown, Training, shown_of

MOST_STOPS = 1_000  # steps that a slider stops at
KEPT = 8  # colourings with values of all steps in the cache
ESTIMATED, BOUND, STALE, NONFINITE, SILENT = 1, 2, 4, 8, 16  # flags of a row's value
JoinInProcess = Callable[[Sequence[str]], Job]


@dataclass(frozen=True, slots=True)
class AskedColours:
    """A requested colouring: a pattern of tags and a measure (None: the defaults), a run and one to compare with, by
    name."""

    pattern: str | None
    measure: str | None
    run: str | None
    against: str | None


class LoggedColours:
    """Recently requested colourings, measured at all steps: a slider repeats its requests."""

    def __init__(self) -> None:
        self._kept: KeptValues[Shown] = KeptValues(KEPT)

    def shown(self, training: Training, of: Hashable, asked: AskedColours, run: str | None) -> Shown:
        """Return the values of all steps; `run` is the run of the graph, `of` everything else that they depend on.

        Raises `RequestError` if nothing fits.
        """
        kept = self._kept.get((of, asked), None)
        if kept is not None:
            return kept
        options = PictureOptions(
            color_by=BY_LOG,
            logged=asked.pattern,
            measure=asked.measure,
            logged_run=asked.run,
            against_run=asked.against,
        )
        return self._kept.put((of, asked), None, shown_of(training, options, run))


def answer(rows: GraphRows, shown: Shown, at: int | None) -> bytes:
    """Return the columns of one step (None: the last): rows with or without a value, and the looks of their boxes.

    The head has fills, texts, the legend, the scale and all steps.
    """
    stops = shown.stops(MOST_STOPS)
    values = shown.at(stops[-1] if at is None else at)
    order = sorted(values.rows.keys() | values.silent)
    table = TextTable()
    # These colours use the rows of a hierarchy only.
    painters = [ByLogged(cast("Hierarchy", rows), theme, BY_LOG, values.heading, values) for theme in THEMES.values()]
    told, (fill, second, account, start, entries) = looks(painters, table, order)
    usual = [plain_fills(tuple(plain_fill(theme, op) for theme in THEMES.values())) for op in (False, True)]
    head = {
        **told,
        "plain": usual,
        "texts": table.listed(),
        "at": whole(values.at),
        "steps": [whole(step) for step in stops],
        "measure": shown.measure,
        "measures": list(measures_of(shown)),
        "low": finite(values.low),
        "high": finite(values.high),
    }
    looked = {"fill": fill, "second": second, "account": account, "start": start, "entries": entries}
    return packed(len(order), [*value_columns(order, values), *looked.items()], head)


def value_columns(order: list[int], values: LoggedValues) -> list[tuple[str, NDArray[Any]]]:
    """Return rows, their values, their flags, and the number of layers of each."""
    found = [values.rows.get(row) for row in order]
    return [
        ("row", np.array(order, np.int64)),
        ("value", np.array([np.nan if one is None else one.value for one in found], np.float64)),
        ("flags", np.array([flags_of(one, values) for one in found], np.uint8)),
        ("n", np.array([0 if one is None else one.layers for one in found], np.int64)),
    ]


def flags_of(value: RowValue | None, values: LoggedValues) -> int:
    """Return the flags of a value."""
    if value is None:
        return SILENT
    estimated = 0 if value.exact else ESTIMATED if values.bound == "≈" else BOUND
    return estimated | STALE * (value.step < values.at) | NONFINITE * (not isfinite(value.value))


def measures_of(shown: Shown) -> Iterator[str]:
    """Yield the measures that apply to the tags shown."""
    tags = {tag.join.tag for tag in (*shown.tags, *shown.other)}
    kinds = {series.kind for series in shown.training.logged.series if series.tag in tags}
    for word, measure in MEASURES.items():
        if (measure.of_histograms and "histogram" in kinds) or (measure.of_scalars and "scalar" in kinds):
            yield word


class JoinedTags:
    """The joins of tags with the graph of one page. `join` joins more tags in a process that reads the graph again."""

    def __init__(self, page: ServedPage, join: JoinInProcess) -> None:
        self.page, self._join = page, join
        self._known = {each.tag: each for each in page.joins}
        self._task: asyncio.Task[None] | None = None

    async def of(self, tags: Collection[str]) -> Mapping[str, Join]:
        """Return the join of each tag. Raises `Refused` if the graph can no longer be read."""
        while new := [tag for tag in tags if tag not in self._known]:
            if self._task is None or self._task.done():
                self._task = asyncio.create_task(self._more(new))
                self._task.add_done_callback(lambda done: done.cancelled() or done.exception())  # whoever still waits
            try:
                await asyncio.shield(self._task)  # other requests wait for it too
            except NotLoaded as error:
                raise Refused(404, error.error, error.hint) from None
        return self._known

    async def _more(self, tags: Sequence[str]) -> None:
        joins: Sequence[Join] = await self._join(tags).result(lambda *told: None)
        self._known = {**self._known, **{each.tag: each for each in joins}}
