"""color: every colour of a picture. A colouring is one entry in `SCHEMES`.

scheme ─ Colouring: decided for the whole file, whatever is open ─ Paint: resolved for one scene
"""

from __future__ import annotations

from collections.abc import Callable

from graphviz_tb.color.colouring import Colouring
from graphviz_tb.color.resolve import resolve
from graphviz_tb.errors import UnknownChoice
from graphviz_tb.model.facts import Facts
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.later import imported
from graphviz_tb.model.theme import THEMES, Theme
from graphviz_tb.options import BY_LOG, GIVEN, PATTERNS


@dataclass(frozen=True, slots=True)
class Scheme:
    """A colouring function, with flags: needs run statistics, a log, or facts given by the user."""

    colouring: Callable[[Hierarchy, Theme, Facts], Colouring]
    measured: bool = False
    logged: bool = False
    given: bool = False


SCHEMES: dict[str, Scheme] = {
    "structure": Scheme(imported(f"{__name__}.structure", "structure")),
    "device": Scheme(imported(f"{__name__}.device", "device")),
    "xla-cluster": Scheme(imported(f"{__name__}.xla_cluster", "xla_cluster")),
    "op-type": Scheme(imported(f"{__name__}.op_type", "op_type")),
    "compute-time": Scheme(imported(f"{__name__}.compute_time", "compute_time"), measured=True),
    "memory": Scheme(imported(f"{__name__}.memory", "memory"), measured=True),
    "flops": Scheme(imported(f"{__name__}.cost", "flops")),
    "parameters": Scheme(imported(f"{__name__}.cost", "parameters")),
    "activations": Scheme(imported(f"{__name__}.cost", "activations")),
    BY_LOG: Scheme(imported(f"{__name__}.logged", "logged"), logged=True),
    GIVEN: Scheme(imported(f"{__name__}.given", "given"), given=True),
    PATTERNS: Scheme(imported(f"{__name__}.patterns", "patterns"), given=True),
    "none": Scheme(imported(f"{__name__}.none", "none")),
}

__all__ = ["SCHEMES", "Colouring", "Scheme", "colour", "resolve"]


def colour(
    hierarchy: Hierarchy, facts: Facts, scheme: str = "structure", theme: str = "light", stats: bool = False
) -> Colouring:
    """Return the colouring of a file.

    `stats` hatches what was not measured and shows time and memory in every scheme. Raises UnknownChoice for an unknown
    `scheme` or `theme`, and MissingFacts if run statistics are required but were not joined.
    """
    if scheme not in SCHEMES:
        raise UnknownChoice.among("colouring", scheme, SCHEMES)
    if theme not in THEMES:
        raise UnknownChoice.among("theme", theme, THEMES)
    row = SCHEMES[scheme]
    colouring = row.colouring(hierarchy, THEMES[theme], facts)
    if not stats or row.measured:
        return colouring
    from graphviz_tb.color.with_stats import with_stats

    return with_stats(colouring, facts.stats)
