"""Colour by the cost of ops: floating point operations, parameters, or bytes of activations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import sqrt
from typing import Self

import numpy as np

from graphviz_tb.color.colouring import ByNumber, ColourValues
from graphviz_tb.color.hues import contrast, plain_fill, stroke
from graphviz_tb.color.measured import BLACK, TICKS, WHITE, tone_between
from graphviz_tb.color.memory import RAMPS
from graphviz_tb.errors import MissingFacts
from graphviz_tb.limits import TYPES_IN_LEGEND
from graphviz_tb.model.costs import NOTHING, Cost, Costs
from graphviz_tb.model.facts import Facts
from graphviz_tb.model.hierarchy import STACKS, Hierarchy
from graphviz_tb.model.measure import thousands
from graphviz_tb.model.paint import Fill, LegendRow
from graphviz_tb.model.paths import Path
from graphviz_tb.model.theme import Theme
from graphviz_tb.model.units import format_bytes, format_count

QUANTITY = {"flops": "flops", "parameters": "parameters", "activations": "activation_bytes"}  # by colouring


@dataclass(frozen=True)
class ByCost(ByNumber):
    """Fills rows by `value` on a square-root scale from 0 to `top`, the largest of the boxes shown closed."""

    costs: Costs
    value: Callable[[Cost], int]
    format_value: Callable[[int], str]
    words: Callable[[Cost], str]
    top: int = 0

    def of(self, path: Path) -> Cost:
        """Return the cost at `path`: of an op, or of everything below a group."""
        return self.costs.under(path[-1])

    def scaled(self, closed: Sequence[Path]) -> Self:
        """Return a copy whose scale goes from 0 to the largest value of the boxes shown closed."""
        return replace(self, top=max((self.value(self.of(path)) for path in closed), default=0))

    def fill(self, path: Path) -> Fill:
        """Return the colour of the value, or white."""
        value = self.value(self.of(path))
        return self.shade(value) if value else self.unknown(path[-1])

    def unknown(self, row: int) -> Fill:
        """Return the white fill of a row without cost."""
        return plain_fill(self.theme, True)

    def to_one(self) -> Self:
        """Return a copy whose scale goes from 0 to 1."""
        return replace(self, top=1)

    def numbers(self, inside: Sequence[Path]) -> ColourValues:
        """Return the cost of every row, equal in every call; rows of equal cost are computed once."""
        # The distinct costs, and the index of each row's: most rows share few.
        distinct, costs = self.costs.distinct(len(self.hierarchy))
        value = [self.value(cost) or -1 for cost in distinct]
        # Rows of equal cost have equal texts, shorter for a stack (`second`): the key is 2 · cost + stack.
        stack = self.hierarchy.stacks
        _, first, alike = np.unique(2 * np.array(costs, np.int64) + stack, return_index=True, return_inverse=True)
        listed = [(row,) for row in first.tolist()]
        words = [self.second(path) or "" for path in listed]
        accounts = [self.account(path) for path in listed]
        missing = [cost.missing(QUANTITY[self.scheme]) for cost in distinct]
        lacks = {word: [missing[index][word] for index in costs] for word in NOTHING.missing(QUANTITY[self.scheme])}
        return ColourValues(
            [value[index] for index in costs],
            [words[index] for index in alike.tolist()],
            [accounts[index] for index in alike.tolist()],
            batch=self.costs.batch,
            lacks={word: counts for word, counts in lacks.items() if any(counts)},
        )

    def shade(self, value: float) -> Fill:
        """Return the colour of a value."""
        # On a straight scale nearly all ops would be white: costs differ by orders of magnitude.
        return toned(self.theme, sqrt(min(1.0, value / self.top)) if self.top else 0.0)

    def second(self, path: Path) -> str | None:
        """Return the cost in words, or None; a stack has room for one quantity next to its count."""
        cost, value = self.of(path), self.value(self.of(path))
        if value and self.hierarchy.kind[path[-1]] in STACKS:
            return at_least(cost, QUANTITY[self.scheme], self.format_value(value))
        return self.words(cost) or None

    def account(self, path: Path) -> str:
        """Return the share of the whole."""
        whole, value = self.value(self.costs.under(0)), self.value(self.of(path))
        return f"{100 * value / whole:.1f}\N{THIN SPACE}% of all" if whole and value else ""

    def legend(self, shown: Sequence[Path]) -> list[LegendRow]:
        """Return five ticks, evenly spaced along the colours; then the ops without an operation count."""
        # Squares, because colours are on a square-root scale.
        ticks = dict.fromkeys(round(self.top * (tick / (TICKS - 1)) ** 2) for tick in range(TICKS))
        rows = [LegendRow(self.format_value(value), self.shade(value)) for value in ticks]
        uncounted = sum(self.costs.uncounted.values())
        if uncounted and self.scheme == "flops":
            named = ", ".join(list(self.costs.uncounted)[:TYPES_IN_LEGEND])
            more = ", …" if len(self.costs.uncounted) > TYPES_IN_LEGEND else ""
            rows.append(
                LegendRow(
                    f"{thousands(uncounted)} ops not counted ({named}{more})", plain_fill(self.theme, True), "rest"
                )
            )
        return rows


@lru_cache(maxsize=2048)  # a page has one ramp for each quantity
def toned(theme: Theme, share: float) -> Fill:
    """Return the fill at `share` of a theme's colours."""
    tone = tone_between(RAMPS[theme.name], share)
    ink = max((BLACK, WHITE), key=lambda colour: contrast(colour, tone))
    return Fill(tone, stroke(tone, theme), ink, ink, hued=True)


def format_flops(count: float) -> str:
    """Format floating point operations.

    >>> format_flops(7_756_000_000), format_flops(12)
    ('7.76 GFLOPs', '12 FLOPs')
    """
    # "7.76 G" → "7.76 GFLOPs", "12" → "12 FLOPs".
    number, _, unit = format_count(count).partition(" ")
    return f"{number} {unit}FLOPs"


def format_parameters(count: float) -> str:
    """Format elements of weights.

    >>> format_parameters(2_300_000), format_parameters(1)
    ('2.3 M parameters', '1 parameter')
    """
    return f"{format_count(count)} parameter{'' if count == 1 else 's'}"


def work_words(cost: Cost) -> str:
    """Format parameters and operations, leaving out zeros.

    >>> work_words(Cost(parameters=2_300_000, flops=1_100_000_000)), work_words(Cost(flops=5))
    ('2.3 M parameters · 1.1 GFLOPs', '5 FLOPs')
    """
    parameters = at_least(cost, "parameters", format_parameters(cost.parameters)) if cost.parameters else ""
    if cost.non_trainable:
        parameters += f" ({at_least(cost, 'non_trainable', format_count(cost.non_trainable))} not trainable)"
    flops = at_least(cost, "flops", format_flops(cost.flops)) if cost.flops else ""
    return " · ".join(filter(None, (parameters, flops)))


def activation_words(cost: Cost) -> str:
    """Format the bytes of the outputs of ops."""
    return at_least(cost, "activation_bytes", format_bytes(cost.activation_bytes)) if cost.activation_bytes else ""


def at_least(cost: Cost, quantity: str, words: str) -> str:
    """Prefix a formatted number that lacks some part with "at least".

    >>> at_least(Cost(flops=3, uncounted=1), "flops", "3 FLOPs"), at_least(Cost(flops=3), "flops", "3 FLOPs")
    ('at least 3 FLOPs', '3 FLOPs')
    """
    return f"at least {words}" if cost.lacks(quantity) else words


def flops(hierarchy: Hierarchy, theme: Theme, facts: Facts) -> ByCost:
    """Make the colouring "flops"."""
    costs = needed(facts, "flops")
    return scaled(ByCost(hierarchy, theme, "flops", "FLOPs", costs, lambda cost: cost.flops, format_flops, work_words))


def parameters(hierarchy: Hierarchy, theme: Theme, facts: Facts) -> ByCost:
    """Make the colouring "parameters"."""
    costs, value = needed(facts, "parameters"), lambda cost: cost.parameters
    return scaled(ByCost(hierarchy, theme, "parameters", "Parameters", costs, value, format_parameters, work_words))


def activations(hierarchy: Hierarchy, theme: Theme, facts: Facts) -> ByCost:
    """Make the colouring "activations"."""
    costs, value = needed(facts, "activations"), lambda cost: cost.activation_bytes
    return scaled(ByCost(hierarchy, theme, "activations", "Activations", costs, value, format_bytes, activation_words))


def scaled(colouring: ByCost) -> ByCost:
    """Return the colouring on the scale of the whole graph, until a picture sets its own."""
    return colouring.scaled([(0,)])


def needed(facts: Facts, scheme: str) -> Costs:
    """Return the costs. Raises MissingFacts if there are none."""
    if facts.cost is None:
        raise MissingFacts(f"{scheme} needs the shapes of this graph")
    return facts.cost()
