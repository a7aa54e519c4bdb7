"""Output of `tbgraph scalars --group-by` and `--wide`: groups of runs with their spread, a row a step."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from graphviz_tb.chart.run_groups import GroupSpread, group_runs, members_by_group, spread_of_group
from graphviz_tb.commands.scalars_text import SPARK_WIDTH, sparkline
from graphviz_tb.commands.table import TextStyle, format_table
from graphviz_tb.commands.terminal import one_line
from graphviz_tb.errors import RequestError
from graphviz_tb.events.plugins import read_trials
from graphviz_tb.logs.scalars_export import exact_number_text, json_number
from graphviz_tb.model.formatting import format_number, json_integer

if TYPE_CHECKING:
    from graphviz_tb.logs.log import Log
    from graphviz_tb.model.logs import Series

_COLUMNS = ("mean", "deviation", "least", "lower_quartile", "median", "upper_quartile", "greatest")
_HEADER = ("group", "tag", "step", "runs", "mean", "std", "least", "q1", "median", "q3", "greatest")
GroupedSeries = dict[tuple[str, str], "list[Series]"]


def grouped_series(log: Log, chosen: Sequence[Series], by: str) -> GroupedSeries:
    """Return the series of each group and tag. Raises `RequestError` where no run belongs to a group."""
    names = list(dict.fromkeys(series.run for series in chosen))
    hparams = {session.run: session.hparams for session in read_trials(log.logged).sessions}
    groups = group_runs(names, by, hparams)
    if names and all(group == name for name, group in groups.items()):
        known = sorted({name for settings in hparams.values() for name in settings})
        more = f"; hyperparameters: {', '.join(known[:9])}" if known else ""
        raise RequestError(
            f"no two runs are of one group by {by!r}: say differs, a part such as 'seed*', or the name"
            f" of a hyperparameter{more}"
        )
    return members_by_group(chosen, groups)


def group_table(groups: GroupedSeries, width: int, look: TextStyle) -> list[str]:
    """Return a line for each group and tag: its runs, and the mean and the spread of their last common step."""
    if not groups:
        return []
    rows: list[tuple[str, ...]] = [("group", "tag", "runs", "step", "mean", "std", "least", "greatest", "")]
    rows += [_group_row(group, tag, members) for (group, tag), members in groups.items()]
    return format_table(rows, width, right=(2, 3, 4, 5, 6, 7), gives=(0, 1), indent=0, header=True, look=look)


def _group_row(group: str, tag: str, members: Sequence[Series]) -> tuple[str, ...]:
    spread = spread_of_group(members)
    head = one_line(group), one_line(tag)
    if not len(spread.steps):
        return (*head, str(len(members)), "", "", "", "", "", "")
    at = int(np.flatnonzero(spread.count == np.max(spread.count))[-1])
    runs = str(len(members)) if spread.count[at] == len(members) else f"{spread.count[at]} of {len(members)}"
    values = (float(getattr(spread, name)[at]) for name in ("mean", "deviation", "least", "greatest"))
    return (*head, runs, f"{spread.steps[at]:,}", *map(format_number, values), sparkline(spread.mean, SPARK_WIDTH))


def group_csv(groups: GroupedSeries) -> Iterator[str]:
    """Yield a header, then a line for each group, tag and step."""
    yield _csv_text([_HEADER])
    for (group, tag), members in groups.items():
        yield _csv_text(
            [[group, tag, step, count, *map(exact_number_text, values)] for step, count, values in _rows(members)]
        )


def group_json(groups: GroupedSeries) -> Iterator[str]:
    """Yield a document with columns for each group and tag."""
    yield '{"format":"tbgraph-grouped-scalars","version":1,"groups":['
    for at, ((group, tag), members) in enumerate(groups.items()):
        spread = spread_of_group(members)
        columns = {name: list(map(json_number, getattr(spread, name).tolist())) for name in _COLUMNS}
        steps = {"step": list(map(json_integer, spread.steps.tolist())), "count": spread.count.tolist()}
        entry = {"group": group, "tag": tag, "runs": [one.run for one in members], **steps, **columns}
        yield ("," if at else "") + json.dumps(entry, separators=(",", ":"))
    yield "]}"


def wide_csv(chosen: Sequence[Series]) -> Iterator[str]:
    """Yield a row for each step, a column for each run, or for each run and tag where there are several tags."""
    several = len({series.tag for series in chosen}) > 1
    names = [f"{series.run} · {series.tag}" if several else series.run for series in chosen]
    columns = [_values_by_step(one) for one in chosen]
    yield _csv_text([["step", *names]])
    for step in sorted(set().union(*columns)):
        yield _csv_text([[step, *(exact_number_text(column[step]) if step in column else "" for column in columns)]])


def _values_by_step(series: Series) -> dict[int, float]:
    points = series.point_order()
    return dict(zip(series.step[points].tolist(), series.value[points].tolist(), strict=True))


def _rows(members: Sequence[Series]) -> Iterator[tuple[int, int, list[float]]]:
    spread: GroupSpread = spread_of_group(members)
    values = np.stack([getattr(spread, name) for name in _COLUMNS], axis=1).tolist()
    yield from zip(spread.steps.tolist(), spread.count.tolist(), values, strict=True)


def _csv_text(rows: Sequence[Sequence[Any]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\r\n").writerows(rows)
    return text.getvalue()
