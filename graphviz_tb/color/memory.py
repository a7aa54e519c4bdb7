"""Colour by memory: the bytes that the ops under a node allocated."""

from __future__ import annotations

from graphviz_tb.color.against import measured_or_difference
from graphviz_tb.color.colouring import Colouring
from graphviz_tb.model.facts import Facts
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.theme import Theme
from graphviz_tb.model.units import format_bytes

MEMORY_RAMPS = {
    "light": ("#EFF3FF", "#9ECAE1", "#4292C6", "#08306B"),
    "dark": ("#16263B", "#1D4F86", "#4292C6", "#CFE3F5"),  # high values are bright on a dark ground
}


def memory_colouring(hierarchy: Hierarchy, theme: Theme, facts: Facts) -> Colouring:
    """Make the colouring "memory" of one measurement, or of the difference of two. Raises MissingFacts without any."""
    return measured_or_difference(hierarchy, theme, facts, ("memory", "Memory"), "bytes", format_bytes, MEMORY_RAMPS)
