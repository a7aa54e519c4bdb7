"""The drawing order of one metagraph. It knows no pixel.

Items are numbered: children 0 … n-1 (positions in `Metagraph.children`), then ports n … n+p-1, then waypoints.

rank 0      2           children 0 and 1, port 2 (both get something from outside), waypoint 3
            │ ╲
rank 1      0  3        parts[0] = ((2,), (0, 3), (1,))
            │ ╱
rank 2      1           chains of the wires: (0, 1), (2, 0), (2, 3, 1)
"""

from __future__ import annotations

from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.notice import Notice


@dataclass(frozen=True, slots=True)
class PortSlot:
    """A place on the group's frame where edges that leave it cross.

    `first` is true on the side where the flow begins (the first rank), false where it ends. `others` are the rows
    of the outside neighbours that share the port (one, but for the "+N" port that holds the rest past eight), each
    with the direction: `(row, inbound)`.
    """

    first: bool
    others: tuple[tuple[int, bool], ...]


@dataclass(frozen=True, slots=True)
class Wire:
    """One line of the level: a metaedge (`edge` is its index) or a bridge (`bridge` is its index; the other -1).

    `chain` lists the items it passes, from its source to its target, one on each rank between them: child or port,
    waypoints, child or port. `turned`: the chain runs against the ranks (a back edge); the arrow is at its end all
    the same.
    """

    edge: int
    bridge: int
    chain: tuple[int, ...]
    turned: bool = False


@dataclass(frozen=True, slots=True)
class Skeleton:
    """For each part the ranks, for each rank the items from left to right; and the shelves on which parts are set.

    `parts[p][r]` are the items of rank r of part p, in flow order (rank 0 is where the flow begins). `shelves` are
    rows of part numbers, read like lines of text along the flow; where the level has ports, part 0 holds everything
    that hangs on them and is alone on the left, and the shelves hold the other parts, to its right.
    Ports are alone on the first and the last rank of part 0. `main` is the part that is alone on the left (0),
    or -1 where there is none. `waypoint[w]` is the wire that waypoint item `children + len(ports) + w` belongs to;
    wires that have one end in common may share waypoints (a bus, or one trunk past a wrapped rank): then it is the
    first of them. `spine` are the wires of each part's main path, `notices` what the engine could not do. `breaks`
    are, by part, the ranks at which a new column begins, to the right of the one before; () where no part has any.
    `plain`: the level is too large to be laid out; its rows are no ranks, and its wires go straight from end to end.
    """

    children: int
    ports: tuple[PortSlot, ...]
    wires: tuple[Wire, ...]
    waypoint: tuple[int, ...]
    parts: tuple[tuple[tuple[int, ...], ...], ...]
    shelves: tuple[tuple[int, ...], ...]
    main: int = -1
    spine: tuple[int, ...] = ()
    notices: tuple[Notice, ...] = ()
    breaks: tuple[tuple[int, ...], ...] = ()
    plain: bool = False

    @property
    def first_waypoint(self) -> int:
        """The number of the first waypoint item."""
        return self.children + len(self.ports)
