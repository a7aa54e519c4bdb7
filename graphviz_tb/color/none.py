"""No colouring: groups neutral, ops white."""

from __future__ import annotations

from collections.abc import Hashable

from graphviz_tb.color.colouring import Colouring, is_op
from graphviz_tb.model.facts import Facts
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.theme import Theme


class NoColouring(Colouring):
    """No colours: every row has the defaults of `Colouring`."""

    def alike(self, row: int) -> Hashable:
        """Ops are white, all else is neutral."""
        return is_op(self.hierarchy, row)


def none(hierarchy: Hierarchy, theme: Theme, facts: Facts) -> Colouring:
    """The colouring "none": every box as the others are where they have nothing to say."""
    return NoColouring(hierarchy, theme, "none", "")
