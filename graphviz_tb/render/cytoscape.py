"""Cytoscape.js JSON: ops inside the groups around them, and their edges."""

from __future__ import annotations

from typing import Any

from graphviz_tb.model.facts import Facts
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.render.flat import FlatNode, encode_document, flat_edges, flat_nodes


def cytoscape_json(hierarchy: Hierarchy, facts: Facts) -> bytes:
    """Write the whole main graph: `cytoscape({elements: …})` takes the field `elements`; `parent` makes compound
    nodes."""
    listed = [{"data": cytoscape_data(node)} for node in flat_nodes(hierarchy, facts, groups=True)]
    lines = [
        {
            "data": {
                "id": f"w{number}",
                "key": number,
                "source": f"n{edge.source}",
                "target": f"n{edge.target}",
                "output": edge.output,
                "input": edge.slot,
                "control": edge.control,
                "tensor": edge.tensor,
            }
        }
        for number, edge in enumerate(flat_edges(hierarchy, facts))
    ]
    document = {
        "data": {"name": "tbgraph"},
        "directed": True,
        "multigraph": True,
        "elements": {"nodes": listed, "edges": lines},
    }
    return encode_document(document)


def cytoscape_data(node: FlatNode) -> dict[str, Any]:
    """Return the data of one node."""
    own = {"id": f"n{node.row}", "value": f"n{node.row}", "name": node.name, "label": node.label, "op": node.op}
    data: dict[str, Any] = {**node.given, **own}
    if node.device:
        data["device"] = node.device
    if node.parent:
        data["parent"] = f"n{node.parent}"
    return data
