"""Levels: what each group holds when it is open, with its order of drawing, as runs of whole numbers.

A list is its length and its items. Texts are numbers of the table. `viewer/reader.js` reads the same in the same order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice

from graphviz_tb.model.bundles import given
from graphviz_tb.model.metagraph import Bridge, Metaedge, Metagraph
from graphviz_tb.model.skeleton import Skeleton
from graphviz_tb.model.thickness import thickness
from graphviz_tb.model.view import NodeLabel
from graphviz_tb.page.blocks import Words
from graphviz_tb.view.labels import contents, shown

KINDS = ("scope", "op", "series", "fold", "call", "function")
AT_ONCE = 1 << 12  # rows that are turned into columns
SIDES, STUBS = ("in", "out"), ("shortcut", "constant", "summary", "weight")


@dataclass(frozen=True, slots=True)
class Level:
    """A level in memory: its metagraph, its skeleton, and a label for each child and for each function listed."""

    metagraph: Metagraph
    skeleton: Skeleton
    node_labels: Sequence[NodeLabel]


def level(held: Level, words: Words, say: Lines) -> list[int]:
    """One level."""
    graph = held.metagraph
    out: list[int] = [graph.row]
    out += listed(graph.children)
    out += listed(graph.functions)
    for node in held.node_labels:
        out += (
            words(node.label),
            words(node.second),
            words(node.badge),
            words(node.about),
            flags(node),
        )
    out += rows(edges(graph.edges, say))
    out += rows(bridges(graph.bridges, say))
    for mask in (graph.mask, graph.automatic):
        out += (*listed(mask.in_extract), *listed(mask.out_extract), *listed(sorted(mask.stubbed)))
    out += rows(
        # Bits: 0 side, 1 control, 2-3 kind.
        (note.child, note.other, SIDES.index(note.side) | note.control << 1 | STUBS.index(note.kind) << 2, note.edges)
        for note in graph.annotations
    )
    out += rows(graph.loops)
    out += skeleton(held.skeleton)
    return out


def flags(node: NodeLabel) -> int:
    """What kind of box a child is."""
    # Bits: 0 openable, 1 connected, 2-4 kind, 5-7 member.
    return node.openable | node.connected << 1 | KINDS.index(node.kind) << 2 | KINDS.index(node.member) << 5


def listed(items: Iterable[int]) -> list[int]:
    """A list.

    >>> listed([7, 8])
    [2, 7, 8]
    """
    values = list(items)
    return [len(values), *values]


def rows(items: Iterable[Sequence[int]]) -> list[int]:
    """Rows of equal length, column by column: equal things side by side pack well.

    >>> rows([(1, 5), (2, 6)])
    [2, 1, 2, 5, 6]
    """
    columns: list[list[int]] = []
    source = iter(items)
    # Some at a time: a million rows are never there all at once.
    while some := list(islice(source, AT_ONCE)):
        columns = columns or [[] for _ in some[0]]
        for column, more in zip(columns, zip(*some, strict=True), strict=True):
            column += more
    return [len(columns[0]) if columns else 0, *chain.from_iterable(columns)]


class Lines:
    """What is said of lines: the label, the thickness, and what a line carries in full. Lines that carry the same are
    reported once: a tensor crosses the borders of many groups, and most tensors are like many others."""

    def __init__(self, words: Words) -> None:
        self.words = words
        self.known: dict[tuple[object, ...], tuple[int, int, int]] = {}
        self.alike: dict[tuple[object, ...], tuple[int, int, int]] = {}

    def __call__(self, line: Metaedge | Bridge) -> tuple[int, int, int]:
        """The numbers of one line."""
        counts = line.tensors, line.control, line.reference, line.kind
        key = line.carried.outputs, *counts  # two steps: by outputs, which costs no decoding, then by what they are
        said = self.known.get(key)
        if said is None:
            said = self.known[key] = self.numbers(counts, line)
        return said

    def numbers(self, counts: tuple[object, ...], line: Metaedge | Bridge) -> tuple[int, int, int]:
        """The numbers of a line, by its tensors: each is decoded once."""
        tensors = tuple(line.carried)
        key = *counts, tensors
        if key not in self.alike:
            self.alike[key] = said(replace(line, bundles=given(*tensors)), self.words)
        return self.alike[key]


def edges(metaedges: Iterable[Metaedge], say: Lines) -> Iterator[tuple[int, ...]]:
    """Metaedges."""
    for edge in metaedges:
        yield edge.source, edge.target, edge.tensors, edge.control, edge.reference, int(edge.back), *say(edge)


def bridges(listed_bridges: Iterable[Bridge], say: Lines) -> Iterator[tuple[int, ...]]:
    """Bridges."""
    for bridge in listed_bridges:
        seen = bridge.inbound | bridge.drawable << 1
        yield bridge.child, bridge.other, seen, bridge.tensors, bridge.control, bridge.reference, *say(bridge)


def said(line: Metaedge | Bridge, words: Words) -> tuple[int, int, int]:
    """The label of a line, its thickness, and what it carries in full."""
    return words(shown(line)), thickness(line), words(contents(line))


def skeleton(order: Skeleton) -> list[int]:
    """An order of drawing."""
    out = [len(order.ports)]
    for port in order.ports:
        out += (int(port.first), *rows((row, int(inbound)) for row, inbound in port.others))
    out += rows((wire.edge, wire.bridge, int(wire.turned)) for wire in order.wires)
    for wire in order.wires:
        out += listed(wire.chain)
    out += listed(order.waypoint)
    out.append(len(order.parts))
    for part in order.parts:
        out.append(len(part))
        for row in part:
            out += listed(row)
    out.append(len(order.shelves))
    for shelf in order.shelves:
        out += listed(shelf)
    out += (order.main, *listed(order.spine), len(order.breaks))
    for broken in order.breaks:
        out += listed(broken)
    out.append(int(order.plain))
    return out
