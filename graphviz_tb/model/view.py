"""Open groups and every text that is shown: the input of `place`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Literal

from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.metagraph import Bridge, Metaedge, Metagraph, StubKind
from graphviz_tb.model.paths import RowPath
from graphviz_tb.model.scene import BoxKind
from graphviz_tb.model.skeleton import Skeleton


@dataclass(frozen=True, slots=True)
class NodeLabel:
    """The texts on one child of an open group, and the kind of its box.

    `label` is the last segment of its name, `full` the whole name, `second` the second line ("12 ops", "3.2 ms"; empty
    for none), `badge` the number of a stack ("×12" equal members, "3 parts" of a fold; empty for none). `member` is the
    kind of the members of a series or fold, drawn as its front sheet; `about` is text for the tooltip only; `stacked`
    marks an open stack that shows the contents of one member. `sign` is drawn in a circle in place of the name where
    the box has no second line: `+` for the sum of tensors, `×` for their product. `first` is the difference of a
    stack's first member ("block1: /2"), the third line of its box; `semibold` marks a label of words in place of the
    name, `layers` a second line that lists the layers of a group. `surplus` marks the surplus ops of another member of
    an open stack; `shared`: all members use their result. `printed` marks a box of a figure, which is as high as its
    lines.
    """

    row: int
    address: str
    kind: BoxKind
    label: str
    full: str
    second: str = ""
    badge: str = ""
    openable: bool = False
    connected: bool = False
    member: BoxKind = "scope"
    about: str = ""
    stacked: bool = False
    sign: str = ""
    first: str = ""
    semibold: bool = False
    layers: bool = False
    surplus: bool = False
    shared: bool = False
    printed: bool = False


@dataclass(frozen=True, slots=True)
class LineWords:
    """The texts of a line: the `label` next to it (shortened; "" for none), and the `title` of its tooltip."""

    label: str
    title: str


@dataclass(frozen=True, slots=True)
class StubWords:
    """One stub next to a box, before it has coordinates: its `label`, the `title` of its tooltip, the row it represents
    (`other`; -1 if it counts the rest), and the annotations it represents (`notes`)."""

    kind: StubKind | Literal["more"]
    label: str
    title: str
    other: int
    control: bool
    notes: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class LevelNote:
    """One line about a level: its words, its full text, and the annotations it represents."""

    content: str
    full: str
    annotations: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class LevelWords:
    """All texts of the boxes and lines of an open group. Positions count its children, then its functions.

    `seconds` is the second line of the box (or of the title bar) at each position, `titles` its tooltip;
    `incoming`, `outgoing` the stubs at the two sides of each closed box; `notes` the lines about many boxes at once;
    `lines` is by wire of the skeleton, `loops` the tooltip by position, `ports` that of each port of the skeleton.
    """

    seconds: tuple[str, ...] = ()
    titles: tuple[str, ...] = ()
    incoming: tuple[tuple[StubWords, ...], ...] = ()
    outgoing: tuple[tuple[StubWords, ...], ...] = ()
    notes: tuple[LevelNote, ...] = ()
    lines: Mapping[int, LineWords] = field(default_factory=dict)
    loops: Mapping[int, str] = field(default_factory=dict)
    ports: tuple[str, ...] = ()


# How a figure with little room is made narrower and lower: `View.narrow`. Each step includes those before it.
SMALL_GAPS, SHORT_NAMES, MIXED_TRAINING, NO_TRAINING = 1, 2, 3, 4


@dataclass(frozen=True, slots=True)
class View:
    """One open group: its metagraph, its drawing order, a label for each child, and the children that are open.

    `opened` maps positions of children to their own view. `names` gives the full name of every row that is an end of
    annotations and bridges of this metagraph (rows may be anywhere in the graph), `labels` their labels where these are
    not the last segment of the name, `addresses` their addresses. `functions` is a label for each of
    `metagraph.functions`; an open one is in `opened` at position `len(metagraph.children) + i`. `words` are all texts
    of the level. `narrow`: a figure with little room; with `MIXED_TRAINING`, ops that train the model are among the
    ranks, not to the right of a rule, and their lines have no labels.
    """

    address: str
    path: RowPath
    metagraph: Metagraph
    skeleton: Skeleton
    node_labels: tuple[NodeLabel, ...]
    opened: Mapping[int, View] = field(default_factory=dict)
    names: Mapping[int, str] = field(default_factory=dict)
    labels: Mapping[int, str] = field(default_factory=dict)
    addresses: Mapping[int, str] = field(default_factory=dict)
    functions: tuple[NodeLabel, ...] = ()
    words: LevelWords = LevelWords()
    narrow: int = 0

    def drawn_lines(self) -> dict[int, Metaedge | Bridge]:
        """Return the lines that are drawn one by one, by wire; empty if the level is too large for a layout."""
        return {} if self.skeleton.plain else {wire: self.line_of_wire(wire) for wire in self.drawn_wires()}

    def line_of_wire(self, wire: int) -> Metaedge | Bridge:
        edge, bridge = self.skeleton.wires[wire].edge, self.skeleton.wires[wire].bridge
        return self.metagraph.edges[edge] if edge >= 0 else self.metagraph.bridges[bridge]

    def drawn_wires(self) -> list[int]:
        """Return the wires that are drawn, one by one or together."""
        metagraph = self.metagraph
        away, stubbed = metagraph.mask.extracted_children, metagraph.mask.stubbed
        drawn = []
        for index, wire in enumerate(self.skeleton.wires):
            if {wire.chain[0], wire.chain[-1]} & away:
                continue
            if wire.bridge >= 0:
                drawable = metagraph.bridges[wire.bridge].drawable
            else:
                drawable = wire.edge not in stubbed or metagraph.edges[wire.edge].writes
            if drawable:
                drawn.append(index)
        return drawn
