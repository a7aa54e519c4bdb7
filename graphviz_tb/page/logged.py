"""What a run logged, as a page holds it: its runs and tags in JSON, and the points of each tag in columns.

A server describes runs and tags by the same functions, so that one viewer reads both.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from graphviz_tb.chart.decimate import decimated
from graphviz_tb.chart.order import HUES, LineStyle, groups, styles
from graphviz_tb.errors import TbGraphError
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.logged import Logged, Run, Series
from graphviz_tb.model.notice import Notice
from graphviz_tb.page.blocks import DataBlock, words
from graphviz_tb.page.columns import packed
from graphviz_tb.read.logged import LogReader
from graphviz_tb.render.html import document

PIXELS = 1000  # columns of pixels to which the points of a page are thinned
SAFE = 2**53  # whole numbers up to here are exact as a double
TagKind = tuple[str, str]  # tag, kind


@dataclass(frozen=True, slots=True)
class LogPart:
    """The log in a page: `blocks`, the first of which lists runs and tags, and how many tags there was no room for."""

    blocks: tuple[DataBlock, ...]
    left: int


def log_of(source: Any) -> Logged | None:
    """What a source logged; None where it is no folder or file of event files, or logged no scalar."""
    if not isinstance(source, str | os.PathLike) or str(source) == "-":
        return None
    try:
        logged = LogReader(source).read()
    except TbGraphError:
        return None
    return logged if any(series.kind == "scalar" for series in logged.series) else None


def log_html(logged: Logged, title: str, room: int) -> bytes:
    """A page of a log without a graph, of `room` bytes at most for its points."""
    part = log_part(logged, title, room)
    return document({"format": "tbgraph page", "title": title, "log": True, "bare": True}, part.blocks, title)


def log_part(logged: Logged, title: str, room: int) -> LogPart:
    """The blocks of a log, as many tags as there is room for, in their order."""
    runs = {run.name: number for number, run in enumerate(logged.runs)}
    scalars = [series for series in logged.series if series.kind == "scalar"]
    numbers = {(series.run, series.tag): number for number, series in enumerate(scalars)}
    tag_ids: dict[TagKind, int] = {}
    tags = tag_entries(
        scalars,
        lambda one: tag_ids.setdefault((one.tag, one.kind), len(tag_ids)),
        runs.__getitem__,
        lambda one: numbers[one.run, one.tag],
    )
    held: list[DataBlock] = []
    for entry in tags:
        block = points_block(entry["id"], [scalars[one[1]] for one in entry["runs"]], [one[1] for one in entry["runs"]])
        room -= len(block.packed)
        if held and room < 0:
            break
        held.append(block)
    left = len(tags) - len(held)
    state = {**log_state(enumerate(logged.runs), logged.series), "title": title, "left": left}
    state["kinds"] = {"scalar": len(scalars)}
    return LogPart((words("log", {"state": state, "tags": tags[: len(held)]}), *held), left)


def points_block(number: int, each: Sequence[Series], ids: Sequence[int]) -> DataBlock:
    """The points of one tag, thinned to `PIXELS` columns of pixels along its steps."""
    columns, counts = [], {}
    for one, key in zip(each, ids, strict=True):
        points = one.in_order(superseded=True)
        step, value = one.step[points], one.value[points]
        points = points[decimated(step.astype(np.float64), value.astype(np.float64), PIXELS)]
        names = ("step", "wall", "value", "superseded")
        made = (one.step[points], one.wall[points], one.value[points], one.superseded[points])
        columns += [(f"{key}.{name}", column) for name, column in zip(names, made, strict=True)]
        counts[str(key)] = {"points": len(one)}
    return DataBlock(f"log/{number}", "columns", packed(len(counts), columns, {"series": counts}))


def log_state(runs: Iterable[tuple[int, Run]], every: Iterable[Series]) -> dict[str, Any]:
    """All runs with their numbers, how many series of each kind there are, and the colours of lines."""
    kinds, each, numbered = Counter[str](), Counter[str](), list(runs)
    for series in every:
        kinds[series.kind] += 1
        each[series.run] += 1
    looks = styles({run.name: run.first_wall or 0.0 for _, run in numbered})
    entries = [run_entry(run, number, each[run.name], looks[run.name]) for number, run in numbered]
    return {"generation": "", "runs": entries, "kinds": dict(kinds), "hues": HUES, "graphs": [], "notices": []}


def run_entry(run: Run, number: int, series: int, look: LineStyle) -> dict[str, Any]:
    """One run."""
    return {
        "id": number,
        "name": run.name,
        "first": finite(run.first_wall),
        "last": finite(run.last_wall),
        "firstStep": whole(run.first_step),
        "lastStep": whole(run.last_step),
        "series": series,
        "points": run.points,
        "superseded": run.superseded,
        "restarts": [{"step": whole(one.step), "points": one.points, "marked": one.marked} for one in run.restarts],
        "state": run.state,
        "style": [look.hue, look.dashes],
        "notices": [notice_entry(one) for one in run.notices],
    }


def notice_entry(notice: Notice) -> dict[str, Any]:
    """One notice."""
    return {"code": notice.code, "text": notice.message, "count": notice.count}


def tag_entries(
    every: Iterable[Series],
    tag_id: Callable[[Series], int],
    run_id: Callable[[str], int],
    series_id: Callable[[Series], int],
) -> list[dict[str, Any]]:
    """Tags in the order of their groups, each once for each kind that it has, with the series of each run."""
    found: dict[TagKind, list[Series]] = {}
    for series in every:
        found.setdefault((series.tag, series.kind), []).append(series)
    group_of = {tag: group for group, inner in groups({tag for tag, _ in found}) for tag in inner}
    place = {tag: at for at, tag in enumerate(group_of)}
    ordered = sorted(found, key=lambda key: (place[key[0]], key[1]))
    return [
        {
            "id": tag_id(found[tag, kind][0]),
            "name": tag,
            "group": group_of[tag],
            "kind": kind,
            "plugin": found[tag, kind][0].about.plugin,
            "title": found[tag, kind][0].about.display_name,
            "about": found[tag, kind][0].about.description,
            "runs": [[run_id(one.run), series_id(one), *extent(one)] for one in found[tag, kind]],
        }
        for tag, kind in ordered
    ]


def extent(series: Series) -> list[Any]:
    """How many points a series has, their least and greatest step and time, and how many are not finite."""
    if not len(series):
        return [0, None, None, None, None, 0]
    steps, walls = series.step, series.wall
    odd = int(np.count_nonzero(~np.isfinite(series.value)))
    first, last = np.min(walls), np.max(walls)
    return [
        len(series),
        whole(int(np.min(steps))),
        whole(int(np.max(steps))),
        finite(float(first)),
        finite(float(last)),
        odd,
    ]


def whole(number: int | None) -> int | str | None:
    """A whole number as JSON holds it; one that a double cannot hold is a text.

    >>> whole(7), whole(2**60)
    (7, '1152921504606846976')
    """
    return number if number is None or -SAFE <= number <= SAFE else str(number)


def finite(number: float | None) -> float | str | None:
    """A number as JSON holds it; one that is not finite is a text.

    >>> finite(0.5), finite(float("-inf"))
    (0.5, '-Infinity')
    """
    if number is None or number - number == 0:
        return number
    return "NaN" if number != number else "Infinity" if number > 0 else "-Infinity"


def named(source: str | os.PathLike[str]) -> str:
    """The name of a source, also of "." and the like."""
    path = Path(source)
    return path.name if path.name not in ("", "..") else path.resolve().name or str(path)
