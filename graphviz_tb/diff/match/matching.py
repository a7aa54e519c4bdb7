"""Which node and scope of the old graph is which of the new one, and why."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from graphviz_tb.diff.columns.hashing import Hashes
from graphviz_tb.diff.columns.ids import exists
from graphviz_tb.diff.columns.side import GraphColumns
from graphviz_tb.diff.match.found import Aligned, Apart, Exchanged, NodePairs, Proposal, Reason, ScopePairs
from graphviz_tb.diff.match.series import common
from graphviz_tb.limits import MAX_ALIGNMENT_CELLS, MAX_TABLE_CELLS
from graphviz_tb.model.columns import Bools, Ints
from graphviz_tb.model.notice import Notice

WORDS = {
    Reason.NAME: "same name and op",
    Reason.SERIES: "aligned in its numbered series by structure",
    Reason.SUBTREE: "in a scope with the same content",
    Reason.ANCHOR: "the only node with this neighbourhood",
    Reason.SPREAD: "same place beside a matched node",
    Reason.CONTENT: "most of its content is matched",
    Reason.SAME_NAME_OTHER_OP: "same name",
}


@dataclass(eq=False)
class Matching:
    """Partners of nodes and of scopes, -1 for none. Only `take` writes here, what the steps have found.

    `to_b[node of a]` and `to_a[node of b]` are inverse, so are `scope_to_b[row of a]` and `scope_to_a[row of b]`;
    `reason[node of a]`, `scope_reason[row of a]` are members of `Reason`. `functions` maps functions of the old graph
    to those of the new one, `bodies` are hashes of the bodies of either side's functions.
    `renumbered` and `renumbered_scopes` are nodes and scopes of the old graph whose number shifted with their series
    (true: because members came or went); `equals` counts, for an added scope or node of the new graph (key
    `("new", is scope, id)`) or a removed one of the old (`"old"`), the equal neighbours that it cannot be
    distinguished from. `shifts` maps old to new numbers by the words of a series (`tops` has the last of the old ones),
    `caused` says whether members of such a series came or went, `decided` has the words of series in which it is
    certain which members these are; `recounted` is how many names differ only in a number that was counted anew;
    `wires` are what `rewires` has found, `values` what `differences_once` has,
    `cells` how many cells the tables of common subsequences had.
    """

    a: GraphColumns
    b: GraphColumns
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
    tops: dict[tuple[str, str], int] = field(default_factory=dict)
    caused: dict[tuple[str, str], bool] = field(default_factory=dict)
    decided: set[tuple[str, str]] = field(default_factory=set)
    notices: list[Notice] = field(default_factory=list)
    recounted: int = 0
    wires: dict[tuple[int, int], list[Any]] = field(default_factory=dict)
    values: dict[tuple[int, int], list[Any]] = field(default_factory=dict)
    cells: int = 0

    def __post_init__(self) -> None:
        self.to_b = np.full(len(self.a), -1, np.int32)
        self.to_a = np.full(len(self.b), -1, np.int32)
        self.scope_to_b = np.full(len(self.a.scopes), -1, np.int32)
        self.scope_to_a = np.full(len(self.b.scopes), -1, np.int32)
        self.reason = np.zeros(len(self.a), np.int32)
        self.scope_reason = np.zeros(len(self.a.scopes), np.int32)

    def take(self, result: Proposal) -> None:
        """Write down what a step has found; what has a partner already keeps it."""
        if isinstance(result, NodePairs):
            self._join(result, self.to_b, self.to_a, self.reason)
        elif isinstance(result, ScopePairs):
            self._join(result, self.scope_to_b, self.scope_to_a, self.scope_reason)
        elif isinstance(result, Apart):
            unmatch(result.nodes, self.to_b, self.to_a, self.reason)
            unmatch(result.scopes, self.scope_to_b, self.scope_to_a, self.scope_reason)
        elif isinstance(result, Aligned):
            self.align(result)
        else:
            self.exchange(result)

    def _join(self, pairs: NodePairs | ScopePairs, to_b: Ints, to_a: Ints, reason: Ints) -> None:
        # A step may have found its pairs before another one was written down: what has a partner is skipped here.
        if len(pairs.old) == 1:  # only saves time: there may be hundreds of thousands of such steps
            mine, other = pairs.old[0], pairs.new[0]
            if not exists(to_b[mine]) and not exists(to_a[other]):
                to_b[mine], to_a[other], reason[mine] = other, mine, pairs.reason
            return
        free = ~exists(to_b[pairs.old]) & ~exists(to_a[pairs.new])
        old, new = pairs.old[free], pairs.new[free]
        to_b[old], to_a[new], reason[old] = new, old, pairs.reason

    def align(self, aligned: Aligned) -> None:
        """Remember which numbers shifted, and which members cannot be distinguished from their neighbours."""
        words, mine, others = aligned.words, aligned.mine, aligned.others
        # Members came or went; without that another number is a rename that somebody made.
        caused = len(aligned.pairs) < max(len(mine), len(others))
        moved = {mine[i].number: others[j].number for i, j in aligned.pairs}
        # The first series of these words is kept, unless members came or went in this one, which says more.
        known = self.shifts.setdefault(words, moved)
        self.caused[words] = self.caused.get(words, False) or caused
        if caused and any(known.get(number) != new for number, new in moved.items()):
            known.update(moved)
        # Kept, as there may be thousands of series of these words, each a few members of very many numbers.
        if known is moved or moved.keys() <= known.keys():
            self.tops[words] = max(self.tops.get(words, -1), max(moved, default=-1))
        shifted = self.renumbered_scopes if aligned.scopes else self.renumbered
        shifted.update({mine[i].id: caused for i, j in aligned.pairs if mine[i].number != others[j].number})
        if not aligned.scopes:
            return
        # Where an earlier series of these words decided which members came, those of this one are not in doubt.
        if words not in self.decided:
            self.equals.update({("old", True, row): count for row, count in aligned.gone.items()})
            self.equals.update({("new", True, row): count for row, count in aligned.come.items()})
        if caused and not aligned.gone and not aligned.come:
            self.decided.add(words)

    def exchange(self, exchanged: Exchanged) -> None:
        """Forget what was undecided of the members of a run."""
        for key in [("old", True, row) for row in exchanged.old] + [("new", True, row) for row in exchanged.new]:
            self.equals.pop(key, None)
        for row, shifted in exchanged.shifted.items():
            self.renumbered_scopes.pop(row, None)
            if shifted:
                self.renumbered_scopes[row] = True

    def common(
        self, mine: Sequence[Hashable], other: Sequence[Hashable], likely: dict[int, int] | None = None
    ) -> list[tuple[int, int]] | None:
        """The longest common subsequence; None where its table, or all tables together, would be too large."""
        cells = len(mine) * len(other)
        if cells > min(MAX_TABLE_CELLS, MAX_ALIGNMENT_CELLS - self.cells):
            return None
        self.cells += cells
        return common(mine, other, likely)

    def free_scopes(self, old: int, new: int) -> bool:
        """Whether neither scope has a partner."""
        return not exists(self.scope_to_b[old]) and not exists(self.scope_to_a[new])

    def together(self) -> tuple[Ints, Ints]:
        """All matched nodes, old and new."""
        old = np.flatnonzero(exists(self.to_b)).astype(np.int32)
        return old, self.to_b[old]

    def left(self) -> tuple[Ints, Ints]:
        """Nodes without a partner."""
        return np.flatnonzero(~exists(self.to_b)).astype(np.int32), np.flatnonzero(~exists(self.to_a)).astype(np.int32)

    def block_pair(self) -> tuple[Ints, Ints]:
        """A number for each block of either side, equal for blocks that are compared; negative for others."""
        old = np.full(len(self.a.graph.functions) + 1, -1, np.int32)
        # -1 and -2: blocks without a partner equal no block of the other side.
        new = np.full(len(self.b.graph.functions) + 1, -2, np.int32)
        old[0] = new[0] = 0
        for number, (mine, other) in enumerate(sorted(self.functions.items()), 1):
            # Block 0 is the main graph; function f is block f + 1.
            old[mine + 1] = new[other + 1] = number
        return old, new

    def parents_match(self, old: Ints, new: Ints) -> Bools:
        """Whether the scopes around the nodes are matched with one another."""
        fits: Bools = self.scope_to_b[self.a.scopes.of_node[old]] == self.b.scopes.of_node[new]
        return fits

    def note(self, code: str, message: str, where: str = "") -> None:
        """Say that a bound was hit."""
        for number, notice in enumerate(self.notices):
            if notice.code == code:
                self.notices[number] = Notice(code, notice.message, notice.where, notice.count + 1)
                return
        self.notices.append(Notice(code, message, where))


def unmatch(rows: Ints, to_b: Ints, to_a: Ints, reason: Ints) -> None:
    """Take back the matches of some old rows."""
    rows = rows[exists(to_b[rows])]
    # `to_a` first: it is found through `to_b`.
    to_a[to_b[rows]] = -1
    to_b[rows] = -1
    reason[rows] = Reason.NONE
