"""The drawing order of one metagraph, without any pixels; and the same level with coordinates.

Items are numbered: children 0 … n-1 (positions in `Metagraph.children`), then ports n … n+p-1, then waypoints.

    rank 0      2           children 0 and 1, port 2 (both have an outside input), waypoint 3
                │ ╲
    rank 1      0  3        parts[0] = ((2,), (0, 3), (1,))
                │ ╱
    rank 2      1           chains of the wires: (0, 1), (2, 0), (2, 3, 1)
"""

from __future__ import annotations

from collections.abc import Sequence

from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.notice import Notice
from graphviz_tb.model.scene import Point


@dataclass(frozen=True, slots=True)
class PortSlot:
    """A place on the group's frame where edges cross it.

    `first` is true on the side where the flow begins (the first rank), false where it ends. `others` are the rows of
    the outside neighbours that share the port, as `(row, inbound)`: one, or several that receive the same tensors; the
    "+N" port has all that have no port of their own.
    """

    first: bool
    others: tuple[tuple[int, bool], ...]


@dataclass(frozen=True, slots=True)
class Wire:
    """One line of the level: a metaedge with index `edge`, or a bridge with index `bridge`; the unused index is -1.

    `chain` lists the items it passes, from its source to its target, one on each rank between them: child or port,
    waypoints, child or port. `turned`: the chain runs against the ranks (a back edge); the arrow is still at its
    end.
    """

    edge: int
    bridge: int
    chain: tuple[int, ...]
    turned: bool = False


@dataclass(frozen=True, slots=True)
class Skeleton:
    """Ranks for each part, items from left to right for each rank, and the shelves on which parts are placed.

    `parts[p][r]` are the items of rank r of part p, in flow order (rank 0 is where the flow begins). `shelves` are
    rows of part numbers, read like lines of text along the flow; in a level with ports, part 0 is everything
    connected to them: it is on the left, outside of the shelves, which have the remaining parts, to its right.
    The first and the last rank of part 0 have only ports, in columns also some at their start and their end.
    `port_part` is that part (0), or -1 if there is none.
    `waypoint[w]` is the wire of waypoint item `children + len(ports) + w`; if wires with a common end share waypoints
    (a bus, or one trunk past a wrapped rank), it is the first of them.
    `main_path` are the wires on the main path of each part, `notices` the limitations of the engine. `breaks` are, by
    part, the ranks at which a new column begins, to the right of the previous one; () if no part has any. `plain`: the
    level is too large for a layout; its rows are not ranks, and its wires are straight lines from end to end. `falling`
    are the children whose flow runs against the ranks: the first leg of a U, or everything in a frame on it. The last
    wires may be ties: they join two neighbours of one rank.
    """

    children: int
    ports: tuple[PortSlot, ...]
    wires: tuple[Wire, ...]
    waypoint: tuple[int, ...]
    parts: tuple[tuple[tuple[int, ...], ...], ...]
    shelves: tuple[tuple[int, ...], ...]
    port_part: int = -1
    main_path: tuple[int, ...] = ()
    notices: tuple[Notice, ...] = ()
    breaks: tuple[tuple[int, ...], ...] = ()
    plain: bool = False
    falling: tuple[int, ...] = ()

    @property
    def first_waypoint(self) -> int:
        return self.children + len(self.ports)


def first_tie(skeleton: Skeleton) -> int:
    """Return the number of the first wire that joins two neighbours of one rank; all wires after it do so too.

    >>> first_tie(Skeleton(2, (), (Wire(0, -1, (0, 1)),), (), (((0, 1),),), ((0,),), falling=(0,)))
    0
    """
    count = len(skeleton.wires)
    if not count:
        return 0
    start, end = skeleton.wires[-1].chain[0], skeleton.wires[-1].chain[-1]
    if any(start in row and end in row for part in skeleton.parts for row in part):
        rank = {item: (p, r) for p, part in enumerate(skeleton.parts) for r, row in enumerate(part) for item in row}
        while count and rank[skeleton.wires[count - 1].chain[0]] == rank[skeleton.wires[count - 1].chain[-1]]:
            count -= 1
    return count


def capped_wires(skeleton: Skeleton) -> set[int]:
    """Return the wires that pass the box at their end and turn back to it: the last two items of their chain are in one
    rank."""
    if not skeleton.falling:
        return set()
    rank = {item: (p, r) for p, part in enumerate(skeleton.parts) for r, row in enumerate(part) for item in row}
    return {
        number
        for number, wire in enumerate(skeleton.wires)
        if len(wire.chain) > 2 and rank[wire.chain[-1]] == rank[wire.chain[-2]]
    }


def backward_wires(skeleton: Skeleton) -> set[int]:
    """Return the wires that run against the flow at their source."""
    falling = set(skeleton.falling)
    capped = capped_wires(skeleton)
    return {
        number
        for number, wire in enumerate(skeleton.wires[: first_tie(skeleton)])
        if number not in capped and wire.turned is not (_flow_child(wire, skeleton) in falling)
    }


def _flow_child(wire: Wire, skeleton: Skeleton) -> int:
    """Return the child that decides which way a wire should run: its source, or its target if that is a port."""
    return wire.chain[0] if wire.chain[0] < skeleton.children else wire.chain[-1]


SOURCE_TRAINS, TARGET_TRAINS, BOTH_ENDS_TRAIN = 1, 2, 3  # `Metaedge.training` of lines of gradients and updates


def training_items(chains: Sequence[Sequence[int]], training: Sequence[int]) -> set[int]:
    """Return the items that are gradients or updates, and the waypoints of lines to and from them.

    `chains` are those of lines from source to target, `training` as in `Metaedge`.

    >>> sorted(training_items([(0, 1), (1, 5, 2), (2, 3)], [0, 2, 3]))
    [2, 3, 5]
    """
    found: set[int] = set()
    for chain, trained in zip(chains, training, strict=True):
        if trained:
            found.update(chain[1:-1])
            if trained != TARGET_TRAINS:
                found.add(chain[0])
            if trained != SOURCE_TRAINS:
                found.add(chain[-1])
    shared = {item for chain, trained in zip(chains, training, strict=True) if not trained for item in chain[1:-1]}
    return {item for item in found if item not in shared}


# One level with coordinates: the result of `place.coordinates` for a skeleton and the sizes of its children.


@dataclass(frozen=True, slots=True)
class LevelGaps:
    """Minimum distances, in pixels.

    `siblings`: between boxes of a rank; `ranks`: between ranks, `labelled` if an edge label needs it; `box`: line to
    box; `edge`: line to line (white space, whatever their thickness); `parts`: between unconnected parts; `spread`:
    between lines on one side of a box (an aim; at least 8 if the box is wide enough); `start`: the straight first run
    of a line; `straight`: its last run before an arrow head; `beyond`: from a port to the border; `column`: from a
    column to the nearest line; `bar`: the room for the title bar, added to `beyond` on the first and the last side.
    `upward`: the flow runs against the reading direction, so the last shelf of parts is at its start. `heading`: the
    size of a rule's heading, across and along the flow.
    """

    siblings: int = 16
    ranks: int = 26
    labelled: int = 28
    box: int = 9
    edge: int = 7
    parts: int = 32
    spread: int = 12
    start: int = 11
    straight: int = 10
    beyond: int = 12
    column: int = 20
    bar: tuple[int, int] = (0, 0)
    upward: bool = False
    heading: tuple[int, int] = (64, 24)


@dataclass(frozen=True, slots=True)
class WireStroke:
    """The style of one wire: `thick` is its thickness in tenths of a pixel, `tip` the end with the arrow head (0
    source, 1 target, -1 if it continues inside an open child), `label` the size of its label ((0, 0): none), `is_main`
    whether that label must find a place."""

    thick: int = 10
    tip: int = 1
    label: tuple[int, int] = (0, 0)
    is_main: bool = False


@dataclass(frozen=True, slots=True)
class TrainingRule:
    """A rule at `x` from `top` to `bottom`, with gradients and updates to its right; its heading begins at `heading`
    along it (-1: there is no room)."""

    x: int
    top: int
    bottom: int
    heading: int


@dataclass(frozen=True, slots=True)
class LevelLayout:
    """Coordinates of one level, its upper left corner at (0, 0), the flow running down.

    `positions` are the upper left corners of the children ((0, 0) if not drawn); `ports` the x of each port, whose y is
    0 on the first side and `height` on the last; `routes` a polyline for each wire from its source's border to its
    target's border; at a port it ends `LevelGaps.beyond` and `LevelGaps.bar` outside the level. `rules` separate the
    model from the ops that train it.
    """

    positions: tuple[Point, ...]
    ports: tuple[int, ...]
    routes: tuple[tuple[Point, ...], ...]
    width: int
    height: int
    rules: tuple[TrainingRule, ...] = ()
