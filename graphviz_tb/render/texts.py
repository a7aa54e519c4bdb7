"""Texts as primitives."""

from __future__ import annotations

from graphviz_tb.model.drawing import Label, Primitive
from graphviz_tb.model.scene import Anchor


def text_labels(
    content: str,
    x: float,
    y: float,
    size: int,
    width: int,
    colour: str,
    anchor: Anchor = "start",
    semibold: bool = False,
    halo: str | None = None,
) -> list[Primitive]:
    """Return a text in its measured width whatever font the viewer has; nothing for an empty text.

    >>> text_labels("", 0, 12, 12, 0, "#000000")
    []
    """
    return [Label(content, x, y, size, width, colour, anchor, semibold, halo)] if content and width else []
