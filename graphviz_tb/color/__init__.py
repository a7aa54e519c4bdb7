"""color: what each row is filled with. A colouring is one word in `SCHEMES` and one file.

It is decided for the whole file and never depends on what is open.
"""

from __future__ import annotations

from collections.abc import Callable

from graphviz_tb.color.compute_time import compute_time
from graphviz_tb.color.device import device
from graphviz_tb.color.measured import Measured
from graphviz_tb.color.memory import memory
from graphviz_tb.color.none import none
from graphviz_tb.color.op_type import op_type
from graphviz_tb.color.structure import structure
from graphviz_tb.color.xla_cluster import xla_cluster
from graphviz_tb.errors import UnknownChoice
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.paint import Painter
from graphviz_tb.model.stats import Stats
from graphviz_tb.model.theme import THEMES

Scheme = Callable[..., Painter]  # (hierarchy, theme); those of `MEASURED` take the run statistics too

SCHEMES: dict[str, Scheme] = {
    "structure": structure,
    "device": device,
    "xla-cluster": xla_cluster,
    "op-type": op_type,
    "compute-time": compute_time,
    "memory": memory,
    "none": none,
}
MEASURED = frozenset({"compute-time", "memory"})

__all__ = ["MEASURED", "SCHEMES", "Measured", "paint"]


def paint(hierarchy: Hierarchy, scheme: str = "structure", theme: str = "light", stats: Stats | None = None) -> Painter:
    """Before: `scheme` and `theme` are words of their tables (else `UnknownChoice`). After: a painter for any
    row.

    A scheme of `MEASURED` raises `MissingFacts` without `stats`.
    """
    if scheme not in SCHEMES:
        raise UnknownChoice.among("colouring", scheme, SCHEMES)
    if theme not in THEMES:
        raise UnknownChoice.among("theme", theme, THEMES)
    if scheme in MEASURED:
        return SCHEMES[scheme](hierarchy, THEMES[theme], stats)
    return SCHEMES[scheme](hierarchy, THEMES[theme])
