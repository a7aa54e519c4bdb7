"""Colour by compute time: the sum of all executions under a node."""

from __future__ import annotations

from graphviz_tb.color.against import Against
from graphviz_tb.color.colouring import Colouring
from graphviz_tb.color.measured import Measured, needed
from graphviz_tb.model.facts import Facts
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.stats import Figures
from graphviz_tb.model.theme import Theme
from graphviz_tb.model.units import format_micros

LIGHT = ("#FFF7E6", "#FDD49E", "#FC8D59", "#B30000")
DARK = ("#2A1A1C", "#7F1D1D", "#DC4A3A", "#FFD6C9")  # much is bright where the ground is dark


def compute_time(hierarchy: Hierarchy, theme: Theme, facts: Facts) -> Colouring:
    """The colouring "compute-time"; `MissingFacts` without statistics. With those of
    before too, by the difference."""
    scheme = "compute-time"
    ramp = LIGHT if theme.name == "light" else DARK
    stats = needed(facts.stats, scheme)
    if facts.before is not None:
        heading = "Compute time, more or less than before"
        return Against(hierarchy, theme, scheme, heading, stats, facts.before, time_of, format_micros).scaled([(0,)])
    return Measured(hierarchy, theme, scheme, "Compute time", stats, time_of, format_micros, ramp).scaled([(0,)])


def time_of(figures: Figures) -> float:
    """Microseconds."""
    return figures.time
