"""The input and output of a layout engine, and the shelves on which the connected pieces of a level are packed.

Sizes are nominal, in pixels, so that opening a box moves no piece to another shelf. The nominal width of a child is
proportional to its `units`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isqrt

from graphviz_tb.limits import MAX_DOT_SECONDS
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.notice import Notice

HALF_OP_WIDTH = 44  # px: half the width of a plain op with its gap
RANK_HEIGHT = 72  # px: a box and the gap below it
WAYPOINT_WIDTH = 8  # px: a line that passes a rank, with half the gap next to it
MAX_LEVEL_WIDTH = 3200  # px: two wide screens
PART_GAP = 32  # px between two pieces, more than between two boxes of a piece


@dataclass(frozen=True, slots=True)
class ArrangeOptions:
    """Options of the drawing order.

    - `engine`: a name in `ENGINES`.
    - `limit`: seconds that an external program may take for one level.
    - `wrap`: continue long chains in further columns.
    - `width`: wrap ranks wider than this, in px.
    - `quick`: try one order within ranks, not several: a tenth of the time, but more crossings.
    - `bend`: a piece may be a U.
    """

    engine: str = "layered"
    limit: int = MAX_DOT_SECONDS
    wrap: bool = True
    width: int = MAX_LEVEL_WIDTH
    quick: bool = False
    bend: bool = True


# The input and output of an engine.

Row = list[int]  # items of one rank, from left to right


@dataclass(frozen=True, slots=True)
class Component:
    """One connected piece without cycles: nodes 0 … count-1, and `edges` along the flow.

    Nodes in `first` (`last`) are ports: alone on the first (last) rank, with the highest numbers. `main_path` lists
    edges. If `fixed_ports`, the ports keep the order of their numbers.
    """

    count: int
    edges: tuple[tuple[int, int], ...]
    first: frozenset[int] = frozenset()
    last: frozenset[int] = frozenset()
    main_path: tuple[int, ...] = ()
    fixed_ports: bool = False


@dataclass(slots=True)
class Ranks:
    """The items of each rank from left to right, and for each edge its chain: one item on each rank it touches.

    Items below `Component.count` are nodes, the others waypoints, numbered in the order of `chains`.
    """

    ranks: list[list[int]]
    chains: list[list[int]]
    notices: tuple[Notice, ...] = ()


Engine = Callable[[Sequence[Component], ArrangeOptions], list[Ranks]]


def pack_shelves(sizes: Sequence[tuple[int, int]], most: int = MAX_LEVEL_WIDTH) -> tuple[tuple[int, ...], ...]:
    """Return rows of parts whose total size is near 4:3, no wider than `most` unless that would be taller than 3:2.

    `sizes` are (width, height) in nominal pixels. Higher parts come first, equally high parts in the order of `sizes`.

    >>> pack_shelves([(88, 72)] * 5)
    ((0, 1, 2), (3, 4))
    """
    if not sizes:
        return ()
    order = sorted(range(len(sizes)), key=lambda part: (-sizes[part][1], part))
    low = max(width for width, _ in sizes)
    area = sum((width + PART_GAP) * (height + PART_GAP) for width, height in sizes)
    widest = max(most, isqrt(area * 2 // 3))  # with many parts, the width at 2:3
    best: tuple[int, list[list[int]]] | None = None
    for step in range(6, 21):  # from 0.6 to twice the ideal width, in tenths
        width = max(low, min(isqrt(area * 4 // 3) * step // 10, widest))
        # Filling is greedy, so a slightly different width may have a much better result.
        rows = _fill_shelves(order, sizes, width)
        misfit = _aspect_misfit(rows, sizes)
        if best is None or misfit < best[0]:
            best = misfit, rows
    assert best is not None
    return tuple(tuple(row) for row in best[1])


def _fill_shelves(order: Sequence[int], sizes: Sequence[tuple[int, int]], width: int) -> list[list[int]]:
    """Set parts on a shelf while they fit."""
    rows: list[list[int]] = []
    used = width  # the first part begins a shelf
    for part in order:
        if used + sizes[part][0] > width:
            rows.append([])
            used = 0
        rows[-1].append(part)
        used += sizes[part][0] + PART_GAP
    return rows


def _aspect_misfit(rows: list[list[int]], sizes: Sequence[tuple[int, int]]) -> int:
    """Return how far the total size is from 4:3, as a ratio in thousandths (1000 is perfect)."""
    width = max(sum(sizes[part][0] + PART_GAP for part in row) - PART_GAP for row in rows)
    height = sum(max(sizes[part][1] for part in row) + PART_GAP for row in rows) - PART_GAP
    return max(3 * width * 1000 // (4 * height), 4 * height * 1000 // (3 * width))
