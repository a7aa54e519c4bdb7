"""The findings of a matching step. Steps yield them one after the other; only `steps.match` records them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np

from graphviz_tb.model.columns import Ints, Longs


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


@dataclass(frozen=True, slots=True, eq=False)
class NodePairs:
    """Nodes that go together, `old[i]` with `new[i]`; one that has a partner by then keeps it."""

    old: Ints
    new: Ints
    reason: Reason


@dataclass(frozen=True, slots=True, eq=False)
class ScopePairs:
    """Scopes that go together, in the same way."""

    old: Ints | Longs
    new: Ints | Longs
    reason: Reason


@dataclass(frozen=True, slots=True, eq=False)
class Apart:
    """Old nodes and old scopes that have no partner after all."""

    nodes: Ints
    scopes: Ints = field(default_factory=lambda: np.zeros(0, np.int32))


@dataclass(frozen=True, slots=True)
class Member:
    """A numbered sibling: its number, its scope's row or its node."""

    number: int
    id: int


@dataclass(frozen=True, slots=True)
class Aligned:
    """A numbered series of scopes or nodes, aligned: the places that go together in the members of either side.

    `gone` and `come` count, for each member of either side without a partner, the equal neighbours that it
    cannot be distinguished from.
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
    """A run of equal scopes that were distinguished after all: their rows, and of old ones whether the number moved."""

    old: Sequence[int]
    new: Sequence[int]
    shifted: Mapping[int, bool]


Proposal = NodePairs | ScopePairs | Apart | Aligned | Exchanged
Findings = Iterator[Proposal]


def nodes(pairs: Sequence[tuple[int, int]], reason: Reason) -> NodePairs:
    """Pairs of nodes as columns."""
    return NodePairs(*pair_columns(pairs), reason)


def scopes(pairs: Sequence[tuple[int, int]], reason: Reason) -> ScopePairs:
    """Pairs of scopes as columns."""
    return ScopePairs(*pair_columns(pairs), reason)


def pair_columns(pairs: Sequence[tuple[int, int]]) -> tuple[Ints, Ints]:
    """The first and the second of each pair.

    >>> [column.tolist() for column in pair_columns([(1, 5), (2, 7)])]
    [[1, 2], [5, 7]]
    """
    # Also of no pairs: two empty columns.
    table = np.array(pairs, np.int32).reshape(-1, 2)
    return table[:, 0], table[:, 1]
