"""What the caller may choose about the order of drawing."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ArrangeOptions:
    """`engine` is a name in `ENGINES`; `limit` is how many seconds an outside program may take for one level."""

    engine: str = "layered"
    limit: int = 20
