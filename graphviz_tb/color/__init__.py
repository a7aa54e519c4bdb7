"""color: what each row is filled with. A colouring is one word in `SCHEMES` and one file.

It is decided for the whole file and never depends on what is open.
"""

from __future__ import annotations

from collections.abc import Callable

from graphviz_tb.color.device import device
from graphviz_tb.color.none import none
from graphviz_tb.color.op_type import op_type
from graphviz_tb.color.structure import structure
from graphviz_tb.color.xla_cluster import xla_cluster
from graphviz_tb.errors import UnknownChoice
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.paint import Painter
from graphviz_tb.model.theme import THEMES, Theme

Scheme = Callable[[Hierarchy, Theme], Painter]

SCHEMES: dict[str, Scheme] = {
    "structure": structure,
    "device": device,
    "xla-cluster": xla_cluster,
    "op-type": op_type,
    "none": none,
}

__all__ = ["SCHEMES", "paint"]


def paint(hierarchy: Hierarchy, scheme: str = "structure", theme: str = "light") -> Painter:
    """Before: `scheme` and `theme` are words of their tables (else `UnknownChoice`). After: a painter for any row."""
    if scheme not in SCHEMES:
        raise UnknownChoice.among("colouring", scheme, SCHEMES)
    if theme not in THEMES:
        raise UnknownChoice.among("theme", theme, THEMES)
    return SCHEMES[scheme](hierarchy, THEMES[theme])
