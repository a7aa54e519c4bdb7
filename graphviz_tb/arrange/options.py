"""What the caller may choose about the order of drawing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from graphviz_tb.model.notice import Notice


@dataclass(frozen=True, slots=True)
class ArrangeOptions:
    """`engine` is a name in `ENGINES`; `limit` is how many seconds an outside program may take for one level.

    `report` is told when the engine could not do it and another took its place.
    """

    engine: str = "layered"
    limit: int = 20
    report: Callable[[Notice], None] | None = field(default=None, compare=False)
