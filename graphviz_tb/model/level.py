"""One level with coordinates: the result of `place.coordinates` for a skeleton and the sizes of its children."""

from __future__ import annotations

from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.scene import Point

# px, for a line: in its first gap the straight run at the top, the slanting run, the straight run at the bottom;
# in its last gap the straight run at the top
GapMargins = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class LevelGaps:
    """Minimum distances, in pixels.

    `siblings`: between boxes of a rank; `ranks`: between ranks, `most` if lines run far sideways, `labelled` if an edge
    label needs it; `box`: line to box; `edge`: line to line (white space, whatever their thickness); `parts`: between
    unconnected parts; `spread`: between lines on one side of a box (a goal; at least 8 if the box is wide enough);
    `start`: the straight first run of a line; `straight`: its last run before an arrow head; `beyond`: from a port to
    the border; `bar`: what the title bar adds to that on the first and the last side. Lines cross the border straight,
    and the title bar too; before it they may slant. `upward`: the flow runs against the reading direction, so the last
    shelf of parts is at its start.
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
class WireStroke:
    """The style of one wire: `thick` is its thickness in tenths of a pixel, `tip` the end with the arrow head (0
    source, 1 target, -1 if it continues inside an open child), `label` the size of its label ((0, 0): none), `room` the
    extra space that it needs in the gaps at its ends."""

    thick: int = 10
    tip: int = 1
    label: tuple[int, int] = (0, 0)
    room: GapMargins = (0, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class LevelLayout:
    """Coordinates of one level, its upper left corner at (0, 0), the flow running down.

    `positions` are the upper left corners of the children ((0, 0) if not drawn); `ports` the x of each port, whose y is
    0 on the first side and `height` on the last; `routes` a polyline for each wire from its source's border to its
    target's border; at a port it ends `Gaps.beyond` and `Gaps.bar` outside the level.
    """

    positions: tuple[Point, ...]
    ports: tuple[int, ...]
    routes: tuple[tuple[Point, ...], ...]
    width: int
    height: int
