"""Map the rows of one group to those of another group of the same structure.

Children are matched level by level, so that corresponding children have the same type or structure and the same edges
between them: first in file order, otherwise in canonical order. Names do not matter.
"""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphviz_tb.graphs.canonical import FlaggedEdge, canonical_order
from graphviz_tb.model.columns import Longs, distinct_values
from graphviz_tb.model.hierarchy import FOLD_ROW, Hierarchy

ChildMap = dict[int, int]  # children of one group to those of another
CONTROL_EDGE_FLAG = 2  # the flag of an edge; 1 is data


class RowCorrespondence:
    """Maps rows between groups of one structure. Each pair of groups is mapped once."""

    def __init__(self, hierarchy: Hierarchy) -> None:
        self.hierarchy = hierarchy
        self._copies: dict[tuple[int, int], bool] = {}
        self._maps: dict[tuple[int, int], ChildMap | None] = {}
        self._forms: dict[int, tuple[Longs, Longs]] = {}
        self._cores: dict[tuple[int, int], int] = {}

    def corresponding_row(self, source: int, target: int, row: int) -> int | None:
        """Return the row in group `target` that corresponds to `row` in group `source`; None if there is none, or if
        `row` is outside of `source`.

        If groups above the row cannot be mapped, return the match of the innermost group that can. `source` may be a
        fold of a group like `target` and small ops.
        """
        if row == source:
            return target
        source = self._with_structure_of(source, target)
        if not source <= row < self.hierarchy.end[source]:
            return None
        if row == source or self.are_copies(source, target):
            return row - source + target
        # Collect the groups from the row up to `source`, then map them from the outside in.
        chain = [row]
        while chain[-1] != source:
            chain.append(int(self.hierarchy.parent[chain[-1]]))
        found = target
        for around, inner in pairwise(reversed(chain)):
            children = self.child_mapping(around, found)
            if children is None:
                return None if around == source else found
            found = children[inner]
        return found

    def _with_structure_of(self, source: int, target: int) -> int:
        """Return the only child of a fold that has the structure of `target`; otherwise the fold itself."""
        hierarchy, template = self.hierarchy, self.hierarchy.template
        if hierarchy.kind[source] != FOLD_ROW or template[source] == template[target] or template[target] < 0:
            return source
        if (source, target) not in self._cores:
            inside = hierarchy.children(source)
            cores = inside[template[inside] == template[target]].tolist()
            self._cores[source, target] = cores[0] if len(cores) == 1 else source
        return self._cores[source, target]

    def are_copies(self, source: int, target: int) -> bool:
        """Return whether two groups have equal content at all depths in file order, so that rows correspond by
        offset."""
        key = source, target
        if key not in self._copies:
            end = self.hierarchy.end
            self._copies[key] = source == target or (
                end[source] - source == end[target] - target
                and all(map(np.array_equal, self._content_columns(source), self._content_columns(target)))
            )
        return self._copies[key]

    def _content_columns(self, row: int) -> tuple[NDArray[Any], ...]:
        """Columns of the content of a group and its edges, as offsets from the group."""
        hierarchy, stop = self.hierarchy, int(self.hierarchy.end[row])
        start = hierarchy.owner_start[row : stop + 1]
        inside = slice(row + 1, stop)
        edges = self._edge_codes[hierarchy.edge_order[start[0] : start[-1]]]
        around = hierarchy.parent[inside] - row
        return self._row_colors[inside], around, hierarchy.mark[inside], start - start[0], edges

    def child_mapping(self, source: int, target: int) -> ChildMap | None:
        """Return the mapping between the children of two groups, or None."""
        key = source, target
        if key not in self._maps:
            self._maps[key] = self._map_children(source, target)
        return self._maps[key]

    def _map_children(self, source: int, target: int) -> ChildMap | None:
        hierarchy = self.hierarchy
        one, other = self._level_signature(source), self._level_signature(target)
        if len(one[0]) != len(other[0]) or len(one[1]) != len(other[1]):
            return None
        children = hierarchy.children(source).tolist(), hierarchy.children(target).tolist()
        # Repeated blocks come from the same code, so the file order nearly always is the mapping.
        if np.array_equal(one[0], other[0]) and np.array_equal(one[1], other[1]):
            return dict(zip(*children, strict=True))
        orders = [_canonical_level(*form) for form in (one, other)]
        if orders[0][1] != orders[1][1]:
            return None
        pairs = zip(orders[0][0], orders[1][0], strict=True)
        return {children[0][first]: children[1][second] for first, second in pairs}

    def _level_signature(self, row: int) -> tuple[Longs, Longs]:
        """Return the colours of a group's children, and its edges as numbers (see `_edge_codes`)."""
        if row not in self._forms:
            children, edges = self.hierarchy.children(row), self.hierarchy.owned_edges(row)
            self._forms[row] = (
                self._row_colors[children],
                distinct_values(self._edge_codes[edges]) if len(edges) else self._edge_codes[:0],
            )
        return self._forms[row]

    @cached_property
    def _row_colors(self) -> Longs:
        """Number each row by the type of its op or the structure of its group."""
        hierarchy, graph = self.hierarchy, self.hierarchy.graph
        groups = len(graph.op_types) + hierarchy.template.astype(np.int64)
        return np.where(hierarchy.node >= 0, graph.op[hierarchy.node], groups)

    @cached_property
    def _edge_codes(self) -> Longs:
        """Encode each edge as a number: positions of its ends among the children of its group, and a control flag."""
        hierarchy = self.hierarchy
        place = np.zeros(len(hierarchy), np.int64)
        children = hierarchy.child_order
        place[children] = np.arange(len(children)) - hierarchy.child_start[hierarchy.parent[children]]
        source, target = place[hierarchy.edge_from], place[hierarchy.edge_to]
        return source << 33 | target << 2 | np.where(hierarchy.graph.control, CONTROL_EDGE_FLAG, 1)


def _canonical_level(colors: Longs, codes: Longs) -> tuple[list[int], tuple[list[int], list[FlaggedEdge]]]:
    """Return the canonical order of a group's children, and their colours and edges in that order."""
    edges = [(code >> 33, (code >> 2) & 0x7FFFFFFF, code & 3) for code in codes.tolist()]
    order, _ = canonical_order(colors.tolist(), edges)
    place = {node: index for index, node in enumerate(order)}
    lines = sorted((place[source], place[target], flag) for source, target, flag in edges)
    return order, (colors[order].tolist(), lines)
