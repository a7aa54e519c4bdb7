"""Model Explorer's JSON: a graph that it opens, and its node data, the user's facts."""

from __future__ import annotations

from typing import Any

from graphviz_tb.model.facts import Facts
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.render.flat import FlatEdge, encode_document, fact_field, flat_edges, flat_nodes

GRAPH_ID = "main"  # the id of the graph, which node data refer to


def model_explorer_json(hierarchy: Hierarchy, facts: Facts, label: str) -> bytes:
    """Return the main graph as a graph collection; a namespace is the scope of a name, an id the name of an op."""
    listed: dict[int, dict[str, Any]] = {}
    groups: dict[str, dict[str, str]] = {}
    for node in flat_nodes(hierarchy, facts, groups=False):
        scope = "/".join(hierarchy.display_label(row) for row in hierarchy.ancestors(node.row)[1:])
        if hierarchy.node[node.row] < 0:
            namespace = f"{scope}/{hierarchy.display_label(node.row)}".removeprefix("/")
            groups[namespace] = {key: str(value) for key, value in node.given.items()}
            continue
        attrs = {"op": node.op, **({"device": node.device} if node.device else {}), **node.given}
        listed[node.row] = {
            "id": node.name,
            "label": node.op or node.label,
            "namespace": scope,
            "attrs": [{"key": key, "value": str(value)} for key, value in attrs.items()],
            "incomingEdges": [],
            "outputsMetadata": [],
        }
    outputs: dict[int, dict[str, str]] = {}
    for edge in flat_edges(hierarchy, facts):
        output = "control" if edge.control else edge.output or "0"
        listed[edge.target]["incomingEdges"].append(incoming_edge(edge, output, listed[edge.source]["id"]))
        if edge.tensor:
            outputs.setdefault(edge.source, {})[output] = edge.tensor
    for row, told in outputs.items():
        listed[row]["outputsMetadata"] = [
            {"id": output, "attrs": [{"key": "tensor_shape", "value": tensor}]} for output, tensor in told.items()
        ]
    graph: dict[str, Any] = {"id": GRAPH_ID, "nodes": list(listed.values())}
    if groups:
        graph["groupNodeAttributes"] = groups
    return encode_document({"label": label or "graph", "graphs": [graph]})


def incoming_edge(edge: FlatEdge, output: str, source: str) -> dict[str, str]:
    """Return one edge in the form of its target."""
    slot = "control" if edge.control else str(edge.slot)
    return {"sourceNodeId": source, "sourceNodeOutputId": output, "targetNodeInputId": slot}


def node_data_json(hierarchy: Hierarchy, facts: Facts) -> bytes:
    """Return the facts that colour the graph, or FLOPs if none were given, as node data for the graph above."""
    given, costs = facts.given, facts.cost() if facts.cost is not None and facts.given is None else None
    name = "FLOPs" if given is None else given.shown
    results: dict[str, dict[str, Any]] = {}
    for node in flat_nodes(hierarchy, facts, groups=False):
        value = costs.under(node.row).flops if costs is not None else node.given.get(fact_field(name))
        if value is not None:
            results[node.name] = {"value": value}
    return encode_document({GRAPH_ID: {"name": name, "results": results}})
