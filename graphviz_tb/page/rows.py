"""Rows of the hierarchy as columns: the source of every name, address, count and search in the viewer."""

from __future__ import annotations

import numpy as np

from graphviz_tb.graphs.calls import OpCounter
from graphviz_tb.model.columns import Longs
from graphviz_tb.model.hierarchy import SCOPE_ROW, Hierarchy
from graphviz_tb.page.blocks import TextTable

ROW_COLUMNS = ("kind", "parent", "end", "name", "ops", "op", "device", "mark", "node", "template")


def row_columns(hierarchy: Hierarchy, words: TextTable) -> Longs:
    """Return the columns one after the other, each with one number per row.

    `name` is twice the number of a text, plus 1 if the text continues the name of the enclosing scope; `ops` counts
    through calls (-1: infinite); `op` and `device` are texts.
    """
    graph, rows = hierarchy.graph, range(len(hierarchy))
    # One more for rows that are not ops: their number is -1, the last.
    types, devices = (np.array([*map(words, texts), 0], np.int64) for texts in (graph.op_types, graph.devices))
    through = OpCounter(hierarchy)
    op, device = (np.append(column, -1)[hierarchy.node] for column in (graph.op, graph.device))
    counted = np.fromiter((-1 if (count := through(row)) is None else count for row in rows), np.int64, len(rows))
    return np.concatenate(
        (
            hierarchy.kind,
            hierarchy.parent,
            hierarchy.end,
            np.array(_shortened_names(hierarchy, words), np.int64),
            counted,
            types[op],
            devices[device],
            hierarchy.mark,
            hierarchy.node,
            hierarchy.template,
        )
    )


def _shortened_names(hierarchy: Hierarchy, words: TextTable) -> list[int]:
    """Return the name of each row, without the part that the enclosing scope has."""
    parent, kind, name = hierarchy.parent.tolist(), hierarchy.kind.tolist(), hierarchy.name
    # Rows are in preorder: an enclosing row comes first.
    base = [-1] * len(name)  # the scope around each row
    names = []
    for row, above in enumerate(parent):
        if above > 0:
            base[row] = above if kind[above] == SCOPE_ROW else base[above]
        scope = base[row]
        inside = scope > 0 and name[row].startswith(name[scope] + "/")
        names.append(2 * words(name[row][len(name[scope]) + 1 :]) + 1 if inside else 2 * words(name[row]))
    return names


def call_entries(hierarchy: Hierarchy) -> list[list[object]]:
    """Return each row that opens to functions, with the attributes that name them and their rows."""
    return [[row, [[attr, body] for attr, body in bodies]] for row, bodies in sorted(hierarchy.calls.items())]
