"""The rows of a graph in its page, and their logged values: joins with tags, colours of a step."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from math import isfinite
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from graphviz_tb.caches import BoundedCache
from graphviz_tb.chart.measures import MEASURES
from graphviz_tb.color.colouring import plain_fill
from graphviz_tb.color.logged import LoggedColouring
from graphviz_tb.logs.training import LoggedSelection, TrainingLog, select_logged
from graphviz_tb.model.columns import Ints, Longs
from graphviz_tb.model.formatting import json_integer, replace_non_finite
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.hierarchy import Hierarchy, sort_children_by_parent
from graphviz_tb.model.joins import LoggedValues, RowValue, TagJoin
from graphviz_tb.model.theme import THEMES
from graphviz_tb.options import COLOR_BY_LOGGED, PictureOptions
from graphviz_tb.page.blocks import INT_DTYPE, TextTable, pack_columns
from graphviz_tb.page.build import ROW_COLUMNS
from graphviz_tb.page.colours import row_looks, theme_fill_values
from graphviz_tb.serve.answers import RefusedRequest
from graphviz_tb.serve.jobs import CompressedBlock, Job, NotLoaded, ServedPage

MAX_UNPACKED_BLOCKS = 32  # unpacked blocks


class GraphRows:
    """The rows of one page."""

    def __init__(self, page: ServedPage) -> None:
        self.page = page
        numbers = unpack_block(page.blocks["rows"]).reshape(len(ROW_COLUMNS), -1)
        self.column: dict[str, NDArray[np.int32]] = dict(zip(ROW_COLUMNS, numbers, strict=True))

    def __len__(self) -> int:
        return len(self.column["kind"])

    @property
    def kind(self) -> Ints:
        return self.column["kind"]

    @property
    def parent(self) -> Ints:
        """Return the group of each row."""
        return self.column["parent"]

    @cached_property
    def calls(self) -> dict[int, tuple[tuple[str, int], ...]]:
        """Return the functions to which rows open."""
        return {row: tuple((attr, body) for attr, body in bodies) for row, bodies in self.page.head["calls"]}

    @cached_property
    def _children(self) -> tuple[Ints, Longs]:
        return sort_children_by_parent(self.parent, self.column["mark"])

    def children(self, row: int) -> Ints:
        """Return the rows directly below a row, without marks."""
        order, start = self._children
        below: Ints = order[start[row] : start[row + 1]]
        return below


@lru_cache(MAX_UNPACKED_BLOCKS)
def unpack_block(block: CompressedBlock) -> Any:
    """Return the numbers or the JSON value of a block."""
    data = gzip.decompress(block.data)
    return np.frombuffer(data, INT_DTYPE) if block.kind == "ints" else json.loads(data)


# A served graph coloured by logged values of a step, and the rows of log tags.

MAX_SLIDER_STEPS = 1_000  # steps that a slider stops at
MAX_KEPT_COLOURINGS = 8  # colourings with values of all steps in the cache
VALUE_ESTIMATED, VALUE_BOUND, VALUE_STALE, VALUE_NONFINITE, VALUE_SILENT = 1, 2, 4, 8, 16  # flags of a row's value
JoinInProcess = Callable[[Sequence[str]], Job]


@dataclass(frozen=True, slots=True)
class LogColouringRequest:
    """A requested colouring: a pattern of tags and a measure (None: the defaults), the names of a run and of a run to
    compare with."""

    pattern: str | None
    measure: str | None
    run: str | None
    against: str | None


class LogColouringCache:
    """Recently requested colourings, measured at all steps, since a slider repeats its requests."""

    def __init__(self) -> None:
        self._kept: BoundedCache[LoggedSelection] = BoundedCache(MAX_KEPT_COLOURINGS)

    def measured_colouring(
        self, training: TrainingLog, of: Hashable, asked: LogColouringRequest, run: str | None
    ) -> LoggedSelection:
        """Return the values of all steps; `run` is the run of the graph, `of` everything else that they depend on.

        Raises `RequestError` if nothing fits.
        """
        kept = self._kept.get((of, asked), None)
        if kept is not None:
            return kept
        options = PictureOptions(
            color_by=COLOR_BY_LOGGED,
            logged=asked.pattern,
            measure=asked.measure,
            logged_run=asked.run,
            against_run=asked.against,
        )
        return self._kept.store((of, asked), None, select_logged(training, options, run))


def logged_colour_columns(rows: GraphRows, selection: LoggedSelection, at: int | None) -> bytes:
    """Return the columns of one step (None: the last): rows with or without a value, and the looks of their boxes.

    The head has fills, texts, the legend, the scale and all steps.
    """
    steps = selection.logged_steps(MAX_SLIDER_STEPS)
    values = selection.values_at(steps[-1] if at is None else at)
    order = sorted(values.rows.keys() | values.silent)
    table = TextTable()
    # These colours use the rows of a hierarchy only.
    painters = [
        LoggedColouring(cast("Hierarchy", rows), theme, COLOR_BY_LOGGED, values.heading, values)
        for theme in THEMES.values()
    ]
    looks, (fill, second, account, start, entries) = row_looks(painters, table, order)
    plain_fills = [theme_fill_values(tuple(plain_fill(theme, op) for theme in THEMES.values())) for op in (False, True)]
    head = {
        **looks,
        "plain": plain_fills,
        "texts": table.numbered_texts(),
        "at": json_integer(values.at),
        "steps": [json_integer(step) for step in steps],
        "measure": selection.measure,
        "measures": list(_applicable_measures(selection)),
        "low": replace_non_finite(values.low),
        "high": replace_non_finite(values.high),
    }
    look_columns = {"fill": fill, "second": second, "account": account, "start": start, "entries": entries}
    return pack_columns(len(order), [*_value_columns(order, values), *look_columns.items()], head)


def _value_columns(order: list[int], values: LoggedValues) -> list[tuple[str, NDArray[Any]]]:
    """Return rows, their values, their flags, and the number of layers of each."""
    found = [values.rows.get(row) for row in order]
    return [
        ("row", np.array(order, np.int64)),
        ("value", np.array([np.nan if value is None else value.value for value in found], np.float64)),
        ("flags", np.array([_value_flags(value, values) for value in found], np.uint8)),
        ("n", np.array([0 if value is None else value.layers for value in found], np.int64)),
    ]


def _value_flags(value: RowValue | None, values: LoggedValues) -> int:
    if value is None:
        return VALUE_SILENT
    estimated = 0 if value.exact else VALUE_ESTIMATED if values.bound == "≈" else VALUE_BOUND
    return estimated | VALUE_STALE * (value.step < values.at) | VALUE_NONFINITE * (not isfinite(value.value))


def _applicable_measures(shown: LoggedSelection) -> Iterator[str]:
    tags = {tag.join.tag for tag in (*shown.tags, *shown.other)}
    kinds = {series.kind for series in shown.training.logged.series if series.tag in tags}
    for word, measure in MEASURES.items():
        if (measure.of_histograms and "histogram" in kinds) or (measure.of_scalars and "scalar" in kinds):
            yield word


class TagJoins:
    """The joins of tags with the graph of one page. `join` joins more tags in a process that reads the graph again."""

    def __init__(self, page: ServedPage, join: JoinInProcess) -> None:
        self.page, self._join = page, join
        self._known = {join.tag: join for join in page.joins}
        self._task: asyncio.Task[None] | None = None

    async def joins_of_tags(self, tags: Collection[str]) -> Mapping[str, TagJoin]:
        """Return the join of each tag. Raises `RefusedRequest` if the graph can no longer be read."""
        while new := [tag for tag in tags if tag not in self._known]:
            if self._task is None or self._task.done():
                self._task = asyncio.create_task(self.join_more_tags(new))
                self._task.add_done_callback(lambda done: done.cancelled() or done.exception())  # marks it as retrieved
            try:
                await asyncio.shield(self._task)  # other requests wait for it too
            except NotLoaded as error:
                raise RefusedRequest(404, error.error, error.hint) from None
        return self._known

    async def join_more_tags(self, tags: Sequence[str]) -> None:
        joins: Sequence[TagJoin] = await self._join(tags).result(lambda *event: None)
        self._known = {**self._known, **{join.tag: join for join in joins}}
