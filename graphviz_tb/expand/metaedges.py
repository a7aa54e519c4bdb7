"""The metaedges inside one group."""

from __future__ import annotations

import numpy as np

from graphviz_tb.expand.tensors import bundles, first_seen_groups
from graphviz_tb.model.facts import Facts
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.metagraph import Metaedge
from graphviz_tb.model.paths import Path, owner_row


def find_metaedges(
    hierarchy: Hierarchy, facts: Facts, path: Path, place: dict[int, int]
) -> tuple[list[Metaedge], list[tuple[int, int]]]:
    """All edges that group `path` owns, bundled by the children they join; and self edges as (child, count).

    Before: flat edges filed by owner. After: one metaedge for each ordered pair, in the order of first appearance.
    `place` maps rows of children to their positions.
    """
    owner = owner_row(hierarchy, path)
    if owner < 0:
        return [], []
    edges = hierarchy.owned(owner)
    source, target = hierarchy.edge_from[edges], hierarchy.edge_to[edges]
    metaedges: list[Metaedge] = []
    loops: list[tuple[int, int]] = []
    groups = first_seen_groups((source.astype(np.int64) << 32) | target)
    for group, what in zip(groups, bundles(hierarchy.graph, facts, edges, groups), strict=True):
        start, end = place[int(source[group[0]])], place[int(target[group[0]])]
        if start == end:
            loops.append((start, len(group)))
            continue
        metaedges.append(Metaedge(start, end, what.tensors, what.control, what.reference, what.carried, what.edges))
    return metaedges, loops
