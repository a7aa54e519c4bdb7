"""A log in a page: its runs and tags in JSON, and the points of each tag in columns.

A server describes runs and tags by the same functions, so that one viewer reads both.
"""

from __future__ import annotations

import os
import posixpath
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphviz_tb.chart.axes import RUN_HUES, LineStyle, group_tags, run_styles
from graphviz_tb.chart.series import decimate_series
from graphviz_tb.errors import Ambiguous, NoGraph, TbGraphError
from graphviz_tb.events.plugins import read_custom_charts, read_trials
from graphviz_tb.logs.embeddings import Projector, find_projector
from graphviz_tb.logs.log import Log, open_log
from graphviz_tb.model.formatting import json_integer, replace_non_finite
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.joins import TagJoin, runs_of_graph
from graphviz_tb.model.logs import (
    CustomCategory,
    Embedding,
    FileRange,
    HistogramPoints,
    HParam,
    HParamInterval,
    HParamSetting,
    LogContents,
    Metric,
    Run,
    Series,
    SeriesKind,
    Trials,
)
from graphviz_tb.model.notice import Notice
from graphviz_tb.model.paths import natural_name_key
from graphviz_tb.model.sources import LoadedGraph
from graphviz_tb.options import Options, PictureOptions
from graphviz_tb.page.blocks import DataBlock, json_block, pack_columns
from graphviz_tb.page.embeddings import embedding_blocks, embedding_list_block, is_shown_in_page
from graphviz_tb.page.points import DEFAULT_HISTOGRAM_STEPS, describe_point, histogram_columns, shown_samples
from graphviz_tb.read.source import with_first_graph
from graphviz_tb.render.html import page_bytes

# The metrics by which trials are compared: the declared metrics, and scalars if these have no real values.
# Lightning declares one metric, `hp_metric`, and logs -1 for it unless the program sets a value. Other libraries write
# hyperparameters and no metrics. Both log the useful metrics as scalars of the same run.

PLACEHOLDER_METRIC = "hp_metric"  # the metric that Lightning always declares
PLACEHOLDER_VALUE = -1.0
MAX_OFFERED_METRICS = 40  # scalars offered as metrics


def _metrics_of_trials(trials: Trials, scalars: Mapping[tuple[str, str], Series]) -> tuple[Metric, ...]:
    """Return the metrics of trials: the declared metrics, preceded by scalars if only the placeholder is declared and
    has no real value.

    A scalar is offered if at least half as many sessions logged it as the most frequent scalar.
    """
    declared = tuple(trials.metrics)
    if any(metric.tag != PLACEHOLDER_METRIC for metric in declared) or _has_real_value(trials, scalars):
        return declared
    sessions = {session.run for session in trials.sessions}
    counts: dict[str, int] = {}
    for run, tag in scalars:
        if run in sessions and tag != PLACEHOLDER_METRIC:
            counts[tag] = counts.get(tag, 0) + 1
    most = max(counts.values(), default=0)
    offered = sorted(
        (tag for tag, count in counts.items() if 2 * count >= most),
        key=lambda tag: (-counts[tag], natural_name_key(tag)),
    )
    return (*(Metric(tag) for tag in offered[:MAX_OFFERED_METRICS]), *declared)


def _has_real_value(trials: Trials, scalars: Mapping[tuple[str, str], Series]) -> bool:
    """Return whether any session set the placeholder to a real value."""
    found: Sequence[Series | None] = [scalars.get((session.run, PLACEHOLDER_METRIC)) for session in trials.sessions]
    extents = [series.extent() for series in found if series is not None]
    return any(extent and extent.last and extent.last[2] != PLACEHOLDER_VALUE for extent in extents)


# Custom chart layouts for a page or a server.


def custom_charts_values(categories: Iterable[CustomCategory]) -> dict[str, Any]:
    """Return `categories`, each with `title`, `closed` and `charts`; a chart has `title`, `tags` and `margins`."""
    return {
        "categories": [
            {
                "title": category.title,
                "closed": category.closed,
                "charts": [
                    {"title": chart.title, "tags": chart.tags, "margins": chart.margins} for chart in category.charts
                ],
            }
            for category in categories
        ]
    }


# Trials for a page or a server: a column for each hyperparameter and metric, a row for each session.


def trials_table(logged: LogContents) -> dict[str, Any]:
    """Return `columns` and `rows`: the last value of each metric that counts, None if a session has none."""
    trials = read_trials(logged)
    scalars = {(series.run, series.logged_as): series for series in logged.series if series.kind == "scalar"}
    shown_metrics = _metrics_of_trials(trials, scalars)
    rows = []
    for session in trials.sessions:
        metrics = [scalars.get((_metric_run(session.run, metric), metric.tag)) for metric in shown_metrics]
        values = [_json_hparam_value(session.hparams.get(hparam.name)) for hparam in trials.hparams]
        rows.append(
            {
                "session": session.run,
                "group": session.group,
                "run": session.run,
                "status": session.status,
                "start": replace_non_finite(session.start),
                "end": replace_non_finite(session.end),
                "values": [*values, *(None if series is None else _last_metric_value(series) for series in metrics)],
            }
        )
    return {"columns": [*map(_hparam_column, trials.hparams), *map(_metric_column, shown_metrics)], "rows": rows}


def _metric_run(session: str, metric: Metric) -> str:
    """Return the run of a metric of a session.

    >>> _metric_run("trial", Metric("loss", "validation")), _metric_run(".", Metric("loss"))
    ('trial/validation', '.')
    """
    return posixpath.normpath(posixpath.join(session, metric.group))


def _last_metric_value(series: Series) -> float | str | None:
    known = series.extent()
    return None if known is None or known.last is None else replace_non_finite(known.last[2])


def _json_hparam_value(value: HParamSetting) -> str | bool | float | None:
    return replace_non_finite(value) if isinstance(value, float) else value


def _hparam_column(hparam: HParam) -> dict[str, Any]:
    """Return the column of a hyperparameter. A domain is a list of values, or the least and the greatest; None if
    unknown."""
    domain: Any = hparam.domain
    if isinstance(domain, HParamInterval):
        domain = {"min": replace_non_finite(domain.least), "max": replace_non_finite(domain.greatest)}
    elif domain is not None:
        domain = [_json_hparam_value(value) for value in domain]
    words = {"name": hparam.name, "title": hparam.title, "about": hparam.about}
    return {**words, "kind": "hparam", "type": hparam.type, "domain": domain}


def _metric_column(metric: Metric) -> dict[str, Any]:
    """Return the column of a metric, named by group and tag as in TensorBoard."""
    name = f"{metric.group}.{metric.tag}" if metric.group else metric.tag
    words = {"name": name, "title": metric.title, "about": metric.about, "group": metric.group, "tag": metric.tag}
    return {**words, "kind": "metric", "type": "float64", "domain": None}


# Joins of log tags to graph rows, for a page or a server.


def joins_by_tag(names: Mapping[int, str], joins: Mapping[str, TagJoin], runs: Sequence[str]) -> dict[str, Any]:
    """Return `runs` that belong to this graph; `joins`, [tag, row, rule, aspect] for each row of each joined tag; and
    `apart`, [tag, rule, rows] for each tag that fits several rows equally. `names` are the names of tags by id."""
    found: list[list[Any]] = []
    apart: list[list[Any]] = []
    for number, name in names.items():
        join = joins.get(name)
        if join is None:  # it was logged after the join
            continue
        if join.is_joined:
            found += ([number, row, join.rule.value, join.aspect.value] for row in join.rows)
        else:
            apart.append([number, join.rule.value, list(join.rows)])
    return {"joins": found, "apart": apart, "runs": list(runs)}


def embedding_joins(variables: Mapping[int, str], joins: Mapping[str, TagJoin]) -> list[list[Any]]:
    """Return [embedding, row, rule] for each row of each joined embedding. `variables` are the names of their variables
    by id."""
    return [
        [number, row, join.rule.value]
        for number, name in variables.items()
        if (join := joins.get(name)) is not None and join.is_joined
        for row in join.rows
    ]


THINNED_WIDTH_PX = 1000  # columns of pixels to which the points of a page are thinned
MAX_LAST_POINTS = 10  # of images, sounds, texts, curves and tensors
MAX_CELL_BYTES = 100_000  # bytes of the texts of one point
# Kinds of tags in a page, in the order in which room is given: the largest last.
PAGE_TAG_KINDS: tuple[SeriesKind, ...] = ("scalar", "histogram", "pr_curve", "tensor", "text", "image", "audio")
TagKind = tuple[str, str]  # tag, kind
JoinTags = Callable[[Iterable[str]], Iterable[TagJoin]]


@dataclass(frozen=True, slots=True)
class LogPart:
    """The log in a page: `blocks`, the first of which lists runs and tags; `left` counts the tags that did not fit."""

    blocks: tuple[DataBlock, ...]
    left: int


@dataclass(frozen=True, slots=True)
class SourceLog:
    """A log and embeddings found in a source, each if present."""

    log: Log | None
    projector: Projector | None

    @property
    def all_logged(self) -> LogContents:
        """Return everything that was logged."""
        return LogContents((), ()) if self.log is None else self.log.logged


def open_source_log(source: Any) -> SourceLog | None:
    """Open the log and the embeddings of a source; None if neither has anything to show."""
    if not isinstance(source, str | os.PathLike) or str(source) == "-":
        return None
    try:
        log = open_log(source)
    except TbGraphError:
        log = None
    projector = find_projector(source, log) if Path(source).is_dir() else None
    if projector is not None and not any(map(is_shown_in_page, projector.embeddings.found)):
        projector = None
    shown = log is not None and any(series.kind in PAGE_TAG_KINDS for series in log.logged.series)
    return SourceLog(log, projector) if shown or projector is not None else None


def page_of_source(source: Any, options: Options, draw: Callable[[Options, str], bytes]) -> bytes:
    """Return the page that `draw` makes of a graph, or the page of a log without one.

    Of several graphs the first is drawn: `draw` receives the options that choose it, and a sentence that says so.
    """
    try:
        return draw(options, "")
    except NoGraph:
        page = page_of_log(source, options.picture)
        if page is None:
            raise
        return page
    except Ambiguous:
        return draw(*with_first_graph(source, options))


def page_of_log(source: Any, options: PictureOptions) -> bytes | None:
    """Return the page of a log without a graph; None where there is no such log."""
    log = open_source_log(source)
    if log is None:
        return None
    title = name_of_source(source) if options.title is None else options.title
    return _log_page_html(log, title, int(options.page_max * 1e6))


def _log_page_html(source: SourceLog, title: str, room: int) -> bytes:
    """Return a page of a log without a graph, with at most `room` bytes of points."""
    part = pack_log(source, title, room)
    return page_bytes({"format": "tbgraph page", "title": title, "log": True, "bare": True}, part.blocks, title)


def empty_log_part(title: str, profiles: int) -> LogPart:
    """Return the blocks of a page with `profiles` and no log."""
    state = {**log_state((), ()), "title": title, "left": 0, "kinds": {"profile": profiles}}
    return LogPart((json_block("log", {"state": state, "tags": []}),), 0)


def pack_log(
    source: SourceLog,
    title: str,
    room: int,
    join: JoinTags | None = None,
    profiles: int = 0,
    graph: LoadedGraph | None = None,
) -> LogPart:
    """Return the blocks of a log with as many tags as fit: scalars first, the largest kinds last, then the embeddings.
    `join` finds the nodes of tags in the `graph` of the page, which has `profiles`."""
    logged = source.all_logged
    runs = {run.name: number for number, run in enumerate(logged.runs)}
    all_series = [series for kind in PAGE_TAG_KINDS for series in logged.series if series.kind == kind]
    numbers = {(series.run, series.tag): number for number, series in enumerate(all_series)}
    tag_ids: dict[TagKind, int] = {}
    tags = tag_entries(
        all_series,
        lambda series: tag_ids.setdefault((series.tag, series.kind), len(tag_ids)),
        runs.__getitem__,
        lambda series: numbers[series.run, series.tag],
    )
    tags.sort(key=lambda entry: PAGE_TAG_KINDS.index(entry["kind"]))  # stable: groups stay in their order
    packer, kept = LogPacker(source.log, room), []
    for entry in tags:
        if packer.pack_tag(entry["id"], entry["kind"], {number: all_series[number] for _, number, *_ in entry["runs"]}):
            kept.append(entry)
    left_out = len(tags) - len(kept)
    state = {**log_state(enumerate(logged.runs), logged.series), "title": title, "left": left_out}
    kinds = Counter(entry["kind"] for entry in kept)
    table = trials_table(logged)
    trials = {**table, "rows": [{**row, "run": runs[row["run"]]} for row in table["rows"]]}
    if table["rows"] and packer.add_if_fitting(json_block("log/hparams", trials)):
        kinds["hparams"] += 1
    if packer.pack_custom_charts(logged):
        kinds["layout"] += 1
    embeddings = {}
    if source.projector is not None:
        embeddings = packer.pack_embeddings(source.projector, runs)
        kinds["projector"] += max(1, len(embeddings))  # at least 1, so that the page can say that none fits
    if profiles:
        kinds["profile"] = profiles
    state["kinds"] = kinds
    blocks = [json_block("log", {"state": state, "tags": kept}), *packer.blocks]
    if join is not None:
        names = {entry["id"]: entry["name"] for entry in kept}
        variables = {number: embedding.variable_name for number, embedding in embeddings.items()}
        own_runs = runs_of_graph(graph.run, graph.graph_runs, runs) if graph is not None else list(runs)
        blocks.append(_joins_block(join, names, variables, own_runs))
    return LogPart(tuple(blocks), left_out)


def _joins_block(join: JoinTags, names: dict[int, str], variables: dict[int, str], runs: list[str]) -> DataBlock:
    joins = {found.tag: found for found in join(dict.fromkeys((*names.values(), *variables.values())))}
    return json_block("log/joins", {**joins_by_tag(names, joins, runs), "clouds": embedding_joins(variables, joins)})


class LogPacker:
    """Packs the points of tags into blocks while there is room."""

    def __init__(self, log: Log | None, room: int) -> None:
        self.log, self.room = log, room
        self.blocks: list[DataBlock] = []
        self._blobs: dict[tuple[str, FileRange], int] = {}

    def pack_tag(self, number: int, kind: SeriesKind, series_by_id: Mapping[int, Series]) -> bool:
        """Pack one tag, its series by their ids; return whether it fitted. The first tag always fits."""
        if kind == "scalar":
            block = _points_block(number, series_by_id)
        elif kind == "histogram":
            block = _histograms_block(number, series_by_id)
        else:
            return self.pack_last_points(number, series_by_id)
        return self.add_if_fitting(block)

    def pack_custom_charts(self, logged: LogContents) -> bool:
        """Pack the charts that runs laid out; return whether any exist and fit."""
        charts = read_custom_charts(logged, self.log.read) if self.log is not None else ()
        return bool(charts) and self.add_if_fitting(json_block("log/custom", custom_charts_values(charts)))

    def pack_embeddings(self, projector: Projector, runs: Mapping[str, int]) -> dict[int, Embedding]:
        """Pack the embeddings that fit, and their list; return those packed, by number."""
        packed: dict[int, Embedding] = {}
        notices: list[Notice] = []
        found = [embedding for embedding in projector.embeddings.found if is_shown_in_page(embedding)]
        if hidden_count := len(projector.embeddings.found) - len(found):
            text = f"{hidden_count:,} variables of checkpoints are not in this file: tbgraph serve shows them"
            notices.append(Notice("embedding", text))
        for number, embedding in enumerate(found):
            try:
                blocks = tuple(embedding_blocks(projector, embedding, number))
            except TbGraphError as error:
                notices.append(Notice("embedding", str(error), embedding.name))
                continue
            if self.add_if_fitting(*blocks, strict=True):
                packed[number] = embedding
            else:
                text = f"'{embedding.name[:80]}' is not in this file: write it with a larger --page-max"
                notices.append(Notice("embedding", text, embedding.name))
        self.blocks.append(embedding_list_block(projector, packed, notices, runs))
        return packed

    def add_if_fitting(self, *blocks: DataBlock, strict: bool = False) -> bool:
        size = sum(len(block.base64_text) for block in blocks)
        if (self.blocks or strict) and size > self.room:
            return False
        self.room -= size
        self.blocks += blocks
        return True

    def pack_last_points(self, number: int, series_by_id: Mapping[int, Series]) -> bool:
        """Pack the last points of each series, with the bytes of their images and sounds, as far as they fit."""
        entries, fits = {}, False
        for key, series in series_by_id.items():
            order = series.point_order()
            points: list[int] = []
            packed_points: list[Any] = []
            for point in reversed(order[-MAX_LAST_POINTS:].tolist()):
                try:
                    packed = self.pack_point(series, point)
                except TbGraphError:  # its file is missing or damaged
                    continue
                if packed is None:
                    break
                points.insert(0, point)
                packed_points.insert(0, packed)
            steps, walls = series.step[points].tolist(), series.wall[points].tolist()
            entries[str(key)] = {
                "n": len(order),
                "step": steps,
                "wall": [replace_non_finite(wall) for wall in walls],
                "points": packed_points,
            }
            fits |= bool(points)
        return fits and self.add_if_fitting(json_block(f"log/{number}", entries))

    def pack_point(self, series: Series, point: int) -> Any:
        """Return one point after packing its samples; None if they do not fit."""
        if self.log is None:
            return None
        new = [key for place in shown_samples(series, point) if (key := (series.run, place)) not in self._blobs]
        if sum(place.length for _, place in new) > self.room:
            return None
        first = len(self._blobs)
        blocks = [DataBlock(f"log/blob/{first + at}", "columns", self.log.read(*key)) for at, key in enumerate(new)]
        if not self.add_if_fitting(*blocks):
            return None
        self._blobs.update({key: first + at for at, key in enumerate(new)})
        return describe_point(self.log, series, point, lambda place: self._blobs[series.run, place], MAX_CELL_BYTES)


def _histograms_block(number: int, series_by_id: Mapping[int, Series]) -> DataBlock:
    """Pack the histograms of some steps of one tag: on common bins and as percentiles."""
    columns: list[tuple[str, NDArray[Any]]] = []
    counts = {}
    for key, series in series_by_id.items():
        counts[str(key)] = {"points": len(series.point_order())}
        if isinstance(series.data, HistogramPoints):
            columns += histogram_columns(key, series, series.data, ("ridges", "bands"), DEFAULT_HISTOGRAM_STEPS)
    return DataBlock(f"log/{number}", "columns", pack_columns(len(series_by_id), columns, {"series": counts}))


def _points_block(number: int, series_by_id: Mapping[int, Series]) -> DataBlock:
    """Pack the points of one tag, thinned to `THINNED_WIDTH_PX` columns of pixels along its steps."""
    columns, counts = [], {}
    for key, series in series_by_id.items():
        points = series.point_order(superseded=True)
        step, value = series.step[points], series.value[points]
        points = points[decimate_series(step.astype(np.float64), value.astype(np.float64), THINNED_WIDTH_PX)]
        names = ("step", "wall", "value", "superseded")
        made = (series.step[points], series.wall[points], series.value[points], series.superseded[points])
        columns += [(f"{key}.{name}", column) for name, column in zip(names, made, strict=True)]
        counts[str(key)] = {"points": len(series)}
    return DataBlock(f"log/{number}", "columns", pack_columns(len(counts), columns, {"series": counts}))


def log_state(runs: Iterable[tuple[int, Run]], every: Iterable[Series]) -> dict[str, Any]:
    """Return all runs with their numbers, the count of series of each kind, and the colours of lines."""
    kinds, by_run, numbered = Counter[str](), Counter[str](), list(runs)
    for series in every:
        kinds[series.kind] += 1
        by_run[series.run] += 1
    looks = run_styles({run.name: run.first_wall or 0.0 for _, run in numbered})
    entries = [_run_entry(run, number, by_run[run.name], looks[run.name]) for number, run in numbered]
    return {"generation": "", "runs": entries, "kinds": dict(kinds), "hues": RUN_HUES, "graphs": [], "notices": []}


def _run_entry(run: Run, number: int, series: int, look: LineStyle) -> dict[str, Any]:
    return {
        "id": number,
        "name": run.name,
        "first": replace_non_finite(run.first_wall),
        "last": replace_non_finite(run.last_wall),
        "firstStep": json_integer(run.first_step),
        "lastStep": json_integer(run.last_step),
        "series": series,
        "points": run.points,
        "superseded": run.superseded,
        "restarts": [
            {"step": json_integer(restart.step), "points": restart.points, "marked": restart.marked}
            for restart in run.restarts
        ],
        "state": run.state,
        "style": [look.hue, look.dashes],
        "notices": [notice_entry(notice) for notice in run.notices],
    }


def notice_entry(notice: Notice) -> dict[str, Any]:
    return {"code": notice.code, "text": notice.message, "count": notice.count}


def tag_entries(
    every: Iterable[Series],
    tag_id: Callable[[Series], int],
    run_id: Callable[[str], int],
    series_id: Callable[[Series], int],
    extent_of: Callable[[Series], list[Any]] | None = None,
) -> list[dict[str, Any]]:
    """Return the tags in the order of their groups, one entry per tag and kind, with the series of each run."""
    extent = extent_of or series_extent
    series_of_tag: dict[TagKind, list[Series]] = {}
    for series in every:
        series_of_tag.setdefault((series.tag, series.kind), []).append(series)
    group_of = {tag: group for group, inner in group_tags({tag for tag, _ in series_of_tag}) for tag in inner}
    position = {tag: number for number, tag in enumerate(group_of)}
    ordered = sorted(series_of_tag, key=lambda key: (position[key[0]], key[1]))
    return [
        {
            "id": tag_id(series_of_tag[tag, kind][0]),
            "name": tag,
            "group": group_of[tag],
            "kind": kind,
            "plugin": series_of_tag[tag, kind][0].about.plugin,
            "title": series_of_tag[tag, kind][0].about.display_name,
            "about": series_of_tag[tag, kind][0].about.description,
            "runs": [[run_id(series.run), series_id(series), *extent(series)] for series in series_of_tag[tag, kind]],
        }
        for tag, kind in ordered
    ]


def series_extent(series: Series) -> list[Any]:
    """Return the number of points, first and last step, first and last time, and the number of values that are not
    finite."""
    known = series.extent()
    if known is None:
        return [0, None, None, None, None, 0]
    steps = json_integer(known.first_step), json_integer(known.last_step)
    return [known.points, *steps, replace_non_finite(known.first_wall), replace_non_finite(known.last_wall), known.odd]


def name_of_source(source: str | os.PathLike[str]) -> str:
    """Return the name of a source; "." and the like are resolved."""
    path = Path(source)
    return path.name if path.name not in ("", "..") else path.resolve().name or str(path)
