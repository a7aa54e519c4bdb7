"""Loops of control flow v1, whose ops run nobody knows how often: those between what hands a value in and out."""

from __future__ import annotations

import numpy as np

from graphviz_tb.limits import LOOPS_APART
from graphviz_tb.model.columns import Bools, filed
from graphviz_tb.model.graph import Graph
from graphviz_tb.ops.roles import FRAME_ENTERS, FRAME_EXITS


def in_frames(graph: Graph) -> Bools:
    """Which nodes run once in each round of a loop, its inputs and outputs left out.

    >>> from graphviz_tb import load
    >>> text = 'node { name: "x" } node { name: "in" op: "Enter" input: "x" } node { name: "y" op: "Relu" input: "in" }'
    >>> graph = load((text + 'node { name: "out" op: "Exit" input: "y" }').encode()).hierarchy.graph
    >>> [name for name, inside in zip(graph.name, in_frames(graph)) if inside]
    ['y']
    """
    enters, exits = graph.of_types(FRAME_ENTERS.__contains__), graph.of_types(FRAME_EXITS.__contains__)
    if not enters.any():
        return enters
    order, begin = filed(graph.source, len(graph))
    first, targets = begin.tolist(), graph.target[order].tolist()
    step = (enters.astype(np.int8) - exits.astype(np.int8)).tolist()  # how many loops deeper an output is
    depth = [0] * len(graph)
    # What is behind an Enter is as deep as its deepest input: a constant in the body may have none.
    todo = np.flatnonzero(enters).tolist()
    while todo:
        node = todo.pop()
        inside = min(LOOPS_APART, depth[node] + step[node])
        for user in targets[first[node] : first[node + 1]]:
            if inside > depth[user]:
                depth[user] = inside
                todo.append(user)
    return (np.array(depth) > 0) & ~enters & ~exits
