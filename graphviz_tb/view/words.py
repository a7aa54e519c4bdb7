"""Words about a whole picture."""

from __future__ import annotations

from collections.abc import Callable

from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.measure import thousands
from graphviz_tb.model.through import OpsThroughCalls


def facts_line(hierarchy: Hierarchy, shown: int, summary: Callable[[int, int], str], scheme: str) -> str:
    """What stands below the title of a picture that shows so many boxes: what its colouring has to say, else counts."""
    through = OpsThroughCalls(hierarchy)(0)
    ops = hierarchy.ops(0) if through is None else through
    return summary(ops, shown) or counts(ops, shown, scheme)


def counts(ops: int, shown: int, scheme: str) -> str:
    """How many ops the model has, how many nodes are shown, and how they are coloured.

    >>> counts(12670, 24, "structure")
    '12\\u2009670 ops · 24 shown · colour: structure'
    """
    return f"{thousands(ops)} op{'' if ops == 1 else 's'} · {thousands(shown)} shown · colour: {scheme}"
