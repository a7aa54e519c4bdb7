"""Bundle the flat edges between the same two boxes into one line with counts and tensors, and order the lines.

Everything is in columns: a level can have a million lines.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from itertools import compress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphviz_tb.graphs.traversal import longest_path_lengths, topological_order
from graphviz_tb.limits import MAX_LEVEL_CHILDREN
from graphviz_tb.model.columns import Ints, Longs, places_of_runs, positions_of_rows, prefix_sums
from graphviz_tb.model.facts import Facts
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.graph import Graph
from graphviz_tb.model.hierarchy import OP_ROW, Hierarchy
from graphviz_tb.model.metagraph import Bridge, Bundles, EdgeBundles, Metaedge, OutputPairs, SmallLevelBundles
from graphviz_tb.model.paths import RowPath, owner_row
from graphviz_tb.model.tensors import INDEX_DTYPES, CarriedTensors
from graphviz_tb.ops.roles import SIZE_OPS

LineColumns = tuple[list[int], ...]
MAX_EDGES_IN_LOOP = 64  # up to this number of edges, plain loops are faster than NumPy
MAX_INPUT_OPS = 32  # the first weight behind an input is searched among so many ops
NUMBER_DTYPES = INDEX_DTYPES - {"bool"}


@dataclass(frozen=True, slots=True, eq=False)
class BundleTable:
    """Bundles in the order of first appearance: columns of their `ends`, edge counts by kind, and tensors."""

    ends: tuple[Ints | Longs, ...]
    tensors: Longs
    control: Longs
    reference: Longs
    bundles: Bundles

    def line_columns(self) -> LineColumns:
        """Return the last two ends of the bundles, and their numbers of data, control and reference edges."""
        return tuple(map(_interned_values, (*self.ends[-2:], self.tensors, self.control, self.reference)))


def bundle_level(
    graph: Graph,
    facts: Facts,
    edges: Ints,
    ends: tuple[Ints | Longs, Ints | Longs],
    known: dict[OutputPairs, CarriedTensors],
) -> tuple[EdgeBundles, LineColumns]:
    """Return the bundles of one level and their columns. For few edges this is ten times faster than `bundle_edges`."""
    if len(edges) > MAX_EDGES_IN_LOOP:
        table = bundle_edges(graph, facts, edges, ends, known)
        return table.bundles, table.line_columns()
    flat: dict[tuple[int, int], list[int]] = {}
    outputs: dict[tuple[int, int], dict[tuple[int, int], None]] = {}
    counts: dict[tuple[int, int], list[int]] = {}
    columns = (*ends, graph.control[edges], graph.reference[edges], graph.source[edges], graph.key[edges])
    for edge, first, other, control, reference, node, key in zip(
        edges.tolist(), *(column.tolist() for column in columns), strict=True
    ):
        pair = first, other
        if pair not in flat:
            flat[pair], outputs[pair], counts[pair] = [], {}, [0, 0, 0]
        flat[pair].append(edge)
        counts[pair][1 if control else 0] += 1
        counts[pair][2] += reference
        if not control:
            outputs[pair][node, key] = None
    carried = []
    for pairs in map(tuple, outputs.values()):
        if pairs not in known:
            known[pairs] = CarriedTensors(pairs, facts)
        carried.append(known[pairs])
    lines = zip(*((*pair, *count) for pair, count in counts.items()), strict=True)
    return SmallLevelBundles(list(flat.values()), carried), tuple(map(list, lines)) or ([],) * 5


def bundle_edges(
    graph: Graph,
    facts: Facts,
    edges: Ints,
    ends: tuple[Ints | Longs, ...],
    known: dict[OutputPairs, CarriedTensors] | None = None,
) -> BundleTable:
    """Bundle the edges whose `ends` are equal.

    `ends` are columns by position in `edges`; `known` caches tensors across bundles.
    """
    members, start = _group_by_ends(ends)
    count = len(start) - 1
    edge, first = edges[members], members[start[:-1]]
    control, reference = graph.control[edge], graph.reference[edge]
    number = np.repeat(np.arange(count), np.diff(start))
    data = ~control
    node, key, output_start = _distinct_outputs(graph, edge[data], number[data], count)
    return BundleTable(
        tuple(column[first] for column in ends),
        np.bincount(number[data], minlength=count),
        np.bincount(number[control], minlength=count),
        np.bincount(number[reference], minlength=count),
        Bundles(edge, start, node, key, output_start, facts, {} if known is None else known),
    )


def _group_by_ends(ends: tuple[Ints | Longs, ...]) -> tuple[Longs, Longs]:
    """Return the positions of equal ends next to each other, in the order of first appearance, and where each run
    starts (with the length at the end).

    >>> members, start = _group_by_ends((np.array([5, 3, 5]), np.array([1, 1, 1])))
    >>> members.tolist(), start.tolist()
    ([0, 2, 1], [0, 2, 3])
    """
    # The sort is stable: edges of a bundle keep their order.
    order = np.lexsort(ends[::-1])
    new = np.ones(len(order), bool)
    new[1:] = False
    for column in ends:
        new[1:] |= column[order[1:]] != column[order[:-1]]
    cuts = np.flatnonzero(new)
    sizes = np.diff(np.append(cuts, len(order)))
    # Order the bundles by their first edge, which is at `order[cuts]` in the columns.
    by_first = np.argsort(order[cuts], kind="stable")
    cuts, sizes = cuts[by_first], sizes[by_first]
    members: Longs = order[places_of_runs(cuts, sizes)]
    return members, prefix_sums(sizes)


def _distinct_outputs(graph: Graph, edge: Ints, number: Longs, count: int) -> tuple[Ints, Ints, Longs]:
    """Return the distinct outputs (node, key) carried by the data edges of each bundle in file order, and where those
    of each bundle start (with the length at the end).

    `number` is the bundle of each edge, ascending, out of `count` bundles.
    """
    source, key = graph.source[edge], graph.key[edge]
    order = np.lexsort((key, source, number))
    same = np.zeros(len(order), bool)
    same[1:] = True
    for column in (number, source, key):
        same[1:] &= column[order[1:]] == column[order[:-1]]
    # Keep the first of equal (bundle, source, key), back in file order.
    kept = np.sort(order[~same])
    return source[kept], key[kept], np.searchsorted(number[kept], np.arange(count + 1))


def build_metaedges(
    bundles: EdgeBundles, columns: LineColumns, first: int, stop: int
) -> tuple[list[Metaedge], list[tuple[int, int]]]:
    """Return the bundles `first … stop-1`, whose ends are positions of children, as metaedges; self loops as (child,
    count)."""
    metaedges: list[Metaedge] = []
    loops: list[tuple[int, int]] = []
    lines = zip(range(first, stop), *(column[first:stop] for column in columns), strict=True)
    for number, source, target, tensors, control, reference in lines:
        if source == target:
            loops.append((source, tensors + control))
        else:
            metaedges.append(Metaedge(source, target, tensors, control, reference, bundles, number))
    return metaedges, loops


def build_bridges(bundles: EdgeBundles, columns: LineColumns, first: int, stop: int) -> list[Bridge]:
    """Return the bundles `first … stop-1` as bridges; `drawable` is decided later.

    Their ends are the child, and twice the row of the neighbour (plus one if the edge enters).
    """
    lines = zip(range(first, stop), *(column[first:stop] for column in columns), strict=True)
    return [
        Bridge(child, other >> 1, other & 1 > 0, tensors, control, reference, True, bundles, number)
        for number, child, other, tensors, control, reference in lines
    ]


def _interned_values(column: NDArray[Any]) -> list[int]:
    """Return the values of a column with equal values as one object, which takes a quarter of the memory."""
    values: dict[int, int] = {}
    return [values.setdefault(value, value) for value in column.tolist()]


def find_metaedges(
    hierarchy: Hierarchy, facts: Facts, path: RowPath, rows: list[int]
) -> tuple[list[Metaedge], list[tuple[int, int]]]:
    """Return all edges that group `path` owns, bundled by the children they join, and self loops as (child, count).

    There is one metaedge for each ordered pair of children, in the order of first appearance.
    """
    owner = owner_row(hierarchy, path)
    if owner < 0:
        return [], []
    edges = hierarchy.owned_edges(owner)
    if not len(edges):
        return [], []
    ends = positions_of_rows(rows, hierarchy.edge_from[edges]), positions_of_rows(rows, hierarchy.edge_to[edges])
    bundles, columns = bundle_level(hierarchy.graph, facts, edges, ends, {})
    return build_metaedges(bundles, columns, 0, len(columns[0]))


# Order the inputs and outputs of a group along the data inside it.


def sort_ends_by_depth(
    hierarchy: Hierarchy, facts: Facts, edges: Sequence[Metaedge], rows: Sequence[int]
) -> list[Metaedge]:
    """Return the metaedges of a level with the inputs and outputs of each group in the order in which data passes it:
    those of an encoder before those of its decoder. Only the edges of ops that have no other edge are reordered."""
    result = [*edges]
    joined = Counter(end for edge in edges if not edge.training for end in (edge.source, edge.target))
    for inward in (True, False):
        found: dict[int, list[int]] = {}
        for number, edge in enumerate(edges):
            op, group = (edge.source, edge.target) if inward else (edge.target, edge.source)
            if joined[op] == 1 and not edge.training and hierarchy.kind[rows[op]] == OP_ROW:
                found.setdefault(group, []).append(number)
        for group, places in found.items():
            children = np.sort(hierarchy.children(rows[group]))
            if len(places) < 2 or not 1 < len(children) <= MAX_LEVEL_CHILDREN:
                continue
            lines = [edges[place] for place in places]
            keys = dict(zip(places, _end_keys(hierarchy, facts, rows[group], children, lines, inward), strict=True))
            for place, number in zip(places, sorted(places, key=keys.__getitem__), strict=True):
                result[place] = edges[number]
    return result


def _end_keys(
    hierarchy: Hierarchy, facts: Facts, group: int, children: Ints, lines: Sequence[Metaedge], inward: bool
) -> list[tuple[int, bool]]:
    """Return the sort key of each line that enters a group (`inward`) or leaves it: how deep in its flow the line ends.

    An input that only joins other data, such as a mask, comes before the input where that data begins.
    """
    after = _child_flow(hierarchy, group, children, not inward)
    order = topological_order(after)
    depths = longest_path_lengths(after, order)
    joined = [{*_joined_children(hierarchy, line, children, inward)} for line in lines]
    ends = [max(sorted(places), key=depths.__getitem__) for places in joined]
    if not inward:
        return [(depths[end], True) for end in ends]
    begins = [
        len(places) > 1 or _begins_data(hierarchy, facts, line) for places, line in zip(joined, lines, strict=True)
    ]
    nearest = _nearest_entered(after, order[::-1], depths, set(compress(ends, begins)))
    return [(-(depths if begin else nearest)[end], begin) for end, begin in zip(ends, begins, strict=True)]


def _joined_children(hierarchy: Hierarchy, edge: Metaedge, children: Ints, inward: bool) -> list[int]:
    """Return the numbers of the children of a group at which the edges of a line to it (`inward`) or from it end; the
    first child if the edges are unknown."""
    graph, flat = hierarchy.graph, edge.flat_edges
    if flat is None:
        return [0]
    rows = hierarchy.row_of_node[(graph.target if inward else graph.source)[flat]]
    places = np.searchsorted(children, rows, side="right") - 1
    return [place for place in places.tolist() if place >= 0] or [0]


def _child_flow(hierarchy: Hierarchy, group: int, children: Ints, onward: bool) -> list[list[int]]:
    """Return for each child of a group the children that its data feeds, or (not `onward`) that feed it."""
    owned = hierarchy.owned_edges(group)
    ends = [np.searchsorted(children, end[owned]).tolist() for end in (hierarchy.edge_from, hierarchy.edge_to)]
    after: list[list[int]] = [[] for _ in children]
    for source, target in sorted(set(zip(*(ends if onward else ends[::-1]), strict=True))):
        after[source].append(target)
    return after


def _nearest_entered(
    before: Sequence[Sequence[int]], order: Sequence[int], depths: Sequence[int], entered: Collection[int]
) -> list[int]:
    """Return for each child the least depth of the `entered` children among itself and those that lead to it; if there
    is none, its own depth. `order` is topological.

    >>> _nearest_entered([[], [0], [1], []], [0, 3, 1, 2], [2, 1, 0, 0], {0})
    [2, 2, 2, 0]
    """
    found: dict[int, int] = {}
    for child in order:
        depth = (
            depths[child] if child in entered else min((found[at] for at in before[child] if at in found), default=-1)
        )
        if depth >= 0:
            found[child] = depth
    return [found.get(child, depth) for child, depth in enumerate(depths)]


def _begins_data(hierarchy: Hierarchy, facts: Facts, edge: Metaedge) -> bool:
    """Return whether an input meets a weight before it joins other data, as tokens do, or joins it as numbers, such as
    indices. A mask does neither."""
    graph, flat = hierarchy.graph, edge.flat_edges
    origin, first = graph.meaning.origin, hierarchy.first_input_edge
    if flat is None or not len(origin):
        return True
    is_aside = (graph.mark != 0) | graph.meaning.indexes()
    leaving, start = hierarchy.edges_by_source
    seen = {*graph.source[flat].tolist()}
    todo = flat.tolist()
    while todo and len(seen) <= MAX_INPUT_OPS:
        flat_edge = todo.pop(0)
        node = int(graph.target[flat_edge])
        if node in seen or graph.control[flat_edge] or graph.op_types[graph.op[node]] in SIZE_OPS:
            continue
        inputs = slice(first[node], first[node + 1])
        sources = graph.source[inputs][~graph.control[inputs]]
        layer = graph.layers.get(graph.name[node])
        if (origin[sources] >= 0).any() or (layer is not None and layer.parameters):
            return True
        if seen.issuperset(sources[~is_aside[sources]].tolist()):
            seen.add(node)
            todo += leaving[start[node] : start[node + 1]].tolist()
        elif facts.tensor(int(graph.source[flat_edge]), int(graph.key[flat_edge])).dtype in NUMBER_DTYPES:
            return True
    return False
