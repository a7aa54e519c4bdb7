"""The levels of a page: blocks of numbers, and the place of each group in them."""

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
# Lines and boxes for each megabyte of a page; a level itself counts as four. More take too long to lay out, although
# they compress well. A page of 25 megabytes has all groups of a training graph of 100,000 nodes.
EACH, LEVEL = 20_000, 4
FLAT = 100  # edges of the file with the cost of one line: a line may represent thousands of edges

BlockSlice = tuple[int, int, int]  # block, start, length


class Held:
    """Levels of a page, each added once; groups with equal contents are written once.

    `index` gives the place of each level by its key. Nothing is added after `limit` bytes, or after laying out `EACH`
    lines and boxes for each megabyte of the limit. `alone`: stacks show one member.
    """

    def __init__(self, hierarchy: Hierarchy, table: TextTable, limit: int, alone: bool = False) -> None:
        self.hierarchy = hierarchy
        self.index: dict[str, BlockSlice] = {}
        self._table, self._limit = table, limit
        self._node_labels = NodeLabels(hierarchy, lambda path: None, placed=False, alone=alone)
        self._say = LineTable(table)
        self._words: dict[Path, LabelNumbers] = {}
        self._known: dict[bytes, BlockSlice] = {}  # by digest: the levels themselves take a gigabyte
        self._blocks: list[DataBlock] = []
        self._numbers = bytearray()  # of the block under construction, `SIZE` bytes each
        self._written = self._laid_out = 0

    @property
    def full(self) -> bool:
        """Return whether there is no room for more levels."""
        return self._written > self._limit or self._laid_out * 1e6 > self._limit * EACH

    def count(self, level: Metagraph, times: int = 1) -> None:
        """Count the boxes and lines of a level towards the limit of the page."""
        lines: list[Metaedge | Bridge] = [*level.edges, *level.bridges]
        flat = sum(line.tensors + line.control + line.reference for line in lines)
        self._laid_out += times * (LEVEL + len(level.children) + len(lines) + flat // FLAT)

    def put(self, key: str, path: Path, metagraph: Metagraph, skeleton: Skeleton, unlike: str = "") -> bool:
        """Add a level unless it equals the level with the key `unlike`; return whether it was added."""
        self.count(metagraph, 2 if unlike else 1)  # twice if it has to be compared
        numbers = self._as_numbers(path, metagraph, skeleton)
        digest = sha256(numbers).digest()
        place = self._known.get(digest)
        # The same place: equal levels are written once.
        if unlike and place is not None and self.index.get(unlike) == place:
            return False
        if place is None:
            place = self._known[digest] = self._write(numbers)
        self.index[key] = place
        return True

    def repeat(self, key: str, first: str, mark: str) -> None:
        """Add a level that equals the one with the mark `first` in its key."""
        self.index[f"{key}{mark}"] = self.index[f"{key}{first}"]

    def alike(self, path: Path, one: tuple[Metagraph, Skeleton], other: tuple[Metagraph, Skeleton]) -> bool:
        """Return whether two versions of a level would be encoded to the same numbers."""
        self.count(one[0])
        return bytes(self._as_numbers(path, *one)) == bytes(self._as_numbers(path, *other))

    def worded_alike(self, row: int, copy: int) -> bool:
        """Return whether the boxes of two rows outside calls, equal in content, also have equal words."""
        labels = self._node_labels
        return labels.own(row) == labels.own(copy) or self._label((row,)) == self._label((copy,))

    def blocks(self) -> list[DataBlock]:
        """Return all blocks."""
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
        if len(self._numbers) > CHUNK * SIZE:  # a level is never split
            self._blocks.append(self._block())
            self._written += len(self._blocks[-1].packed)
            self._numbers = bytearray()
        place = len(self._blocks), len(self._numbers) // SIZE, len(numbers) // SIZE
        self._numbers += numbers
        return place


def key_of(path: Path) -> str:
    """Return the key of a level in a page.

    >>> key_of((3, 17))
    '3.17'
    """
    return ".".join(map(str, path))
