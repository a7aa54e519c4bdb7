"""Inputs that a level passes from outside to several children at once: the input of the first block.

x ─▶ attention ─▶ +        between blocks x is what the block before gives; before the first it comes from outside
└───────────────▲
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from graphviz_tb.group.flow.dag import OUTSIDE, Dag
from graphviz_tb.group.flow.order import depths
from graphviz_tb.model.columns import Longs, distinct_rows
from graphviz_tb.model.hierarchy import Hierarchy

READERS = 3  # at most; what more children read is no input of one block
DEEP = 8  # levels that a value is followed into
NEAR = 1 / 3  # of the depth of a level: farther in it is read by several blocks
PLACES = 1 << 20  # children of a level that are looked at: three places fit into one number

ReaderSet = tuple[int, ...]  # the places of the children that read one value


def entries(hierarchy: Hierarchy, level: Longs, place: Longs, child_start: Longs) -> tuple[Longs, Longs]:
    """The values (outputs of ops) that two or three children of a level read from outside, as `packed` places, and
    where those of each level start. Before: `level` numbers the rows that are levels, `place` the children of all."""
    graph = hierarchy.graph
    flow = np.flatnonzero(~graph.control & (graph.mark[graph.source] == 0) & (hierarchy.edge_to >= 0))
    reader, outer = hierarchy.row_of_node[graph.target[flow]].astype(np.int64), hierarchy.edge_to[flow]
    source = graph.source[flow].astype(np.int64) * len(graph.keys) + graph.key[flow]  # an output of an op as one number
    triples = [np.empty((0, 3), np.int64)]  # (n, 3): level, value, place of the child that reads it
    for _ in range(DEEP):
        # One level outwards at a time, up to the child of the level that owns the edge: there the value is at home.
        inside = (reader != outer) & (reader >= 0)
        reader, outer, source = reader[inside], outer[inside], source[inside]
        around = hierarchy.parent[reader].astype(np.int64)
        drawn = place[reader] >= 0
        triples.append(np.stack((level[around], source, place[reader]), 1)[drawn])
        reader = around
    return filed(distinct_rows(np.concatenate(triples)), child_start)


def filed(triples: Longs, child_start: Longs) -> tuple[Longs, Longs]:
    """Before: level, value and child, sorted. After: as for `entries`."""
    number, reader = triples[:, 0], triples[:, 2] - child_start[triples[:, 0]]
    # Triples are sorted: a new (level, value) begins where either changes.
    first = np.flatnonzero(np.diff(number, prepend=-1).astype(bool) | np.diff(triples[:, 1], prepend=-1).astype(bool))
    count = np.diff(np.append(first, len(triples)))
    first, count = first[(count > 1) & (count <= READERS)], count[(count > 1) & (count <= READERS)]
    last = np.where(count == READERS, reader[np.minimum(first + READERS - 1, max(len(triples) - 1, 0))] + 1, 0)
    kept = (reader[first + 1] < PLACES) & (last <= PLACES) if len(first) else np.zeros(0, bool)
    # 20 + 20 + 21 bits; the third place is stored plus one, 0 where there are two readers.
    packed = (reader[first] * PLACES + reader[first + 1] if len(first) else reader[:0]) * (2 * PLACES) + last
    rows = distinct_rows(np.stack((number[first], packed), 1)[kept])
    starts: Longs = np.searchsorted(rows[:, 0], np.arange(len(child_start)))
    return rows[:, 1], starts


def unpacked(packed: Iterable[int]) -> list[ReaderSet]:
    """The places of the children that read a value.

    >>> unpacked([((3 * PLACES + 5) * 2 * PLACES), ((0 * PLACES + 1) * 2 * PLACES) + 3])
    [(3, 5), (0, 1, 2)]
    """
    places = []
    for number in packed:
        pair, last = divmod(number, 2 * PLACES)
        places.append((*divmod(pair, PLACES), *((last - 1,) if last else ())))
    return places


def with_entry(dag: Dag, entry: Sequence[ReaderSet]) -> Dag:
    """The graph of a whole level with the one value from outside that only its beginning reads, if there is one."""
    if not entry:
        return dag
    depth = depths(dag)
    near = NEAR * max(depth)
    levels = [(readers, sorted(map(depth.__getitem__, readers))) for readers in entry]
    # One reader begins the level and another comes later: a shortcut round the first block.
    given = [readers for readers, (first, *_, last) in levels if first == 0 < last <= near]
    if len(given) != 1:
        return dag
    outside: list[list[int]] = [[] for _ in dag.boxes]
    for reader in given[0]:
        outside[reader] = [OUTSIDE]
    return Dag(dag.boxes, dag.before, dag.after, outside)
