"""Colour by the cost of ops: floating point operations, parameters, or bytes of activations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import sqrt

import numpy as np

from graphviz_tb.color.colouring import ColourValues, NumberColouring, plain_fill
from graphviz_tb.color.measured import MEMORY_RAMPS, round_ticks, tone_between, toned_fill
from graphviz_tb.errors import MissingFacts
from graphviz_tb.limits import MAX_LEGEND_TYPES
from graphviz_tb.model.costs import NO_COST, Cost, Costs
from graphviz_tb.model.facts import Facts
from graphviz_tb.model.formatting import format_bytes, format_count
from graphviz_tb.model.hierarchy import STACK_KINDS, Hierarchy
from graphviz_tb.model.measure import group_thousands
from graphviz_tb.model.paint import LegendRow, RowFill
from graphviz_tb.model.paths import RowPath
from graphviz_tb.model.theme import Theme

COST_QUANTITY = {"flops": "flops", "parameters": "parameters", "activations": "activation_bytes"}  # by colouring
UNKNOWN = "unknown"


@dataclass(frozen=True)
class CostColouring(NumberColouring):
    """Fills rows by `value` on a square-root scale."""

    costs: Costs
    value: Callable[[Cost], int]
    format_value: Callable[[int], str]
    words: Callable[[Cost], str]

    def cost_of(self, path: RowPath) -> Cost:
        """Return the cost at `path`: of an op, or of everything below a group."""
        return self.costs.under(path[-1])

    def value_at(self, path: RowPath) -> int | None:
        cost = self.cost_of(path)
        return None if self.is_unknown(cost) else self.value(cost)

    def is_unknown(self, cost: Cost) -> bool:
        """Return whether no part of a cost is known, which is not the same as 0."""
        return not self.value(cost) and cost.is_lower_bound(COST_QUANTITY[self.scheme])

    def number_values(self, inside: Sequence[RowPath]) -> ColourValues:
        """Return the cost of every row, which is the same in every call."""
        # Compute each distinct cost once, because most rows share few.
        distinct, costs = self.costs.distinct_totals(len(self.hierarchy))
        value = [-1 if self.is_unknown(cost) else self.value(cost) for cost in distinct]
        # Rows of equal cost have equal texts, which are shorter for stacks, so the key is 2 · cost + stack.
        is_stack = self.hierarchy.is_stack_row
        _, first, text_of = np.unique(2 * np.array(costs, np.int64) + is_stack, return_index=True, return_inverse=True)
        listed = [(row,) for row in first.tolist()]
        words = [self.second_line(path) or "" for path in listed]
        accounts = [self.tooltip_text(path) for path in listed]
        quantity = COST_QUANTITY[self.scheme]
        missing = [cost.gap_counts(quantity) for cost in distinct]
        gaps_by_word = {word: [missing[index][word] for index in costs] for word in NO_COST.gap_counts(quantity)}
        bounds = [cost.bound_index(quantity) for cost in distinct]
        return ColourValues(
            [value[index] for index in costs],
            [words[index] for index in text_of.tolist()],
            [accounts[index] for index in text_of.tolist()],
            batch=self.costs.batch,
            lacks={word: counts for word, counts in gaps_by_word.items() if any(counts)},
            bounds=[bounds[index] for index in costs] if any(bounds) else (),
        )

    def shade_of(self, value: float) -> RowFill:
        # Costs differ by orders of magnitude; on a linear scale nearly all ops would be white.
        return _cost_fill(self.theme, sqrt(min(1.0, value / self.top)) if self.top else 0.0)

    def second_line(self, path: RowPath) -> str | None:
        """Return the cost in words, or None; for a stack only one quantity, because its count needs room."""
        cost, value = self.cost_of(path), self.value(self.cost_of(path))
        if value and self.hierarchy.kind[path[-1]] in STACK_KINDS:
            return cost.bound_word(COST_QUANTITY[self.scheme]) + self.format_value(value)
        return self.words(cost) or None

    def tooltip_text(self, path: RowPath) -> str:
        """Return the share of the cost of the whole graph."""
        whole, value = self.value(self.costs.under(0)), self.value(self.cost_of(path))
        return f"{100 * value / whole:.1f}\N{THIN SPACE}% of all" if whole and value else ""

    def legend_rows(self, shown: Sequence[RowPath]) -> list[LegendRow]:
        """Return round ticks of the scale, then rows for boxes of unknown cost and for ops without an operation
        count."""
        unknown = [path[-1] for path in shown if self.is_unknown(self.cost_of(path))]
        binary = self.scheme == "activations"
        ticks = dict.fromkeys(int(value + 0.5) for value in round_ticks(self.top, binary))
        rows = [LegendRow(self.format_value(value), self.shade_of(value)) for value in ticks]
        if unknown:
            rows = [
                *(rows if self.top or len(unknown) < len(shown) else ()),
                LegendRow(UNKNOWN, self.unknown_fill(unknown[0])),
            ]
        uncounted = sum(self.costs.uncounted.values())
        if uncounted and self.scheme == "flops":
            types = ", ".join(list(self.costs.uncounted)[:MAX_LEGEND_TYPES])
            more = ", …" if len(self.costs.uncounted) > MAX_LEGEND_TYPES else ""
            rows.append(
                LegendRow(
                    f"{group_thousands(uncounted)} ops not counted ({types}{more})",
                    plain_fill(self.theme, True),
                    "rest",
                )
            )
        return rows


@lru_cache(maxsize=2048)  # a page has one ramp for each quantity
def _cost_fill(theme: Theme, share: float) -> RowFill:
    return toned_fill(tone_between(MEMORY_RAMPS[theme.name], share), theme)


def _format_flops(count: float) -> str:
    """Format floating point operations.

    >>> _format_flops(7_756_000_000), _format_flops(12)
    ('7.76 GFLOPs', '12 FLOPs')
    """
    # "7.76 G" → "7.76 GFLOPs", "12" → "12 FLOPs".
    number, _, unit = format_count(count).partition(" ")
    return f"{number} {unit}FLOPs"


def _format_parameters(count: float) -> str:
    """Format elements of weights.

    >>> _format_parameters(2_300_000), _format_parameters(1)
    ('2.3 M parameters', '1 parameter')
    """
    return f"{format_count(count)} parameter{'' if count == 1 else 's'}"


def _format_work(cost: Cost) -> str:
    """Format parameters and operations, leaving out zeros.

    >>> _format_work(Cost(parameters=2_300_000, flops=1_100_000_000)), _format_work(Cost(flops=5))
    ('2.3 M parameters · 1.1 GFLOPs', '5 FLOPs')
    """
    parameters = cost.bound_word("parameters") + _format_parameters(cost.parameters) if cost.parameters else ""
    if cost.non_trainable:
        parameters += f" ({cost.bound_word('non_trainable')}{format_count(cost.non_trainable)} not trainable)"
    flops = cost.bound_word("flops") + _format_flops(cost.flops) if cost.flops else ""
    return " · ".join(filter(None, (parameters, flops)))


def _format_activations(cost: Cost) -> str:
    """Format the bytes of the outputs of ops."""
    return cost.bound_word("activation_bytes") + format_bytes(cost.activation_bytes) if cost.activation_bytes else ""


def flops_colouring(hierarchy: Hierarchy, theme: Theme, facts: Facts) -> CostColouring:
    formats = _format_flops, _format_work
    return _cost_colouring(hierarchy, theme, facts, ("flops", "FLOPs"), lambda cost: cost.flops, *formats)


def parameters_colouring(hierarchy: Hierarchy, theme: Theme, facts: Facts) -> CostColouring:
    if hierarchy.graph.lacks_weight_shapes:
        raise MissingFacts("parameters are not known in this graph: a trace of PyTorch has no shapes of weights")
    words, formats = ("parameters", "Parameters"), (_format_parameters, _format_work)
    return _cost_colouring(hierarchy, theme, facts, words, lambda cost: cost.parameters, *formats)


def activations_colouring(hierarchy: Hierarchy, theme: Theme, facts: Facts) -> CostColouring:
    words, formats = ("activations", "Activations"), (format_bytes, _format_activations)
    return _cost_colouring(hierarchy, theme, facts, words, lambda cost: cost.activation_bytes, *formats)


def _cost_colouring(
    hierarchy: Hierarchy,
    theme: Theme,
    facts: Facts,
    words: tuple[str, str],
    value: Callable[[Cost], int],
    format_value: Callable[[int], str],
    format_cost: Callable[[Cost], str],
) -> CostColouring:
    """Return a colouring on the scale of the whole graph, which a picture replaces by its own; `words` are the scheme
    and the heading of the legend. Raises MissingFacts without costs."""
    if facts.cost is None:
        raise MissingFacts(f"{words[0]} needs the shapes of this graph")
    return CostColouring(hierarchy, theme, *words, facts.cost(), value, format_value, format_cost).scaled_to([(0,)])
