"""Logged values joined to a graph: what the colouring "logged" shows.

log ─join▶ tags at rows ─measure▶ a value per point ─gather▶ a value per row, at one step
"""

from __future__ import annotations

import os
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass as plain_dataclass
from dataclasses import replace
from functools import cached_property
from math import isfinite, log10
from typing import Any

import numpy as np

from graphviz_tb.chart.measures import MEASURES, tag_values
from graphviz_tb.color.user_facts import LOG_SCALE_RATIO
from graphviz_tb.errors import MissingFacts, ReadError, RequestError, UnknownNode, check_choice
from graphviz_tb.logs.joins import join_tags
from graphviz_tb.logs.row_values import classify_values, row_values_at
from graphviz_tb.model.columns import distinct_values
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.hierarchy import Hierarchy, RowTree
from graphviz_tb.model.joins import LoggedValues, MeasuredAspect, RowValue, TagJoin, TagValues, ValueCondition
from graphviz_tb.model.logs import Doubles, LogContents, Series
from graphviz_tb.options import PictureOptions
from graphviz_tb.search.names import NamePattern

# in order of preference
ASPECT_PREFERENCE = (
    MeasuredAspect.GRADIENT,
    MeasuredAspect.WEIGHT,
    MeasuredAspect.ACTIVATION,
    MeasuredAspect.LOSS,
    MeasuredAspect.OTHER,
)
ASPECT_NOUNS = {
    MeasuredAspect.GRADIENT: "gradients",
    MeasuredAspect.WEIGHT: "weights",
    MeasuredAspect.ACTIVATION: "activations",
    MeasuredAspect.LOSS: "losses",
}
LEARNT_ASPECTS = frozenset((MeasuredAspect.GRADIENT, MeasuredAspect.WEIGHT))
MAX_COMPARED_STEPS = 32  # steps that determine the scale of a comparison


@dataclass(frozen=True, slots=True, eq=False)
class TrainingLog:
    """The log of a graph: series of scalars and histograms, and the join of each tag.

    `whole` returns series with their columns, which may have been dropped to save memory.
    """

    hierarchy: RowTree
    logged: LogContents
    joins: Mapping[str, TagJoin]
    whole: Callable[[Sequence[Series]], Sequence[Series]] = tuple

    def rows_with_aspects(self, aspects: Container[MeasuredAspect]) -> frozenset[int]:
        """Return the rows at which tags of these aspects were logged."""
        joined = (join for join in self.joins.values() if join.is_joined and join.aspect in aspects)
        return frozenset(row for join in joined for row in join.rows)

    def numeric_series(self, run: str, tags: Iterable[str]) -> list[Series]:
        """Return the scalars and histograms of some tags in a run."""
        wanted = set(tags)
        return [
            series
            for series in self.logged.series
            if series.run == run and series.tag in wanted and series.kind in ("scalar", "histogram") and len(series)
        ]


def read_training_log(source: Any, hierarchy: Hierarchy) -> TrainingLog:
    """Read the log at a source and join it. Raises `MissingFacts` if there is none."""
    from graphviz_tb.logs.log import open_log

    try:
        if not isinstance(source, str | os.PathLike) or str(source) == "-":
            raise ReadError("no log")
        logged = open_log(source).logged
    except ReadError:
        raise MissingFacts(
            "--color-by logged needs a log, and the source of this graph is none",
            hint="give a log directory that also contains the graph",
        ) from None
    tags = dict.fromkeys(series.tag for series in logged.series if series.kind != "graph")
    return TrainingLog(hierarchy, logged, {join.tag: join for join in join_tags(hierarchy, tags)})


def logged_values_at_step(training: TrainingLog, options: PictureOptions, run_of_graph: str | None) -> LoggedValues:
    """Return the values a picture shows. Raises `RequestError` if none of the requested tags was logged by that
    step."""
    shown = select_logged(training, options, run_of_graph)
    stops = shown.logged_steps()
    at = stops[-1] if options.at is None else options.at
    if at < stops[0]:
        raise RequestError(f"nothing of it was logged up to step {at:,}; the first step is {stops[0]:,}")
    return shown.values_at(at)


def logged_values_by_step(
    training: TrainingLog, options: PictureOptions, run_of_graph: str | None, most: int
) -> Iterator[tuple[str, LoggedValues]]:
    """Yield the values at up to `most` of the logged steps."""
    shown = select_logged(training, options, run_of_graph)
    for step in shown.logged_steps(most):
        yield str(step), shown.values_at(step)


def select_logged(training: TrainingLog, options: PictureOptions, run_of_graph: str | None) -> LoggedSelection:
    """Resolve run, tags and measure from the options, for all steps."""
    chosen = _select_joins(training, options)
    run = _select_run(training, chosen, options.logged_run or run_of_graph, options.logged_run is not None)
    measure = options.measure or _default_measure(training.numeric_series(run, chosen))
    check_choice("measure", measure, MEASURES)
    tags = _measure_run(training, run, chosen, measure)
    other = (
        _measure_run(training, _check_run_name(training, options.against_run), chosen, measure)
        if options.against_run
        else []
    )
    what = options.logged or " and ".join(dict.fromkeys(ASPECT_NOUNS.get(tag.join.aspect, "values") for tag in tags))
    words = f"{MEASURES[measure].words} of {what}" if measure != "ratio" else MEASURES[measure].words
    runs = f", run {run}" if len(training.logged.runs) > 1 or options.against_run else ""
    against = f", against {options.against_run}" if options.against_run else ""
    return LoggedSelection(training, measure, tags, other, f"{words[0].upper()}{words[1:]}{runs}{against}")


def _select_joins(training: TrainingLog, options: PictureOptions) -> dict[str, TagJoin]:
    """Return the joined tags that match the pattern.

    Without a pattern: gradients, else weights, else activations, whatever exists first; for "ratio", gradients and
    weights.
    """
    numeric_tags = {
        series.tag for series in training.logged.series if series.kind in ("scalar", "histogram") and len(series)
    }
    joined = {tag: join for tag, join in training.joins.items() if join.is_joined and tag in numeric_tags}
    if not joined:
        raise MissingFacts(
            f"none of the {len(training.joins):,} tags of the log belongs to a node of this graph",
            hint="info LOGDIR --joins lists them",
        )
    if options.logged is not None:
        pattern = NamePattern(options.logged.replace("*", "**"))
        found = {tag: join for tag, join in joined.items() if pattern.matches_name(tag)}
        if not found:
            raise UnknownNode.among(options.logged, joined, "joined tag")
        return found
    aspects = {join.aspect for join in joined.values()}
    if options.measure == "ratio":
        wanted = {MeasuredAspect.GRADIENT, MeasuredAspect.WEIGHT}
    else:
        wanted = {next(aspect for aspect in ASPECT_PREFERENCE if aspect in aspects)}
    return {tag: join for tag, join in joined.items() if join.aspect in wanted}


def _select_run(training: TrainingLog, chosen: Mapping[str, TagJoin], name: str | None, asked: bool) -> str:
    """Return the run to show: the requested run, that of the graph, or the only run that logged the tags."""
    if name is not None and asked:
        return _check_run_name(training, name)
    runs = list(dict.fromkeys(run.name for run in training.logged.runs if training.numeric_series(run.name, chosen)))
    if name in runs or len(runs) == 1:
        return name if name in runs and name is not None else runs[0]
    raise RequestError(
        f"{len(runs)} runs logged it: {', '.join(runs[:5])}{', …' * (len(runs) > 5)}",
        hint=f"choose with --logged-run {runs[0]}",
    )


def _check_run_name(training: TrainingLog, name: str) -> str:
    """Return a run's name. Raises `UnknownChoice` if the log has no such run."""
    names = [run.name for run in training.logged.runs]
    check_choice("run", name, names)
    return name


def _default_measure(series: Sequence[Series]) -> str:
    """Return "rms" if any series is a histogram, else "last"."""
    return "rms" if any(logged.kind == "histogram" for logged in series) else "last"


def _measure_run(training: TrainingLog, run: str, chosen: Mapping[str, TagJoin], measure: str) -> list[TagValues]:
    """Measure the tags of a run, only histograms if there are any. Raises `RequestError` if none fits the measure."""
    series = training.whole(training.numeric_series(run, chosen))
    histograms = [logged for logged in series if logged.kind == "histogram"]
    for group in (histograms, series):
        found = [value for logged in group if (value := tag_values(chosen[logged.tag], logged, measure)) is not None]
        if measure == "ratio" and {tag.join.aspect for tag in found} < {MeasuredAspect.GRADIENT, MeasuredAspect.WEIGHT}:
            continue
        if found:
            return found
    if not series:
        raise RequestError(f"run {run} logged none of the {len(chosen):,} tags", hint="info LOGDIR --joins lists them")
    kinds = " and ".join(f"{kind}s" for kind in dict.fromkeys(logged.kind for logged in series))
    fitting = _default_measure(series)
    raise RequestError(f"{measure} cannot be taken of what matches: {kinds}", hint=f"try --measure {fitting}")


@plain_dataclass(frozen=True, eq=False)
class LoggedSelection:
    """The selected tags of one run, or of two runs that are compared, with one scale for all steps."""

    training: TrainingLog
    measure: str
    tags: Sequence[TagValues]
    other: Sequence[TagValues]
    heading: str

    def values_at(self, step: int) -> LoggedValues:
        row, rows, (low, high) = MEASURES[self.measure], self.row_values(step), self.value_range
        compared = ", how many times" if self.is_logarithmic else ", difference"
        words = compared if self.other else ", log scale" if self.is_logarithmic else ""
        return LoggedValues(
            f"{self.heading}, step {step}{words}",
            step,
            rows,
            self.comparable_rows - rows.keys(),
            low,
            high,
            log=self.is_logarithmic,
            signed=low < 0,
            percent=row.percent,
            times=bool(self.other) and self.is_logarithmic,
            bound=row.bound,
            noun="nodes"
            if self.comparable_rows.isdisjoint(self.training.rows_with_aspects(LEARNT_ASPECTS))
            else "layers",
        )

    @cached_property
    def is_logarithmic(self) -> bool:
        return MEASURES[self.measure].log or (self.measure == "last" and _spans_magnitudes(_all_values(self.tags)))

    @cached_property
    def value_range(self) -> tuple[float, float]:
        """Smallest and largest value of the scale, for all steps.

        Ratios and differences exist for rows only: their scale is taken from the rows at many steps.
        """
        row = MEASURES[self.measure]
        if not self.other and row.gather != "ratio":
            return _value_range_of_tags(self.tags, self.is_logarithmic, row.signed)
        values = [row_value.value for at in self.logged_steps() for row_value in self.row_values(at).values()]
        if self.other:
            high = max((_change_size(value, self.is_logarithmic) for value in values), default=0.0) or 1.0
            return -high, high
        sizes = [value for value in values if isfinite(value) and value > 0] or [1.0]
        return min(sizes), max(sizes)

    def row_values(self, step: int) -> dict[int, RowValue]:
        """Return the value of each row at a step. Of two runs it is the quotient, or the difference on a linear
        scale."""
        rows = self.row_values_of_run(self.tags, step)
        if not self.other:
            return rows
        other = self.row_values_of_run(self.other, step)
        return {
            row: replace(value, value=_change_between(value.value, other[row].value, self.is_logarithmic))
            for row, value in rows.items()
            if row in other
        }

    def row_values_of_run(self, tags: Sequence[TagValues], step: int) -> dict[int, RowValue]:
        gather = MEASURES[self.measure].gather
        counted = [tag for tag in tags if gather != "ratio" or tag.join.aspect is MeasuredAspect.GRADIENT]
        median = _median_size(_all_values(counted)) if self.is_logarithmic else 0.0
        return row_values_at(self.training.hierarchy, tags, step, gather, self.comparable_rows, median)

    @cached_property
    def comparable_rows(self) -> frozenset[int]:
        """Rows comparable to the shown ones: layers for gradients and weights, else rows of the same aspect."""
        aspects = {tag.join.aspect for tag in self.tags}
        return self.training.rows_with_aspects(
            aspects if aspects.isdisjoint(LEARNT_ASPECTS) else aspects | LEARNT_ASPECTS
        )

    def logged_steps(self, most: int = MAX_COMPARED_STEPS) -> list[int]:
        """Return up to `most` logged steps, evenly chosen, the first and last included."""
        steps = distinct_values(np.concatenate([tag.step for tag in (*self.tags, *self.other)]))
        chosen = np.linspace(0, len(steps) - 1, min(len(steps), most)).round().astype(int)
        return [int(step) for step in steps[chosen]]


def _all_values(tags: Sequence[TagValues]) -> Doubles:
    return np.concatenate([tag.value for tag in tags])


def _value_range_of_tags(tags: Sequence[TagValues], log: bool, signed: bool) -> tuple[float, float]:
    """Return the range of all finite values; on a log scale without vanished and exploded ones."""
    median = _median_size(_all_values(tags)) if log else 0.0
    fine = np.concatenate([tag.value[classify_values(tag.value, median) == ValueCondition.NONE] for tag in tags])
    high = float(np.max(np.abs(fine), initial=0.0))
    if signed or (not log and np.min(fine, initial=0.0) < 0):
        return -(high or 1.0), high or 1.0
    return float(np.min(fine, initial=high)) if log else 0.0, high


def _median_size(values: Doubles) -> float:
    """Return the median absolute value of finite, non-zero numbers; 0 if there are none."""
    size = np.abs(values[np.isfinite(values) & (values != 0)])
    return float(np.median(size)) if len(size) else 0.0


def _spans_magnitudes(values: Doubles) -> bool:
    """Return whether values are non-negative and span orders of magnitude."""
    fine = values[np.isfinite(values) & (values != 0)]
    return bool(len(fine) and np.min(fine) > 0 and np.max(fine) > LOG_SCALE_RATIO * np.min(fine))


def _change_between(value: float, before: float, log: bool) -> float:
    """Return the quotient, or on a linear scale the difference."""
    if not log:
        return value - before
    return value / before if before else float("nan")


def _change_size(value: float, log: bool) -> float:
    """Return how far a change is from "no change"."""
    if not isfinite(value) or (log and value <= 0):
        return 0.0
    return abs(log10(value)) if log else abs(value)
