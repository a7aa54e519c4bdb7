"""Axes: the range of a chart, its ticks, and their labels."""

from __future__ import annotations

from datetime import UTC, datetime
from math import ceil, floor, log10

import numpy as np

from graphviz_tb.model.columns import Floats
from graphviz_tb.model.frozen import dataclass

TICK_STEPS = (1, 2, 5, 10)  # leading digits of the distance between ticks
OUTLIER_SHARE = 0.05  # of the values at either end; "ignore outliers" drops them, as TensorBoard does
TIME_STEPS = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400)  # seconds


@dataclass(frozen=True, slots=True)
class Axis:
    """A range of values and whether it is logarithmic: then both ends are positive."""

    low: float
    high: float
    log: bool = False

    def positions_of(self, values: Floats) -> Floats:
        """Return where values are between the ends: 0 at the low one, 1 at the high one."""
        if self.log:
            with np.errstate(divide="ignore", invalid="ignore"):
                logs = np.log10(values)
            out: Floats = (logs - log10(self.low)) / (log10(self.high) - log10(self.low))
            return out
        return (values - self.low) / (self.high - self.low)


def fit_axis(values: Floats, log: bool = False, outliers: bool = True) -> Axis:
    """Return the axis that shows all finite values; without `outliers` from the 5th to the 95th percentile.

    A logarithmic axis ignores values of zero and less. An axis always has a length.

    >>> fit_axis(np.array([1.0, 3.0])), fit_axis(np.array([0.0, 10.0, 1000.0]), log=True)
    (Axis(low=1.0, high=3.0, log=False), Axis(low=10.0, high=1000.0, log=True))
    """
    finite = values[np.isfinite(values)]
    if log:
        finite = finite[finite > 0]
    if not len(finite):
        return Axis(0.1, 1.0, True) if log else Axis(0.0, 1.0)
    ordered = np.sort(finite)
    last = len(ordered) - 1
    first_shown, last_shown = (0, last) if outliers else (ceil(OUTLIER_SHARE * last), floor((1 - OUTLIER_SHARE) * last))
    low, high = float(ordered[first_shown]), float(ordered[max(first_shown, last_shown)])
    if low < high:
        return Axis(low, high, log)
    return Axis(low / 2, high * 2, True) if log else Axis(low - (abs(low) / 2 or 0.5), high + (abs(high) / 2 or 0.5))


def pad_axis(of: Axis, share: float = 0.05) -> Axis:
    """Return an axis with room beyond its ends.

    >>> pad_axis(Axis(0.0, 10.0))
    Axis(low=-0.5, high=10.5, log=False)
    """
    if of.log:
        more = (of.high / of.low) ** share
        return Axis(of.low / more, of.high * more, True)
    more = (of.high - of.low) * share
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
    return multiples_on_axis(of, round_step_above((of.high - of.low) / most))


def round_step_above(least: float) -> float:
    """Return the next round distance."""
    power = floor(log10(least))
    step = next(step for step in TICK_STEPS if step * 10.0**power >= least * (1 - 1e-9))
    return float(f"{step}e{power}")


def multiples_on_axis(of: Axis, step: float) -> list[float]:
    """Return the multiples of a distance on an axis, without rounding noise."""
    digits = max(0, 1 - floor(log10(step)))
    first, last = ceil(of.low / step - 1e-9), floor(of.high / step + 1e-9)
    return [round(at * step, digits) + 0.0 for at in range(first, last + 1)]


def axis_time_ticks(of: Axis, most: int = 5) -> list[float]:
    """Return round times on an axis of seconds."""
    least = (of.high - of.low) / most
    step = next((float(step) for step in TIME_STEPS if step >= least), 0.0)
    return multiples_on_axis(of, step or 86400 * round_step_above(least / 86400))


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
