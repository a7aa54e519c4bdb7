"""The contents of one open group. They depend on the graph, not on which other groups are open."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import field
from typing import Literal, Protocol

import numpy as np

from graphviz_tb.model.columns import Ints, Longs
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.tensors import CarriedTensors, Tensor, TensorSource, carry_tensors

# Flat edges grouped in bundles, one per drawn line; stored as columns, since a level can have a million lines.

OutputPairs = tuple[tuple[int, int], ...]


class EdgeBundles(Protocol):
    """The bundle of each line of a level, by number."""

    def carried_tensors(self, number: int) -> CarriedTensors:
        """Return the distinct tensors of line `number`."""

    def flat_edges(self, number: int) -> Ints | None:
        """Return the ids of the flat edges of line `number`, in file order; None if they are unknown."""


@dataclass(frozen=True, slots=True, eq=False)
class Bundles:
    """The bundles of one or more levels.

    The flat edges of bundle `b` are `edge[start[b]:start[b + 1]]`, in file order. The distinct outputs that its data
    edges carry are rows `output_start[b]:output_start[b + 1]` of `node` and `key`; `tensors` has the tensor of each.
    `known` caches tensors by their outputs (an edge that crosses twelve borders is in twelve bundles but decoded once),
    `asked` by bundle.
    """

    edge: Ints
    start: Longs
    node: Ints
    key: Ints
    output_start: Longs
    tensors: TensorSource
    known: dict[OutputPairs, CarriedTensors] = field(default_factory=dict)
    asked: dict[int, CarriedTensors] = field(default_factory=dict)

    def carried_tensors(self, number: int) -> CarriedTensors:
        """Return the distinct tensors of line `number`. Lines that carry equal tensors share one value."""
        carried = self.asked.get(number)
        if carried is None:
            first, stop = self.output_start.item(number), self.output_start.item(number + 1)
            outputs: OutputPairs
            if stop == first + 1:  # nearly always; to slice columns takes three times as long
                outputs = ((self.node.item(first), self.key.item(first)),)
            else:
                outputs = tuple(zip(self.node[first:stop].tolist(), self.key[first:stop].tolist(), strict=True))
            carried = self.known.get(outputs)
            if carried is None:
                carried = self.known[outputs] = CarriedTensors(outputs, self.tensors)
            self.asked[number] = carried
        return carried

    def flat_edges(self, number: int) -> Ints:
        return self.edge[self.start[number] : self.start[number + 1]]


@dataclass(frozen=True, slots=True, eq=False)
class SmallLevelBundles:
    """The bundles of a level with few lines: the flat edges and the tensors of each."""

    flat: Sequence[Sequence[int]]
    tensors: Sequence[CarriedTensors]

    def carried_tensors(self, number: int) -> CarriedTensors:
        return self.tensors[number]

    def flat_edges(self, number: int) -> Ints:
        return np.array(self.flat[number], np.int32)


@dataclass(frozen=True, slots=True, eq=False)
class SingleBundle:
    """The bundle of a single line, its tensors already decoded."""

    tensors: CarriedTensors = field(default_factory=carry_tensors)
    flat: Ints | None = None

    def carried_tensors(self, number: int) -> CarriedTensors:
        return self.tensors

    def flat_edges(self, number: int) -> Ints | None:
        return self.flat


EMPTY_BUNDLE = SingleBundle()


def bundle_of_tensors(*tensors: Tensor) -> SingleBundle:
    """Make the bundle of a line that carries these tensors."""
    return SingleBundle(carry_tensors(*tensors))


Side = Literal["in", "out"]
StubKind = Literal["shortcut", "constant", "summary", "weight"]
EdgeKind = Literal["data", "control", "reference"]


# In `Metaedge.training`: implied lines to or from ops that train the model; weights that training writes.
IMPLIED_LINE, WRITTEN_WEIGHTS = 4, 8


class BundledLine:
    """A bundle of flat edges: bundle `number` of `bundles`."""

    __slots__ = ()
    bundles: EdgeBundles
    number: int

    @property
    def carried_tensors(self) -> CarriedTensors:
        return self.bundles.carried_tensors(self.number)

    @property
    def flat_edges(self) -> Ints | None:
        """The ids of the flat edges."""
        return self.bundles.flat_edges(self.number)


@dataclass(frozen=True, slots=True)
class Metaedge(BundledLine):
    """All edges between two children of one group, in one direction.

    `source`, `target` are positions in `Metagraph.children`; `tensors`, `control`, `reference` count data, control and
    reference edges; their tensors are in bundle `number` of `bundles`. `back`: from the results of a loop's body to its
    arguments, without a flat edge. `training`: which ends compute gradients or updates (`SOURCE_TRAINS` and so on in
    `model.skeleton`), 0 if neither or all children do; such a line is thin and not on a main path. `IMPLIED_LINE` is
    added if it is neither drawn nor a stub, `WRITTEN_WEIGHTS` if it represents `reference` weights of `source` that
    `target` writes: not an edge of the file, and drawn if the skeleton has a wire for it.
    """

    source: int
    target: int
    tensors: int
    control: int
    reference: int
    bundles: EdgeBundles = field(default=EMPTY_BUNDLE, compare=False, repr=False)
    number: int = field(default=0, compare=False, repr=False)
    back: bool = False
    training: int = 0

    @property
    def kind(self) -> EdgeKind:
        """The drawing style: reference before data before control."""
        return "reference" if self.reference else "data" if self.tensors or self.back else "control"

    @property
    def writes(self) -> bool:
        """Return whether it represents weights that training writes."""
        return self.training >= WRITTEN_WEIGHTS  # the highest bit


@dataclass(frozen=True, slots=True)
class Bridge(BundledLine):
    """All edges between one child and one outside neighbour, as the parent level sees that neighbour.

    `child` is a position in `Metagraph.children`, `other` the neighbour's row, `inbound` true when the child is the
    target. `drawable` is false if a stub (an annotation of kind shortcut) replaces it even after its child is moved by
    hand. `members`, in a member that represents its stack: the number of members with this bridge, and of all members;
    (0, 0) if all have it. `training`: it joins the model with gradients or updates outside; such lines begin and end at
    the frame of the group, so it is neither drawn nor a stub.
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
    training: bool = False

    def with_neighbour_row(self, other: int) -> Bridge:
        counts, bundle = (self.tensors, self.control, self.reference), (self.bundles, self.number)
        return Bridge(self.child, other, self.inbound, *counts, self.drawable, *bundle, self.members, self.training)

    def as_stub(self, training: bool = False) -> Bridge:
        """Return the same bridge not drawn as a line: as a stub, or not at all if it is for `training`."""
        counts, bundle = (self.tensors, self.control, self.reference), (self.bundles, self.number)
        return Bridge(self.child, self.other, self.inbound, *counts, False, *bundle, self.members, training)

    def with_member_share(self, share: tuple[int, int]) -> Bridge:
        counts, bundle = (self.tensors, self.control, self.reference), (self.bundles, self.number)
        return Bridge(self.child, self.other, self.inbound, *counts, self.drawable, *bundle, share, self.training)

    @property
    def kind(self) -> EdgeKind:
        """The drawing style: reference before data before control."""
        return "reference" if self.reference else "data" if self.tensors else "control"


@dataclass(frozen=True, slots=True)
class Annotation:
    """A small stub next to a child that represents an edge not drawn, a constant or a summary.

    `child` is a position in `Metagraph.children`, `side` "in" or "out", `other` the row it represents (maybe in another
    group), `edges` the number of flat edges that it represents, `control` true if all are control edges, `training`
    true if they are implied, or lines between the model and gradients or updates elsewhere: these are not drawn.
    """

    child: int
    side: Side
    other: int
    kind: StubKind
    edges: int = 1
    control: bool = False
    training: bool = False

    def with_represented_row(self, other: int) -> Annotation:
        """Return the same stub with a different represented row."""
        return Annotation(self.child, self.side, other, self.kind, self.edges, self.control, self.training)


@dataclass(frozen=True, slots=True)
class DrawingMask:
    """Items not drawn in the core: extracted children (positions) and metaedges replaced by stubs (indices)."""

    in_extract: tuple[int, ...] = ()
    out_extract: tuple[int, ...] = ()
    stubbed: frozenset[int] = frozenset()

    @property
    def extracted_children(self) -> frozenset[int]:
        return frozenset(self.in_extract) | frozenset(self.out_extract)


@dataclass(frozen=True, slots=True)
class Surplus:
    """Ops (`nodes`) of another `member` of a stack that have no partner in the open member. `shared`: the other members
    use their result too."""

    member: int
    nodes: tuple[int, ...]
    shared: bool


@dataclass(frozen=True, slots=True)
class Metagraph:
    """One group, open.

    `row` is its row, `children` the rows directly below, `units` their nominal widths in half units (op 2, scope 4,
    series and fold 3); `edges` all metaedges between them (drawn or not: see `mask`); `bridges` the edges that leave
    the group; `mask` the items drawn elsewhere, `automatic` that mask before `--main` and `--aux` (it decides the
    drawing order, so that moving a node by hand moves no other node); `annotations` stubs and marks; `loops` counts
    edges from a child to itself; `training` are the children that train the model or do bookkeeping, if others are the
    model. `surplus`: one of the children is not a part of the group, but the surplus ops of another member of its
    stack, with the row of that member.
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
    training: tuple[int, ...] = ()
    surplus: Surplus | None = None

    def own_children(self) -> list[int]:
        """Return the rows of the children, without the surplus of another member."""
        return [row for row in self.children if self.surplus is None or row != self.surplus.member]

    @property
    def surplus_position(self) -> int:
        """The position of the surplus of another member; -1 for none."""
        return -1 if self.surplus is None else self.children.index(self.surplus.member)

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

    If children open, `continuations` are the lines that continue inside them (the positions of child and neighbour
    among the rows, and whether the line enters), `order` the position of each child in data order.
    """

    first: int
    rows: Sequence[int] = field(compare=False)
    continuations: Sequence[tuple[int, int, bool]] = field(default=(), compare=False)
    order: Sequence[int | None] = field(default=(), compare=False)


MetagraphLine = Metaedge | Bridge


# The thickness of a line, by the number of elements that flow along it.

THINNEST_TENTHS, THICKEST_TENTHS = 10, 35  # tenths of a pixel
UNKNOWN_TENTHS = 20  # a line of unknown size is neither thin nor thick


def _least_elements(tenths: int) -> int:
    """Return the least number of elements n whose line is `tenths` thick: 10 + 50·log10(n)/8, rounded, computed in
    integers."""
    exponent = 16 * (2 * (tenths - THINNEST_TENTHS) - 1)  # n ** 100 >= 10 ** exponent
    number = round(10 ** (exponent / 100)) - 1  # the float may be off by one: integers decide
    while number**100 < 10**exponent:
        number += 1
    return number


THICKNESS_THRESHOLDS = tuple(_least_elements(tenths) for tenths in range(THINNEST_TENTHS + 1, THICKEST_TENTHS + 1))


def line_thickness(edge: Metaedge | Bridge) -> int:
    """Return the thickness in tenths of a pixel: by the number of elements, `UNKNOWN_TENTHS` if unknown; control edges
    and lines to ops that train the model are the thinnest.

    >>> from graphviz_tb.model.metagraph import bundle_of_tensors
    >>> from graphviz_tb.model.tensors import Tensor
    >>> bundles = bundle_of_tensors(Tensor((100,))), bundle_of_tensors(Tensor())
    >>> tuple(line_thickness(Metaedge(0, 1, 1, 0, 0, bundle)) for bundle in bundles)
    (16, 20)
    """
    if edge.kind == "control" or edge.training:
        return THINNEST_TENTHS
    size = edge.carried_tensors.known_size(enough=THICKNESS_THRESHOLDS[-1])
    return UNKNOWN_TENTHS if size is None else THINNEST_TENTHS + bisect_right(THICKNESS_THRESHOLDS, size)


def main_path_weight(edge: Metaedge | Bridge) -> int:
    """Return the thickness, negated for a line with only indices, sizes and masks, so that main paths avoid it.

    >>> from graphviz_tb.model.metagraph import bundle_of_tensors
    >>> from graphviz_tb.model.tensors import Tensor
    >>> main_path_weight(Metaedge(0, 1, 1, 0, 0, bundle_of_tensors(Tensor((100,), "int32"))))
    -16
    """
    return -line_thickness(edge) if edge.carried_tensors.is_indexing else line_thickness(edge)
