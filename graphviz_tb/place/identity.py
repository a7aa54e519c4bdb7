"""Identity of drawn lines: the edge they represent, by address of its group and of its ends."""

from __future__ import annotations

from graphviz_tb.model.metagraph import Annotation, Side
from graphviz_tb.model.scene import IdentityKind, LineIdentity
from graphviz_tb.model.view import View

StubKey = tuple[Side, int]  # side, row of the neighbour


def wire_identity(view: View, index: int) -> LineIdentity:
    """Return the metaedge or bridge that wire `index` of the skeleton represents."""
    wire = view.skeleton.wires[index]
    if wire.edge >= 0:
        edge = view.metagraph.edges[wire.edge]
        return LineIdentity(
            view.address,
            "edge",
            wire.edge,
            view.node_labels[edge.source].address,
            view.node_labels[edge.target].address,
            view.path,
        )
    bridge = view.metagraph.bridges[wire.bridge]
    # In outgoing order; reversed if inbound.
    ends = view.node_labels[bridge.child].address, view.addresses.get(bridge.other, "")
    return LineIdentity(view.address, "bridge", wire.bridge, *(ends[::-1] if bridge.inbound else ends), view.path)


def loop_index_by_child(view: View) -> dict[int, int]:
    """Return, by child with edges to itself, their index in `Metagraph.loops`."""
    return {child: index for index, (child, _) in enumerate(view.metagraph.loops)}


def loop_identity(view: View, position: int, index: int) -> LineIdentity:
    """Return the identity of the edges from a child to itself; `index` counts in `Metagraph.loops`."""
    address = view.node_labels[position].address
    return LineIdentity(view.address, "loop", index, address, address, view.path)


class StubIdentities:
    """The metaedges and bridges of one group that stubs represent."""

    def __init__(self, view: View) -> None:
        self.view = view
        # By child, as indices: a level can have a million of them, and draws few stubs.
        self.edges: dict[int, list[int]] = {}
        self.bridges: dict[int, list[int]] = {}
        level = view.metagraph
        drawn = set(level.core_bridges())
        for index, bridge in enumerate(level.bridges):
            if index not in drawn:
                self.bridges.setdefault(bridge.child, []).append(index)
        for index in level.mask.stubbed:
            edge = level.edges[index]
            self.edges.setdefault(edge.source, []).append(index)
            self.edges.setdefault(edge.target, []).append(index)
        self.child = -1  # child of the last request: stubs of a box are requested one after the other
        self.entries: dict[StubKey, tuple[IdentityKind, int]] = {}

    def annotation_identity(self, index: int) -> LineIdentity:
        """Return the edge behind annotation `index`; the annotation itself for constants and summaries, which have
        none."""
        note: Annotation = self.view.metagraph.annotations[index]
        if note.child != self.child:
            self.child, self.entries = note.child, self.stub_entries(note.child)
        entry, number = self.entries.get((note.side, note.other), ("annotation", index))
        ends = self.view.addresses.get(note.other, ""), self.view.node_labels[note.child].address
        return LineIdentity(
            self.view.address, entry, number, *(ends if note.side == "in" else ends[::-1]), self.view.path
        )

    def stub_entries(self, child: int) -> dict[StubKey, tuple[IdentityKind, int]]:
        """Return the edges, bridges and annotations that the stubs of a child represent."""
        level = self.view.metagraph
        entries: dict[StubKey, tuple[IdentityKind, int]] = {}
        for index in self.bridges.get(child, []):
            bridge = level.bridges[index]
            entries["in" if bridge.inbound else "out", bridge.other] = "bridge", index
        for index in self.edges.get(child, []):
            edge = level.edges[index]
            if edge.source == child:
                entries["out", level.children[edge.target]] = "edge", index
            if edge.target == child:
                entries["in", level.children[edge.source]] = "edge", index
        return entries
