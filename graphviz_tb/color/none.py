"""No colouring: groups neutral, ops white."""

from __future__ import annotations

from collections.abc import Hashable

from graphviz_tb.color.colouring import Colouring, is_drawn_as_op
from graphviz_tb.model.facts import Facts
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.theme import Theme


class NoColouring(Colouring):
    """No colours: every row has the defaults of `Colouring`."""

    def look_key(self, row: int) -> Hashable:
        """Return whether the row is drawn as an op: ops are white, others neutral."""
        return is_drawn_as_op(self.hierarchy, row)


def no_colouring(hierarchy: Hierarchy, theme: Theme, facts: Facts) -> Colouring:
    """Make the colouring "none": every box as if it had no value."""
    return NoColouring(hierarchy, theme, "none", "")
