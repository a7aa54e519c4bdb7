"""The metaedges and bridges of all groups at once, for those who open every group of a file."""

from __future__ import annotations

import numpy as np

from graphviz_tb.expand.bundling import bundled, metaedges_of, outward
from graphviz_tb.model.bundles import Outputs
from graphviz_tb.model.columns import Ints, Longs
from graphviz_tb.model.facts import Facts
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.metagraph import Bridge, Metaedge
from graphviz_tb.model.tensors import Carried


class LevelLines:
    """All lines of a file. They are what `find_metaedges` and `find_bridges` give for one group, found in one pass.

    Metaedges are those of the rows from `first` on.
    """

    def __init__(self, hierarchy: Hierarchy, facts: Facts, first: int = 0) -> None:
        place, rows = places(hierarchy), np.arange(len(hierarchy) + 1)
        known: dict[Outputs, Carried] = {}
        # The owner of each edge of `edge_order`, which lists them owner after owner.
        edges = hierarchy.edge_order[hierarchy.owner_start[first] :]
        owner = np.repeat(rows[first:-1], np.diff(hierarchy.owner_start[first:]))
        source, target = place[hierarchy.edge_from[edges]], place[hierarchy.edge_to[edges]]
        inside = bundled(hierarchy.graph, facts, edges, (owner, source, target), known)
        group, child, other, edges = crossings_of_all(hierarchy)
        across = bundled(hierarchy.graph, facts, edges, (group, place[child], other), known)
        # The bundles of row r are those from `[r]` up to `[r + 1]`.
        self.owned = np.searchsorted(inside.ends[0], rows).tolist()
        self.crossing = np.searchsorted(across.ends[0], rows).tolist()
        self.inside, self.across = (inside.bundles, inside.columns()), (across.bundles, across.columns())

    def metaedges(self, owner: int) -> tuple[list[Metaedge], list[tuple[int, int]]]:
        """The metaedges between the children of a row, and self edges as (child, count)."""
        return metaedges_of(*self.inside, *self.owned[owner : owner + 2]) if owner >= 0 else ([], [])

    def bridges(self, row: int) -> list[Bridge]:
        """The bridges of a group; `drawable` is decided later."""
        return outward(*self.across, *self.crossing[row : row + 2])


def places(hierarchy: Hierarchy) -> Longs:
    """The place of each row among the children of its parent."""
    place = np.zeros(len(hierarchy), np.int64)
    rows = hierarchy.child_order
    # `child_order` lists the children of each row as one run, from `child_start` of the row on.
    place[rows] = np.arange(len(rows)) - hierarchy.child_start[hierarchy.parent[rows]]
    return place


def crossings_of_all(hierarchy: Hierarchy) -> tuple[Ints, Ints, Longs, Ints]:
    """Every edge once for each border of a group that it crosses, in the order of groups and then of the file: the
    group, its child, twice the row of the other end (one more where the edge comes in), and the edge."""
    graph, edges = hierarchy.graph, hierarchy.edge_order
    levels: list[tuple[Ints, ...]] = []
    for inbound, node in ((0, graph.source[edges]), (1, graph.target[edges])):
        ends = (hierarchy.edge_to, hierarchy.edge_from) if inbound else (hierarchy.edge_from, hierarchy.edge_to)
        # From the op at one end up to the child of the owner that holds it: each step crosses one border.
        row, stop = hierarchy.row_of_node[node], ends[0][edges]
        other = ends[1][edges] * 2 + inbound
        inside = np.flatnonzero(row != stop)
        while len(inside):  # one level up at a time
            group = hierarchy.parent[row[inside]]
            levels.append((group, row[inside], other[inside], edges[inside]))
            row[inside] = group
            inside = inside[group != stop[inside]]
    columns = [np.concatenate(column) for column in zip(*levels, strict=True)] if levels else [edges[:0]] * 4
    order = np.lexsort((columns[3], columns[0]))
    group, child, beyond, crossing = (column[order] for column in columns)
    return group, child, beyond.astype(np.int64), crossing
