"""Find the edges that cross the border of a group.

An edge crosses the border of every group from its end up to the level that owns it. A crossing names the row inside and
the row that represents the other end at that level. Each group finds its crossings in an index of edges by row
(`EdgeIndex`); after many groups, the crossings of all are computed at once (`BorderIndex`).
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from graphviz_tb.expand.bundling import build_bridges, bundle_level
from graphviz_tb.expand.calls import follow_into_call
from graphviz_tb.limits import FREE_FILED_CROSSINGS, MAX_CACHED_CALLS
from graphviz_tb.model.columns import Bools, Ints, Longs, positions_of_rows, sorted_value_range
from graphviz_tb.model.facts import Facts
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.hierarchy import FUNCTION_ROW, OP_ROW, Hierarchy
from graphviz_tb.model.metagraph import Bridge, OutputPairs
from graphviz_tb.model.paths import RowPath
from graphviz_tb.model.tensors import CarriedTensors

GROUPS_BEFORE_FILING = 1_000  # after so many opened groups it pays to file the borders of all at once
# The crossings of a file (100 bytes each) are filed at once up to `FREE_FILED_CROSSINGS` and so many for each edge. If
# there are more (thousands of edges through thousands of nested groups), each group finds its crossings.
FILED_CROSSINGS_PER_EDGE = 10


@dataclass(frozen=True, slots=True, eq=False)
class Crossings:
    """Edges that cross the border of a group, as columns.

    `edge` is the flat edge; `inner` the row it touches inside; `other` the row that represents its other end at the
    level that shows both; `inbound` whether it enters; `slot` the input or output position at the inner end.
    """

    edge: Ints
    inner: Ints
    other: Ints
    inbound: Bools
    slot: Ints

    def pick(self, rows: np.ndarray | slice) -> Crossings:
        return Crossings(self.edge[rows], self.inner[rows], self.other[rows], self.inbound[rows], self.slot[rows])


@dataclass(frozen=True, slots=True, eq=False)
class SortedCrossings:
    """Crossings indexed by the row inside: positions `by_inner` sorted by that row, and the sorted `rows`."""

    edges: Crossings
    by_inner: Longs
    rows: Ints

    def touching_rows(self, start: int, end: int) -> Crossings:
        """Return the crossings that touch one of the rows `start … end-1`, in the original order."""
        first, stop = sorted_value_range(self.rows, start, end)
        return self.edges.pick(np.sort(self.by_inner[first:stop]))


def sort_crossings(edges: Crossings) -> SortedCrossings:
    by_inner = np.argsort(edges.inner, kind="stable")
    return SortedCrossings(edges, by_inner, edges.inner[by_inner])


class EdgeIndex:
    """Edges between ordinary ops by the row of either end, and the crossings of calls."""

    def __init__(self, hierarchy: Hierarchy) -> None:
        plain = hierarchy.edge_order
        graph = hierarchy.graph
        out_row = hierarchy.row_of_node[graph.source[plain]]
        in_row = hierarchy.row_of_node[graph.target[plain]]
        by_source, by_target = np.argsort(out_row, kind="stable"), np.argsort(in_row, kind="stable")
        self.out_rows, self.out_edges = out_row[by_source], plain[by_source]
        self.in_rows, self.in_edges = in_row[by_target], plain[by_target]
        self.calls: dict[RowPath, Crossings] = {}  # crossings of the calls opened so far
        self._inside_calls: dict[RowPath, SortedCrossings] = {}  # the same edges inside the functions of those calls
        # By row of the call, for all paths: its crossings within its body, and the last crossings passed into its
        # functions.
        self._own: dict[int, Crossings] = {}
        self._entered: dict[int, tuple[Crossings, SortedCrossings]] = {}
        self.hierarchy = hierarchy
        self.key_number = {key: number for number, key in enumerate(graph.keys)}
        self.searched_groups = 0
        self.known: dict[OutputPairs, CarriedTensors] = {}  # edges into nested groups carry equal tensors

    @cached_property
    def borders_fit_memory(self) -> bool:
        return crossings_fit_memory(self.hierarchy)

    @cached_property
    def borders(self) -> BorderIndex:
        return BorderIndex(self.hierarchy)

    def count_known_calls(self, path: RowPath) -> int:
        """Return how many of the calls on `path`, outermost first, are known already; forget all if there are many."""
        if max(len(self.calls), len(self._own)) > MAX_CACHED_CALLS:
            for kept in (self.calls, self._inside_calls, self._own, self._entered):
                kept.clear()
        length = len(path)
        while length and path[:length] not in self.calls:
            length -= 1
        return length

    def function_crossings_at(self, path: RowPath) -> SortedCrossings:
        """Return the edges that a call passes to its functions."""
        if path not in self._inside_calls:
            self._inside_calls[path] = self.function_crossings(self.calls[path], path[-1])
        return self._inside_calls[path]

    def function_crossings(self, outer: Crossings, call: int) -> SortedCrossings:
        """Return the edges of a call inside its functions; cached, because a call may be opened in thousands of places
        with the same crossings."""
        known = self._entered.get(call)
        if known is None or known[0] is not outer:
            known = self._entered[call] = outer, sort_crossings(_pass_into_call(self, outer, call))
        return known[1]

    def own_body_crossings(self, row: int) -> Crossings:
        """Return the edges within one body that have one end below `row`; cached for calls."""
        if row not in self.hierarchy.calls:
            return _find_body_crossings(self.hierarchy, self, row)
        if row not in self._own:
            self._own[row] = _find_body_crossings(self.hierarchy, self, row)
        return self._own[row]

    def crossings_at(self, path: RowPath) -> Crossings:
        """Return the edges across the border of a row, including those that the calls around it pass to it.

        The crossings of these calls must be in `calls`.
        """
        row, hierarchy = path[-1], self.hierarchy
        # No edge of its body leaves a function; only its calls join it to other rows.
        across = no_crossings() if hierarchy.kind[row] == FUNCTION_ROW else self.own_body_crossings(row)
        if len(path) > 1 and len(self.calls[path[:-1]].edge):
            passed = self.function_crossings_at(path[:-1]).touching_rows(row, int(hierarchy.end[row]))
            across = _merge_crossings(across, passed) if len(passed.edge) else across
        return across

    def edges_from_rows(self, start: int, end: int) -> Ints:
        """Return the edges whose source row is one of `start … end-1`."""
        a, b = sorted_value_range(self.out_rows, start, end)
        edges: Ints = self.out_edges[a:b]
        return edges

    def edges_to_rows(self, start: int, end: int) -> Ints:
        """Return the edges whose target row is one of `start … end-1`."""
        a, b = sorted_value_range(self.in_rows, start, end)
        edges: Ints = self.in_edges[a:b]
        return edges


def crossings_fit_memory(hierarchy: Hierarchy) -> bool:
    """Return whether the edges cross so few borders in total that all can be filed at once."""
    graph, edges, depth = hierarchy.graph, hierarchy.edge_order, hierarchy.depth.astype(np.int64)
    crossed = 0
    for node, top in ((graph.source, hierarchy.edge_from), (graph.target, hierarchy.edge_to)):
        crossed += int((depth[hierarchy.row_of_node[node[edges]]] - depth[top[edges]]).sum())
    return crossed <= FREE_FILED_CROSSINGS + FILED_CROSSINGS_PER_EDGE * len(edges)


class BorderIndex:
    """The crossings of every group within its body, sorted by group, then in file order."""

    def __init__(self, hierarchy: Hierarchy) -> None:
        graph, plain = hierarchy.graph, hierarchy.edge_order
        start, stop = hierarchy.edge_from[plain], hierarchy.edge_to[plain]
        # An op that feeds itself crosses no border.
        plain, start, stop = plain[start != stop], start[start != stop], stop[start != stop]
        source, target = hierarchy.row_of_node[graph.source[plain]], hierarchy.row_of_node[graph.target[plain]]
        into = _climb_borders(hierarchy, plain, target, stop, start, graph.slot[plain])
        out = _climb_borders(hierarchy, plain, source, start, stop, graph.key[plain])
        group, edge = (np.concatenate((into[column], out[column])) for column in (0, 1))
        order = np.lexsort((edge, group))
        inner, other, slot = (np.concatenate((into[column], out[column]))[order] for column in (2, 3, 4))
        inbound = (np.arange(len(group)) < len(into[0]))[order]
        self.groups, self.all = group[order], Crossings(edge[order], inner, other, inbound, slot)

    def crossings_of_group(self, row: int) -> Crossings:
        first, stop = sorted_value_range(self.groups, row, row + 1)
        return self.all.pick(slice(first, stop))


def _climb_borders(
    hierarchy: Hierarchy, edge: Ints, inner: Ints, top: Ints, other: Ints, slot: Ints
) -> tuple[Ints, Ints, Ints, Ints, Ints]:
    """Return one entry for each border that an edge crosses between its `inner` end and `top`: the group, and the edge,
    inner row, other row and slot of the crossing."""
    kept: list[tuple[Ints, Ints, Ints, Ints, Ints]] = []
    around = inner
    # One border further out in each step, for all edges that have not reached the top.
    while not kept or len(around):
        below = around != top
        edge, inner, top, other, slot = edge[below], inner[below], top[below], other[below], slot[below]
        around = hierarchy.parent[around[below]]
        kept.append((around, edge, inner, other, slot))
    group, edge, inner, other, slot = (np.concatenate(column) for column in zip(*kept, strict=True))
    return group, edge, inner, other, slot


def _path_crossings(files: EdgeIndex, path: RowPath) -> Crossings:
    """Return the edges that cross the border of group or op `path` in file order, including edges through calls around
    it."""
    known = files.count_known_calls(path[:-1])
    for length in range(known + 1, len(path)):
        files.calls[path[:length]] = files.crossings_at(path[:length])
    return files.crossings_at(path)


def open_group_crossings(hierarchy: Hierarchy, files: EdgeIndex, path: RowPath) -> Crossings:
    """Return the edges that cross the border of group `path`, at the rows that it shows when open.

    The edges of a call continue to the arguments and results of its functions; control edges end at the call.
    """
    across = _path_crossings(files, path)
    return files.function_crossings(across, path[-1]).edges if path[-1] in hierarchy.calls else across


def _pass_into_call(files: EdgeIndex, outer: Crossings, call: int) -> Crossings:
    """Return the edges of `call` where they continue inside its functions."""
    passed = follow_into_call(files.hierarchy, files.key_number, call, outer.edge, outer.slot, outer.inbound)
    rows = np.array([entry[0] for entry in passed], np.int64)
    return Crossings(
        outer.edge[rows],
        np.array([entry[1] for entry in passed], np.int32),
        outer.other[rows],
        outer.inbound[rows],
        np.array([entry[2] for entry in passed], np.int32),
    )


def _find_body_crossings(hierarchy: Hierarchy, files: EdgeIndex, row: int) -> Crossings:
    graph = hierarchy.graph
    files.searched_groups += 1
    if files.searched_groups > GROUPS_BEFORE_FILING and files.borders_fit_memory and hierarchy.kind[row] != OP_ROW:
        return files.borders.crossings_of_group(row)
    start, end = row, int(hierarchy.end[row])
    out, into = files.edges_from_rows(start, end), files.edges_to_rows(start, end)
    target, source = hierarchy.row_of_node[graph.target[out]], hierarchy.row_of_node[graph.source[into]]
    # Drop edges with both ends inside; edge numbers are in file order.
    out = np.sort(out[(target < start) | (target >= end)])
    into = np.sort(into[(source < start) | (source >= end)])
    return _merge_crossings(
        Crossings(
            into, hierarchy.row_of_node[graph.target[into]], hierarchy.edge_from[into],
            np.ones(len(into), bool), graph.slot[into],
        ),
        Crossings(
            out, hierarchy.row_of_node[graph.source[out]], hierarchy.edge_to[out],
            np.zeros(len(out), bool), graph.key[out],
        ),
    )  # fmt: skip


def no_crossings() -> Crossings:
    none = np.zeros(0, np.int32)
    return Crossings(none, none, none, np.zeros(0, bool), none)


def concatenate_crossings(*some: Crossings) -> Crossings:
    return Crossings(
        np.concatenate([block.edge for block in some]),
        np.concatenate([block.inner for block in some]),
        np.concatenate([block.other for block in some]),
        np.concatenate([block.inbound for block in some]),
        np.concatenate([block.slot for block in some]),
    )


def _merge_crossings(a: Crossings, b: Crossings) -> Crossings:
    """Merge two sets of crossings in the order of the flat edges."""
    both = concatenate_crossings(a, b)
    return both.pick(np.argsort(both.edge, kind="stable"))


def find_bridges(
    hierarchy: Hierarchy, facts: Facts, across: Crossings, children: list[int], known: dict[OutputPairs, CarriedTensors]
) -> list[Bridge]:
    """Bundle crossings by child, neighbour and direction. `known` caches what edges carry; `drawable` is decided
    later."""
    if not children or not len(across.edge):
        return []
    position = positions_of_rows(children, across.inner)
    other = across.other.astype(np.int64) << 1 | across.inbound  # rows fit 31 bits
    bundles, columns = bundle_level(hierarchy.graph, facts, across.edge, (position, other), known)
    return build_bridges(bundles, columns, 0, len(columns[0]))
