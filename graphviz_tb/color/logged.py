"""Colour by logged values: light is little, dark is much, on one scale for all steps.

Vanished, exploded and non-finite values have a sign and a word; layers that logged other values only are hatched.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import isfinite, log10

from graphviz_tb.color.against import LESS, MORE
from graphviz_tb.color.colouring import Colouring, is_op
from graphviz_tb.color.hues import plain_fill, stroke
from graphviz_tb.color.measured import TICKS, ink_on, tone_between, unmeasured
from graphviz_tb.errors import MissingFacts
from graphviz_tb.model.facts import Facts
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.measured_tags import Condition, LoggedValues, RowValue
from graphviz_tb.model.paint import Fill, LegendRow
from graphviz_tb.model.paths import Path
from graphviz_tb.model.theme import Theme
from graphviz_tb.model.units import number
from graphviz_tb.options import BY_LOG

RAMPS = {"light": ("#E5F5E0", "#A1D99B", "#41AB5D", "#00441B"), "dark": ("#12261A", "#1B5E37", "#41AB5D", "#C7E9C0")}
SPREAD = 1000.0  # largest by least value of a group: beyond it the range is written, not one value
LEVELS = 60  # shades along the scale
SIGNS = {Condition.NAN: "!", Condition.EXPLODED: "↑", Condition.VANISHED: "↓", Condition.ZERO: "0"}
WORDS = {
    Condition.NAN: "NaN",
    Condition.EXPLODED: "exploded",
    Condition.VANISHED: "vanished",
    Condition.ZERO: "zero",
}
MEANINGS = {
    Condition.NAN: "NaN or infinite",
    Condition.EXPLODED: "exploded: 1,000 times the median, and grown",
    Condition.VANISHED: "vanished: under 10⁻⁷ of the median",
    Condition.ZERO: "zero",
}
# Purple, red and two empty boxes; sign and word repeat the meaning.
ALARMS = {
    "light": {Condition.NAN: "#7A0177", Condition.EXPLODED: "#B30000"},
    "dark": {Condition.NAN: "#E58AD6", Condition.EXPLODED: "#FF8A7A"},
}


@dataclass(frozen=True)
class ByLogged(Colouring):
    """Fills rows by one logged value each."""

    values: LoggedValues

    def fill(self, path: Path) -> Fill:
        """Return the colour of the value or of its condition; hatched for a silent layer."""
        row = path[-1]
        value = self.values.rows.get(row)
        if value is None:
            return self.silent(row) if row in self.values.silent else plain_fill(self.theme, is_op(self.hierarchy, row))
        if value.condition and (value.hit == value.layers or not isfinite(value.value)):
            return self.alarm(value.condition)
        shade = self.shade(value.value)
        return Fill(shade.fill, shade.stroke, shade.text, shade.second, badge=SIGNS.get(value.condition, ""), hued=True)

    def alike(self, row: int) -> Hashable:
        """Return one key for rows without a value: there are many, and a page asks for each at every step."""
        if row in self.values.rows:
            return row
        return row in self.values.silent, is_op(self.hierarchy, row)

    def silent(self, row: int) -> Fill:
        """Return the fill of a layer that logged other values, but not this one."""
        return unmeasured(self.hierarchy, self.theme, row)

    def alarm(self, condition: Condition) -> Fill:
        """Return the fill of a box with an unusual value."""
        tone = ALARMS[self.theme.name].get(condition)
        if tone is None:  # an empty box; if open, its frame is the usual one
            return replace(self.toned(self.theme.background, SIGNS[condition]), hued=False)
        return self.toned(tone, SIGNS[condition])

    def toned(self, tone: str, badge: str = "") -> Fill:
        """Return a fill with a readable ink."""
        ink = ink_on(tone)
        return Fill(tone, stroke(tone, self.theme), ink, ink, badge=badge, hued=True)

    def shade(self, value: float) -> Fill:
        """Return the colour of a value on the scale."""
        if not isfinite(value):
            return self.alarm(Condition.NAN)
        share = self.share(value)
        name = self.theme.name
        if self.values.signed:
            return self.toned(tone_between((MORE if share > 0 else LESS)[name], round(abs(share) * LEVELS) / LEVELS))
        return self.toned(tone_between(RAMPS[name], round(share * LEVELS) / LEVELS))

    def share(self, value: float) -> float:
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

    def told(self, value: float) -> str:
        """Format a value."""
        if self.values.times:
            return f"× {number(value, 3)}"
        if self.values.percent:
            return f"{number(100 * value, 3)}\N{THIN SPACE}%"
        sign = "+" if self.values.signed and value > 0 else ""
        return sign + number(value, 3).replace("-", "−", 1 if value < 0 else 0)

    def second(self, path: Path) -> str | None:
        """Return the value, or its condition and since when; for groups, in how many of their layers."""
        value = self.values.rows.get(path[-1])
        if value is None:
            return f"not logged by step {self.values.at}" if path[-1] in self.values.silent else None
        return self.words(value)

    def words(self, value: RowValue) -> str:
        """Return the second line of a box."""
        wide = self.values.log and not self.values.times and value.most > SPREAD * value.least
        partly = value.hit < value.layers and value.condition in (Condition.VANISHED, Condition.ZERO)
        if wide and (partly or not value.condition):
            more = f" · {value.hit} of {value.layers} {WORDS[value.condition]}" if partly else ""
            return f"{self.told(value.least)} to {self.told(value.most)}{more}"
        if value.condition:
            return self.since(value)
        bound = "" if value.exact else f"{self.values.bound}\N{THIN SPACE}"
        part = f" · {value.layers} of {value.of} {self.values.noun}" if value.layers < value.of else ""
        return f"{bound}{self.told(value.value)}{part}"

    def since(self, value: RowValue) -> str:
        """Return the condition, in how many layers, and since when."""
        of = f"{value.hit} of {value.layers} " if value.layers > 1 else ""
        return f"{of}{WORDS[value.condition]} since step {value.since}"

    def account(self, path: Path) -> str:
        """Return the value with its source: how many layers, and how old."""
        value = self.values.rows.get(path[-1])
        if value is None:
            return ""
        bound = "" if value.exact else f"{self.values.bound}\N{THIN SPACE}"
        said = [f"{bound}{self.told(value.value)}"]
        if value.most > value.least:
            said.append(f"{self.values.noun} from {self.told(value.least)} to {self.told(value.most)}")
        if value.of > 1:
            said.append(f"from {value.layers} of {value.of} {self.values.noun}")
        if value.step < self.values.at:
            said.append(f"older: step {value.step}")
        if value.condition:
            said.append(self.since(value))
        return " · ".join(said)

    def in_theme(self, theme: Theme) -> ByLogged:
        """Return a copy in another theme."""
        return ByLogged(self.hierarchy, theme, self.scheme, self.heading, self.values)

    def ticks(self) -> list[float]:
        """Return values evenly spaced along the colours."""
        low, high = self.values.low, self.values.high
        shares = [tick / (TICKS - 1) for tick in range(TICKS)]
        if self.values.times:
            return [10 ** (low + share * (high - low)) for share in shares]
        if self.values.log and low > 0:
            return [low * (high / low) ** share for share in shares]
        return [low + share * (high - low) for share in shares]

    @cached_property
    def scale_rows(self) -> tuple[LegendRow, ...]:
        """Legend rows of the scale."""
        return tuple(dict.fromkeys(LegendRow(self.told(value), self.shade(value)) for value in self.ticks()))

    def legend(self, shown: Sequence[Path]) -> list[LegendRow]:
        """Return ticks along the scale; then the conditions that occur, and the meaning of hatching."""
        rows = list(self.scale_rows)
        values = [value for path in shown if (value := self.values.rows.get(path[-1])) is not None]
        found = {value.condition for value in values}
        rows += [LegendRow(words, self.alarm(each)) for each, words in MEANINGS.items() if each in found]
        silent = [path[-1] for path in shown if path[-1] in self.values.silent]
        if silent:
            rows.append(LegendRow(f"not logged by step {self.values.at}", self.silent(silent[0])))
        if any(not value.exact for value in values):
            about = "estimated from buckets" if self.values.bound == "≈" else "the bucket that holds zero"
            rows.append(LegendRow(f"{self.values.bound} {about}", plain_fill(self.theme, True), "rest"))
        return rows


def logged(hierarchy: Hierarchy, theme: Theme, facts: Facts) -> ByLogged:
    """Make the colouring "logged". Raises MissingFacts if no log was joined."""
    if facts.logged is None:
        raise MissingFacts("colouring by logged needs a log", hint="give the log directory that holds the graph too")
    return ByLogged(hierarchy, theme, BY_LOG, facts.logged.heading, facts.logged)
