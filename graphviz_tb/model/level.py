"""One level with coordinates: what `place.coordinates` gives for a skeleton and the sizes of its children."""

from __future__ import annotations

from dataclasses import dataclass

from graphviz_tb.model.scene import Point


@dataclass(frozen=True, slots=True)
class Gaps:
    """How far things stay apart, in pixels.

    `siblings` box to box in a rank, `ranks` between ranks, `labelled` the same where an edge label crosses, `box`
    edge to box, `edge` edge to edge, `parts` between unconnected parts, `spread` between edges at one side of a box
    (the aim; at least 8 where the box is wide enough), `straight` the last run before a border.
    """

    siblings: int = 16
    ranks: int = 40
    labelled: int = 56
    box: int = 8
    edge: int = 6
    parts: int = 32
    spread: int = 12
    straight: int = 12


@dataclass(frozen=True, slots=True)
class Level:
    """Coordinates of one level, its upper left corner at (0, 0), the flow running down.

    `positions` are the upper left corners of the children (not drawn: (0, 0)); `ports` the x of each port, whose y is
    0 on the first side and `height` on the last; `routes` a polyline for each wire from its source's border to its
    target's border.
    """

    positions: tuple[Point, ...]
    ports: tuple[int, ...]
    routes: tuple[tuple[Point, ...], ...]
    width: int
    height: int
