"""What all steps know of the level that is folded."""

from __future__ import annotations

from dataclasses import dataclass, field

from graphviz_tb.group.flow.box import Box, Symbols
from graphviz_tb.group.flow.words import Vocabulary

SOFT = 16  # boxes that a reader takes in at once
DEEPEST = 12  # groups in groups that are made by flow


@dataclass(frozen=True, slots=True, eq=False)
class Setting:
    """`most` boxes may a group open to, `soft` are the aim; `known` remembers the inside of equal regions."""

    vocabulary: Vocabulary
    symbols: Symbols
    soft: int = SOFT
    most: int = 40
    known: dict[tuple[int, ...], tuple[list[Box], list[Box]]] = field(default_factory=dict)
