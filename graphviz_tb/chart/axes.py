"""Axes of charts, and the order, groups and colours of runs and tags."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from math import ceil, floor, log10

import numpy as np

from graphviz_tb.model.columns import Floats
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.paths import natural_name_key

# The order of runs and tags, their groups, and the colour of each run.

# Twelve hues with a contrast of at least 3:1 to their background; adjacent hues differ in lightness, too.
RUN_HUES = {
    "light": (
        "#0969DA", "#C4440E", "#1A7F37", "#8250DF", "#A0520B", "#0B7A94",
        "#BF3989", "#4B7001", "#57606A", "#3F4EC4", "#B3261E", "#00755E",
    ),
    "dark": (
        "#58A6FF", "#FB8F44", "#56D364", "#BC8CFF", "#E3B341", "#39C5CF",
        "#F778BA", "#A5C261", "#9DA7B3", "#8C9EFF", "#FF7B72", "#2DD4A7",
    ),
}  # fmt: skip
# Lines are dashed from the thirteenth run on, where hues repeat.
RUN_DASHES: tuple[tuple[float, ...], ...] = ((), (6, 3), (2, 2), (8, 3, 2, 3))
MAX_SINGLE_TAGS = 10  # more single tags form a group "Other"


@dataclass(frozen=True, slots=True)
class LineStyle:
    """The look of a run's lines: an index into `RUN_HUES`, and the dashes."""

    hue: int
    dashes: tuple[float, ...]


def run_styles(first_walls: Mapping[str, float]) -> dict[str, LineStyle]:
    """Return a style for each run, in the order of first wall times, then names, so that a new run changes no other
    style.

    >>> run_styles({"b": 1.0, "a": 2.0})["a"].hue
    1
    """
    ordered = sorted(first_walls, key=lambda run: (first_walls[run], run))
    count = len(RUN_HUES["light"])
    return {run: LineStyle(at % count, RUN_DASHES[at // count % len(RUN_DASHES)]) for at, run in enumerate(ordered)}


def group_tags(tags: Iterable[str]) -> list[tuple[str, list[str]]]:
    """Group tags by the text before their first `/`, both in natural order; many single tags come last as "Other".

    >>> group_tags(["train/loss", "lr", "train/acc"])
    [('lr', ['lr']), ('train', ['train/acc', 'train/loss'])]
    """
    found: dict[str, list[str]] = {}
    for tag in sorted(set(tags), key=natural_name_key):
        found.setdefault(tag.partition("/")[0], []).append(tag)
    single = [name for name, inner in found.items() if len(inner) == 1]
    others: Sequence[str] = single if len(single) > MAX_SINGLE_TAGS else ()
    out = [(name, found[name]) for name in sorted(found, key=natural_name_key) if name not in set(others)]
    return out + ([("Other", [found[name][0] for name in others])] if others else [])


# Axes: the range of a chart, its ticks, and their labels.

PADDING_SHARE = 0.05  # of an axis, beyond each of its ends
TICK_STEPS = (1, 2, 5, 10)  # leading digits of the distance between ticks
OUTLIER_SHARE = 0.05  # of the values at each end, which "ignore outliers" drops, as in TensorBoard
TIME_STEPS = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400)  # seconds


@dataclass(frozen=True, slots=True)
class Axis:
    """A range of values; both ends are positive if it is logarithmic."""

    low: float
    high: float
    log: bool = False


def axis_positions(of: Axis, values: Floats) -> Floats:
    """Return the positions of values on an axis: 0 at the low end, 1 at the high end."""
    if not of.log:
        return (values - of.low) / (of.high - of.low)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log10(values)
    out: Floats = (logs - log10(of.low)) / (log10(of.high) - log10(of.low))
    return out


def fit_axis(values: Floats, log: bool = False, outliers: bool = True) -> Axis:
    """Return the axis that shows all finite values, or, without `outliers`, the 5th to the 95th percentile.

    A logarithmic axis ignores values of zero and less. An axis always has a length.

    >>> fit_axis(np.array([1.0, 3.0])), fit_axis(np.array([0.0, 10.0, 1000.0]), log=True)
    (Axis(low=1.0, high=3.0, log=False), Axis(low=10.0, high=1000.0, log=True))
    """
    finite = values[np.isfinite(values)]
    if log:
        finite = finite[finite > 0]
    if not len(finite):
        return _axis_between(1.0, 0.0, log)
    ordered = np.sort(finite)
    last = len(ordered) - 1
    first_shown, last_shown = (0, last) if outliers else (ceil(OUTLIER_SHARE * last), floor((1 - OUTLIER_SHARE) * last))
    return _axis_between(float(ordered[first_shown]), float(ordered[max(first_shown, last_shown)]), log)


def _axis_between(low: float, high: float, log: bool) -> Axis:
    """Return the axis from `low` to `high`; an axis around them if they are equal, a default axis if `low` is
    greater."""
    if low > high:
        return Axis(0.1, 1.0, True) if log else Axis(0.0, 1.0)
    if low < high:
        return Axis(low, high, log)
    return Axis(low / 2, high * 2, True) if log else Axis(low - (abs(low) / 2 or 0.5), high + (abs(high) / 2 or 0.5))


def pad_axis(of: Axis) -> Axis:
    """Return an axis extended at both ends.

    >>> pad_axis(Axis(0.0, 10.0))
    Axis(low=-0.5, high=10.5, log=False)
    """
    if of.log:
        more = (of.high / of.low) ** PADDING_SHARE
        return Axis(of.low / more, of.high * more, True)
    more = (of.high - of.low) * PADDING_SHARE
    return Axis(of.low - more, of.high + more)


def axis_ticks(of: Axis, most: int = 5) -> list[float]:
    """Return round values on an axis, ascending, about `most` of them.

    >>> axis_ticks(Axis(0.0, 1.0)), axis_ticks(Axis(0.01, 1000.0, True))
    ([0.0, 0.2, 0.4, 0.6, 0.8, 1.0], [0.01, 0.1, 1.0, 10.0, 100.0, 1000.0])
    """
    if of.log and of.high / of.low >= 10:
        first, last = ceil(log10(of.low) - 1e-9), floor(log10(of.high) + 1e-9)
        every = max(1, round((last - first + 1) / (most + 1)))
        return [float(f"1e{power}") for power in range(first, last + 1, every)]
    return _multiples_on_axis(of, _round_step_above((of.high - of.low) / most))


def _round_step_above(least: float) -> float:
    """Return the next round distance of ticks."""
    power = floor(log10(least))
    step = next(step for step in TICK_STEPS if step * 10.0**power >= least * (1 - 1e-9))
    return float(f"{step}e{power}")


def _multiples_on_axis(of: Axis, step: float) -> list[float]:
    """Return the multiples of a distance on an axis, without rounding noise."""
    digits = max(0, 1 - floor(log10(step)))
    first, last = ceil(of.low / step - 1e-9), floor(of.high / step + 1e-9)
    return [round(at * step, digits) + 0.0 for at in range(first, last + 1)]


def axis_time_ticks(of: Axis, most: int = 5) -> list[float]:
    """Return round times on an axis of seconds."""
    least = (of.high - of.low) / most
    step = next((float(step) for step in TIME_STEPS if step >= least), 0.0)
    return _multiples_on_axis(of, step or 86400 * _round_step_above(least / 86400))


def format_duration(seconds: float) -> str:
    """Format a time since the beginning of a run.

    >>> [format_duration(value) for value in (0, 0.5, 90, 5400, 172800)]
    ['0', '0.5 s', '1.5 min', '1.5 h', '2 d']
    """
    for unit, size in (("d", 86400), ("h", 3600), ("min", 60)):
        if abs(seconds) >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds:.3g} s" if seconds else "0"


def format_wall_time(seconds: float, span: float) -> str:
    """Format a wall time in UTC, as precise as a span of that many seconds needs.

    >>> format_wall_time(1700000000, 60), format_wall_time(1700000000, 86400 * 9)
    ('22:13:20', '11-14 22:13')
    """
    at = datetime.fromtimestamp(min(max(seconds, 0), 253402300799), UTC)
    return at.strftime("%H:%M:%S" if span <= 86400 else "%m-%d %H:%M" if span <= 86400 * 60 else "%Y-%m-%d")
