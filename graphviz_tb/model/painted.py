"""Colours that a reader gave ops by pattern."""

from __future__ import annotations

from graphviz_tb.model.columns import Ints
from graphviz_tb.model.frozen import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class Painted:
    """`category` is by row, -1 for none; the patterns `names` and their colours `tones` (`#RRGGBB`) by category."""

    category: Ints
    names: tuple[str, ...]
    tones: tuple[str, ...]
