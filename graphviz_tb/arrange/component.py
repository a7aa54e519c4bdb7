"""The input and result of a layout engine, one connected piece of a level, and options of the drawing order."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from graphviz_tb.arrange.shelves import MAX_LEVEL_WIDTH
from graphviz_tb.limits import MAX_DOT_SECONDS
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.notice import Notice


@dataclass(frozen=True, slots=True)
class ArrangeOptions:
    """Options of the drawing order.

    `engine`: a name in `ENGINES`. `limit`: seconds that an external program may take for one level. `wrap`: continue
    long chains in further columns. `width`: pixels of a rank, wider ones are wrapped. `quick`: try one order within
    ranks rather than several, in a tenth of the time and with more crossings. `bend`: a piece may be a U.
    """

    engine: str = "layered"
    limit: int = MAX_DOT_SECONDS
    wrap: bool = True
    width: int = MAX_LEVEL_WIDTH
    quick: bool = False
    bend: bool = True


# The input of an engine, one connected piece, and its result.

Row = list[int]  # items of one rank, from left to right


@dataclass(frozen=True, slots=True)
class Component:
    """One connected piece without cycles: nodes 0 … count-1, `edges` run with the flow.

    Nodes in `first` (`last`) are ports: alone on the first (last) rank, with the highest numbers. `main_path` are its
    edges. If `held`, the ports keep the order of their numbers.
    """

    count: int
    edges: tuple[tuple[int, int], ...]
    first: frozenset[int] = frozenset()
    last: frozenset[int] = frozenset()
    main_path: tuple[int, ...] = ()
    held: bool = False


@dataclass(slots=True)
class Ranks:
    """The items of each rank from left to right, and for each edge its chain of items, one for each rank.

    Items below `Component.count` are the part's nodes, the others waypoints, in the order of `chains`. `notices` report
    what the engine could not do.
    """

    ranks: list[list[int]]
    chains: list[list[int]]
    notices: tuple[Notice, ...] = ()


Engine = Callable[[Sequence[Component], ArrangeOptions], list[Ranks]]
