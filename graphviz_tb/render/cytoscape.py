"""Cytoscape.js JSON: ops inside the groups around them, and their edges."""

from __future__ import annotations

from typing import Any

from graphviz_tb.model.facts import Facts
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.render.flat import FlatNode, edges, encoded, nodes


def cytoscape(hierarchy: Hierarchy, facts: Facts) -> bytes:
    """Write the whole main graph: `cytoscape({elements: …})` takes the field `elements`; `parent` makes compound
    nodes."""
    listed = [{"data": data_of(node)} for node in nodes(hierarchy, facts, groups=True)]
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
        for number, edge in enumerate(edges(hierarchy, facts))
    ]
    document = {
        "data": {"name": "tbgraph"},
        "directed": True,
        "multigraph": True,
        "elements": {"nodes": listed, "edges": lines},
    }
    return encoded(document)


def data_of(node: FlatNode) -> dict[str, Any]:
    """Return the data of one node."""
    own = {"id": f"n{node.row}", "value": f"n{node.row}", "name": node.name, "label": node.label, "op": node.op}
    data: dict[str, Any] = {**node.given, **own}
    if node.device:
        data["device"] = node.device
    if node.parent:
        data["parent"] = f"n{node.parent}"
    return data
