"""Formats of other tools: Cytoscape.js, GraphML, Model Explorer; the ops and edges of the main graph one by one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from io import BytesIO
from typing import Any

import numpy as np

from graphviz_tb.model.facts import Facts
from graphviz_tb.model.formatting import replace_non_finite
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.measure import replace_unsafe_characters
from graphviz_tb.model.tensors import shape_text
from graphviz_tb.render.svg import escape_text

# Fields of nodes in the formats. `value` repeats the id, and `key` an edge's number: networkx reads them.
RESERVED_FIELDS = frozenset(("id", "value", "name", "label", "op", "device", "scope", "parent"))


@dataclass(frozen=True, slots=True)
class FlatNode:
    """An op, or a group if `op` is "": its row, the row of the group around it (0: none), and its fields.

    `label` is the name on its box; `given` are the user's facts by column, with `fact_` before the names of fields.
    """

    row: int
    parent: int
    name: str
    label: str
    op: str
    device: str
    given: dict[str, Any]


@dataclass(frozen=True, slots=True)
class FlatEdge:
    """An edge from output `output` of the op at row `source` to input `slot` of that at `target` (-1: control), and the
    shape and dtype that it carries, "" if unknown."""

    source: int
    target: int
    output: str
    slot: int
    control: bool
    tensor: str


def _flat_nodes(hierarchy: Hierarchy, facts: Facts, groups: bool) -> Iterator[FlatNode]:
    """Yield the ops of the main graph in the order of its tree, with all `groups` or only those with facts."""
    graph = hierarchy.graph
    given = facts.given
    for row in range(1, int(hierarchy.end[0])):
        node = int(hierarchy.node[row])
        values = (
            {_fact_field(name): value for name, value in given.values_of_row(row).items()} if given is not None else {}
        )
        if node < 0 and not groups and not values:
            continue
        op = graph.op_types[graph.op[node]] if node >= 0 else ""
        device = graph.devices[graph.device[node]] if node >= 0 and graph.device[node] >= 0 else ""
        parent = max(0, int(hierarchy.parent[row]))
        yield FlatNode(
            row,
            parent,
            replace_unsafe_characters(hierarchy.name[row]),
            replace_unsafe_characters(hierarchy.display_label(row)),
            op,
            device,
            values,
        )


def _fact_field(column: str) -> str:
    """Rename a column of facts that has the name of a field of the format.

    >>> _fact_field("latency"), _fact_field("op")
    ('latency', 'fact_op')
    """
    return f"fact_{column}" if column in RESERVED_FIELDS else column


def _encode_document(document: Any) -> bytes:
    """Return a JSON document as a file; non-finite numbers become texts."""
    return (json.dumps(replace_non_finite(document), ensure_ascii=True, separators=(",", ":")) + "\n").encode()


def flat_edges(hierarchy: Hierarchy, facts: Facts) -> Iterator[FlatEdge]:
    """Yield the edges between ops of the main graph, by target and input."""
    graph = hierarchy.graph
    source, target = hierarchy.row_of_node[graph.source], hierarchy.row_of_node[graph.target]
    end = int(hierarchy.end[0])
    kept = np.flatnonzero((source > 0) & (target > 0) & (source < end) & (target < end))
    for edge in kept[np.lexsort((graph.slot[kept], target[kept]))].tolist():
        control = bool(graph.control[edge])
        output = graph.keys[graph.key[edge]]
        yield FlatEdge(
            int(source[edge]),
            int(target[edge]),
            "" if control else replace_unsafe_characters(output),
            -1 if control else int(graph.slot[edge]),
            control,
            "" if control else _tensor_text(facts, int(graph.source[edge]), int(graph.key[edge])),
        )


def _tensor_text(facts: Facts, node: int, key: int) -> str:
    """Return the shape and dtype of an output, "" if both are unknown."""
    tensor = facts.tensor(node, key)
    shape = "" if tensor.shape is None else shape_text(tensor.shape) or "scalar"
    return " ".join(filter(None, (shape, tensor.dtype or "")))


# Cytoscape.js JSON: ops inside the groups around them, and their edges.


def cytoscape_json(hierarchy: Hierarchy, facts: Facts) -> bytes:
    """Write the whole main graph: `cytoscape({elements: …})` takes the field `elements`; `parent` makes compound
    nodes."""
    listed = [{"data": _cytoscape_data(node)} for node in _flat_nodes(hierarchy, facts, groups=True)]
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
    return _encode_document(document)


def _cytoscape_data(node: FlatNode) -> dict[str, Any]:
    own = {"id": f"n{node.row}", "value": f"n{node.row}", "name": node.name, "label": node.label, "op": node.op}
    data: dict[str, Any] = {**node.given, **own}
    if node.device:
        data["device"] = node.device
    if node.parent:
        data["parent"] = f"n{node.parent}"
    return data


# GraphML: the ops of the main graph and their edges, as networkx, Gephi and yEd read them.

GRAPHML_HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
"""
NODE_FIELDS = ("name", "label", "op", "device", "scope")
EDGE_FIELDS = {"output": "string", "input": "int", "control": "boolean", "tensor": "string"}


def graphml_text(hierarchy: Hierarchy, facts: Facts) -> bytes:
    """Write the whole main graph.

    A node has its name, label, op, device, scope and the user's facts; an edge the output and input that it joins, and
    its tensor. A group with facts is a node without an op.
    """
    given = (
        {_fact_field(name): facts.given.is_numeric(name) for name in facts.given.column_names}
        if facts.given is not None
        else {}
    )
    text = BytesIO()
    text.write(GRAPHML_HEAD.encode())
    for number, name in enumerate(NODE_FIELDS):
        text.write(_key_element(f"d{number}", "node", name, "string"))
    for number, (name, numeric) in enumerate(given.items()):
        text.write(_key_element(f"f{number}", "node", name, "double" if numeric else "string"))
    for number, (name, kind) in enumerate(EDGE_FIELDS.items()):
        text.write(_key_element(f"e{number}", "edge", name, kind))
    text.write(b'<graph edgedefault="directed">\n')
    for line in (*_node_elements(hierarchy, facts, list(given)), *_edge_elements(hierarchy, facts)):
        text.write(line.encode("utf-8", "replace"))
    text.write(b"</graph>\n</graphml>\n")
    return text.getvalue()


def _key_element(name: str, of: str, called: str, kind: str) -> bytes:
    """Return the declaration of an attribute."""
    return f'<key id="{name}" for="{of}" attr.name="{escape_text(called)}" attr.type="{kind}"/>\n'.encode(
        "utf-8", "replace"
    )


def _node_elements(hierarchy: Hierarchy, facts: Facts, given: list[str]) -> Iterator[str]:
    """Yield one element for each op, and each group with facts."""
    for node in _flat_nodes(hierarchy, facts, groups=False):
        scope = hierarchy.name[node.parent]
        values = zip(("d0", "d1", "d2", "d3", "d4"), (node.name, node.label, node.op, node.device, scope), strict=True)
        own = ((f"f{number}", node.given[name]) for number, name in enumerate(given) if name in node.given)
        yield f'<node id="n{node.row}">{_data_elements((*values, *own))}</node>\n'


def _edge_elements(hierarchy: Hierarchy, facts: Facts) -> Iterator[str]:
    for number, edge in enumerate(flat_edges(hierarchy, facts)):
        data = _data_elements(
            (("e0", edge.output), ("e1", edge.slot), ("e2", str(edge.control).lower()), ("e3", edge.tensor)),
        )
        yield f'<edge id="w{number}" source="n{edge.source}" target="n{edge.target}">{data}</edge>\n'


def _data_elements(pairs: tuple[tuple[str, Any], ...]) -> str:
    """Return the values of an element, without empty ones."""
    return "".join(f'<data key="{name}">{escape_text(str(value))}</data>' for name, value in pairs if value != "")


# Model Explorer's JSON: a graph that it opens, and its node data, the user's facts.

GRAPH_ID = "main"  # the id of the graph, which node data refer to


def model_explorer_json(hierarchy: Hierarchy, facts: Facts, label: str) -> bytes:
    """Return the main graph as a graph collection; a namespace is the scope of a name, an id the name of an op."""
    listed: dict[int, dict[str, Any]] = {}
    groups: dict[str, dict[str, str]] = {}
    for node in _flat_nodes(hierarchy, facts, groups=False):
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
        listed[edge.target]["incomingEdges"].append(_incoming_edge(edge, output, listed[edge.source]["id"]))
        if edge.tensor:
            outputs.setdefault(edge.source, {})[output] = edge.tensor
    for row, tensors in outputs.items():
        listed[row]["outputsMetadata"] = [
            {"id": output, "attrs": [{"key": "tensor_shape", "value": tensor}]} for output, tensor in tensors.items()
        ]
    graph: dict[str, Any] = {"id": GRAPH_ID, "nodes": list(listed.values())}
    if groups:
        graph["groupNodeAttributes"] = groups
    return _encode_document({"label": label or "graph", "graphs": [graph]})


def _incoming_edge(edge: FlatEdge, output: str, source: str) -> dict[str, str]:
    """Return one edge in the form of its target."""
    slot = "control" if edge.control else str(edge.slot)
    return {"sourceNodeId": source, "sourceNodeOutputId": output, "targetNodeInputId": slot}


def node_data_json(hierarchy: Hierarchy, facts: Facts) -> bytes:
    """Return the facts that colour the graph, or FLOPs if none were given, as node data for the graph above."""
    given, costs = facts.given, facts.cost() if facts.cost is not None and facts.given is None else None
    name = "FLOPs" if given is None else given.shown
    results: dict[str, dict[str, Any]] = {}
    for node in _flat_nodes(hierarchy, facts, groups=False):
        value = costs.under(node.row).flops if costs is not None else node.given.get(_fact_field(name))
        if value is not None:
            results[node.name] = {"value": value}
    return _encode_document({GRAPH_ID: {"name": name, "results": results}})
