"""Places of free nodes: an input or an output of a matched node, with the label of the free node that is there.

The nodes at each place are counted once and updated with each match: a step looks only at what the last one changed.
"""

from __future__ import annotations

import numpy as np

from graphviz_tb.diff.columns.hashing import Hashes, combined
from graphviz_tb.diff.columns.ids import exists
from graphviz_tb.diff.columns.side import GraphColumns
from graphviz_tb.diff.match.matching import Matching
from graphviz_tb.model.columns import Ints, Longs


class FreePlaces:
    """The places of one side: of place p, `owner[p]` is the node it belongs to and `what[p]` a hash of the rest.

    Where the owner is matched, `count[p]` free nodes lie there, and `total[p]` is the sum of their ids: the id of the
    only one.
    """

    def __init__(self, side: GraphColumns, partner: Ints, label: Hashes) -> None:
        graph, self.known = side.graph, exists(partner)
        feeds, uses = (np.flatnonzero(~self.known[ends]) for ends in (graph.source, graph.target))
        # One row for each edge and each end of it that is free: the node there, and the one that it is beside.
        self.node = np.concatenate((graph.source[feeds], graph.target[uses]))
        beside = np.concatenate((graph.target[feeds], graph.source[uses]))
        what = combined(side.edge_hash[np.concatenate((feeds, uses))], label[self.node])
        # The complement: a place behind a node is never one before it.
        what[len(feeds) :] = ~what[len(feeds) :]
        self.keys, first, place = np.unique(keyed(beside, what), return_index=True, return_inverse=True)
        self.owner, self.what, self.place = beside[first], what[first], place.astype(np.int32).reshape(-1)
        self.count, self.total = np.zeros(len(first), np.int32), np.zeros(len(first), np.int64)
        self.by_node, self.by_owner = RowsByNode(self.node, len(side)), RowsByNode(beside, len(side))
        self._count(np.flatnonzero(self.known[beside]), 1)
        self._changed: list[Ints | Longs] = [np.arange(len(first))]

    def take(self, nodes: Ints) -> None:
        """Nodes that were free are matched now."""
        gone = self.by_node(nodes)
        gone = gone[self.known[self.owner[self.place[gone]]]]
        self.known[nodes] = True
        come = self.by_owner(nodes)
        come = come[~self.known[self.node[come]]]
        self._count(gone, -1)
        self._count(come, 1)
        self._changed += [self.place[gone], self.place[come]]

    def changed(self) -> Longs:
        """The places with one free node whose number is another than when this was last asked."""
        places = np.unique(np.concatenate([np.zeros(0, np.int64), *self._changed]))
        self._changed = []
        alone: Longs = places[self.count[places] == 1]
        return alone

    def find(self, owner: Ints, what: Hashes) -> Longs:
        """Return the places of these nodes, -1 for none."""
        if not len(self.keys):
            return np.full(len(owner), -1)
        keys = keyed(owner, what)
        at = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[at] == keys, at, -1)

    def _count(self, rows: Ints | Longs, sign: int) -> None:
        np.add.at(self.count, self.place[rows], sign)
        np.add.at(self.total, self.place[rows], sign * self.node[rows].astype(np.int64))


class RowsByNode:
    """Rows by the node in a column."""

    def __init__(self, column: Ints, nodes: int) -> None:
        self.order = np.argsort(column, kind="stable").astype(np.int32)
        self.start = np.concatenate(([0], np.cumsum(np.bincount(column, minlength=nodes))))

    def __call__(self, nodes: Ints) -> Ints:
        """The rows of some nodes."""
        start, many = self.start[nodes], self.start[nodes + 1] - self.start[nodes]
        behind = np.cumsum(many)
        rows: Ints = self.order[np.repeat(start - behind + many, many) + np.arange(many.sum())]
        return rows


class FreePlacePairs:
    """The places of both sides, by one of their labels."""

    def __init__(self, m: Matching, label_a: Hashes, label_b: Hashes) -> None:
        self.m = m
        self.a, self.b = FreePlaces(m.a, m.to_b, label_a), FreePlaces(m.b, m.to_a, label_b)

    def take(self, old: Ints, new: Ints) -> None:
        """Nodes are matched now."""
        self.a.take(old)
        self.b.take(new)

    def alone(self) -> tuple[Longs, Longs]:
        """The nodes that are the only ones at their places on both sides, once for each place.

        Before: of each pair that was given back earlier one node at least is matched. So any place that matters has
        changed on one side: no other is looked at.
        """
        a, b = self.a, self.b
        others = b.changed()
        mine = np.unique(np.concatenate((a.changed(), a.find(self.m.to_a[b.owner[others]], b.what[others]))))
        mine = mine[exists(mine)]
        mine = mine[a.count[mine] == 1]
        found = b.find(self.m.to_b[a.owner[mine]], a.what[mine])
        mine, found = mine[exists(found)], found[exists(found)]
        both = b.count[found] == 1
        return a.total[mine[both]], b.total[found[both]]


def keyed(owner: Ints, what: Hashes) -> Hashes:
    """Places as numbers."""
    return combined(owner.astype(np.int64).view(np.uint64), what)
