"""One open group as a `networkx.DiGraph`, for your own algorithms."""

from __future__ import annotations

from typing import Any

import networkx

from graphviz_tb.model.hierarchy import Hierarchy, RowKind
from graphviz_tb.model.metagraph import Metagraph
from graphviz_tb.render.json import JSON_KINDS


def to_networkx(hierarchy: Hierarchy, metagraph: Metagraph) -> networkx.DiGraph[int]:
    """Return the children of a group as nodes (by row), its metaedges as edges.

    Nodes have `name`, `kind`, `op` (None for groups) and `ops` (the number inside); edges have `tensors`, `control`,
    `reference` and `size`. Nothing is left out: children in the auxiliary area are nodes with their edges.

    >>> from graphviz_tb import load
    >>> model = load(b'node { name: "a" op: "Relu" } node { name: "b" op: "Add" input: "a" }')
    >>> graph = to_networkx(model.hierarchy, model.metagraph())
    >>> [graph.nodes[node]["name"] for node in networkx.topological_sort(graph)]
    ['a', 'b']
    """
    graph: networkx.DiGraph[int] = networkx.DiGraph(name=hierarchy.name[metagraph.row])
    for row in metagraph.children:
        graph.add_node(row, **_networkx_attributes(hierarchy, row))
    for edge in metagraph.edges:
        if edge.writes:  # no edge of the file
            continue
        graph.add_edge(
            metagraph.children[edge.source],
            metagraph.children[edge.target],
            tensors=edge.tensors,
            control=edge.control,
            reference=edge.reference,
            size=edge.carried_tensors.element_count(),
        )
    return graph


def _networkx_attributes(hierarchy: Hierarchy, row: int) -> dict[str, Any]:
    node = int(hierarchy.node[row])
    return {
        "name": hierarchy.name[row],
        "kind": "call" if row in hierarchy.calls else JSON_KINDS[RowKind(hierarchy.kind[row])],
        "op": hierarchy.graph.op_types[hierarchy.graph.op[node]] if node >= 0 else None,
        "ops": hierarchy.op_count(row),
    }
