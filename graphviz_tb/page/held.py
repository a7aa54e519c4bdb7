"""The levels of a page: blocks of numbers, and the place of each group in them."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

import numpy as np

from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.metagraph import Bridge, Metaedge, Metagraph
from graphviz_tb.model.paths import RowPath, child_path
from graphviz_tb.model.skeleton import Skeleton
from graphviz_tb.page.blocks import INT_DTYPE, DataBlock, TextTable
from graphviz_tb.page.levels import LabelNumbers, LineTable, PageLevel, encode_label, encode_level
from graphviz_tb.view.node_labels import NodeLabels

LEVEL_BLOCK_LENGTH = 1 << 14  # whole numbers in a block of levels, about
INT_BYTES = np.dtype(INT_DTYPE).itemsize
# Lines and boxes for each megabyte of a page; a level itself counts as four. More take too long to lay out, although
# they compress well. A page of 25 megabytes has all groups of a training graph of 100,000 nodes.
ITEMS_PER_MEGABYTE, LEVEL_COST_ITEMS = 20_000, 4
EDGES_PER_ITEM = 100  # edges of the file with the cost of one line: a line may represent thousands of edges

BlockSlice = tuple[int, int, int]  # block, start, length


class LevelStore:
    """Levels of a page, each added once; groups with equal contents are written once.

    `index` gives the place of each level by its key. Nothing is added after `limit` bytes, or after laying out
    `ITEMS_PER_MEGABYTE`
    lines and boxes for each megabyte of the limit. `alone`: stacks show one member.
    """

    def __init__(self, hierarchy: Hierarchy, table: TextTable, limit: int, alone: bool = False) -> None:
        self.hierarchy = hierarchy
        self.index: dict[str, BlockSlice] = {}
        self._table, self._limit = table, limit
        self._node_labels = NodeLabels(hierarchy, lambda path: None, placed=False, alone=alone)
        self._say = LineTable(table)
        self._words: dict[RowPath, LabelNumbers] = {}
        self._known: dict[bytes, BlockSlice] = {}  # by digest: the levels themselves take a gigabyte
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
        flat = sum(line.tensors + line.control + line.reference for line in lines)
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
        return bytes(self.encode_numbers(path, *one)) == bytes(self.encode_numbers(path, *other))

    def are_worded_alike(self, row: int, copy: int) -> bool:
        """Return whether the boxes of two rows outside calls, equal in content, also have equal words."""
        labels = self._node_labels
        return labels.label_key(row) == labels.label_key(copy) or self.label_of_path((row,)) == self.label_of_path(
            (copy,)
        )

    def level_blocks(self) -> list[DataBlock]:
        """Return all blocks."""
        return [*self._blocks, self.current_block()]

    def encode_numbers(self, path: RowPath, metagraph: Metagraph, skeleton: Skeleton) -> memoryview:
        children: Sequence[RowPath] = [child_path(self.hierarchy, path, row) for row in metagraph.children]
        listed = [*children, *((row,) for row in metagraph.functions)]
        held = PageLevel(metagraph, skeleton, [self.label_of_path(path) for path in listed])
        # As bytes, and a copy only where numbers are not little-endian already: a level can take a hundred megabytes.
        return np.frombuffer(encode_level(held, self._say), np.intc).astype(INT_DTYPE, copy=False).data.cast("B")

    def label_of_path(self, path: RowPath) -> LabelNumbers:
        if path not in self._words:
            self._words[path] = encode_label(self._node_labels.node_label(path), self._table)
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


def level_key(path: RowPath) -> str:
    """Return the key of a level in a page.

    >>> level_key((3, 17))
    '3.17'
    """
    return ".".join(map(str, path))
