"""Levels: what each group holds when it is open, with its order of drawing, as runs of whole numbers.

A list is its length and its items. Texts are numbers of the table. `viewer/reader.js` reads the same in the same order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from graphviz_tb.model.metagraph import Bridge, Metaedge, Metagraph
from graphviz_tb.model.skeleton import Skeleton
from graphviz_tb.model.tensors import carry
from graphviz_tb.model.thickness import thickness
from graphviz_tb.model.view import NodeLabel
from graphviz_tb.page.blocks import Words
from graphviz_tb.view.labels import contents, shown

KINDS = ("scope", "op", "series", "fold", "call", "function")
SIDES, STUBS = ("in", "out"), ("shortcut", "constant", "summary", "weight")


@dataclass(frozen=True, slots=True)
class Told:
    """A level in memory: its metagraph, its skeleton, and a label for each child and for each function listed."""

    metagraph: Metagraph
    skeleton: Skeleton
    node_labels: Sequence[NodeLabel]


def level(told: Told, words: Words, say: Lines) -> list[int]:
    """One level."""
    graph = told.metagraph
    out: list[int] = [graph.row]
    out += listed(graph.children)
    out += listed(graph.functions)
    for node in told.node_labels:
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
        (one.child, one.other, SIDES.index(one.side) | one.control << 1 | STUBS.index(one.kind) << 2, one.edges)
        for one in graph.annotations
    )
    out += rows(graph.loops)
    out += skeleton(told.skeleton)
    return out


def flags(node: NodeLabel) -> int:
    """What kind of box a child is."""
    return node.openable | node.connected << 1 | KINDS.index(node.kind) << 2 | KINDS.index(node.member) << 5


def listed(items: Iterable[int]) -> list[int]:
    """A list.

    >>> listed([7, 8])
    [2, 7, 8]
    """
    found = list(items)
    return [len(found), *found]


def rows(items: Iterable[Sequence[int]]) -> list[int]:
    """Rows of equal length, column by column: equal things side by side pack well.

    >>> rows([(1, 5), (2, 6)])
    [2, 1, 2, 5, 6]
    """
    found = list(items)
    return [len(found), *chain.from_iterable(zip(*found, strict=True))]


class Lines:
    """What is said of lines: the label, the thickness, and what a line carries in full. Lines that carry the same are
    reported once: a tensor crosses the borders of many groups, and most tensors are like many others."""

    def __init__(self, words: Words) -> None:
        self.words = words
        self.known: dict[tuple[object, ...], tuple[int, int, int]] = {}
        self.alike: dict[tuple[object, ...], tuple[int, int, int]] = {}

    def __call__(self, one: Metaedge | Bridge) -> tuple[int, int, int]:
        """The numbers of one line."""
        counts = one.tensors, one.control, one.reference, one.kind
        key = one.carried.outputs, *counts
        found = self.known.get(key)
        if found is None:
            found = self.known[key] = self.told(counts, one)
        return found

    def told(self, counts: tuple[object, ...], one: Metaedge | Bridge) -> tuple[int, int, int]:
        """The numbers of a line, by its tensors: each is decoded once."""
        tensors = tuple(one.carried)
        key = *counts, tensors
        if key not in self.alike:
            self.alike[key] = said(replace(one, carried=carry(*tensors)), self.words)
        return self.alike[key]


def edges(found: Iterable[Metaedge], say: Lines) -> Iterator[tuple[int, ...]]:
    """Metaedges."""
    for one in found:
        yield one.source, one.target, one.tensors, one.control, one.reference, int(one.back), *say(one)


def bridges(found: Iterable[Bridge], say: Lines) -> Iterator[tuple[int, ...]]:
    """Bridges."""
    for one in found:
        seen = one.inbound | one.drawable << 1
        yield one.child, one.other, seen, one.tensors, one.control, one.reference, *say(one)


def said(one: Metaedge | Bridge, words: Words) -> tuple[int, int, int]:
    """The label of a line, its thickness, and what it carries in full."""
    return words(shown(one)), thickness(one), words(contents(one))


def skeleton(one: Skeleton) -> list[int]:
    """An order of drawing."""
    out = [len(one.ports)]
    for port in one.ports:
        out += (int(port.first), *rows((row, int(inbound)) for row, inbound in port.others))
    out += rows((wire.edge, wire.bridge, int(wire.turned)) for wire in one.wires)
    for wire in one.wires:
        out += listed(wire.chain)
    out += listed(one.waypoint)
    out.append(len(one.parts))
    for part in one.parts:
        out.append(len(part))
        for row in part:
            out += listed(row)
    out.append(len(one.shelves))
    for shelf in one.shelves:
        out += listed(shelf)
    out += (one.main, *listed(one.spine), len(one.breaks))
    for broken in one.breaks:
        out += listed(broken)
    out.append(int(one.plain))
    return out
