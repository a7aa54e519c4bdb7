"""The contents of one open group. They depend on the graph, not on which other groups are open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Literal

from graphviz_tb.model.bundles import EMPTY_BUNDLE, EdgeBundles
from graphviz_tb.model.columns import Ints
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.tensors import CarriedTensors

Side = Literal["in", "out"]
StubKind = Literal["shortcut", "constant", "summary", "weight"]
EdgeKind = Literal["data", "control", "reference"]


class BundledLine:
    """A bundle of flat edges: bundle `number` of `bundles`."""

    __slots__ = ()
    bundles: EdgeBundles
    number: int

    @property
    def carried_tensors(self) -> CarriedTensors:
        """Distinct tensors carried by the edges."""
        return self.bundles.carried_tensors(self.number)

    @property
    def flat_edges(self) -> Ints | None:
        """The ids of the flat edges."""
        return self.bundles.flat_edges(self.number)


@dataclass(frozen=True, slots=True)
class Metaedge(BundledLine):
    """All edges between two children of one group, in one direction.

    `source`, `target` are positions in `Metagraph.children`; `tensors`, `control`, `reference` count data, control
    and reference edges; their tensors are in bundle `number` of `bundles`. `back`: from the results of a loop's
    body to its arguments, without a flat edge.
    """

    source: int
    target: int
    tensors: int
    control: int
    reference: int
    bundles: EdgeBundles = field(default=EMPTY_BUNDLE, compare=False, repr=False)
    number: int = field(default=0, compare=False, repr=False)
    back: bool = False

    @property
    def kind(self) -> EdgeKind:
        """The drawing style: reference before data before control."""
        return "reference" if self.reference else "data" if self.tensors or self.back else "control"


@dataclass(frozen=True, slots=True)
class Bridge(BundledLine):
    """All edges between one child and one outside neighbour, as the parent level sees that neighbour.

    `child` is a position in `Metagraph.children`, `other` the neighbour's row, `inbound` true when the child is the
    target. `drawable` is false if a stub (an annotation of kind shortcut) replaces it even
    after its child is moved by hand. `members`, in a member that represents its stack: how many of how many members
    have it; (0, 0) if all do.
    """

    child: int
    other: int
    inbound: bool
    tensors: int
    control: int
    reference: int
    drawable: bool = True
    bundles: EdgeBundles = field(default=EMPTY_BUNDLE, compare=False, repr=False)
    number: int = field(default=0, compare=False, repr=False)
    members: tuple[int, int] = (0, 0)

    def with_neighbour_row(self, other: int) -> Bridge:
        """Return the same bridge with a different row for its neighbour."""
        counts, bundle = (self.tensors, self.control, self.reference), (self.bundles, self.number)
        return Bridge(self.child, other, self.inbound, *counts, self.drawable, *bundle, self.members)

    def as_stub(self) -> Bridge:
        """Return the same bridge as a stub, not drawn as a line."""
        counts, bundle = (self.tensors, self.control, self.reference), (self.bundles, self.number)
        return Bridge(self.child, self.other, self.inbound, *counts, False, *bundle, self.members)

    def with_member_share(self, share: tuple[int, int]) -> Bridge:
        """Return the same bridge with `members` set to `share`."""
        counts, bundle = (self.tensors, self.control, self.reference), (self.bundles, self.number)
        return Bridge(self.child, self.other, self.inbound, *counts, self.drawable, *bundle, share)

    @property
    def kind(self) -> EdgeKind:
        """The drawing style: reference before data before control."""
        return "reference" if self.reference else "data" if self.tensors else "control"


@dataclass(frozen=True, slots=True)
class Annotation:
    """A small stub next to a child that represents an edge not drawn, a constant or a summary.

    `child` is a position in `Metagraph.children`, `side` "in" or "out", `other` the row it represents (maybe in another
    group), `edges` the number of flat edges that it represents, `control` true if all are control edges.
    """

    child: int
    side: Side
    other: int
    kind: StubKind
    edges: int = 1
    control: bool = False

    def with_represented_row(self, other: int) -> Annotation:
        """Return the same stub with a different represented row."""
        return Annotation(self.child, self.side, other, self.kind, self.edges, self.control)


@dataclass(frozen=True, slots=True)
class DrawingMask:
    """Items not drawn in the core: extracted children (positions) and metaedges replaced by stubs (indices)."""

    in_extract: tuple[int, ...] = ()
    out_extract: tuple[int, ...] = ()
    stubbed: frozenset[int] = frozenset()

    @property
    def extracted_children(self) -> frozenset[int]:
        """Positions of all extracted children."""
        return frozenset(self.in_extract) | frozenset(self.out_extract)


@dataclass(frozen=True, slots=True)
class Metagraph:
    """One group, open.

    `row` is its row, `children` the rows directly below, `units` their nominal widths in half units (op 2, scope 4,
    series and fold 3); `edges` all metaedges between them (drawn or not: see `mask`); `bridges` the edges that leave
    the group; `mask` the items drawn elsewhere, `automatic` that mask before `--main` and `--aux` (it decides the
    drawing order, so that moving a node by hand moves no other node); `annotations` stubs and marks;
    `loops` counts edges from a child to itself.
    """

    row: int
    children: tuple[int, ...]
    units: tuple[int, ...]
    edges: tuple[Metaedge, ...]
    bridges: tuple[Bridge, ...]
    mask: DrawingMask = DrawingMask()
    automatic: DrawingMask = DrawingMask()
    annotations: tuple[Annotation, ...] = ()
    functions: tuple[int, ...] = ()
    loops: tuple[tuple[int, int], ...] = ()

    def core_edges(self) -> list[int]:
        """Return indices of the metaedges that are drawn as lines."""
        return [index for index in range(len(self.edges)) if index not in self.mask.stubbed]

    def core_children(self) -> list[int]:
        """Return positions of the children in the main area."""
        away = self.mask.extracted_children
        return [position for position in range(len(self.children)) if position not in away]

    def core_bridges(self) -> list[int]:
        """Return indices of the bridges that are drawn as lines, not as stubs."""
        away = self.mask.extracted_children
        return [index for index, bridge in enumerate(self.bridges) if bridge.drawable and bridge.child not in away]


@dataclass(frozen=True, slots=True)
class LevelForm:
    """Levels of equal form: the `first` such group and its `rows`, children before marks and neighbours.

    If children open, `going_on` are the lines that continue inside them (the positions of child and neighbour among the
    rows, and whether the line enters), `order` the position of each child in data order.
    """

    first: int
    rows: Sequence[int] = field(compare=False)
    going_on: Sequence[tuple[int, int, bool]] = field(default=(), compare=False)
    order: Sequence[int | None] = field(default=(), compare=False)


MetagraphLine = Metaedge | Bridge
