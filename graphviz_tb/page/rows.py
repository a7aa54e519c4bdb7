"""Rows of the hierarchy as columns: what every name, address, count and search needs."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain

from graphviz_tb.algorithms.calls import OpsThroughCalls
from graphviz_tb.model.hierarchy import SCOPE, Hierarchy
from graphviz_tb.page.blocks import Words

COLUMNS = ("kind", "parent", "end", "name", "ops", "op", "device", "mark", "node", "template")


def columns(hierarchy: Hierarchy, words: Words) -> Iterable[int]:
    """The columns, one after the other, each as long as there are rows.

    `name` is twice the number of a text, and one more where the text continues the name of the scope around it; `ops`
    counts through calls (-1: without end); `op` and `device` are texts.
    """
    graph, rows = hierarchy.graph, range(len(hierarchy))
    types, devices = [words(name) for name in graph.op_types], [words(name) for name in graph.devices]
    through = OpsThroughCalls(hierarchy)
    nodes = hierarchy.node.tolist()
    counted = (through(row) for row in rows)
    return chain(
        hierarchy.kind.tolist(),
        hierarchy.parent.tolist(),
        hierarchy.end.tolist(),
        names(hierarchy, words),
        (-1 if count is None else count for count in counted),
        (types[graph.op[node]] if node >= 0 else 0 for node in nodes),
        (devices[graph.device[node]] if node >= 0 and graph.device[node] >= 0 else 0 for node in nodes),
        hierarchy.mark.tolist(),
        nodes,
        hierarchy.template.tolist(),
    )


def names(hierarchy: Hierarchy, words: Words) -> list[int]:
    """The name of each row, shortened by that of the scope around it."""
    parent, kind, name = hierarchy.parent.tolist(), hierarchy.kind.tolist(), hierarchy.name
    # Rows are in preorder: what is around a row comes before it.
    base = [-1] * len(name)  # the scope around each row
    names = []
    for row, above in enumerate(parent):
        if above > 0:
            base[row] = above if kind[above] == SCOPE else base[above]
        scope = base[row]
        inside = scope > 0 and name[row].startswith(name[scope] + "/")
        names.append(2 * words(name[row][len(name[scope]) + 1 :]) + 1 if inside else 2 * words(name[row]))
    return names


def calls(hierarchy: Hierarchy) -> list[list[object]]:
    """Each row that opens to functions, with the attributes that name them and their rows."""
    return [[row, [[attr, body] for attr, body in bodies]] for row, bodies in sorted(hierarchy.calls.items())]
