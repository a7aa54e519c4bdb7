"""Colour by compute time: the sum of all executions under a node."""

from __future__ import annotations

from graphviz_tb.color.against import measured_or_difference
from graphviz_tb.color.colouring import Colouring
from graphviz_tb.model.facts import Facts
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.theme import Theme
from graphviz_tb.model.units import format_micros

COMPUTE_TIME_RAMPS = {
    "light": ("#FFF7E6", "#FDD49E", "#FC8D59", "#B30000"),
    "dark": ("#2A1A1C", "#7F1D1D", "#DC4A3A", "#FFD6C9"),  # high values are bright on a dark ground
}


def compute_time_colouring(hierarchy: Hierarchy, theme: Theme, facts: Facts) -> Colouring:
    """Make the colouring "compute-time" of one measurement, or of the difference of two. Raises MissingFacts without
    any."""
    return measured_or_difference(
        hierarchy, theme, facts, ("compute-time", "Compute time"), "time", format_micros, COMPUTE_TIME_RAMPS
    )
