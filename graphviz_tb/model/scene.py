"""A picture with coordinates and without colours: the output of `place` and the input of `render`.

All coordinates are integers in pixels, x to the right, y down. Boxes are in drawing order (parents before children).
"""

from __future__ import annotations

from typing import Literal, get_args

from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.metagraph import EdgeKind
from graphviz_tb.model.paths import RowPath

Point = tuple[int, int]
Size = tuple[int, int]  # width, height
Anchor = Literal["start", "middle", "end"]
Direction = Literal["BT", "TB", "LR", "RL"]
DIRECTIONS: tuple[Direction, ...] = get_args(Direction)
TextRole = Literal["title", "label", "second", "count", "edge", "stub", "mark", "heading", "badge", "note"]
BoxKind = Literal["scope", "op", "series", "fold", "call", "function"]
IdentityKind = Literal["edge", "bridge", "loop", "annotation"]


@dataclass(frozen=True, slots=True)
class LineIdentity:
    """The edge represented by a line: entry `index` of the metagraph of an open group.

    `group` is the address of that group; `kind` names the list that `index` counts in: `edges`, `bridges`, `loops` or
    `annotations`. `source`, `target` are the addresses of the line's ends, also where an end is not shown. `path` is
    the path of the group, since nodes with equal names have equal addresses.
    """

    group: str = ""
    kind: IdentityKind = "edge"
    index: int = -1
    source: str = ""
    target: str = ""
    path: RowPath = (0,)


@dataclass(frozen=True, slots=True)
class Text:
    """One line of text: `x` is the position of the `anchor`, `y` the baseline, `width` the measured advance.

    `content` is the text as drawn, `full` the text before it was shortened; `box` the box it belongs to (-1: none);
    `inside` is true if it is in that box; `identities` are the edges that a note represents.
    """

    x: int
    y: int
    content: str
    full: str
    size: int
    width: int
    role: TextRole
    anchor: Anchor = "middle"
    semibold: bool = False
    box: int = -1
    inside: bool = False
    identities: tuple[LineIdentity, ...] = ()


@dataclass(frozen=True, slots=True)
class Box:
    """A node. `address` is its call path and name, `row` its row, `parent` the box around it (-1: the picture).

    `x`, `y` the upper left corner. `sheets` is the number of sheets of a stack behind its front sheet (0 or 2, drawn
    inside the given rectangle), `connected` decides the direction of their offset, `member` is the kind of the front
    sheet, `sign` the letter that a circle shows in place of a name. `area` is "main", "in_extract", "out_extract" or
    "functions". `title` is the full text of a tooltip. `surplus`: the surplus ops of another member of an open stack,
    with the row of that member; its outline is dashed. `bare`: an open box of which only the content is drawn.
    """

    address: str
    row: int
    kind: BoxKind
    parent: int
    depth: int
    x: int
    y: int
    width: int
    height: int
    open: bool
    openable: bool
    sheets: int = 0
    connected: bool = False
    area: Literal["main", "in_extract", "out_extract", "functions"] = "main"
    member: BoxKind = "scope"
    title: str = ""
    sign: str = ""
    surplus: bool = False
    bare: bool = False


@dataclass(frozen=True, slots=True)
class Route:
    """An edge. `points` is a polyline from the source's border to the target's border (arrow tip at the last point,
    at the first for a reference edge).

    `source`, `target` are box numbers (-1 if the end is a port of the frame `frame`); `source_port`, `target_port`
    number the port in `Scene.ports` at which the line crosses a frame, its own group's or an open child's (-1: none);
    `thickness` is in tenths of a pixel; `title` the full text of a tooltip (one line); `main` is true on the main path
    of its level; `parting` is the point where it leaves another line that begins like it.
    """

    points: tuple[Point, ...]
    kind: EdgeKind
    source: int
    target: int
    thickness: int
    back: bool = False
    arrow: bool = True
    frame: int = -1
    title: str = ""
    identity: LineIdentity = LineIdentity()
    source_port: int = -1
    target_port: int = -1
    main: bool = False
    parting: Point | None = None


@dataclass(frozen=True, slots=True)
class Web:
    """All lines of one kind in a level too large for separate lines: straight, without arrow heads, below boxes.

    `sources` and `targets` are their ends: numbers of boxes, or -1 - n for port n of `Scene.ports`. `frame` is the box
    of the level (-1: the picture).
    """

    kind: EdgeKind
    frame: int
    sources: tuple[int, ...]
    targets: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Port:
    """A dot on the frame of box `box`; `count` is how many neighbours share it (1, or more for a "+N" port).

    `group` is the address of the open group, `slot` the number of the port in its skeleton, `first` true on the
    side where the flow begins, `others` the addresses of the neighbours that share it. `bare`: the frame, and so the
    dot, is not drawn.
    """

    x: int
    y: int
    box: int
    kind: EdgeKind
    count: int = 1
    title: str = ""
    group: str = ""
    slot: int = -1
    first: bool = True
    others: tuple[str, ...] = ()
    bare: bool = False


@dataclass(frozen=True, slots=True)
class Stub:
    """A constant, a weight, a summary, an extracted neighbour or the "+N" rest, drawn next to box `box`.

    `other` is the row it represents (-1 for the rest), `points` the line to the box (from tail to tip). `identities`
    are the edges it represents: one, except for the "+N" rest.
    """

    x: int
    y: int
    width: int
    height: int
    kind: Literal["shortcut", "constant", "summary", "weight", "more"]
    side: Literal["in", "out"]
    box: int
    other: int
    points: tuple[Point, ...]
    control: bool = False
    title: str = ""
    identities: tuple[LineIdentity, ...] = ()


@dataclass(frozen=True, slots=True)
class Separator:
    """A thin line between the main and the auxiliary area."""

    x1: int
    y1: int
    x2: int
    y2: int


@dataclass(frozen=True, slots=True)
class Scene:
    """The whole drawing without title and legend. `width`, `height` include no margin."""

    width: int
    height: int
    direction: Direction
    boxes: tuple[Box, ...]
    routes: tuple[Route, ...]
    ports: tuple[Port, ...]
    stubs: tuple[Stub, ...]
    texts: tuple[Text, ...]
    rules: tuple[Separator, ...] = ()
    webs: tuple[Web, ...] = ()
