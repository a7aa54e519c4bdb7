"""Options of the order of drawing."""

from __future__ import annotations

from graphviz_tb.limits import DOT_SECONDS
from graphviz_tb.model.frozen import dataclass


@dataclass(frozen=True, slots=True)
class ArrangeOptions:
    """`engine` is a name in `ENGINES`; `limit` is how many seconds an outside program may take for one level;
    `wrap` whether long chains go on in further columns; `quick` that one order within ranks is tried rather than
    several, at a tenth of the time and with more crossings."""

    engine: str = "layered"
    limit: int = DOT_SECONDS
    wrap: bool = True
    quick: bool = False
