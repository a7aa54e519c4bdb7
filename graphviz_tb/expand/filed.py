"""The metaedges and bridges of all groups at once, for those who open every group of a file."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphviz_tb.model.columns import Bools, Ints, Longs
from graphviz_tb.model.facts import Facts
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.graph import Graph
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.metagraph import Bridge, Metaedge
from graphviz_tb.model.tensors import Carried


@dataclass(frozen=True, slots=True, eq=False)
class Bundles:
    """Flat edges in bundles, group after group: those of row `r` are the bundles `of[r]:of[r + 1]`.

    Of bundle `b`, `edge[start[b]:start[b + 1]]` are the flat edges in file order, `output[held[b]:held[b + 1]]` the
    distinct outputs (node, key) that its data edges carry; `ends` are two columns that all its edges share.
    """

    of: list[int]
    ends: tuple[list[int], list[int]]
    edge: Ints
    start: list[int]
    output: list[tuple[int, int]]
    held: list[int]
    tensors: list[int]
    control: list[int]
    reference: list[int]


class Filed:
    """All lines of a file. They are what `find_metaedges` and `find_bridges` give for one group, found in one pass."""

    def __init__(self, hierarchy: Hierarchy, facts: Facts) -> None:
        self.tensor = facts.tensor
        # An edge that crosses twelve borders is in twelve bridges: their tensors are decoded once.
        self.met: dict[tuple[tuple[int, int], ...], Carried] = {}
        place = places(hierarchy)
        edges = hierarchy.edge_order
        # The owner of each edge of `edge_order`, which lists them owner after owner.
        owner = np.repeat(np.arange(len(hierarchy)), np.diff(hierarchy.owner_start))
        source, target = place[hierarchy.edge_from[edges]], place[hierarchy.edge_to[edges]]
        self.inside = bundled(hierarchy.graph, len(hierarchy), owner, source, target, edges)
        group, child, other, edges = crossings_of_all(hierarchy)
        self.across = bundled(hierarchy.graph, len(hierarchy), group, place[child], other, edges)

    def metaedges(self, owner: int) -> tuple[list[Metaedge], list[tuple[int, int]]]:
        """The metaedges between the children of a row, and self edges as (child, count)."""
        metaedges: list[Metaedge] = []
        loops: list[tuple[int, int]] = []
        if owner < 0:
            return metaedges, loops
        held = self.inside
        for bundle in range(held.of[owner], held.of[owner + 1]):
            source, target = held.ends[0][bundle], held.ends[1][bundle]
            if source == target:
                loops.append((source, held.start[bundle + 1] - held.start[bundle]))
            else:
                counts = held.tensors[bundle], held.control[bundle], held.reference[bundle]
                metaedges.append(Metaedge(source, target, *counts, self.carried(held, bundle), edges_of(held, bundle)))
        return metaedges, loops

    def bridges(self, row: int) -> list[Bridge]:
        """The bridges of a group; `drawable` is decided later."""
        held = self.across
        return [
            Bridge(
                held.ends[0][bundle], held.ends[1][bundle] >> 1, bool(held.ends[1][bundle] & 1),
                held.tensors[bundle], held.control[bundle], held.reference[bundle], True,
                self.carried(held, bundle), edges_of(held, bundle),
            )
            for bundle in range(held.of[row], held.of[row + 1])
        ]  # fmt: skip

    def carried(self, held: Bundles, bundle: int) -> Carried:
        """The tensors of a bundle; one value for all lines that carry the same, across however many borders."""
        outputs = tuple(held.output[held.held[bundle] : held.held[bundle + 1]])
        carried = self.met.get(outputs)
        if carried is None:
            carried = self.met[outputs] = Carried(outputs, self.tensor)
        return carried


def edges_of(held: Bundles, bundle: int) -> Ints:
    """The flat edges of a bundle."""
    return held.edge[held.start[bundle] : held.start[bundle + 1]]


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


def bundled(graph: Graph, rows: int, group: NDArray[Any], near: Longs, far: Longs, edges: Ints) -> Bundles:
    """Edges of one group and equal ends become one bundle, in the order of first appearance.

    Before: columns sorted by group.
    """
    # Equal (group, near, far) become neighbours; the sort is stable, so that edges of a bundle keep their order.
    order = np.lexsort((far, near, group))
    new = np.ones(len(order), bool)
    new[1:] = False
    for column in (group[order], near[order], far[order]):
        new[1:] |= column[1:] != column[:-1]
    cuts = np.flatnonzero(new)
    sizes = np.diff(np.append(cuts, len(order)))
    # Each bundle by its first edge: `order[cuts]` is where that is in the columns.
    by_first = np.argsort(order[cuts], kind="stable")
    cuts, sizes = cuts[by_first], sizes[by_first]
    start = np.concatenate(([0], np.cumsum(sizes)))
    # All runs `order[cut : cut + size]`, one behind the other, without a loop.
    members = order[np.repeat(cuts - start[:-1], sizes) + np.arange(len(order))]
    edge, first = edges[members], order[cuts]
    control, reference = graph.control[edge], graph.reference[edge]
    number = np.repeat(np.arange(len(cuts)), sizes)
    output, held = distinct_outputs(graph, edge, number, control, len(cuts))
    return Bundles(
        np.searchsorted(group[first], np.arange(rows + 1)).tolist(),
        (near[first].tolist(), far[first].tolist()),
        edge,
        start.tolist(),
        output,
        held,
        *(np.bincount(number[what], minlength=len(cuts)).tolist() for what in (~control, control, reference)),
    )


def distinct_outputs(
    graph: Graph, edge: Ints, number: Longs, control: Bools, count: int
) -> tuple[list[tuple[int, int]], list[int]]:
    """The distinct outputs that the data edges of each bundle carry, in file order, and where those of each start."""
    data = np.flatnonzero(~control)
    source, key, bundle = graph.source[edge[data]], graph.key[edge[data]], number[data]
    order = np.lexsort((key, source, bundle))
    same = np.zeros(len(order), bool)
    same[1:] = (
        (bundle[order][1:] == bundle[order][:-1])
        & (source[order][1:] == source[order][:-1])
        & (key[order][1:] == key[order][:-1])
    )
    # The first of each equal (bundle, source, key), back in the order of the file.
    kept = np.sort(order[~same])
    outputs = list(zip(source[kept].tolist(), key[kept].tolist(), strict=True))
    return outputs, np.searchsorted(bundle[kept], np.arange(count + 1)).tolist()
