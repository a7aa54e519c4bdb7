"""One level with coordinates: what `place.coordinates` gives for a skeleton and the sizes of its children."""

from __future__ import annotations

from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.scene import Point

# px: in the first gap of a line straight runs at its top, what runs aslant, straight runs at its bottom; and in its
# last gap straight runs at its top
GapMargins = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class Gaps:
    """How far things stay apart, in pixels.

    `siblings` box to box in a rank; `ranks` between ranks at least, `most` where lines run far aside, `labelled` where
    an edge label needs it; `box` line to box, `edge` line to line (white, whatever their thickness), `parts` between
    unconnected parts; `spread` between lines at one side of a box (the aim; at least 8 where the box is wide enough);
    `start` the straight first run of a line, `straight` its last run before an arrow head, `beyond` how far it is from
    a port to the border, `bar` what the title bar adds to that on the first or the last side. Lines go on to the border
    straight; where there is a title bar, straight through it, and aslant till there. `upward`: the flow runs against
    the way a page is read, so the last shelf of parts is where it begins.
    """

    siblings: int = 16
    ranks: int = 26
    most: int = 36
    labelled: int = 28
    box: int = 9
    edge: int = 5
    parts: int = 32
    spread: int = 12
    start: int = 11
    straight: int = 10
    beyond: int = 12
    bar: tuple[int, int] = (0, 0)
    upward: bool = False


@dataclass(frozen=True, slots=True)
class Stroke:
    """How one wire is drawn: `thick` in tenths of a pixel, `tip` the end with the arrow head (0 source, 1 target, -1
    where it goes on inside an open child), `label` the size of its label ((0, 0): none), `room` what the gaps at its
    ends get more for it."""

    thick: int = 10
    tip: int = 1
    label: tuple[int, int] = (0, 0)
    room: GapMargins = (0, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class LevelLayout:
    """Coordinates of one level, its upper left corner at (0, 0), the flow running down.

    `positions` are the upper left corners of the children (not drawn: (0, 0)); `ports` the x of each port, whose y is
    0 on the first side and `height` on the last; `routes` a polyline for each wire from its source's border to its
    target's border, at a port `Gaps.beyond` and `Gaps.bar` outside the level.
    """

    positions: tuple[Point, ...]
    ports: tuple[int, ...]
    routes: tuple[tuple[Point, ...], ...]
    width: int
    height: int
