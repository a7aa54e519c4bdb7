"""No colouring: groups neutral, ops white."""

from __future__ import annotations

from graphviz_tb.color.colouring import Colouring
from graphviz_tb.model.facts import Facts
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.theme import Theme


def none(hierarchy: Hierarchy, theme: Theme, facts: Facts) -> Colouring:
    """The colouring "none": every box as the others are where they have nothing to say."""
    return Colouring(hierarchy, theme, "none", "")
