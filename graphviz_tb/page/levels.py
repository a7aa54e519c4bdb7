"""The levels of a page: blocks of numbers, and the place of each group in them."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import islice
from typing import TypeAlias

import numpy as np

from graphviz_tb.arrange.cache import ColumnBreaks
from graphviz_tb.arrange.level import ArrangeOptions, PortConstraints, SkeletonCache
from graphviz_tb.arrange.picture import LevelArranger
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.metagraph import Annotation, Bridge, Metaedge, Metagraph, bundle_of_tensors, line_thickness
from graphviz_tb.model.paths import RowPath, child_path
from graphviz_tb.model.skeleton import Skeleton
from graphviz_tb.model.view import NodeLabel
from graphviz_tb.page.blocks import INT_DTYPE, DataBlock, TextTable
from graphviz_tb.words.line_labels import describe_contents, drawn_label
from graphviz_tb.words.view import NodeLabels

# Encode levels, the contents of open groups with their drawing order, as runs of whole numbers.
#
# A list is its length and its items. Texts are numbers of the table. `viewer/reader.js` reads the same in the same
# order.

BOX_KINDS = ("scope", "op", "series", "fold", "call", "function")
SIGNS = ("", "+", "×")
ROWS_TRANSPOSED_AT_ONCE = 1 << 12  # rows transposed at a time
IntArray: TypeAlias = "array[int]"  # type code "i": a list takes eight times the memory
LabelNumbers: TypeAlias = "tuple[int, int, int, int, int, int]"
STUB_SIDES, STUB_KINDS = ("in", "out"), ("shortcut", "constant", "summary", "weight")


@dataclass(frozen=True, slots=True)
class PageLevel:
    """A level in memory: its metagraph, its skeleton, and the label of each child and of each listed function."""

    metagraph: Metagraph
    skeleton: Skeleton
    node_labels: Sequence[LabelNumbers]


def _encode_label(node: NodeLabel, words: TextTable) -> LabelNumbers:
    """Encode the label of a box: the numbers of its texts, and its kind as bits."""
    texts = words(node.label), words(node.second), words(node.badge), words(node.about), words(node.first)
    return *texts, _box_flags(node)


def _encode_level(level: PageLevel, say: LineTable) -> IntArray:
    graph = level.metagraph
    out = array("i", [graph.row])
    out.extend(_length_prefixed(graph.children))
    out.extend(_length_prefixed(graph.functions))
    for node in level.node_labels:
        out.extend(node)
    _append_columns(out, _encode_edges(graph.edges, say))
    _append_columns(out, _encode_bridges(graph.bridges, say))
    for mask in (graph.mask, graph.automatic):
        out.extend(
            (
                *_length_prefixed(mask.in_extract),
                *_length_prefixed(mask.out_extract),
                *_length_prefixed(sorted(mask.stubbed)),
            )
        )
    _append_columns(out, _encode_stubs(graph.annotations))
    _append_columns(out, graph.loops)
    out.extend(_length_prefixed(graph.training))
    _append_skeleton(out, level.skeleton)
    return out


def _box_flags(node: NodeLabel) -> int:
    # Bits: 0 openable, 1 connected, 2-4 kind, 5-7 member, 8-9 sign, 10 semibold, 11 layers, 12 surplus, 13 shared.
    kinds = BOX_KINDS.index(node.kind) << 2 | BOX_KINDS.index(node.member) << 5
    words = SIGNS.index(node.sign) << 8 | node.semibold << 10 | node.layers << 11
    words |= node.surplus << 12 | node.shared << 13
    return node.openable | node.connected << 1 | kinds | words


def _length_prefixed(items: Iterable[int]) -> list[int]:
    """Return a list with its length before it.

    >>> _length_prefixed([7, 8])
    [2, 7, 8]
    """
    values = list(items)
    return [len(values), *values]


def _append_columns(out: IntArray, items: Iterable[Sequence[int]]) -> None:
    """Append rows of equal length column by column: equal values next to each other compress well.

    >>> out = array("i", [9])
    >>> _append_columns(out, [(1, 5), (2, 6)])
    >>> out.tolist()
    [9, 2, 1, 2, 5, 6]
    """
    source = iter(items)
    batch = list(islice(source, ROWS_TRANSPOSED_AT_ONCE))
    if len(batch) < ROWS_TRANSPOSED_AT_ONCE:  # nearly all levels
        out.append(len(batch))
        for values in zip(*batch, strict=True):
            out.extend(values)
        return
    columns: list[IntArray] = [array("i") for _ in batch[0]]
    # In batches: never hold a million rows in memory at once.
    while batch:
        for column, values in zip(columns, zip(*batch, strict=True), strict=True):
            column.extend(values)
        batch = list(islice(source, ROWS_TRANSPOSED_AT_ONCE))
    out.append(len(columns[0]))
    for column in columns:
        out += column


class LineTable:
    """The label, the thickness and the tensors of lines, as numbers. Lines with equal tensors share one entry, since a
    tensor crosses the borders of many groups and many tensors are equal."""

    def __init__(self, words: TextTable) -> None:
        self.words = words
        self.known: dict[tuple[object, ...], tuple[int, int, int]] = {}
        self.alike: dict[tuple[object, ...], tuple[int, int, int]] = {}

    def __call__(self, line: Metaedge | Bridge) -> tuple[int, int, int]:
        """Return the numbers of one line."""
        members = line.members if isinstance(line, Bridge) else (0, 0)
        counts = line.tensors, line.control, line.reference, line.kind, members
        # two steps: by outputs, which needs no decoding, then by their tensors
        key = line.carried_tensors.outputs, *counts, line.training
        said = self.known.get(key)
        if said is None:
            said = self.known[key] = self.encode_line(counts, line)
        return said

    def encode_line(self, counts: tuple[object, ...], line: Metaedge | Bridge) -> tuple[int, int, int]:
        """Return the numbers of a line by its tensors, each of which is decoded once."""
        tensors, indexing = tuple(line.carried_tensors), line.carried_tensors.is_indexing
        key = *counts, tensors, line.training, indexing
        if key not in self.alike:
            decoded = replace(line, bundles=bundle_of_tensors(*tensors))
            self.alike[key] = _encode_line_words(decoded, indexing, self.words)
        return self.alike[key]


def _encode_edges(metaedges: Iterable[Metaedge], say: LineTable) -> Iterator[tuple[int, ...]]:
    for edge in metaedges:
        yield (
            edge.source,
            edge.target,
            edge.tensors,
            edge.control,
            edge.reference,
            edge.back | edge.training << 1,
            *say(edge),
        )


def _encode_bridges(listed_bridges: Iterable[Bridge], say: LineTable) -> Iterator[tuple[int, ...]]:
    for bridge in listed_bridges:
        seen = bridge.inbound | bridge.drawable << 1 | bridge.training << 2
        counts = bridge.tensors, bridge.control, bridge.reference
        yield bridge.child, bridge.other, seen, *counts, *bridge.members, *say(bridge)


def _encode_stubs(annotations: Iterable[Annotation]) -> Iterator[tuple[int, ...]]:
    for note in annotations:
        # Bits: 0 side, 1 control, 2 training, from 3 on kind.
        kind = STUB_SIDES.index(note.side) | note.control << 1 | note.training << 2 | STUB_KINDS.index(note.kind) << 3
        yield note.child, note.other, kind, note.edges


def _encode_line_words(line: Metaedge | Bridge, indexing: bool, words: TextTable) -> tuple[int, int, int]:
    """Return the numbers of a line's label, of its thickness (the last bit marks lines of indices, sizes and masks
    only), and of its full tensors."""
    return (
        words(drawn_label(line)),
        line_thickness(line) << 1 | indexing,
        words(describe_contents(line)),
    )


def _append_skeleton(out: IntArray, order: Skeleton) -> None:
    out.append(len(order.ports))
    for port in order.ports:
        out.append(int(port.first))
        _append_columns(out, ((row, int(inbound)) for row, inbound in port.others))
    _append_columns(out, ((wire.edge, wire.bridge, int(wire.turned)) for wire in order.wires))
    for wire in order.wires:
        out.extend(_length_prefixed(wire.chain))
    out.extend(_length_prefixed(order.waypoint))
    out.append(len(order.parts))
    for part in order.parts:
        out.append(len(part))
        for row in part:
            out.extend(_length_prefixed(row))
    out.append(len(order.shelves))
    for shelf in order.shelves:
        out.extend(_length_prefixed(shelf))
    out.extend((order.port_part, *_length_prefixed(order.main_path), len(order.breaks)))
    for cut in order.breaks:
        out.extend(_length_prefixed(cut))
    out.extend((int(order.plain), *_length_prefixed(order.falling)))


LEVEL_BLOCK_LENGTH = 1 << 14  # approximate number of integers in a block of levels
INT_BYTES = np.dtype(INT_DTYPE).itemsize
# Lines and boxes for each megabyte of a page; each level adds four. More would take too long to lay out, although they
# compress well. A page of 25 megabytes has all groups of a training graph of 100,000 nodes.
ITEMS_PER_MEGABYTE, LEVEL_COST_ITEMS = 20_000, 4
EDGES_PER_ITEM = 100  # edges of the file that cost as much as one line: a line may represent thousands of edges

BlockSlice = tuple[int, int, int]  # block, start, length


class LevelStore:
    """Levels of a page, each added once; groups with equal contents are written once.

    `index` has the place of each level by its key. Nothing is added after `limit` bytes, or after `ITEMS_PER_MEGABYTE`
    lines and boxes for each megabyte of the limit. `alone`: stacks show one member.
    """

    def __init__(self, hierarchy: Hierarchy, table: TextTable, limit: int, alone: bool = False) -> None:
        self.hierarchy = hierarchy
        self.index: dict[str, BlockSlice] = {}
        self._table, self._limit = table, limit
        self._node_labels = NodeLabels(hierarchy, lambda path: None, placed=False, alone=alone)
        self._say = LineTable(table)
        self._words: dict[RowPath, LabelNumbers] = {}
        self._known: dict[bytes, BlockSlice] = {}  # keyed by digest, since the levels may take a gigabyte
        self._blocks: list[DataBlock] = []
        self._numbers = bytearray()  # of the block under construction, `INT_BYTES` bytes each
        self._written = self._laid_out = 0

    @property
    def is_page_full(self) -> bool:
        """Return whether there is no room for more levels."""
        return self._written > self._limit or self._laid_out * 1e6 > self._limit * ITEMS_PER_MEGABYTE

    def count_items(self, level: Metagraph, times: int = 1) -> None:
        """Count the boxes and lines of a level towards the limit of the page."""
        lines: list[Metaedge | Bridge] = [*level.edges, *level.bridges]
        flat = sum([line.tensors + line.control + line.reference for line in lines])
        self._laid_out += times * (LEVEL_COST_ITEMS + len(level.children) + len(lines) + flat // EDGES_PER_ITEM)

    def add_level(self, key: str, path: RowPath, metagraph: Metagraph, skeleton: Skeleton, unlike: str = "") -> bool:
        """Add a level unless it equals the level with the key `unlike`; return whether it was added."""
        self.count_items(metagraph, 2 if unlike else 1)  # twice if it has to be compared
        numbers = self.encode_numbers(path, metagraph, skeleton)
        digest = sha256(numbers).digest()
        place = self._known.get(digest)
        # The same place: equal levels are written once.
        if unlike and place is not None and self.index.get(unlike) == place:
            return False
        if place is None:
            place = self._known[digest] = self.write_numbers(numbers)
        self.index[key] = place
        return True

    def repeat_level(self, key: str, first: str, mark: str) -> None:
        """Add a level that equals the one with the mark `first` in its key."""
        self.index[f"{key}{mark}"] = self.index[f"{key}{first}"]

    def are_encoded_alike(
        self, path: RowPath, one: tuple[Metagraph, Skeleton], other: tuple[Metagraph, Skeleton]
    ) -> bool:
        """Return whether two versions of a level would be encoded to the same numbers."""
        self.count_items(one[0])
        if _ends_of_lines(one[0]) != _ends_of_lines(other[0]):  # only saves time
            return False
        return bytes(self.encode_numbers(path, *one)) == bytes(self.encode_numbers(path, *other))

    def are_worded_alike(self, row: int, copy: int) -> bool:
        """Return whether the boxes of two rows with equal contents have equal words too; both are outside calls."""
        labels = self._node_labels
        return labels.label_key(row) == labels.label_key(copy) or self.label_of_path((row,)) == self.label_of_path(
            (copy,)
        )

    def level_blocks(self) -> list[DataBlock]:
        return [*self._blocks, self.current_block()]

    def encode_numbers(self, path: RowPath, metagraph: Metagraph, skeleton: Skeleton) -> memoryview:
        children: Sequence[RowPath] = [child_path(self.hierarchy, path, row) for row in metagraph.children]
        listed = [*children, *((row,) for row in metagraph.functions)]
        labels = [self.label_of_path(path) for path in listed]
        if (surplus := metagraph.surplus) is not None:
            said = self._node_labels.surplus_label(child_path(self.hierarchy, path, surplus.member), surplus)
            labels[metagraph.children.index(surplus.member)] = _encode_label(said, self._table)
        level = PageLevel(metagraph, skeleton, labels)
        # As bytes, copied only if not little-endian: a level can take a hundred megabytes.
        return np.frombuffer(_encode_level(level, self._say), np.intc).astype(INT_DTYPE, copy=False).data.cast("B")

    def label_of_path(self, path: RowPath) -> LabelNumbers:
        if path not in self._words:
            self._words[path] = _encode_label(self._node_labels.node_label(path), self._table)
        return self._words[path]

    def current_block(self) -> DataBlock:
        return DataBlock(f"levels/{len(self._blocks)}", "ints", self._numbers)

    def write_numbers(self, numbers: memoryview) -> BlockSlice:
        if len(self._numbers) > LEVEL_BLOCK_LENGTH * INT_BYTES:  # a level is never split
            self._blocks.append(self.current_block())
            self._written += len(self._blocks[-1].base64_text)
            self._numbers = bytearray()
        place = len(self._blocks), len(self._numbers) // INT_BYTES, len(numbers) // INT_BYTES
        self._numbers += numbers
        return place


def _ends_of_lines(level: Metagraph) -> tuple[object, ...]:
    """Return the children of a level, and where its lines begin and end."""
    edges = [(edge.source, edge.target) for edge in level.edges]
    return level.children, edges, [(bridge.child, bridge.other, bridge.inbound) for bridge in level.bridges]


def page_level_key(path: RowPath) -> str:
    """Return the key of a level in a page.

    >>> page_level_key((3, 17))
    '3.17'
    """
    return ".".join(map(str, path))


# Arrange the levels of a page, counted towards its limit.

NEW_ORDER_COST = 3  # a level whose order is new takes as long as three levels with a known order


class PageArranger(LevelArranger):
    """Arranges the levels of a page; a level whose order had to be computed counts extra."""

    def __init__(
        self, options: ArrangeOptions, known: SkeletonCache, store: LevelStore, columns: ColumnBreaks | None = None
    ) -> None:
        super().__init__(options, known, columns)
        self._store = store

    def __call__(self, level: Metagraph, outside: PortConstraints | None = None) -> Skeleton:
        """Return the drawing order of one level."""
        made = self.distinct_level_count
        skeleton = super().__call__(level, outside)
        if self.distinct_level_count > made:
            self._store.count_items(level, NEW_ORDER_COST - 1)  # `add_level` counts it once
        return skeleton
