"""GraphML: the ops of the main graph and their edges, as networkx, Gephi and yEd read them."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from typing import Any

from graphviz_tb.model.facts import Facts
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.render.flat import fact_field, flat_edges, flat_nodes
from graphviz_tb.render.markup import escape_text

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
        {fact_field(name): facts.given.is_numeric(name) for name in facts.given.column_names}
        if facts.given is not None
        else {}
    )
    text = BytesIO()
    text.write(GRAPHML_HEAD.encode())
    for number, name in enumerate(NODE_FIELDS):
        text.write(key_element(f"d{number}", "node", name, "string"))
    for number, (name, numeric) in enumerate(given.items()):
        text.write(key_element(f"f{number}", "node", name, "double" if numeric else "string"))
    for number, (name, kind) in enumerate(EDGE_FIELDS.items()):
        text.write(key_element(f"e{number}", "edge", name, kind))
    text.write(b'<graph edgedefault="directed">\n')
    for line in (*node_elements(hierarchy, facts, list(given)), *edge_elements(hierarchy, facts)):
        text.write(line.encode("utf-8", "replace"))
    text.write(b"</graph>\n</graphml>\n")
    return text.getvalue()


def key_element(name: str, of: str, called: str, kind: str) -> bytes:
    """Return the declaration of an attribute."""
    return f'<key id="{name}" for="{of}" attr.name="{escape_text(called)}" attr.type="{kind}"/>\n'.encode(
        "utf-8", "replace"
    )


def node_elements(hierarchy: Hierarchy, facts: Facts, given: list[str]) -> Iterator[str]:
    """Yield one element for each op, and each group with facts."""
    for node in flat_nodes(hierarchy, facts, groups=False):
        scope = hierarchy.name[node.parent]
        values = zip(("d0", "d1", "d2", "d3", "d4"), (node.name, node.label, node.op, node.device, scope), strict=True)
        own = ((f"f{number}", node.given[name]) for number, name in enumerate(given) if name in node.given)
        yield f'<node id="n{node.row}">{data_elements((*values, *own))}</node>\n'


def edge_elements(hierarchy: Hierarchy, facts: Facts) -> Iterator[str]:
    """Yield one element for each edge."""
    for number, edge in enumerate(flat_edges(hierarchy, facts)):
        told = data_elements(
            (("e0", edge.output), ("e1", edge.slot), ("e2", str(edge.control).lower()), ("e3", edge.tensor)),
        )
        yield f'<edge id="w{number}" source="n{edge.source}" target="n{edge.target}">{told}</edge>\n'


def data_elements(pairs: tuple[tuple[str, Any], ...]) -> str:
    """Return the values of an element, without empty ones."""
    return "".join(f'<data key="{name}">{escape_text(str(value))}</data>' for name, value in pairs if value != "")
