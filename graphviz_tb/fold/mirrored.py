"""Stacks of which one feeds the other in reverse order: the two legs of a U.

Member i of the first feeds member n - 1 - i of the second, so no member shows the rest: all are drawn.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from graphviz_tb.model.hierarchy import SERIES_ROW, Hierarchy

MAX_LEG_MEMBERS = 12  # more are a picture of their own
MIN_LEVELS = 3  # of a U


def mirrored_series(hierarchy: Hierarchy) -> list[int]:
    """Return the series that are the legs of a U."""
    found: list[int] = []
    siblings: dict[int, list[int]] = {}
    for row in np.flatnonzero((hierarchy.kind == SERIES_ROW) & (hierarchy.connected == 1)).tolist():
        siblings.setdefault(int(hierarchy.parent[row]), []).append(row)
    for parent, rows in siblings.items():
        fitting = [row for row in rows if len(hierarchy.children(row)) <= MAX_LEG_MEMBERS]
        if len(fitting) > 1:
            found += _legs_among(hierarchy, parent, fitting)
    return found


def _legs_among(hierarchy: Hierarchy, parent: int, rows: list[int]) -> list[int]:
    """Return the series among children of one group that are the legs of a U."""
    graph, owned = hierarchy.graph, hierarchy.owned_edges(parent)
    owned = owned[~graph.control[owned] & (hierarchy.edge_from[owned] >= 0)]
    starts, ends = hierarchy.edge_from[owned], hierarchy.edge_to[owned]
    legs: list[int] = []
    for first in rows:
        for second in rows:
            if first == second or first in legs or second in legs:
                continue
            between = owned[(starts == first) & (ends == second)]
            if not len(between):
                continue
            pairs = {
                (_member_at(hierarchy, first, source), _member_at(hierarchy, second, target))
                for source, target in zip(graph.source[between].tolist(), graph.target[between].tolist(), strict=True)
            }
            others = owned[(starts != first) & (starts != second) & (ends == second)]
            fed = {_member_at(hierarchy, second, target) for target in graph.target[others].tolist()}
            if _is_mirrored(pairs, len(hierarchy.children(first)), fed):
                legs += [first, second]
    return legs


def _member_at(hierarchy: Hierarchy, series: int, node: int) -> int:
    """Return the number of the member of a series that holds a node."""
    members = np.sort(hierarchy.children(series))
    return int(np.searchsorted(members, hierarchy.row_of_node[node], side="right")) - 1


def _is_mirrored(pairs: set[tuple[int, int]], count: int, fed: set[int]) -> bool:
    """Return whether the members of a series of `count`, joined in `pairs`, feed those of another one in reverse order;
    `fed` are those that other boxes feed.

    >>> _is_mirrored({(0, 2), (1, 1), (2, 0), (3, 0)}, 4, {3})
    True
    >>> _is_mirrored({(0, 0), (1, 1), (2, 2)}, 3, set())
    False
    """
    # The last member is the bottom of the U: it also leads on.
    ties = sorted(pairs - {(count - 1, 0)})
    if len(ties) < MIN_LEVELS - 1:
        return False
    falls = all(start < after and end > below for (start, end), (after, below) in pairwise(ties))
    # The boxes before the first series feed the last member of the second.
    return falls and len(ties) + (ties[0][1] + 1 in fed) >= MIN_LEVELS
