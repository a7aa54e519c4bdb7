"""Loops of control flow v1: their ops run once in each round, those between what hands a value in and out."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from graphviz_tb.limits import LOOPS_APART
from graphviz_tb.model.columns import filed
from graphviz_tb.model.graph import Graph
from graphviz_tb.ops.roles import FRAME_CONDITIONS, FRAME_ENTERS, FRAME_EXITS

NONE = 0  # the frame of what runs once


def conditions_around(graph: Graph) -> dict[int, tuple[int | None, ...]]:
    """For each node of a loop, its inputs and outputs left out, the conditions of all loops around it, the outermost
    first; None for a loop that has none, or several.

    >>> from graphviz_tb import load
    >>> text = 'node { name: "x" } node { name: "in" op: "Enter" input: "x" } node { name: "y" op: "Relu" input: "in" }'
    >>> graph = load((text + 'node { name: "out" op: "Exit" input: "y" }').encode()).hierarchy.graph
    >>> {graph.name[node]: around for node, around in conditions_around(graph).items()}
    {'y': (None,)}
    """
    enters, exits = graph.of_types(FRAME_ENTERS.__contains__), graph.of_types(FRAME_EXITS.__contains__)
    if not enters.any():
        return {}
    order, begin = filed(graph.source, len(graph))
    first, targets = begin.tolist(), graph.target[order].tolist()
    hands_in, hands_out = enters.tolist(), exits.tolist()
    # A frame is known by the one around it and by its name.
    number: dict[tuple[int, str], int] = {}
    outer, depth = [NONE], [0]
    frame = [NONE] * len(graph)
    todo = np.flatnonzero(enters).tolist()
    while todo:
        node = todo.pop()
        inside = outer[frame[node]] if hands_out[node] else frame[node]
        if hands_in[node] and depth[inside] < LOOPS_APART:
            inside = number.setdefault((inside, frame_name(graph, node)), len(outer))
            if inside == len(outer):
                outer.append(frame[node])
                depth.append(depth[frame[node]] + 1)
        # A node is in the deepest frame of its inputs: a constant in the body may have none.
        for user in targets[first[node] : first[node + 1]]:
            if depth[inside] > depth[frame[user]]:
                frame[user] = inside
                todo.append(user)
    asked: dict[int, list[int]] = defaultdict(list)
    for node in np.flatnonzero(graph.of_types(FRAME_CONDITIONS.__contains__)).tolist():
        asked[frame[node]].append(node)
    around: list[tuple[int | None, ...]] = [()]
    for each in range(1, len(outer)):
        conditions = asked[each]
        around.append((*around[outer[each]], conditions[0] if len(conditions) == 1 else None))
    return {
        node: around[held] for node, held in enumerate(frame) if held and not hands_in[node] and not hands_out[node]
    }


def frame_name(graph: Graph, node: int) -> str:
    """The name that all that hands a value into one loop has."""
    definition = graph.node_def(node)
    name = definition.attr["frame_name"].s if definition is not None and "frame_name" in definition.attr else b""
    return str(name, "utf-8", "replace")
