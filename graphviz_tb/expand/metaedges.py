"""The metaedges inside one group."""

from __future__ import annotations

from graphviz_tb.expand.bundling import bundled, lines
from graphviz_tb.model.columns import positions
from graphviz_tb.model.facts import Facts
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.metagraph import Metaedge
from graphviz_tb.model.paths import Path, owner_row


def find_metaedges(
    hierarchy: Hierarchy, facts: Facts, path: Path, rows: list[int]
) -> tuple[list[Metaedge], list[tuple[int, int]]]:
    """All edges that group `path` owns, bundled by the children they join; and self edges as (child, count).

    Before: flat edges filed by owner; `rows` are the group's children. After: one metaedge for each ordered pair, in
    the order of first appearance.
    """
    owner = owner_row(hierarchy, path)
    if owner < 0:
        return [], []
    edges = hierarchy.owned(owner)
    if not len(edges):
        return [], []
    ends = tuple(positions(rows, column[edges]) for column in (hierarchy.edge_from, hierarchy.edge_to))
    held = bundled(hierarchy.graph, facts, edges, ends)
    return lines(held, 0, len(held.tensors))
