"""Colour by logged values: light is little, dark is much, on one scale for all steps.

Vanished, exploded and non-finite values have a sign and a word; layers that logged only other values are hatched.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil, floor, isfinite, log10
from typing import Self

from graphviz_tb.color.colouring import Colouring, is_drawn_as_op, plain_fill
from graphviz_tb.color.measured import LESS_RAMPS, MORE_RAMPS, tone_between, toned_fill
from graphviz_tb.errors import MissingFacts
from graphviz_tb.model.facts import Facts
from graphviz_tb.model.formatting import format_number
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.joins import LoggedValues, RowValue, ValueCondition
from graphviz_tb.model.paint import LegendRow, RowFill
from graphviz_tb.model.paths import RowPath
from graphviz_tb.model.theme import Theme
from graphviz_tb.options import COLOR_BY_LOGGED

LOGGED_RAMPS = {
    "light": ("#E5F5E0", "#A1D99B", "#41AB5D", "#00441B"),
    "dark": ("#12261A", "#1B5E37", "#41AB5D", "#C7E9C0"),
}
MAX_SPREAD = 1000.0  # largest by least value of a group; beyond it the range is written, not a value
MAX_SCALE_TICKS = 6  # rows of the legend
SHADE_LEVELS = 60  # shades along the scale
CONDITION_SIGNS = {
    ValueCondition.NAN: "!",
    ValueCondition.EXPLODED: "↑",
    ValueCondition.VANISHED: "↓",
    ValueCondition.ZERO: "0",
}
CONDITION_WORDS = {
    ValueCondition.NAN: "NaN",
    ValueCondition.EXPLODED: "exploded",
    ValueCondition.VANISHED: "vanished",
    ValueCondition.ZERO: "zero",
}
CONDITION_MEANINGS = {
    ValueCondition.NAN: "NaN or infinite",
    ValueCondition.EXPLODED: "exploded: 1,000 times the median, and grown",
    ValueCondition.VANISHED: "vanished: under 10⁻⁷ of the median",
    ValueCondition.ZERO: "zero",
}
# Purple and red; boxes of the other two conditions are empty.
ALARM_COLOURS = {
    "light": {ValueCondition.NAN: "#7A0177", ValueCondition.EXPLODED: "#B30000"},
    "dark": {ValueCondition.NAN: "#E58AD6", ValueCondition.EXPLODED: "#FF8A7A"},
}


@dataclass(frozen=True)
class LoggedColouring(Colouring):
    """Fills rows by one logged value each."""

    values: LoggedValues

    def fill_of(self, path: RowPath) -> RowFill:
        """Return the colour of the value or of its condition; hatched for a layer without the value."""
        row = path[-1]
        value = self.values.rows.get(row)
        if value is None:
            return (
                self.unknown_fill(row)
                if row in self.values.silent
                else plain_fill(self.theme, is_drawn_as_op(self.hierarchy, row))
            )
        if value.condition and (value.hit == value.layers or not isfinite(value.value)):
            return self.alarm_fill(value.condition)
        return replace(self.logged_shade(value.value), badge=CONDITION_SIGNS.get(value.condition, ""))

    def look_key(self, row: int) -> Hashable:
        """Return a key that is equal for all rows without a value, which are many."""
        if row in self.values.rows:
            return row
        return row in self.values.silent, is_drawn_as_op(self.hierarchy, row)

    def alarm_fill(self, condition: ValueCondition) -> RowFill:
        """Return the fill of a box with an unusual value."""
        tone = ALARM_COLOURS[self.theme.name].get(condition)
        if tone is None:  # an empty box; if open, with the usual frame
            return replace(toned_fill(self.theme.background, self.theme, CONDITION_SIGNS[condition]), hued=False)
        return toned_fill(tone, self.theme, CONDITION_SIGNS[condition])

    def logged_shade(self, value: float) -> RowFill:
        """Return the colour of a value on the scale."""
        if not isfinite(value):
            return self.alarm_fill(ValueCondition.NAN)
        share = self.scale_share(value)
        ramps = LOGGED_RAMPS if not self.values.signed else MORE_RAMPS if share > 0 else LESS_RAMPS
        return toned_fill(
            tone_between(ramps[self.theme.name], round(abs(share) * SHADE_LEVELS) / SHADE_LEVELS), self.theme
        )

    def scale_share(self, value: float) -> float:
        """Return the place of a value on the scale: from 0 to 1, or from -1 if it is signed."""
        low, high = self.values.low, self.values.high
        if self.values.log and (value <= 0 or high <= 0) and not self.values.times:
            return 0.0
        if self.values.times:
            value = log10(value) if value > 0 else -high
        elif self.values.log:
            value, low, high = log10(value), log10(low) if low > 0 else log10(high), log10(high)
        if self.values.signed:
            return max(-1.0, min(1.0, value / high)) if high > 0 else 0.0
        return max(0.0, min(1.0, (value - low) / (high - low))) if high > low else 1.0

    def format_logged(self, value: float) -> str:
        if self.values.times:
            return f"× {format_number(value, 3)}"
        if self.values.percent:
            return f"{format_number(100 * value, 3)}\N{THIN SPACE}%"
        sign = "+" if self.values.signed and value > 0 else ""
        return sign + format_number(value, 3).replace("-", "−", 1 if value < 0 else 0)

    def second_line(self, path: RowPath) -> str | None:
        """Return the value, or its condition, since when, and for groups in how many of their layers."""
        value = self.values.rows.get(path[-1])
        if value is None:
            return f"not logged by step {self.values.at}" if path[-1] in self.values.silent else None
        return self.format_row(value)

    def format_row(self, value: RowValue) -> str:
        """Return the second line of a box."""
        wide = self.values.log and not self.values.times and value.most > MAX_SPREAD * value.least
        partly = value.hit < value.layers and value.condition in (ValueCondition.VANISHED, ValueCondition.ZERO)
        if wide and (partly or not value.condition):
            more = f" · {value.hit} of {value.layers} {CONDITION_WORDS[value.condition]}" if partly else ""
            return f"{self.format_logged(value.least)} to {self.format_logged(value.most)}{more}"
        if value.condition:
            return self.format_condition(value)
        bound = "" if value.exact else f"{self.values.bound}\N{THIN SPACE}"
        part = f" · {value.layers} of {value.of} {self.values.noun}" if value.layers < value.of else ""
        return f"{bound}{self.format_logged(value.value)}{part}"

    def format_condition(self, value: RowValue) -> str:
        """Return the condition, in how many layers, and since when."""
        of = f"{value.hit} of {value.layers} " if value.layers > 1 else ""
        return f"{of}{CONDITION_WORDS[value.condition]} since step {value.since}"

    def tooltip_text(self, path: RowPath) -> str:
        """Return the value with its source: how many layers, and how old."""
        value = self.values.rows.get(path[-1])
        if value is None:
            return ""
        bound = "" if value.exact else f"{self.values.bound}\N{THIN SPACE}"
        said = [f"{bound}{self.format_logged(value.value)}"]
        if value.most > value.least:
            said.append(
                f"{self.values.noun} from {self.format_logged(value.least)} to {self.format_logged(value.most)}"
            )
        if value.of > 1:
            said.append(f"from {value.layers} of {value.of} {self.values.noun}")
        if value.step < self.values.at:
            said.append(f"older: step {value.step}")
        if value.condition:
            said.append(self.format_condition(value))
        return " · ".join(said)

    def in_theme(self, theme: Theme) -> Self:
        return replace(self, theme=theme)

    def scale_ticks(self) -> list[float]:
        """Return round values on the scale, and its ends if there are no others."""
        low, high = self.values.low, self.values.high
        if self.values.times:
            return _round_values(10**low, 10**high, log=True)
        return _round_values(low, high, log=self.values.log and low > 0)

    @cached_property
    def scale_rows(self) -> tuple[LegendRow, ...]:
        return tuple(
            dict.fromkeys(
                LegendRow(self.format_logged(value), self.logged_shade(value)) for value in self.scale_ticks()
            )
        )

    def legend_rows(self, shown: Sequence[RowPath]) -> list[LegendRow]:
        """Return ticks on the scale, then the conditions that occur, then the meaning of hatching."""
        rows = list(self.scale_rows)
        values = [value for path in shown if (value := self.values.rows.get(path[-1])) is not None]
        found = {value.condition for value in values}
        rows += [
            LegendRow(words, self.alarm_fill(condition))
            for condition, words in CONDITION_MEANINGS.items()
            if condition in found
        ]
        silent = [path[-1] for path in shown if path[-1] in self.values.silent]
        if silent:
            rows.append(LegendRow(f"not logged by step {self.values.at}", self.unknown_fill(silent[0])))
        if any(not value.exact for value in values):
            about = "estimated from buckets" if self.values.bound == "≈" else "the bucket that holds zero"
            rows.append(LegendRow(f"{self.values.bound} {about}", plain_fill(self.theme, True), "rest"))
        return rows


def _round_values(low: float, high: float, log: bool) -> list[float]:
    """Return at most six round values between two ends: powers of ten, or multiples of 1, 2 or 5 times a power of ten.

    >>> _round_values(0.003, 20, True), _round_values(0, 1, False), _round_values(2, 2, False)
    ([0.01, 0.1, 1.0, 10.0], [0.0, 0.2, 0.4, 0.6, 0.8, 1.0], [2])
    """
    if not (isfinite(low) and isfinite(high) and low < high):
        return [low] if low == high else [low, high]
    if log:
        first, last = ceil(log10(low) - 1e-9), floor(log10(high) + 1e-9)
        stride = max(1, -(-(last - first + 1) // MAX_SCALE_TICKS))
        values = [float(f"1e{power}") for power in range(first, last + 1, stride)]
    else:
        power = floor(log10((high - low) / (MAX_SCALE_TICKS - 1)))
        step = next(
            digit for digit in (1, 2, 5, 10) if digit * 10.0**power >= (high - low) / (MAX_SCALE_TICKS - 1) - 1e-12
        )
        size = float(f"{step}e{power}")
        first, last = ceil(low / size - 1e-9), floor(high / size + 1e-9)
        values = [float(f"{number * step}e{power}") for number in range(first, last + 1)]
    return values if len(values) > 1 else [low, *values, high]


def logged_colouring(hierarchy: Hierarchy, theme: Theme, facts: Facts) -> LoggedColouring:
    """Make the colouring "logged". Raises MissingFacts if no log was joined."""
    if facts.logged is None:
        raise MissingFacts("colouring by logged needs a log", hint="give the log directory that holds the graph too")
    return LoggedColouring(hierarchy, theme, COLOR_BY_LOGGED, facts.logged.heading, facts.logged)
