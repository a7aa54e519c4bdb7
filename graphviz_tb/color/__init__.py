"""color: every colour of a picture. A colouring is one word in `SCHEMES` and one file.

scheme ─ Colouring: decided for the whole file, whatever is open ─ Paint: resolved for one scene
"""

from __future__ import annotations

from collections.abc import Callable

from graphviz_tb.color.colouring import Colouring
from graphviz_tb.color.compute_time import compute_time
from graphviz_tb.color.cost import activations, flops, parameters
from graphviz_tb.color.device import device
from graphviz_tb.color.logged import logged
from graphviz_tb.color.memory import memory
from graphviz_tb.color.none import none
from graphviz_tb.color.op_type import op_type
from graphviz_tb.color.resolve import resolve
from graphviz_tb.color.structure import structure
from graphviz_tb.color.with_stats import with_stats
from graphviz_tb.color.xla_cluster import xla_cluster
from graphviz_tb.errors import UnknownChoice
from graphviz_tb.model.facts import Facts
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.theme import THEMES, Theme
from graphviz_tb.options import BY_LOG


@dataclass(frozen=True, slots=True)
class Scheme:
    """How a colouring is made, and whether it needs run statistics, or a log."""

    colouring: Callable[[Hierarchy, Theme, Facts], Colouring]
    measured: bool = False
    logged: bool = False


SCHEMES: dict[str, Scheme] = {
    "structure": Scheme(structure),
    "device": Scheme(device),
    "xla-cluster": Scheme(xla_cluster),
    "op-type": Scheme(op_type),
    "compute-time": Scheme(compute_time, measured=True),
    "memory": Scheme(memory, measured=True),
    "flops": Scheme(flops),
    "parameters": Scheme(parameters),
    "activations": Scheme(activations),
    BY_LOG: Scheme(logged, logged=True),
    "none": Scheme(none),
}

__all__ = ["SCHEMES", "Colouring", "Scheme", "colour", "resolve"]


def colour(
    hierarchy: Hierarchy, facts: Facts, scheme: str = "structure", theme: str = "light", stats: bool = False
) -> Colouring:
    """Before: `scheme` and `theme` are words of their tables (else `UnknownChoice`). After: a colouring of any row.

    `stats` hatches what was not measured and gives time and memory, whatever the scheme. That, and a measured scheme,
    raise `MissingFacts` where no run statistics were joined.
    """
    if scheme not in SCHEMES:
        raise UnknownChoice.among("colouring", scheme, SCHEMES)
    if theme not in THEMES:
        raise UnknownChoice.among("theme", theme, THEMES)
    row = SCHEMES[scheme]
    colouring = row.colouring(hierarchy, THEMES[theme], facts)
    return with_stats(colouring, facts.stats) if stats and not row.measured else colouring
