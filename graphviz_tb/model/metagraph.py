"""The contents of one open group. They depend on the graph, not on the other open groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Literal

from graphviz_tb.model.bundles import NOTHING, Bundled
from graphviz_tb.model.columns import Ints
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.tensors import Carried

Side = Literal["in", "out"]
StubKind = Literal["shortcut", "constant", "summary", "weight"]
EdgeKind = Literal["data", "control", "reference"]


class Bundle:
    """A bundle of flat edges: number `number` of `bundles`."""

    __slots__ = ()
    bundles: Bundled
    number: int

    @property
    def carried(self) -> Carried:
        """The distinct tensors that it carries."""
        return self.bundles.carried(self.number)

    @property
    def edges(self) -> Ints | None:
        """The ids of the flat edges."""
        return self.bundles.edges(self.number)


@dataclass(frozen=True, slots=True)
class Metaedge(Bundle):
    """All edges between two children of one group, in one direction.

    `source`, `target` are positions in `Metagraph.children`; `tensors`, `control`, `reference` count data, control
    and reference edges; bundle `number` of `bundles` says what it carries. `back`: it leads from the results of a
    loop's body to its arguments, and represents no flat edge.
    """

    source: int
    target: int
    tensors: int
    control: int
    reference: int
    bundles: Bundled = field(default=NOTHING, compare=False, repr=False)
    number: int = field(default=0, compare=False, repr=False)
    back: bool = False

    @property
    def kind(self) -> EdgeKind:
        """How it is drawn: reference before data before control."""
        return "reference" if self.reference else "data" if self.tensors or self.back else "control"


@dataclass(frozen=True, slots=True)
class Bridge(Bundle):
    """All edges between one child and one outside neighbour, as the parent level sees that neighbour.

    `child` is a position in `Metagraph.children`, `other` the neighbour's row, `inbound` true when the child is the
    target. `drawable` is false where a stub represents it (an annotation of kind shortcut)
    wherever its child is put by hand. `members`: in a member that stands for its stack, how many of how many members
    have it; (0, 0) where all do.
    """

    child: int
    other: int
    inbound: bool
    tensors: int
    control: int
    reference: int
    drawable: bool = True
    bundles: Bundled = field(default=NOTHING, compare=False, repr=False)
    number: int = field(default=0, compare=False, repr=False)
    members: tuple[int, int] = (0, 0)

    def beside(self, other: int) -> Bridge:
        """The same bridge where its neighbour has another row."""
        counts, bundle = (self.tensors, self.control, self.reference), (self.bundles, self.number)
        return Bridge(self.child, other, self.inbound, *counts, self.drawable, *bundle, self.members)

    def undrawn(self) -> Bridge:
        """The same bridge as a stub: not drawn as a line."""
        counts, bundle = (self.tensors, self.control, self.reference), (self.bundles, self.number)
        return Bridge(self.child, self.other, self.inbound, *counts, False, *bundle, self.members)

    def of_members(self, share: tuple[int, int]) -> Bridge:
        """The same bridge where so many members of so many have it."""
        counts, bundle = (self.tensors, self.control, self.reference), (self.bundles, self.number)
        return Bridge(self.child, self.other, self.inbound, *counts, self.drawable, *bundle, share)

    @property
    def kind(self) -> EdgeKind:
        """How it is drawn: reference before data before control."""
        return "reference" if self.reference else "data" if self.tensors else "control"


@dataclass(frozen=True, slots=True)
class Annotation:
    """A small stub next to a child that represents an edge not drawn, a constant or a summary.

    `child` is a position in `Metagraph.children`, `side` "in" or "out", `other` the row it represents (maybe in another
    group), `edges` how many flat edges it represents, `control` whether all of them are control edges.
    """

    child: int
    side: Side
    other: int
    kind: StubKind
    edges: int = 1
    control: bool = False

    def beside(self, other: int) -> Annotation:
        """The same stub where what it represents has another row."""
        return Annotation(self.child, self.side, other, self.kind, self.edges, self.control)


@dataclass(frozen=True, slots=True)
class Mask:
    """The items not drawn in the core: extracted children (positions) and metaedges turned into stubs (indices)."""

    in_extract: tuple[int, ...] = ()
    out_extract: tuple[int, ...] = ()
    stubbed: frozenset[int] = frozenset()

    @property
    def extracted(self) -> frozenset[int]:
        """Positions of all extracted children."""
        return frozenset(self.in_extract) | frozenset(self.out_extract)


@dataclass(frozen=True, slots=True)
class Metagraph:
    """One group, open.

    `row` is its row, `children` the rows directly below, `units` their nominal widths in half units (op 2, scope 4,
    series and fold 3); `edges` all metaedges between them (drawn or not: see `mask`); `bridges` the edges that leave
    the group; `mask` what is drawn elsewhere, `automatic` the same before `--main` and `--aux` (the order of drawing
    is decided by it, so that moving one node by hand moves no other); `annotations` stubs and marks;
    `loops` counts edges from a child to itself.
    """

    row: int
    children: tuple[int, ...]
    units: tuple[int, ...]
    edges: tuple[Metaedge, ...]
    bridges: tuple[Bridge, ...]
    mask: Mask = Mask()
    automatic: Mask = Mask()
    annotations: tuple[Annotation, ...] = ()
    functions: tuple[int, ...] = ()
    loops: tuple[tuple[int, int], ...] = ()

    def core_edges(self) -> list[int]:
        """Indices of the metaedges that are drawn as lines."""
        return [index for index in range(len(self.edges)) if index not in self.mask.stubbed]

    def core(self) -> list[int]:
        """Positions of the children that are drawn in the main area."""
        away = self.mask.extracted
        return [position for position in range(len(self.children)) if position not in away]

    def core_bridges(self) -> list[int]:
        """Indices of the bridges that are drawn as lines; stubs represent the others."""
        away = self.mask.extracted
        return [index for index, bridge in enumerate(self.bridges) if bridge.drawable and bridge.child not in away]


@dataclass(frozen=True, slots=True)
class LevelForm:
    """Levels that are alike: the group of the `first` of them and its `rows`, children before marks and neighbours.

    Where children open, `going_on` are the lines that go on inside of them (the places of a child and of a neighbour
    among the rows, and whether they come in), `order` the place of each child in the order of the data.
    """

    first: int
    rows: Sequence[int] = field(compare=False)
    going_on: Sequence[tuple[int, int, bool]] = field(default=(), compare=False)
    order: Sequence[int | None] = field(default=(), compare=False)


Line = Metaedge | Bridge
