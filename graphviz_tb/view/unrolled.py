"""One layer many times: a cell or a layer that is written out for each step of a sequence."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from graphviz_tb.model.graph import Mark
from graphviz_tb.model.hierarchy import SCOPE, STACKS, Hierarchy

ENOUGH = 100  # weights of a stack that are looked at
AGAIN = 2  # a variable that is used more often is one of all steps


def unrolled(hierarchy: Hierarchy, stacks: Iterable[int]) -> set[int]:
    """Which stacks repeat the ops of one layer: they are in a scope, have none inside, and use the same weights again
    and again."""
    inside = [row for row in stacks if in_scope(hierarchy, row)]
    if not inside:
        return set()
    graph, beside = hierarchy.graph, hierarchy.graph.beside
    pairs = np.flatnonzero(graph.mark[beside.mark] == Mark.WEIGHT)
    hosts = hierarchy.row_of_node[beside.host[pairs]]
    order = np.argsort(hosts, kind="stable")
    hosts, marks = hosts[order], beside.mark[pairs[order]]
    rows = set()
    for row in inside:
        start, stop = np.searchsorted(hosts, (row, hierarchy.end[row])).tolist()
        used = marks[start : min(stop, start + ENOUGH)].tolist()
        variables = {graph.weights[mark].variable for mark in used}
        if len(used) > AGAIN * len(variables):
            rows.add(row)
    return rows


def in_scope(hierarchy: Hierarchy, row: int) -> bool:
    """Whether a stack is in a scope and has nothing but ops inside."""
    around = int(hierarchy.parent[row])
    while around > 0 and hierarchy.kind[around] in STACKS:
        around = int(hierarchy.parent[around])
    return (
        around > 0 and hierarchy.kind[around] == SCOPE and not (hierarchy.kind[row : hierarchy.end[row]] == SCOPE).any()
    )
