"""Assemble a `Hierarchy` from a numbered tree and the graph's edges."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from graphviz_tb.algorithms.preorder import Preorder
from graphviz_tb.group.owners import file_edges_by_owner, lowest_common_owners
from graphviz_tb.group.tree import HierarchyTree
from graphviz_tb.model.columns import Bytes, Ints, freeze_array, int32_column
from graphviz_tb.model.graph import Graph
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.notice import Notice


def build_hierarchy(
    graph: Graph,
    tree: HierarchyTree,
    numbered: Preorder,
    functions: list[int],
    template: Ints | None = None,
    connected: Bytes | None = None,
    notices: tuple[Notice, ...] = (),
    ends: tuple[Ints, Ints] | None = None,
) -> Hierarchy:
    """File every edge between ordinary ops under its owner and freeze the table.

    `ends`, if known, are ids of siblings that hold the two ends of each edge; -1 for edges of marks.
    """
    order = numbered.order
    node = int32_column(tree.node[order])
    row_of_node = np.full(len(graph), -1, np.int32)  # -1 remains for nodes that the TensorBoard preset leaves out
    leaves = np.flatnonzero(node >= 0)
    row_of_node[node[leaves]] = leaves
    rows = edge_op_rows(graph, row_of_node) if ends is None else [np.append(numbered.row_of, -1)[end] for end in ends]
    edge_from, edge_to, owner = owned_edge_ends(numbered, *rows)
    edge_order, owner_start = file_edges_by_owner(owner, len(order))
    return Hierarchy(
        graph=graph,
        kind=freeze_array(tree.kind[order]),
        parent=numbered.parent,
        end=numbered.end,
        depth=numbered.depth,
        node=node,
        name=tree.name[order].tolist(),
        template=template if template is not None else int32_column(np.full(len(order), -1)),
        connected=connected if connected is not None else freeze_array(np.zeros(len(order), np.uint8)),
        how=freeze_array(np.zeros(len(order), np.uint8)),
        row_of_node=freeze_array(row_of_node),
        edge_from=freeze_array(edge_from),
        edge_to=freeze_array(edge_to),
        edge_order=edge_order,
        owner_start=owner_start,
        function_rows=tuple(int(numbered.row_of[id]) for id in functions),
        calls=functions_by_call_row(graph, row_of_node, [int(numbered.row_of[id]) for id in functions]),
        notices=notices,
    )


def edge_op_rows(graph: Graph, row_of_node: Ints) -> tuple[Ints, Ints]:
    """Return the rows of the ends of each edge; -1 if an end is a mark."""
    # Marks (constants, summaries, weights) are drawn next to the ops that use them: their edges belong to no level.
    marked = (graph.mark[graph.source] > 0) | (graph.mark[graph.target] > 0)
    return (
        np.where(marked, np.int32(-1), row_of_node[graph.source]),
        np.where(marked, np.int32(-1), row_of_node[graph.target]),
    )


def owned_edge_ends(numbered: Preorder, source: Ints, target: Ints) -> tuple[Ints, Ints, Ints]:
    """Return, for each edge, the owner's children that hold its ends, and the owner; -1 for edges of marks."""
    edge_from, edge_to, owner = (np.full(len(source), -1, np.int32) for _ in range(3))
    held = np.flatnonzero(source >= 0)
    owner[held], edge_from[held], edge_to[held] = lowest_common_owners(
        numbered.parent, numbered.depth, source[held], target[held]
    )
    return edge_from, edge_to, owner


def functions_by_call_row(
    graph: Graph, row_of_node: Ints, function_rows: list[int]
) -> dict[int, tuple[tuple[str, int], ...]]:
    """Return, for each op that calls functions, its attributes and the functions' rows."""
    bodies_of: dict[int, list[tuple[str, int]]] = defaultdict(list)
    for call in graph.calls:
        row = int(row_of_node[call.node])
        if row >= 0:
            bodies_of[row].append((call.attr, function_rows[call.function]))
    return {row: tuple(bodies) for row, bodies in sorted(bodies_of.items())}
