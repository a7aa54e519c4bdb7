"""color: every colour of a picture. A colouring is one entry in `SCHEMES`.

scheme ─ Colouring: decided for the whole file, whatever is open ─ Paint: resolved for one scene
"""

from __future__ import annotations

from collections.abc import Callable

from graphviz_tb.caches import import_on_call
from graphviz_tb.color.colouring import Colouring, resolve_paint
from graphviz_tb.errors import check_choice
from graphviz_tb.model.facts import Facts
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.theme import THEMES, Theme
from graphviz_tb.options import COLOR_BY_FACTS, COLOR_BY_LOGGED, COLOR_BY_PATTERNS, PictureOptions


@dataclass(frozen=True, slots=True)
class ColourScheme:
    """A colouring function, with flags: needs run statistics, a log, or facts given by the user."""

    colouring: Callable[[Hierarchy, Theme, Facts], Colouring]
    measured: bool = False
    logged: bool = False
    given: bool = False


SCHEMES: dict[str, ColourScheme] = {
    "structure": ColourScheme(import_on_call("graphviz_tb.color.structure", "structure_colouring")),
    "device": ColourScheme(import_on_call("graphviz_tb.color.category", "device_colouring")),
    "xla-cluster": ColourScheme(import_on_call("graphviz_tb.color.category", "xla_cluster_colouring")),
    "op-type": ColourScheme(import_on_call("graphviz_tb.color.category", "op_type_colouring")),
    "compute-time": ColourScheme(import_on_call("graphviz_tb.color.measured", "compute_time_colouring"), measured=True),
    "memory": ColourScheme(import_on_call("graphviz_tb.color.measured", "memory_colouring"), measured=True),
    "flops": ColourScheme(import_on_call("graphviz_tb.color.cost", "flops_colouring")),
    "parameters": ColourScheme(import_on_call("graphviz_tb.color.cost", "parameters_colouring")),
    "activations": ColourScheme(import_on_call("graphviz_tb.color.cost", "activations_colouring")),
    COLOR_BY_LOGGED: ColourScheme(import_on_call("graphviz_tb.color.logged", "logged_colouring"), logged=True),
    COLOR_BY_FACTS: ColourScheme(import_on_call("graphviz_tb.color.user_facts", "facts_colouring"), given=True),
    COLOR_BY_PATTERNS: ColourScheme(import_on_call("graphviz_tb.color.user_facts", "patterns_colouring"), given=True),
    "none": ColourScheme(import_on_call("graphviz_tb.color.category", "no_colouring")),
}

__all__ = ["SCHEMES", "ColourScheme", "Colouring", "make_colouring", "resolve_paint", "shows_statistics"]


def shows_statistics(options: PictureOptions) -> bool:
    return options.stats or SCHEMES[options.color_by].measured


def make_colouring(
    hierarchy: Hierarchy, facts: Facts, scheme: str = "structure", theme: str = "light", stats: bool = False
) -> Colouring:
    """Return the colouring of a file.

    `stats` hatches what was not measured and shows time and memory in every scheme. Raises UnknownChoice for an unknown
    `scheme` or `theme`, and MissingFacts if run statistics are required but were not joined.
    """
    check_choice("colouring", scheme, SCHEMES)
    check_choice("theme", theme, THEMES)
    row = SCHEMES[scheme]
    colouring = row.colouring(hierarchy, THEMES[theme], facts)
    if not stats or row.measured:
        return colouring
    from graphviz_tb.color.measured import stats_colouring

    return stats_colouring(colouring, facts.stats)
