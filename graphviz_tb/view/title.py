"""Words about a whole picture."""

from __future__ import annotations

from collections.abc import Callable

from graphviz_tb.algorithms.calls import OpsThroughCalls, at_least
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.measure import thousands
from graphviz_tb.model.units import plural


def facts_line(
    hierarchy: Hierarchy, shown: int, summary: Callable[[int, int], str], scheme: str, left_out: int = 0
) -> str:
    """What is below the title of a picture that shows so many boxes: what its colouring has to say, else counts;
    and how many ops of a saved model are bookkeeping and not in it."""
    through = OpsThroughCalls(hierarchy)(0)
    ops = hierarchy.ops(0) if through is None else through
    facts = summary(ops, shown) or counts(ops, shown, scheme)
    return f"{facts} · {thousands(left_out)} op{'s' if left_out > 1 else ''} left out" if left_out else facts


def counts(ops: int, shown: int, scheme: str) -> str:
    """How many ops the model has, how many nodes are shown, and how they are coloured.

    >>> counts(12670, 24, "structure")
    '12\\u2009670 ops · 24 shown · colour: structure'
    """
    return f"{at_least(ops)}{thousands(ops)} {plural(ops, 'op')} · {thousands(shown)} shown · colour: {scheme}"
