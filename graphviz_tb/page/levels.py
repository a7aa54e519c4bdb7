"""Encode levels, the contents of open groups with their drawing order, as runs of whole numbers.

A list is its length and its items. Texts are numbers of the table. `viewer/reader.js` reads the same in the same order.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TypeAlias

from graphviz_tb.model.bundles import bundle_of_tensors
from graphviz_tb.model.metagraph import Annotation, Bridge, Metaedge, Metagraph
from graphviz_tb.model.skeleton import Skeleton
from graphviz_tb.model.thickness import line_thickness
from graphviz_tb.model.view import NodeLabel
from graphviz_tb.page.blocks import TextTable
from graphviz_tb.view.labels import describe_contents, drawn_label

BOX_KINDS = ("scope", "op", "series", "fold", "call", "function")
ROWS_TRANSPOSED_AT_ONCE = 1 << 12  # rows transposed in one go
IntArray: TypeAlias = "array[int]"  # of the type "i": a list takes eight times the memory
LabelNumbers: TypeAlias = "tuple[int, int, int, int, int]"
STUB_SIDES, STUB_KINDS = ("in", "out"), ("shortcut", "constant", "summary", "weight")


@dataclass(frozen=True, slots=True)
class PageLevel:
    """A level in memory: its metagraph, its skeleton, and the label of each child and of each listed function."""

    metagraph: Metagraph
    skeleton: Skeleton
    node_labels: Sequence[LabelNumbers]


def encode_label(node: NodeLabel, words: TextTable) -> LabelNumbers:
    """Encode the label of a box: the numbers of its texts, and its kind as bits."""
    return words(node.label), words(node.second), words(node.badge), words(node.about), box_flags(node)


def encode_level(held: PageLevel, say: LineTable) -> IntArray:
    """Encode one level."""
    graph = held.metagraph
    out = array("i", [graph.row])
    out.extend(length_prefixed(graph.children))
    out.extend(length_prefixed(graph.functions))
    for node in held.node_labels:
        out.extend(node)
    append_columns(out, encode_edges(graph.edges, say))
    append_columns(out, encode_bridges(graph.bridges, say))
    for mask in (graph.mask, graph.automatic):
        out.extend(
            (
                *length_prefixed(mask.in_extract),
                *length_prefixed(mask.out_extract),
                *length_prefixed(sorted(mask.stubbed)),
            )
        )
    append_columns(out, encode_stubs(graph.annotations))
    append_columns(out, graph.loops)
    append_skeleton(out, held.skeleton)
    return out


def box_flags(node: NodeLabel) -> int:
    # Bits: 0 openable, 1 connected, 2-4 kind, 5-7 member.
    return node.openable | node.connected << 1 | BOX_KINDS.index(node.kind) << 2 | BOX_KINDS.index(node.member) << 5


def length_prefixed(items: Iterable[int]) -> list[int]:
    """Return a list with its length before it.

    >>> length_prefixed([7, 8])
    [2, 7, 8]
    """
    values = list(items)
    return [len(values), *values]


def append_columns(out: IntArray, items: Iterable[Sequence[int]]) -> None:
    """Append rows of equal length column by column: equal values next to each other compress well.

    >>> out = array("i", [9])
    >>> append_columns(out, [(1, 5), (2, 6)])
    >>> out.tolist()
    [9, 2, 1, 2, 5, 6]
    """
    source = iter(items)
    some = list(islice(source, ROWS_TRANSPOSED_AT_ONCE))
    if len(some) < ROWS_TRANSPOSED_AT_ONCE:  # nearly all levels
        out.append(len(some))
        for values in zip(*some, strict=True):
            out.extend(values)
        return
    columns: list[IntArray] = [array("i") for _ in some[0]]
    # In batches: never hold a million rows in memory at once.
    while some:
        for column, more in zip(columns, zip(*some, strict=True), strict=True):
            column.extend(more)
        some = list(islice(source, ROWS_TRANSPOSED_AT_ONCE))
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
        # two steps: by outputs, which needs no decoding, then by their tensors
        key = line.carried_tensors.outputs, *counts
        said = self.known.get(key)
        if said is None:
            said = self.known[key] = self.encode_line(counts, line)
        return said

    def encode_line(self, counts: tuple[object, ...], line: Metaedge | Bridge) -> tuple[int, int, int]:
        """Return the numbers of a line by its tensors, each of which is decoded once."""
        tensors = tuple(line.carried_tensors)
        key = *counts, tensors
        if key not in self.alike:
            self.alike[key] = encode_line_words(replace(line, bundles=bundle_of_tensors(*tensors)), self.words)
        return self.alike[key]


def encode_edges(metaedges: Iterable[Metaedge], say: LineTable) -> Iterator[tuple[int, ...]]:
    for edge in metaedges:
        yield edge.source, edge.target, edge.tensors, edge.control, edge.reference, int(edge.back), *say(edge)


def encode_bridges(listed_bridges: Iterable[Bridge], say: LineTable) -> Iterator[tuple[int, ...]]:
    for bridge in listed_bridges:
        seen = bridge.inbound | bridge.drawable << 1
        counts = bridge.tensors, bridge.control, bridge.reference
        yield bridge.child, bridge.other, seen, *counts, *bridge.members, *say(bridge)


def encode_stubs(annotations: Iterable[Annotation]) -> Iterator[tuple[int, ...]]:
    for note in annotations:
        # Bits: 0 side, 1 control, 2-3 kind.
        kind = STUB_SIDES.index(note.side) | note.control << 1 | STUB_KINDS.index(note.kind) << 2
        yield note.child, note.other, kind, note.edges


def encode_line_words(line: Metaedge | Bridge, words: TextTable) -> tuple[int, int, int]:
    """Return the numbers of a line's label, of its thickness (the last bit marks lines of indices, sizes and masks
    only), and of its full tensors."""
    return (
        words(drawn_label(line)),
        line_thickness(line) << 1 | line.carried_tensors.is_indexing,
        words(describe_contents(line)),
    )


def append_skeleton(out: IntArray, order: Skeleton) -> None:
    """Append a drawing order."""
    out.append(len(order.ports))
    for port in order.ports:
        out.append(int(port.first))
        append_columns(out, ((row, int(inbound)) for row, inbound in port.others))
    append_columns(out, ((wire.edge, wire.bridge, int(wire.turned)) for wire in order.wires))
    for wire in order.wires:
        out.extend(length_prefixed(wire.chain))
    out.extend(length_prefixed(order.waypoint))
    out.append(len(order.parts))
    for part in order.parts:
        out.append(len(part))
        for row in part:
            out.extend(length_prefixed(row))
    out.append(len(order.shelves))
    for shelf in order.shelves:
        out.extend(length_prefixed(shelf))
    out.extend((order.main, *length_prefixed(order.spine), len(order.breaks)))
    for broken in order.breaks:
        out.extend(length_prefixed(broken))
    out.append(int(order.plain))
