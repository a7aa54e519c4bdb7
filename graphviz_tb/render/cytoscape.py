"""Cytoscape.js JSON: ops inside the groups around them, and their edges."""

from __future__ import annotations

import json
from typing import Any

from graphviz_tb.model.facts import Facts
from graphviz_tb.model.finite import finite
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.render.flat import edges, nodes

# Of nodes. `value` repeats the id, and `key` of an edge its number: networkx reads them.
RESERVED = frozenset(("id", "value", "name", "label", "op", "device", "parent"))


def cytoscape(hierarchy: Hierarchy, facts: Facts) -> bytes:
    """The whole main graph: `cytoscape({elements: …})` takes the field `elements`; `parent` makes compound nodes."""
    listed = [{"data": node_data(node)} for node in nodes(hierarchy, facts, groups=True)]
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
    return (json.dumps(finite(document), ensure_ascii=True, separators=(",", ":")) + "\n").encode()


def node_data(node: Any) -> dict[str, Any]:
    """The data of one node; a fact of a user that is called as one of its own has `fact_` before its name."""
    own = {"id": f"n{node.row}", "value": f"n{node.row}", "name": node.name, "label": node.label, "op": node.op}
    facts = {f"fact_{name}" if name in RESERVED else name: value for name, value in node.given.items()}
    data: dict[str, Any] = {**facts, **own}
    if node.device:
        data["device"] = node.device
    if node.parent:
        data["parent"] = f"n{node.parent}"
    return data
