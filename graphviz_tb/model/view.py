"""Which groups are open, and every word that is shown: the input of `place`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Literal

from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.metagraph import Bridge, Metaedge, Metagraph, StubKind
from graphviz_tb.model.paths import Path
from graphviz_tb.model.scene import BoxKind
from graphviz_tb.model.skeleton import Skeleton


@dataclass(frozen=True, slots=True)
class NodeLabel:
    """The words on one child of an open group, and what kind of box it is.

    `label` is the last segment of its name, `full` the whole name, `second` the second line ("12 ops", "3.2 ms";
    empty for none), `badge` the number of a stack ("×12" equal members, "3 parts" of a fold; empty for none).
    `member` is the kind of the members of a series or fold, which its front sheet is drawn as; `about` what only the
    tooltip says; `stacked` says that it is an open stack with what one of its members holds in it.
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


@dataclass(frozen=True, slots=True)
class LineWords:
    """The words of a line: the `label` next to it (shortened; "" for none), the `title` of its tooltip."""

    label: str
    title: str


@dataclass(frozen=True, slots=True)
class StubWords:
    """One stub beside a box, before it has a place: its `label`, the `title` of its tooltip, the row it represents
    (`other`; -1 where it counts the rest), and the annotations it represents (`notes`)."""

    kind: StubKind | Literal["more"]
    label: str
    title: str
    other: int
    control: bool
    notes: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Note:
    """One line about a level: its words, the full account, and the annotations it represents."""

    content: str
    full: str
    annotations: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class LevelWords:
    """Every word about the boxes and lines of an open group. A position counts its children, then its functions.

    `seconds` is the second line of the box (or of the title bar) at each position, `titles` its tooltip;
    `incoming`, `outgoing` the stubs at the two sides of each closed box; `notes` the lines about many boxes at once;
    `lines` is by wire of the skeleton, `loops` the tooltip by position, `ports` that of each port of the skeleton.
    """

    seconds: tuple[str, ...] = ()
    titles: tuple[str, ...] = ()
    incoming: tuple[tuple[StubWords, ...], ...] = ()
    outgoing: tuple[tuple[StubWords, ...], ...] = ()
    notes: tuple[Note, ...] = ()
    lines: Mapping[int, LineWords] = field(default_factory=dict)
    loops: Mapping[int, str] = field(default_factory=dict)
    ports: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class View:
    """One open group: its metagraph, its order of drawing, a label for each child, and the children that are open.

    `opened` maps positions of children to their own view. `names` gives the full name of every row that is an end of
    annotations and bridges of this metagraph (rows may be anywhere in the graph), `labels` their labels where these
    are not the last segment of the name, `addresses` their addresses. `functions` is a label for each of
    `metagraph.functions`; an open one is in `opened` at position `len(metagraph.children) + i`. `words` are all texts
    of the level.
    """

    address: str
    path: Path
    metagraph: Metagraph
    skeleton: Skeleton
    node_labels: tuple[NodeLabel, ...]
    opened: Mapping[int, View] = field(default_factory=dict)
    names: Mapping[int, str] = field(default_factory=dict)
    labels: Mapping[int, str] = field(default_factory=dict)
    addresses: Mapping[int, str] = field(default_factory=dict)
    functions: tuple[NodeLabel, ...] = ()
    words: LevelWords = LevelWords()

    def drawn(self) -> dict[int, Metaedge | Bridge]:
        """The wires that are drawn one by one: none where the level is too large to be laid out."""
        return {} if self.skeleton.plain else {wire: self.line(wire) for wire in self.wires()}

    def line(self, wire: int) -> Metaedge | Bridge:
        """The metaedge or bridge that a wire represents."""
        edge, bridge = self.skeleton.wires[wire].edge, self.skeleton.wires[wire].bridge
        return self.metagraph.edges[edge] if edge >= 0 else self.metagraph.bridges[bridge]

    def wires(self) -> list[int]:
        """The wires that are drawn, one by one or not."""
        metagraph = self.metagraph
        away, stubbed = metagraph.mask.extracted, metagraph.mask.stubbed
        drawn = []
        for index, wire in enumerate(self.skeleton.wires):
            if {wire.chain[0], wire.chain[-1]} & away:
                continue
            if wire.edge not in stubbed if wire.edge >= 0 else metagraph.bridges[wire.bridge].drawable:
                drawn.append(index)
        return drawn
