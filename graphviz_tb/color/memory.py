"""Colour by memory: the bytes that the ops under a node allocated."""

from __future__ import annotations

from graphviz_tb.color.against import Against
from graphviz_tb.color.colouring import Colouring
from graphviz_tb.color.measured import Measured, needed
from graphviz_tb.model.facts import Facts
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.stats import Figures
from graphviz_tb.model.theme import Theme
from graphviz_tb.model.units import format_bytes

LIGHT = ("#EFF3FF", "#9ECAE1", "#4292C6", "#08306B")
DARK = ("#16263B", "#1D4F86", "#4292C6", "#CFE3F5")  # much is bright where the ground is dark


def memory(hierarchy: Hierarchy, theme: Theme, facts: Facts) -> Colouring:
    """The colouring "memory"; `MissingFacts` without statistics. With those of
    before too, by the difference."""
    scheme = "memory"
    ramp = LIGHT if theme.name == "light" else DARK
    stats = needed(facts.stats, scheme)
    if facts.before is not None:
        heading = "Memory, more or less than before"
        return Against(hierarchy, theme, scheme, heading, stats, facts.before, bytes_of, format_bytes).scaled([(0,)])
    return Measured(hierarchy, theme, scheme, "Memory", stats, bytes_of, format_bytes, ramp).scaled([(0,)])


def bytes_of(figures: Figures) -> float:
    """Bytes."""
    return figures.bytes
