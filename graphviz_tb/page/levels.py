"""Encode levels, the contents of open groups with their drawing order, as runs of whole numbers.

A list is its length and its items. Texts are numbers of the table. `viewer/reader.js` reads the same in the same order.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TypeAlias

from graphviz_tb.model.bundles import bundle_of
from graphviz_tb.model.metagraph import Annotation, Bridge, Metaedge, Metagraph
from graphviz_tb.model.skeleton import Skeleton
from graphviz_tb.model.thickness import thickness
from graphviz_tb.model.view import NodeLabel
from graphviz_tb.page.blocks import TextTable
from graphviz_tb.view.labels import contents, shown

KINDS = ("scope", "op", "series", "fold", "call", "function")
AT_ONCE = 1 << 12  # rows transposed in one go
IntArray: TypeAlias = "array[int]"  # of the type "i": a list takes eight times the memory
LabelNumbers: TypeAlias = "tuple[int, int, int, int, int]"
SIDES, STUBS = ("in", "out"), ("shortcut", "constant", "summary", "weight")


@dataclass(frozen=True, slots=True)
class PageLevel:
    """A level in memory: its metagraph, its skeleton, and the label of each child and of each listed function."""

    metagraph: Metagraph
    skeleton: Skeleton
    node_labels: Sequence[LabelNumbers]


def label_numbers(node: NodeLabel, words: TextTable) -> LabelNumbers:
    """Encode the label of a box: the numbers of its texts, and its kind as bits."""
    return words(node.label), words(node.second), words(node.badge), words(node.about), flags(node)


def level(held: PageLevel, say: LineTable) -> IntArray:
    """Encode one level."""
    graph = held.metagraph
    out = array("i", [graph.row])
    out.extend(prefixed(graph.children))
    out.extend(prefixed(graph.functions))
    for node in held.node_labels:
        out.extend(node)
    put_rows(out, edges(graph.edges, say))
    put_rows(out, bridges(graph.bridges, say))
    for mask in (graph.mask, graph.automatic):
        out.extend((*prefixed(mask.in_extract), *prefixed(mask.out_extract), *prefixed(sorted(mask.stubbed))))
    put_rows(out, stubs(graph.annotations))
    put_rows(out, graph.loops)
    put_skeleton(out, held.skeleton)
    return out


def flags(node: NodeLabel) -> int:
    # Bits: 0 openable, 1 connected, 2-4 kind, 5-7 member.
    return node.openable | node.connected << 1 | KINDS.index(node.kind) << 2 | KINDS.index(node.member) << 5


def prefixed(items: Iterable[int]) -> list[int]:
    """Return a list with its length before it.

    >>> prefixed([7, 8])
    [2, 7, 8]
    """
    values = list(items)
    return [len(values), *values]


def put_rows(out: IntArray, items: Iterable[Sequence[int]]) -> None:
    """Append rows of equal length column by column: equal values next to each other compress well.

    >>> out = array("i", [9])
    >>> put_rows(out, [(1, 5), (2, 6)])
    >>> out.tolist()
    [9, 2, 1, 2, 5, 6]
    """
    source = iter(items)
    some = list(islice(source, AT_ONCE))
    if len(some) < AT_ONCE:  # nearly all levels
        out.append(len(some))
        for values in zip(*some, strict=True):
            out.extend(values)
        return
    columns: list[IntArray] = [array("i") for _ in some[0]]
    # In batches: never hold a million rows in memory at once.
    while some:
        for column, more in zip(columns, zip(*some, strict=True), strict=True):
            column.extend(more)
        some = list(islice(source, AT_ONCE))
    out.append(len(columns[0]))
    for column in columns:
        out += column


class LineTable:
    """The label, the thickness and the tensors of lines, as numbers. Lines with equal tensors share one entry: a tensor
    crosses the borders of many groups, and most tensors look like many others."""

    def __init__(self, words: TextTable) -> None:
        self.words = words
        self.known: dict[tuple[object, ...], tuple[int, int, int]] = {}
        self.alike: dict[tuple[object, ...], tuple[int, int, int]] = {}

    def __call__(self, line: Metaedge | Bridge) -> tuple[int, int, int]:
        """Return the numbers of one line."""
        members = line.members if isinstance(line, Bridge) else (0, 0)
        counts = line.tensors, line.control, line.reference, line.kind, members
        key = line.carried.outputs, *counts  # two steps: by outputs, which needs no decoding, then by their tensors
        said = self.known.get(key)
        if said is None:
            said = self.known[key] = self.numbers(counts, line)
        return said

    def numbers(self, counts: tuple[object, ...], line: Metaedge | Bridge) -> tuple[int, int, int]:
        """Return the numbers of a line by its tensors, each of which is decoded once."""
        tensors = tuple(line.carried)
        key = *counts, tensors
        if key not in self.alike:
            self.alike[key] = said(replace(line, bundles=bundle_of(*tensors)), self.words)
        return self.alike[key]


def edges(metaedges: Iterable[Metaedge], say: LineTable) -> Iterator[tuple[int, ...]]:
    for edge in metaedges:
        yield edge.source, edge.target, edge.tensors, edge.control, edge.reference, int(edge.back), *say(edge)


def bridges(listed_bridges: Iterable[Bridge], say: LineTable) -> Iterator[tuple[int, ...]]:
    for bridge in listed_bridges:
        seen = bridge.inbound | bridge.drawable << 1
        counts = bridge.tensors, bridge.control, bridge.reference
        yield bridge.child, bridge.other, seen, *counts, *bridge.members, *say(bridge)


def stubs(annotations: Iterable[Annotation]) -> Iterator[tuple[int, ...]]:
    for note in annotations:
        # Bits: 0 side, 1 control, 2-3 kind.
        kind = SIDES.index(note.side) | note.control << 1 | STUBS.index(note.kind) << 2
        yield note.child, note.other, kind, note.edges


def said(line: Metaedge | Bridge, words: TextTable) -> tuple[int, int, int]:
    """Return the numbers of a line's label, of its thickness (the last bit marks lines of indices, sizes and masks
    only), and of its full tensors."""
    return words(shown(line)), thickness(line) << 1 | line.carried.indexing, words(contents(line))


def put_skeleton(out: IntArray, order: Skeleton) -> None:
    """Append a drawing order."""
    out.append(len(order.ports))
    for port in order.ports:
        out.append(int(port.first))
        put_rows(out, ((row, int(inbound)) for row, inbound in port.others))
    put_rows(out, ((wire.edge, wire.bridge, int(wire.turned)) for wire in order.wires))
    for wire in order.wires:
        out.extend(prefixed(wire.chain))
    out.extend(prefixed(order.waypoint))
    out.append(len(order.parts))
    for part in order.parts:
        out.append(len(part))
        for row in part:
            out.extend(prefixed(row))
    out.append(len(order.shelves))
    for shelf in order.shelves:
        out.extend(prefixed(shelf))
    out.extend((order.main, *prefixed(order.spine), len(order.breaks)))
    for broken in order.breaks:
        out.extend(prefixed(broken))
    out.append(int(order.plain))
