"""The levels that a page holds: blocks of numbers, and where in them each group lies."""

from __future__ import annotations

from collections.abc import Sequence

from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.metagraph import Metagraph
from graphviz_tb.model.paths import Path, child_path
from graphviz_tb.model.skeleton import Skeleton
from graphviz_tb.page.blocks import Block, Words, ints
from graphviz_tb.page.levels import Level, Lines, level
from graphviz_tb.view.node_labels import NodeLabels

CHUNK = 1 << 14  # whole numbers in a block of levels, about

Place = tuple[int, int, int]  # block, start, length


class Held:
    """Levels, each put in once; groups that hold the same are written once.

    `index` says where each lies, by its key; nothing is put in any more when more than `limit` bytes are written.
    """

    def __init__(self, hierarchy: Hierarchy, table: Words, limit: int) -> None:
        self.hierarchy = hierarchy
        self.index: dict[str, Place] = {}
        self._table, self._limit = table, limit
        self._node_labels, self._say = NodeLabels(hierarchy, lambda path: None), Lines(table)
        self._known: dict[tuple[int, ...], Place] = {}
        self._blocks: list[Block] = []
        self._numbers: list[int] = []  # of the block that is being filled
        self._written = 0

    @property
    def full(self) -> bool:
        """Whether there is no room for more."""
        return self._written > self._limit

    def put(self, key: str, path: Path, metagraph: Metagraph, skeleton: Skeleton, unlike: str = "") -> bool:
        """Put a level in, unless it is the one whose key is `unlike`; whether it is another."""
        numbers = self._as_numbers(path, metagraph, skeleton)
        place = self._known.get(numbers)
        # The very same block: equal levels are written once.
        if unlike and place is not None and self.index.get(unlike) == place:
            return False
        self.index[key] = place or self._write(numbers)
        return True

    def blocks(self) -> list[Block]:
        """All blocks."""
        return [*self._blocks, ints(f"levels/{len(self._blocks)}", self._numbers)]

    def _as_numbers(self, path: Path, metagraph: Metagraph, skeleton: Skeleton) -> tuple[int, ...]:
        children: Sequence[Path] = [child_path(self.hierarchy, path, row) for row in metagraph.children]
        listed = [*children, *((row,) for row in metagraph.functions)]
        held = Level(metagraph, skeleton, [self._node_labels.node_label(child) for child in listed])
        return tuple(level(held, self._table, self._say))

    def _write(self, numbers: tuple[int, ...]) -> Place:
        if len(self._numbers) > CHUNK:  # a level lies in one block
            self._blocks.append(ints(f"levels/{len(self._blocks)}", self._numbers))
            self._written += len(self._blocks[-1].packed)
            self._numbers = []
        place = self._known[numbers] = len(self._blocks), len(self._numbers), len(numbers)
        self._numbers += numbers
        return place
