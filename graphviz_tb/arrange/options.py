"""Options of the drawing order."""

from __future__ import annotations

from graphviz_tb.limits import MAX_DOT_SECONDS
from graphviz_tb.model.frozen import dataclass


@dataclass(frozen=True, slots=True)
class ArrangeOptions:
    """Options of the drawing order.

    `engine`: a name in `ENGINES`. `limit`: seconds that an external program may take for one level. `wrap`: continue
    long chains in further columns. `quick`: try one order within ranks rather than several, in a tenth of the time and
    with more crossings.
    """

    engine: str = "layered"
    limit: int = MAX_DOT_SECONDS
    wrap: bool = True
    quick: bool = False
