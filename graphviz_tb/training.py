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
from graphviz_tb.color.given import WIDE
from graphviz_tb.errors import MissingFacts, ReadError, RequestError, UnknownChoice, UnknownNode
from graphviz_tb.join import join
from graphviz_tb.join.values import conditions, values_at
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.hierarchy import Hierarchy, RowTree
from graphviz_tb.model.joins import Aspect, Join
from graphviz_tb.model.logged import Doubles, Logged, Series
from graphviz_tb.model.measured_tags import Condition, LoggedValues, RowValue, TagValues
from graphviz_tb.options import PictureOptions
from graphviz_tb.view.wildcards import Pattern

ASPECTS = (Aspect.GRADIENT, Aspect.WEIGHT, Aspect.ACTIVATION, Aspect.LOSS, Aspect.OTHER)  # in order of preference
NOUNS = {
    Aspect.GRADIENT: "gradients",
    Aspect.WEIGHT: "weights",
    Aspect.ACTIVATION: "activations",
    Aspect.LOSS: "losses",
}
LEARNT = frozenset((Aspect.GRADIENT, Aspect.WEIGHT))
MOST_COMPARED = 32  # number of steps from which the scale of a comparison is taken


@dataclass(frozen=True, slots=True, eq=False)
class Training:
    """The log of a graph: series of scalars and histograms, and the join of each tag.

    `whole` returns series with their columns, which may have been dropped to save memory.
    """

    hierarchy: RowTree
    logged: Logged
    joins: Mapping[str, Join]
    whole: Callable[[Sequence[Series]], Sequence[Series]] = tuple

    def rows_like(self, aspects: Container[Aspect]) -> frozenset[int]:
        """Return the rows at which tags of these aspects were logged."""
        joined = (each for each in self.joins.values() if each.joined and each.aspect in aspects)
        return frozenset(row for each in joined for row in each.rows)

    def series(self, run: str, tags: Iterable[str]) -> list[Series]:
        """Return the scalars and histograms of some tags in a run."""
        wanted = set(tags)
        return [
            each
            for each in self.logged.series
            if each.run == run and each.tag in wanted and each.kind in ("scalar", "histogram") and len(each)
        ]


def training_of(source: Any, hierarchy: Hierarchy) -> Training:
    """Read the log at a source and join it. Raises `MissingFacts` if there is none."""
    from graphviz_tb.log import open_log

    try:
        if not isinstance(source, str | os.PathLike) or str(source) == "-":
            raise ReadError("no log")
        logged = open_log(source).logged
    except ReadError:
        raise MissingFacts(
            "colouring by logged needs a log, and none is at the source of this graph",
            hint="give the log directory that holds the graph too",
        ) from None
    tags = dict.fromkeys(each.tag for each in logged.series if each.kind != "graph")
    return Training(hierarchy, logged, {each.tag: each for each in join(hierarchy, tags)})


def logged_values(training: Training, options: PictureOptions, run_of_graph: str | None) -> LoggedValues:
    """Return the values a picture shows. Raises `RequestError` if none of the requested tags was logged by that
    step."""
    shown = shown_of(training, options, run_of_graph)
    stops = shown.stops()
    at = stops[-1] if options.at is None else options.at
    if at < stops[0]:
        raise RequestError(f"nothing of it was logged up to step {at:,}; the first step is {stops[0]:,}")
    return shown.at(at)


def values_by_step(
    training: Training, options: PictureOptions, run_of_graph: str | None, most: int
) -> Iterator[tuple[str, LoggedValues]]:
    """Yield the values at up to `most` of the logged steps."""
    shown = shown_of(training, options, run_of_graph)
    for step in shown.stops(most):
        yield str(step), shown.at(step)


def shown_of(training: Training, options: PictureOptions, run_of_graph: str | None) -> Shown:
    """Resolve run, tags and measure from the options, for all steps."""
    chosen = chosen_joins(training, options)
    run = chosen_run(training, chosen, options.logged_run or run_of_graph, options.logged_run is not None)
    measure = options.measure or default_measure(training.series(run, chosen))
    if measure not in MEASURES:
        raise UnknownChoice.among("measure", measure, MEASURES)
    tags = measured(training, run, chosen, measure)
    other = measured(training, named_run(training, options.against_run), chosen, measure) if options.against_run else []
    what = options.logged or " and ".join(dict.fromkeys(NOUNS.get(tag.join.aspect, "values") for tag in tags))
    words = f"{MEASURES[measure].words} of {what}" if measure != "ratio" else MEASURES[measure].words
    runs = f", run {run}" if len(training.logged.runs) > 1 or options.against_run else ""
    against = f", against {options.against_run}" if options.against_run else ""
    return Shown(training, measure, tags, other, f"{words[0].upper()}{words[1:]}{runs}{against}")


def chosen_joins(training: Training, options: PictureOptions) -> dict[str, Join]:
    """Return the joined tags that match the pattern.

    Without a pattern: gradients, else weights, else activations, whatever exists first; for "ratio", gradients and
    weights.
    """
    numbers = {each.tag for each in training.logged.series if each.kind in ("scalar", "histogram") and len(each)}
    joined = {tag: each for tag, each in training.joins.items() if each.joined and tag in numbers}
    if not joined:
        raise MissingFacts(
            f"none of the {len(training.joins):,} tags of the log belongs to a node of this graph",
            hint="info LOGDIR --joins lists them",
        )
    if options.logged is not None:
        pattern = Pattern(options.logged.replace("*", "**"))
        found = {tag: each for tag, each in joined.items() if pattern.matches(tag)}
        if not found:
            raise UnknownNode.among(options.logged, joined, "joined tag")
        return found
    aspects = {each.aspect for each in joined.values()}
    if options.measure == "ratio":
        wanted = {Aspect.GRADIENT, Aspect.WEIGHT}
    else:
        wanted = {next(aspect for aspect in ASPECTS if aspect in aspects)}
    return {tag: each for tag, each in joined.items() if each.aspect in wanted}


def chosen_run(training: Training, chosen: Mapping[str, Join], name: str | None, asked: bool) -> str:
    """Return the run to show: the one asked for, the graph's own, or the only one that logged the tags."""
    if name is not None and asked:
        return named_run(training, name)
    runs = list(dict.fromkeys(run.name for run in training.logged.runs if training.series(run.name, chosen)))
    if name in runs or len(runs) == 1:
        return name if name in runs and name is not None else runs[0]
    raise RequestError(
        f"{len(runs)} runs logged it: {', '.join(runs[:5])}{', …' * (len(runs) > 5)}",
        hint=f"choose with --logged-run {runs[0]}",
    )


def named_run(training: Training, name: str) -> str:
    """Return a run's name. Raises `UnknownChoice` if the log has no such run."""
    names = [run.name for run in training.logged.runs]
    if name not in names:
        raise UnknownChoice.among("run", name, names)
    return name


def default_measure(series: Sequence[Series]) -> str:
    """Return "rms" if any series is a histogram, else "last"."""
    return "rms" if any(each.kind == "histogram" for each in series) else "last"


def measured(training: Training, run: str, chosen: Mapping[str, Join], measure: str) -> list[TagValues]:
    """Measure the tags of a run, only histograms if there are any. Raises `RequestError` if none fits the measure."""
    series = training.whole(training.series(run, chosen))
    histograms = [each for each in series if each.kind == "histogram"]
    for group in (histograms, series):
        found = [value for each in group if (value := tag_values(chosen[each.tag], each, measure)) is not None]
        if measure == "ratio" and {tag.join.aspect for tag in found} < {Aspect.GRADIENT, Aspect.WEIGHT}:
            continue
        if found:
            return found
    if not series:
        raise RequestError(f"run {run} logged none of the {len(chosen):,} tags", hint="info LOGDIR --joins lists them")
    kinds = " and ".join(f"{kind}s" for kind in dict.fromkeys(each.kind for each in series))
    fitting = default_measure(series)
    raise RequestError(f"{measure} cannot be taken of what matches: {kinds}", hint=f"try --measure {fitting}")


@plain_dataclass(frozen=True, eq=False)
class Shown:
    """The selected tags of one run, or of two runs that are compared, with one scale for all steps."""

    training: Training
    measure: str
    tags: Sequence[TagValues]
    other: Sequence[TagValues]
    heading: str

    def at(self, step: int) -> LoggedValues:
        """Return the values at a step."""
        row, rows, (low, high) = MEASURES[self.measure], self.rows(step), self.scale
        compared = ", how many times" if self.log else ", difference"
        words = compared if self.other else ", log scale" if self.log else ""
        return LoggedValues(
            f"{self.heading}, step {step}{words}",
            step,
            rows,
            self.alike - rows.keys(),
            low,
            high,
            log=self.log,
            signed=low < 0,
            percent=row.percent,
            times=bool(self.other) and self.log,
            bound=row.bound,
            noun="nodes" if self.alike.isdisjoint(self.training.rows_like(LEARNT)) else "layers",
        )

    @cached_property
    def log(self) -> bool:
        """Return whether the scale is logarithmic."""
        return MEASURES[self.measure].log or (self.measure == "last" and is_wide(every_value(self.tags)))

    @cached_property
    def scale(self) -> tuple[float, float]:
        """Smallest and largest value of the scale, for all steps.

        Ratios and differences exist for rows only: their scale is taken from the rows at many steps.
        """
        row = MEASURES[self.measure]
        if not self.other and row.gather != "ratio":
            return scale_of(self.tags, self.log, row.signed)
        values = [each.value for at in self.stops() for each in self.rows(at).values()]
        if self.other:
            high = max((distance(value, self.log) for value in values), default=0.0) or 1.0
            return -high, high
        sizes = [value for value in values if isfinite(value) and value > 0] or [1.0]
        return min(sizes), max(sizes)

    def rows(self, step: int) -> dict[int, RowValue]:
        """Return the value of each row at a step. Of two runs it is the quotient, or the difference on a linear
        scale."""
        rows = self.rows_of(self.tags, step)
        if not self.other:
            return rows
        other = self.rows_of(self.other, step)
        return {
            row: replace(value, value=change_of(value.value, other[row].value, self.log))
            for row, value in rows.items()
            if row in other
        }

    def rows_of(self, tags: Sequence[TagValues], step: int) -> dict[int, RowValue]:
        """Return the values of one run by row."""
        gather = MEASURES[self.measure].gather
        counted = [tag for tag in tags if gather != "ratio" or tag.join.aspect is Aspect.GRADIENT]
        median = middle(every_value(counted)) if self.log else 0.0
        return values_at(self.training.hierarchy, tags, step, gather, self.alike, median)

    @cached_property
    def alike(self) -> frozenset[int]:
        """Rows comparable to the shown ones: layers for gradients and weights, else rows of the same aspect."""
        aspects = {tag.join.aspect for tag in self.tags}
        return self.training.rows_like(aspects if aspects.isdisjoint(LEARNT) else aspects | LEARNT)

    def stops(self, most: int = MOST_COMPARED) -> list[int]:
        """Return up to `most` logged steps, evenly chosen, the first and last included."""
        steps = np.unique(np.concatenate([tag.step for tag in (*self.tags, *self.other)]))
        chosen = np.linspace(0, len(steps) - 1, min(len(steps), most)).round().astype(int)
        return [int(step) for step in steps[chosen]]


def every_value(tags: Sequence[TagValues]) -> Doubles:
    """Return the values of all tags in one array."""
    return np.concatenate([tag.value for tag in tags])


def scale_of(tags: Sequence[TagValues], log: bool, signed: bool) -> tuple[float, float]:
    """Return the range of all finite values; on a log scale without vanished and exploded ones."""
    median = middle(every_value(tags)) if log else 0.0
    fine = np.concatenate([tag.value[conditions(tag.value, median) == Condition.NONE] for tag in tags])
    high = float(np.max(np.abs(fine), initial=0.0))
    if signed or (not log and np.min(fine, initial=0.0) < 0):
        return -(high or 1.0), high or 1.0
    return float(np.min(fine, initial=high)) if log else 0.0, high


def middle(values: Doubles) -> float:
    """Return the median absolute value of finite, non-zero numbers; 0 if there are none."""
    size = np.abs(values[np.isfinite(values) & (values != 0)])
    return float(np.median(size)) if len(size) else 0.0


def is_wide(values: Doubles) -> bool:
    """Return whether values are non-negative and span orders of magnitude."""
    fine = values[np.isfinite(values) & (values != 0)]
    return bool(len(fine) and np.min(fine) > 0 and np.max(fine) > WIDE * np.min(fine))


def change_of(value: float, before: float, log: bool) -> float:
    """Return the quotient, or on a linear scale the difference."""
    if not log:
        return value - before
    return value / before if before else float("nan")


def distance(value: float, log: bool) -> float:
    """Return how far a change is from "no change"."""
    if not isfinite(value) or (log and value <= 0):
        return 0.0
    return abs(log10(value)) if log else abs(value)
