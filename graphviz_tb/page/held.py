"""The levels that a page holds: blocks of numbers, and the place of each group in them."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

import numpy as np

from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.metagraph import Bridge, Metaedge, Metagraph
from graphviz_tb.model.paths import Path, child_path
from graphviz_tb.model.skeleton import Skeleton
from graphviz_tb.page.blocks import INTS, DataBlock, TextTable
from graphviz_tb.page.levels import LabelNumbers, LineTable, PageLevel, label_numbers, level
from graphviz_tb.view.node_labels import NodeLabels

CHUNK = 1 << 14  # whole numbers in a block of levels, about
SIZE = np.dtype(INTS).itemsize
# Lines and boxes for each megabyte of a page, a level itself as four: more take longer to lay out than anybody waits,
# and say little that packs badly. One of 25 megabytes has all groups of a training graph of 100,000 nodes.
EACH, LEVEL = 20_000, 4
FLAT = 100  # edges of the file that take as long as a line: where thousands lead hundreds of groups deep, lines are few

BlockSlice = tuple[int, int, int]  # block, start, length


class Held:
    """Levels, each put in once; groups that hold the same are written once.

    `index` says where each lies, by its key; nothing is put in any more when more than `limit` bytes are written, or
    `EACH` lines and boxes were laid out for each megabyte of it. `alone`: stacks show one member.
    """

    def __init__(self, hierarchy: Hierarchy, table: TextTable, limit: int, alone: bool = False) -> None:
        self.hierarchy = hierarchy
        self.index: dict[str, BlockSlice] = {}
        self._table, self._limit = table, limit
        self._node_labels = NodeLabels(hierarchy, lambda path: None, placed=False, alone=alone)
        self._say = LineTable(table)
        self._words: dict[Path, LabelNumbers] = {}
        self._known: dict[bytes, BlockSlice] = {}  # by the digest of a level: the levels themselves take a gigabyte
        self._blocks: list[DataBlock] = []
        self._numbers = bytearray()  # of the block that is being filled, `SIZE` bytes each
        self._written = self._laid_out = 0

    @property
    def full(self) -> bool:
        """Whether there is no room for more."""
        return self._written > self._limit or self._laid_out * 1e6 > self._limit * EACH

    def count(self, level: Metagraph, times: int = 1) -> None:
        """Count the boxes and lines of a level towards those that a page may have."""
        lines: list[Metaedge | Bridge] = [*level.edges, *level.bridges]
        flat = sum(line.tensors + line.control + line.reference for line in lines)
        self._laid_out += times * (LEVEL + len(level.children) + len(lines) + flat // FLAT)

    def put(self, key: str, path: Path, metagraph: Metagraph, skeleton: Skeleton, unlike: str = "") -> bool:
        """Put a level in, unless it is the one whose key is `unlike`; whether it is another."""
        self.count(metagraph, 2 if unlike else 1)  # it is compared, too
        numbers = self._as_numbers(path, metagraph, skeleton)
        digest = sha256(numbers).digest()
        place = self._known.get(digest)
        # The very same block: equal levels are written once.
        if unlike and place is not None and self.index.get(unlike) == place:
            return False
        if place is None:
            place = self._known[digest] = self._write(numbers)
        self.index[key] = place
        return True

    def repeat(self, key: str, first: str, mark: str) -> None:
        """Put a level in that is the one with another mark in its key."""
        self.index[f"{key}{mark}"] = self.index[f"{key}{first}"]

    def alike(self, path: Path, one: tuple[Metagraph, Skeleton], other: tuple[Metagraph, Skeleton]) -> bool:
        """Whether two levels of one group would be written alike."""
        self.count(one[0])
        return bytes(self._as_numbers(path, *one)) == bytes(self._as_numbers(path, *other))

    def worded_alike(self, row: int, copy: int) -> bool:
        """Whether the boxes of two rows outside of calls that hold equal things have the same words."""
        labels = self._node_labels
        return labels.own(row) == labels.own(copy) or self._label((row,)) == self._label((copy,))

    def blocks(self) -> list[DataBlock]:
        """All blocks."""
        return [*self._blocks, self._block()]

    def _as_numbers(self, path: Path, metagraph: Metagraph, skeleton: Skeleton) -> memoryview:
        children: Sequence[Path] = [child_path(self.hierarchy, path, row) for row in metagraph.children]
        listed = [*children, *((row,) for row in metagraph.functions)]
        held = PageLevel(metagraph, skeleton, [self._label(path) for path in listed])
        # As bytes, and a copy only where numbers are not little-endian already: a level can take a hundred megabytes.
        return np.frombuffer(level(held, self._say), np.intc).astype(INTS, copy=False).data.cast("B")

    def _label(self, path: Path) -> LabelNumbers:
        if path not in self._words:
            self._words[path] = label_numbers(self._node_labels.node_label(path), self._table)
        return self._words[path]

    def _block(self) -> DataBlock:
        return DataBlock(f"levels/{len(self._blocks)}", "ints", self._numbers)

    def _write(self, numbers: memoryview) -> BlockSlice:
        if len(self._numbers) > CHUNK * SIZE:  # a level is in one block
            self._blocks.append(self._block())
            self._written += len(self._blocks[-1].packed)
            self._numbers = bytearray()
        place = len(self._blocks), len(self._numbers) // SIZE, len(numbers) // SIZE
        self._numbers += numbers
        return place


def key_of(path: Path) -> str:
    """The key of a level in a page.

    >>> key_of((3, 17))
    '3.17'
    """
    return ".".join(map(str, path))
