"""The matching of two graphs: pairs of nodes and of scopes, each with its reason."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from functools import lru_cache
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphviz_tb.diff.columns.layers import Layers
from graphviz_tb.diff.columns.side import GraphColumns
from graphviz_tb.diff.columns.values import Hashes
from graphviz_tb.limits import MAX_ALIGNMENT_CELLS, MAX_TABLE_CELLS
from graphviz_tb.model.columns import Bools, Ints, Longs, exists
from graphviz_tb.model.notice import Notice

# Align numbered siblings: their order identifies them, their numbers may change.
#
# layer_0 layer_1 layer_2            a ─┐  longest common subsequence of equal contents
# layer_0 layer_1 layer_2 layer_3    b ─┘  (Hunt & Szymanski 1977; here row by row)

LAST_NUMBER = re.compile(r"(.*?)([0-9]{1,9})([^0-9]*)", re.DOTALL)
NUMBERED_TWICE = re.compile(r"(.*?_)([0-9]{1,5})_([0-9]{1,3})", re.DOTALL)  # "dense_2_1"
SECOND_NUMBER_RANGE = 1000  # `NUMBERED_TWICE` has smaller second numbers

NameAffixes = tuple[str, str]  # what comes before and after the number


@lru_cache(maxsize=1 << 16)
def split_number(leaf: str) -> tuple[NameAffixes, int] | None:
    """Return the text around the last number of a name, and the number.

    Two numbers at the end are combined: Keras numbers layers, and TensorFlow scopes of equal names.

    >>> split_number("conv2d_3"), split_number("MatMul_1_grad"), split_number("relu")
    ((('conv2d_', ''), 3), (('MatMul_', '_grad'), 1), None)
    >>> split_number("dense_1"), split_number("dense_1_2"), split_number("dense_2_1")
    ((('dense_', ''), 1), (('dense_', ''), 1002), (('dense_', ''), 2001))
    """
    twice = NUMBERED_TWICE.fullmatch(leaf)
    if twice:
        return (twice[1], ""), int(twice[2]) * SECOND_NUMBER_RANGE + int(twice[3])
    match = LAST_NUMBER.fullmatch(leaf)
    return ((match[1], match[3]), int(match[2])) if match else None


def _series_of_unnumbered(leaf: str) -> list[NameAffixes]:
    """Return the series that a name without its number may begin: `add` begins `add_1`, `add_grad` begins `add_1_grad`.

    >>> _series_of_unnumbered("add_grad")
    [('add_grad_', ''), ('add_', '_grad')]
    """
    words = [(leaf + "_", "")]
    if leaf.endswith("_grad"):
        words.append((leaf[:-5] + "_", "_grad"))
    return words


def series_runs(leaves: Iterable[str], others: Iterable[str] = ()) -> dict[NameAffixes, dict[int, str]]:
    """Return the series among the names of siblings: for each the names by number; a name without a number is number 0.

    A single name without a number is a series if the `others`, the names on the other side, have that series: if one of
    two layers `dense`, `dense_1` is removed, `dense` is left.

    >>> series_runs(["add", "add_1", "w"]), series_runs(["add"], ["add", "add_1"])
    ({('add_', ''): {1: 'add_1', 0: 'add'}}, {('add_', ''): {0: 'add'}})
    """
    runs: dict[NameAffixes, dict[int, str]] = {known[0]: {} for leaf in others if (known := split_number(leaf))}
    for leaf in (leaves := list(leaves)):
        if known := split_number(leaf):
            runs.setdefault(known[0], {}).setdefault(known[1], leaf)
    for leaf in leaves:
        for words in _series_of_unnumbered(leaf):
            if words in runs and 0 not in runs[words]:
                runs[words][0] = leaf
                break
    return {words: run for words, run in runs.items() if run}


def common_subsequence(
    mine: Sequence[Hashable], other: Sequence[Hashable], likely: dict[int, int] | None = None
) -> list[tuple[int, int]] | None:
    """Return the longest common subsequence as pairs of positions, the one with most `likely` pairs among the longest.

    `likely` maps positions of `mine` to positions of `other`. None if the table would be too large.

    >>> common_subsequence("abcd", "abxcd"), common_subsequence("aaa", "aaaa", {0: 0, 1: 1, 2: 3})
    ([(0, 0), (1, 1), (2, 3), (3, 4)], [(0, 0), (1, 1), (2, 3)])
    """
    if not mine or not other:
        return []
    if len(mine) * len(other) > MAX_TABLE_CELLS:
        return None
    ids = {word: row for row, word in enumerate(dict.fromkeys([*mine, *other]))}
    left = np.array([ids[word] for word in mine], np.int64)
    right = np.array([ids[word] for word in other], np.int64)
    pair_worth = len(mine) + len(other)  # more than all likely pairs together
    table = [np.zeros(len(other) + 1, np.int64)]
    for row, word in enumerate(left.tolist()):
        # Length counts first: one pair more outweighs all likely pairs together.
        worth = np.where(right == word, pair_worth, 0)
        if likely and (place := likely.get(row)) is not None and worth[place]:
            worth[place] += 1
        # Each cell: skip this row, or pair it (diagonal); the running maximum skips columns.
        reached = np.maximum(table[row][1:], np.where(worth > 0, table[row][:-1] + worth, 0))
        table.append(np.concatenate(([0], np.maximum.accumulate(reached))))
    return _back(table)


def _back(table: Sequence[NDArray[np.int64]]) -> list[tuple[int, int]]:
    """Return the pairs along the best path; where paths are equal the last pairs are dropped first."""
    pairs, row, column = [], len(table) - 1, len(table[0]) - 1
    while row and column:
        best = table[row][column]
        if table[row][column - 1] == best:
            column -= 1
        elif table[row - 1][column] == best:
            row -= 1
        else:
            row, column = row - 1, column - 1
            pairs.append((row, column))
    return pairs[::-1]


def gaps_between(
    pairs: list[tuple[int, int]], a: tuple[int, int], b: tuple[int, int]
) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Return the ranges between pairs that have members on both sides."""
    gaps = []
    before = (a[0], b[0])
    # The end of both ranges closes the last gap.
    for pair in [*pairs, (a[1], b[1])]:
        if pair[0] > before[0] and pair[1] > before[1]:
            gaps.append(((before[0], pair[0]), (before[1], pair[1])))
        before = (pair[0] + 1, pair[1] + 1)
    return gaps


# The results of a matching step. Steps yield them one after the other; only `Matching.take` records them.


class Reason(IntEnum):
    """The evidence by which two nodes were matched."""

    NONE = 0
    NAME = 1
    SERIES = 2
    SUBTREE = 3
    ANCHOR = 4
    SPREAD = 5
    CONTENT = 6
    SAME_NAME_OTHER_OP = 7


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """Matched nodes, or `scopes`: `old[i]` with `new[i]`. Nodes that already have a partner keep it."""

    old: Ints | Longs
    new: Ints | Longs
    reason: Reason
    scopes: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Apart:
    """Old nodes and old scopes that lose their partner."""

    nodes: Ints
    scopes: Ints = field(default_factory=lambda: np.zeros(0, np.int32))


@dataclass(frozen=True, slots=True)
class Member:
    """A numbered sibling: its number, its scope's row or its node, the last segment of its name."""

    number: int
    id: int
    leaf: str = ""


@dataclass(frozen=True, slots=True)
class Aligned:
    """A numbered series of scopes or nodes, with `pairs` of positions in `mine` and `others`.

    `gone` and `come` count, for each removed and each added member, the equal neighbours that it cannot be
    distinguished from.
    """

    scopes: bool
    words: tuple[str, str]
    mine: Sequence[Member]
    others: Sequence[Member]
    pairs: Sequence[tuple[int, int]]
    gone: Mapping[int, int]
    come: Mapping[int, int]


@dataclass(frozen=True, slots=True)
class Exchanged:
    """A run of equal scopes that a later step could distinguish: their rows, and for old rows whether the number
    shifted."""

    old: Sequence[int]
    new: Sequence[int]
    shifted: Mapping[int, bool]


Proposal = Pairs | Apart | Aligned | Exchanged
Findings = Iterator[Proposal]


def node_pairs(pairs: Sequence[tuple[int, int]], reason: Reason) -> Pairs:
    return Pairs(*_pair_columns(pairs), reason)


def scope_pairs(pairs: Sequence[tuple[int, int]], reason: Reason) -> Pairs:
    return Pairs(*_pair_columns(pairs), reason, scopes=True)


def _pair_columns(pairs: Sequence[tuple[int, int]]) -> tuple[Ints, Ints]:
    """Return the first and the second of each pair.

    >>> [column.tolist() for column in _pair_columns([(1, 5), (2, 7)])]
    [[1, 2], [5, 7]]
    """
    table = np.array(pairs, np.int32).reshape(-1, 2)
    return table[:, 0], table[:, 1]


REASON_WORDS = {
    Reason.NAME: "same name and op",
    Reason.SERIES: "aligned in its numbered series by structure",
    Reason.SUBTREE: "in a scope with the same content",
    Reason.ANCHOR: "the only node with this neighbourhood",
    Reason.SPREAD: "same place beside a matched node",
    Reason.CONTENT: "most of its content is matched",
    Reason.SAME_NAME_OTHER_OP: "same name",
}


class Matching:
    """The partners of nodes and scopes, -1 for none. Steps propose pairs, and `take` records them.

    to_b, to_a                     partners of nodes, inverse to each other; so are scope_to_b, scope_to_a
    reason, scope_reason           a `Reason` for each node and scope of a
    functions, bodies              functions of b by those of a; hashes of the bodies of both sides
    renumbered, renumbered_scopes  nodes and scopes of a whose number shifted; true if members were added or removed
    equals                         by ("old" or "new", is scope, id) of a removed or added member: the number of equal
                                   neighbours that it cannot be distinguished from
    shifts, tops                   new by old number, and the last old number, by series
    decided                        series in which it is certain which members were added or removed
    recounted                      the number of names that differ only in a counter
    wires, values                  caches of `rewires` and `differences_once`
    cells                          the size of all tables of common subsequences so far
    """

    def __init__(self, a: GraphColumns, b: GraphColumns) -> None:
        self.a, self.b = a, b
        self.layers = Layers(a), Layers(b)
        self.to_b, self.to_a, self.scope_to_b, self.scope_to_a = (
            np.full(len(rows), -1, np.int32) for rows in (a, b, a.scopes, b.scopes)
        )
        self.reason, self.scope_reason = (np.zeros(len(rows), np.int32) for rows in (a, a.scopes))
        self.functions: dict[int, int] = {}
        self.bodies: tuple[Hashes, Hashes] | None = None
        self.renumbered: dict[int, bool] = {}
        self.renumbered_scopes: dict[int, bool] = {}
        self.equals: dict[tuple[str, bool, int], int] = {}
        self.shifts: dict[tuple[str, str], dict[int, int]] = {}
        self.tops: dict[tuple[str, str], int] = {}
        self.decided: set[tuple[str, str]] = set()
        self.notices: list[Notice] = []
        self.recounted = 0
        self.wires: dict[tuple[int, int], list[Any]] = {}
        self.values: dict[tuple[int, ...], list[Any]] = {}
        self.cells = 0

    def take(self, result: Proposal) -> None:
        """Record a result of a step."""
        if isinstance(result, Pairs):
            self._join(result)
        elif isinstance(result, Apart):
            _unmatch(result.nodes, self.to_b, self.to_a, self.reason)
            _unmatch(result.scopes, self.scope_to_b, self.scope_to_a, self.scope_reason)
        elif isinstance(result, Aligned):
            self.align(result)
        else:
            self.exchange(result)

    def _join(self, pairs: Pairs) -> None:
        to_b, to_a, reason = self.to_b, self.to_a, self.reason
        if pairs.scopes:
            to_b, to_a, reason = self.scope_to_b, self.scope_to_a, self.scope_reason
        if len(pairs.old) == 1:  # only saves time: there may be hundreds of thousands of single pairs
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
        # Members were added or removed; without that, a new number is a deliberate rename.
        has_unmatched = len(aligned.pairs) < max(len(mine), len(others))
        moved = {mine[i].number: others[j].number for i, j in aligned.pairs}
        # Keep the first series of these words, unless members of this one were added or removed: better evidence.
        shifts = self.shifts.setdefault(words, moved)
        if has_unmatched and any(shifts.get(number) != new for number, new in moved.items()):
            shifts.update(moved)
        # Updated, not recomputed: there may be thousands of series of these words.
        if shifts is moved or moved.keys() <= shifts.keys():
            self.tops[words] = max(self.tops.get(words, -1), max(moved, default=-1))
        renumbered = self.renumbered_scopes if aligned.scopes else self.renumbered
        renumbered.update({mine[i].id: has_unmatched for i, j in aligned.pairs if mine[i].number != others[j].number})
        if not aligned.scopes:
            return
        # An earlier series of these words already decided which members were added.
        if words not in self.decided:
            self.equals.update({("old", True, row): count for row, count in aligned.gone.items()})
            self.equals.update({("new", True, row): count for row, count in aligned.come.items()})
        if has_unmatched and not aligned.gone and not aligned.come:
            self.decided.add(words)

    def exchange(self, exchanged: Exchanged) -> None:
        """Forget which members of a run were uncertain."""
        for key in [("old", True, row) for row in exchanged.old] + [("new", True, row) for row in exchanged.new]:
            self.equals.pop(key, None)
        for row, shifted in exchanged.shifted.items():
            self.renumbered_scopes.pop(row, None)
            if shifted:
                self.renumbered_scopes[row] = True

    def longest_common(
        self, mine: Sequence[Hashable], other: Sequence[Hashable], likely: dict[int, int] | None = None
    ) -> list[tuple[int, int]] | None:
        """Return the longest common subsequence; None if its table, or all tables together, would be too large."""
        cells = len(mine) * len(other)
        if cells > min(MAX_TABLE_CELLS, MAX_ALIGNMENT_CELLS - self.cells):
            return None
        self.cells += cells
        return common_subsequence(mine, other, likely)

    def free_scopes(self, old: int, new: int) -> bool:
        """Return whether neither scope has a partner."""
        return not exists(self.scope_to_b[old]) and not exists(self.scope_to_a[new])

    def matched_pairs(self) -> tuple[Ints, Ints]:
        """Return all matched nodes, old and new."""
        old = np.flatnonzero(exists(self.to_b)).astype(np.int32)
        return old, self.to_b[old]

    def nodes_without_partner(self) -> tuple[Ints, Ints]:
        """Return the nodes without a partner, old and new."""
        return np.flatnonzero(~exists(self.to_b)).astype(np.int32), np.flatnonzero(~exists(self.to_a)).astype(np.int32)

    def block_pair(self) -> tuple[Ints, Ints]:
        """Return a number for each block of either side, equal for blocks that are compared; negative for others."""
        old = np.full(len(self.a.graph.functions) + 1, -1, np.int32)
        # -1 and -2: blocks without a partner equal no block of the other side.
        new = np.full(len(self.b.graph.functions) + 1, -2, np.int32)
        old[0] = new[0] = 0
        for number, (mine, other) in enumerate(sorted(self.functions.items()), 1):
            # Block 0 is the main graph; function f is block f + 1.
            old[mine + 1] = new[other + 1] = number
        return old, new

    def parents_match(self, old: Ints, new: Ints) -> Bools:
        """Return for each pair of nodes whether the scopes around them are partners."""
        fits: Bools = self.scope_to_b[self.a.scopes.of_node[old]] == self.b.scopes.of_node[new]
        return fits

    def note(self, code: str, message: str, where: str = "") -> None:
        """Report that a limit was reached."""
        for number, notice in enumerate(self.notices):
            if notice.code == code:
                self.notices[number] = Notice(code, notice.message, notice.where, notice.count + 1)
                return
        self.notices.append(Notice(code, message, where))


def align_members(
    m: Matching, tiers: Sequence[tuple[Sequence[Hashable], Sequence[Hashable]]], likely: dict[int, int]
) -> list[tuple[int, int]] | None:
    """Align two sequences by the first tier of hashes, then the gaps between pairs by the next, weaker tier.

    A tier has a hash for each member of either side. Return pairs of positions, ascending on both sides; None if the
    tables are too large.
    """
    (first_a, first_b), *_ = tiers
    gaps = [((0, len(first_a)), (0, len(first_b)))]
    pairs: list[tuple[int, int]] = []
    for hashes_a, hashes_b in tiers:
        remaining = []
        for (a0, a1), (b0, b1) in gaps:
            likely_in_gap = {i - a0: likely[i] - b0 for i in range(a0, a1) if b0 <= likely.get(i, -1) < b1}
            aligned = align_once(m, hashes_a[a0:a1], hashes_b[b0:b1], likely_in_gap)
            if aligned is None:
                return None
            inner = [(a0 + i, b0 + j) for i, j in aligned]
            pairs += inner
            remaining += gaps_between(inner, (a0, a1), (b0, b1))
        gaps = remaining
    return sorted(pairs)


def align_once(
    m: Matching, mine: Sequence[Hashable], other: Sequence[Hashable], likely: Mapping[int, int] = MappingProxyType({})
) -> list[tuple[int, int]] | None:
    """Return the longest common subsequence. Equal pairs at the start, and unique ones at the end, need no table unless
    a likely pair contradicts them."""
    start, stop, claimed = 0, 0, set(likely.values())
    shorter = min(len(mine), len(other))
    while start < shorter and mine[start] == other[start]:
        # A likely pair elsewhere may be worth more than this one: from here on the table decides.
        if likely.get(start) != start and (start in likely or start in claimed):
            break
        start += 1
    counts = (Counter(mine), Counter(other)) if start < shorter and not likely else (Counter[Hashable](),) * 2
    while stop < shorter - start and mine[-1 - stop] == other[-1 - stop]:
        if any(count[mine[-1 - stop]] != 1 for count in counts):
            break
        stop += 1
    likely_inside = {i - start: j - start for i, j in likely.items() if i >= start and j >= start}
    pairs = m.longest_common(mine[start : len(mine) - stop], other[start : len(other) - stop], likely_inside)
    if pairs is None:
        return None
    ends = [(len(mine) - place, len(other) - place) for place in range(stop, 0, -1)]
    return [*((i, i) for i in range(start)), *((i + start, j + start) for i, j in pairs), *ends]


def rematch(m: Matching, pairs: Sequence[tuple[int, int]], reason: Reason) -> Findings:
    """Match pairs of nodes, whatever partners they have."""
    old, new = _pair_columns(pairs)
    # Unmatch both ends first: a node may have the partner that another node gets.
    yield Apart(np.concatenate((old, m.to_a[new][exists(m.to_a[new])])))
    yield Pairs(old, new, reason)


def _unmatch(rows: Ints, to_b: Ints, to_a: Ints, reason: Ints) -> None:
    """Remove the partners of some old rows."""
    rows = rows[exists(to_b[rows])]
    # `to_a` first, since it is reached through `to_b`.
    to_a[to_b[rows]] = -1
    to_b[rows] = -1
    reason[rows] = Reason.NONE
