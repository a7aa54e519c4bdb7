"""Values of rows at a step from joined tags: a row gathers the tags of all rows below it, also through calls.

norm        root of the sum of squares
rms         root of the mean of squares, weighted by elements
largest     the largest
ratio       norm of the gradients by norm of the weights
else        mean, weighted by elements
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite, nan, sqrt

import numpy as np

from graphviz_tb.model.columns import Bytes
from graphviz_tb.model.hierarchy import RowTree
from graphviz_tb.model.joins import GatherRule, MeasuredAspect, RowValue, TagValues, ValueCondition
from graphviz_tb.model.logs import Doubles

VANISHED_RATIO, EXPLODED_RATIO = 1e-7, 1e3  # relative to the median


@dataclass(slots=True)
class GatheredSums:
    """The tags gathered at a row, with the point of each, and the rows that logged them."""

    points: list[tuple[TagValues, int]] = field(default_factory=list)
    layers: set[int] = field(default_factory=set)


def row_values_at(
    hierarchy: RowTree,
    tags: Sequence[TagValues],
    step: int,
    gather: GatherRule,
    joined: Iterable[int],
    median: float,
) -> dict[int, RowValue]:
    """Return the value of every row at a step, from the last point of each tag up to it. `joined` are all rows that
    logged anything; without a `median` (0) nothing counts as vanished or exploded."""
    rows_above = RowsAbove(hierarchy)
    sums_by_row: dict[int, GatheredSums] = defaultdict(GatheredSums)
    points_by_row: dict[int, list[tuple[TagValues, int]]] = defaultdict(list)
    for tag in tags:
        point = int(np.searchsorted(tag.step, step, "right")) - 1
        if point < 0:
            continue
        for row in tag.join.rows:
            points_by_row[row].append((tag, point))
        for group in {around for row in tag.join.rows for around in rows_above(row)}:
            sums_by_row[group].points.append((tag, point))
    states = {row: _condition_and_value(points, median, gather) for row, points in points_by_row.items()}
    for row in points_by_row:
        for group in rows_above(row):
            sums_by_row[group].layers.add(row)
    joined_counts: dict[int, int] = defaultdict(int)
    for row in set(joined) | set(points_by_row):
        for group in rows_above(row):
            joined_counts[group] += 1
    return {row: _row_value(sums, states, joined_counts[row], gather) for row, sums in sorted(sums_by_row.items())}


def _condition_and_value(
    points: Sequence[tuple[TagValues, int]], median: float, gather: GatherRule
) -> tuple[ValueCondition, int, float]:
    """Return the condition of a row, the first step in this condition, and the value of the row's tags."""
    return *_row_condition(_condition_points(points, gather), median), _gather_values(points, gather)


def _row_value(
    sums: GatheredSums, states: Mapping[int, tuple[ValueCondition, int, float]], of: int, gather: GatherRule
) -> RowValue:
    value = _gather_values(sums.points, gather)
    worst = max((states[row][0] for row in sums.layers), default=ValueCondition.NONE)
    since = [since for row in sums.layers if states[row][0] is worst for since in (states[row][1],)]
    step = max(int(tag.step[at]) for tag, at in sums.points)
    exact = all(tag.exact for tag, _ in sums.points)
    hit = len(since) if worst else 0
    sizes = [abs(size) for row in sums.layers if isfinite(size := states[row][2])]
    spread = (min(sizes), max(sizes)) if sizes else (nan, nan)
    return RowValue(value, step, len(sums.layers), of, *spread, worst, hit, min(since) if worst else 0, exact)


def _condition_points(points: Sequence[tuple[TagValues, int]], gather: GatherRule) -> Sequence[tuple[TagValues, int]]:
    """Return the points that determine the condition of a row: for a ratio only gradients."""
    return [point for point in points if gather != "ratio" or point[0].join.aspect is MeasuredAspect.GRADIENT]


def _gather_values(points: Sequence[tuple[TagValues, int]], gather: GatherRule) -> float:
    """Combine the values of several tags, ignoring those that are not finite; NaN if none is."""
    values = [(tag, float(tag.value[at]), float(tag.number[at])) for tag, at in points]
    finite = [point for point in values if isfinite(point[1])]
    if not finite:
        return nan
    if gather == "ratio":
        gradient = [value for tag, value, _ in finite if tag.join.aspect is MeasuredAspect.GRADIENT]
        weight = [value for tag, value, _ in finite if tag.join.aspect is MeasuredAspect.WEIGHT]
        weight_norm = _root_of_squares(weight)
        return _root_of_squares(gradient) / weight_norm if gradient and weight_norm else nan
    if gather == "root of squares":
        return _root_of_squares([value for _, value, _ in finite])
    if gather == "largest":
        return max(value for _, value, _ in finite)
    total = sum(count for *_, count in finite)
    if not total:
        return 0.0
    if gather == "root of mean squares":
        return sqrt(sum(count * value * value for _, value, count in finite) / total)
    return sum(count * value for _, value, count in finite) / total


def _root_of_squares(values: Sequence[float]) -> float:
    return sqrt(sum(value * value for value in values))


def _row_condition(points: Sequence[tuple[TagValues, int]], median: float) -> tuple[ValueCondition, int]:
    """Return the condition of a row and the first step in this condition: NaN or exploded if any of its tags is, zero
    or vanished only if all are."""
    if not points:
        return ValueCondition.NONE, 0
    states = [_condition_since(tag, point, median) for tag, point in points]
    grave = [state for state in states if state[0] >= ValueCondition.EXPLODED]
    if grave:
        worst = max(condition for condition, _ in grave)
        return worst, min(since for condition, since in grave if condition is worst)
    least = min(condition for condition, _ in states)
    return least, max(since for _, since in states) if least else 0


def _condition_since(tag: TagValues, point: int, median: float) -> tuple[ValueCondition, int]:
    now = classify_values(tag.value[: point + 1], median)
    other = np.flatnonzero(now != now[-1])
    return ValueCondition(int(now[-1])), int(tag.step[other[-1] + 1 if len(other) else 0])


def classify_values(values: Doubles, median: float) -> Bytes:
    """Return the condition of each value of a tag, in step order. An exploded value must also have grown: if gradients
    fade from layer to layer, the last layer is always far above the median.

    >>> classify_values(np.array([1.0, 0.0, 1e-9, 2e4, np.nan]), 1.0).tolist()
    [0, 1, 2, 3, 4]
    >>> classify_values(np.array([2e4, 2e4]), 1.0).tolist()
    [0, 0]
    """
    size = np.abs(values)
    out = np.zeros(len(values), np.uint8)
    out[~np.isfinite(values)] = ValueCondition.NAN
    if median > 0:
        least = np.minimum.accumulate(np.where(np.isfinite(size) & (size > 0), size, np.inf))
        out[size == 0] = ValueCondition.ZERO
        out[(size > 0) & (size < VANISHED_RATIO * median)] = ValueCondition.VANISHED
        out[np.isfinite(size) & (size > EXPLODED_RATIO * np.maximum(median, least))] = ValueCondition.EXPLODED
    return out


class RowsAbove:
    """Callable: a row and all rows around it, also from functions to their calls; cached."""

    def __init__(self, hierarchy: RowTree) -> None:
        self.hierarchy = hierarchy
        self.callers: dict[int, list[int]] = defaultdict(list)
        for call, bodies in hierarchy.calls.items():
            for _, function in bodies:
                self.callers[function].append(call)
        self.known: dict[int, tuple[int, ...]] = {}

    def __call__(self, row: int) -> tuple[int, ...]:
        if row not in self.known:
            seen: dict[int, None] = {row: None}
            waiting = [row]
            while waiting:
                at = waiting.pop()
                parent = int(self.hierarchy.parent[at])
                for up in [parent] if parent >= 0 else self.callers.get(at, ()):
                    if up not in seen:
                        seen[up] = None
                        waiting.append(up)
            self.known[row] = tuple(seen)
        return self.known[row]
