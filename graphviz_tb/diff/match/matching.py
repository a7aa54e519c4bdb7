"""Which node and scope of the old graph is which of the new one, and why."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np

from graphviz_tb.diff.columns.hashing import Hashes
from graphviz_tb.diff.columns.side import Side
from graphviz_tb.model.columns import Bools, Ints
from graphviz_tb.model.notice import Notice


class Reason(IntEnum):
    """Why two nodes are one."""

    NONE = 0
    NAME = 1
    SERIES = 2
    SUBTREE = 3
    ANCHOR = 4
    SPREAD = 5
    CONTENT = 6
    SAME_NAME_OTHER_OP = 7


WORDS = {
    Reason.NAME: "same name and op",
    Reason.SERIES: "aligned in its numbered series by structure",
    Reason.SUBTREE: "in a scope with the same content",
    Reason.ANCHOR: "the only node with this neighbourhood",
    Reason.SPREAD: "same place beside a matched node",
    Reason.CONTENT: "most of its content is matched",
    Reason.SAME_NAME_OTHER_OP: "same name",
}


@dataclass(slots=True, eq=False)
class Matching:
    """Partners of nodes and of scopes, -1 for none. Only `pair` and `pair_scopes` write here, each row once.

    `renumbered` and `renumbered_scopes` are nodes and scopes of the old graph whose number shifted with their series
    (true: because members came or went); `equals` counts, for an added scope or node of the new graph (key
    `("new", is scope, id)`) or a removed one of the old (`"old"`), the equal neighbours that it cannot be told from.
    `bodies` are hashes of the bodies of functions.
    `shifts` maps old to new numbers by the words of a series, `caused` whether members of such a series came or went,
    `recounted` is how many names only have another number behind them, `decided` holds the words of series that told
    for sure which.
    """

    a: Side
    b: Side
    to_b: Ints = field(init=False)
    to_a: Ints = field(init=False)
    scope_to_b: Ints = field(init=False)
    scope_to_a: Ints = field(init=False)
    reason: Ints = field(init=False)
    scope_reason: Ints = field(init=False)
    functions: dict[int, int] = field(default_factory=dict)
    bodies: tuple[Hashes, Hashes] | None = None
    renumbered: dict[int, bool] = field(default_factory=dict)
    renumbered_scopes: dict[int, bool] = field(default_factory=dict)
    equals: dict[tuple[str, bool, int], int] = field(default_factory=dict)
    shifts: dict[tuple[str, str], dict[int, int]] = field(default_factory=dict)
    caused: dict[tuple[str, str], bool] = field(default_factory=dict)
    decided: set[tuple[str, str]] = field(default_factory=set)
    notices: list[Notice] = field(default_factory=list)
    recounted: int = 0

    def __post_init__(self) -> None:
        self.to_b = np.full(len(self.a), -1, np.int32)
        self.to_a = np.full(len(self.b), -1, np.int32)
        self.scope_to_b = np.full(len(self.a.scopes), -1, np.int32)
        self.scope_to_a = np.full(len(self.b.scopes), -1, np.int32)
        self.reason = np.zeros(len(self.a), np.int32)
        self.scope_reason = np.zeros(len(self.a.scopes), np.int32)

    def pair(self, old: int, new: int, reason: Reason) -> None:
        """Match two nodes that have no partner."""
        self.to_b[old], self.to_a[new], self.reason[old] = new, old, reason

    def pair_many(self, old: Ints, new: Ints, reason: Reason) -> None:
        """Match many; those that have a partner already are left as they are."""
        free = (self.to_b[old] < 0) & (self.to_a[new] < 0)
        old, new = old[free], new[free]
        self.to_b[old], self.to_a[new], self.reason[old] = new, old, reason

    def pair_scopes(self, old: int, new: int, reason: Reason) -> None:
        """Match two scopes that have no partner."""
        self.scope_to_b[old], self.scope_to_a[new], self.scope_reason[old] = new, old, reason

    def part_scope(self, old: int) -> None:
        """Take back the match of a scope, and of all that is in it."""
        rows = np.arange(old, int(self.a.scopes.end[old]))
        rows = rows[self.scope_to_b[rows] >= 0]
        nodes = self.a.scopes.nodes(old)
        nodes = nodes[self.to_b[nodes] >= 0]
        self.scope_to_a[self.scope_to_b[rows]] = -1
        self.scope_to_b[rows] = -1
        self.to_a[self.to_b[nodes]] = -1
        self.to_b[nodes] = -1

    def part_nodes(self, old: list[int], new: list[int]) -> None:
        """Take back the matches of some nodes of either side."""
        nodes = np.array([*old, *self.to_a[new].tolist()], np.int64)
        nodes = nodes[nodes >= 0]
        nodes = nodes[self.to_b[nodes] >= 0]
        self.to_a[self.to_b[nodes]] = -1
        self.to_b[nodes] = -1
        self.reason[nodes] = Reason.NONE

    def free_scopes(self, old: int, new: int) -> bool:
        """Whether neither scope has a partner."""
        return bool(self.scope_to_b[old] < 0 and self.scope_to_a[new] < 0)

    def together(self) -> tuple[Ints, Ints]:
        """All matched nodes, old and new."""
        old = np.flatnonzero(self.to_b >= 0).astype(np.int32)
        return old, self.to_b[old]

    def left(self) -> tuple[Ints, Ints]:
        """Nodes without a partner."""
        return np.flatnonzero(self.to_b < 0).astype(np.int32), np.flatnonzero(self.to_a < 0).astype(np.int32)

    def block_pair(self) -> tuple[Ints, Ints]:
        """A number for each block of either side, equal for blocks that are compared; negative for others."""
        old = np.full(len(self.a.graph.functions) + 1, -1, np.int32)
        new = np.full(len(self.b.graph.functions) + 1, -2, np.int32)
        old[0] = new[0] = 0
        for at, (mine, other) in enumerate(sorted(self.functions.items()), 1):
            old[mine + 1] = new[other + 1] = at
        return old, new

    def parents_match(self, old: Ints, new: Ints) -> Bools:
        """Whether the scopes around the nodes are matched with one another."""
        found: Bools = self.scope_to_b[self.a.scopes.of_node[old]] == self.b.scopes.of_node[new]
        return found

    def note(self, code: str, message: str, where: str = "") -> None:
        """Say that a bound was hit."""
        for at, notice in enumerate(self.notices):
            if notice.code == code:
                self.notices[at] = Notice(code, notice.message, notice.where, notice.count + 1)
                return
        self.notices.append(Notice(code, message, where))
