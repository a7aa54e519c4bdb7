"""GraphML: the ops of the main graph and their edges, as networkx, Gephi and yEd read them."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from typing import Any

from graphviz_tb.model.facts import Facts
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.render.flat import edges, nodes, own_name
from graphviz_tb.render.markup import words

HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
"""
OF_NODES = ("name", "label", "op", "device", "scope")
OF_EDGES = {"output": "string", "input": "int", "control": "boolean", "tensor": "string"}


def graphml(hierarchy: Hierarchy, facts: Facts) -> bytes:
    """Write the whole main graph.

    A node has its name, label, op, device, scope and the user's facts; an edge the output and input that it joins, and
    its tensor. A group with facts is a node without an op.
    """
    given = {own_name(name): facts.given.numeric(name) for name in facts.given.names} if facts.given is not None else {}
    text = BytesIO()
    text.write(HEAD.encode())
    for number, name in enumerate(OF_NODES):
        text.write(key(f"d{number}", "node", name, "string"))
    for number, (name, numeric) in enumerate(given.items()):
        text.write(key(f"f{number}", "node", name, "double" if numeric else "string"))
    for number, (name, kind) in enumerate(OF_EDGES.items()):
        text.write(key(f"e{number}", "edge", name, kind))
    text.write(b'<graph edgedefault="directed">\n')
    for line in (*node_lines(hierarchy, facts, list(given)), *edge_lines(hierarchy, facts)):
        text.write(line.encode("utf-8", "replace"))
    text.write(b"</graph>\n</graphml>\n")
    return text.getvalue()


def key(name: str, of: str, called: str, kind: str) -> bytes:
    """Return the declaration of an attribute."""
    return f'<key id="{name}" for="{of}" attr.name="{words(called)}" attr.type="{kind}"/>\n'.encode("utf-8", "replace")


def node_lines(hierarchy: Hierarchy, facts: Facts, given: list[str]) -> Iterator[str]:
    """Yield one element for each op, and each group with facts."""
    for node in nodes(hierarchy, facts, groups=False):
        scope = hierarchy.name[node.parent]
        values = zip(("d0", "d1", "d2", "d3", "d4"), (node.name, node.label, node.op, node.device, scope), strict=True)
        own = ((f"f{number}", node.given[name]) for number, name in enumerate(given) if name in node.given)
        yield f'<node id="n{node.row}">{datas((*values, *own))}</node>\n'


def edge_lines(hierarchy: Hierarchy, facts: Facts) -> Iterator[str]:
    """Yield one element for each edge."""
    for number, edge in enumerate(edges(hierarchy, facts)):
        told = datas(
            (("e0", edge.output), ("e1", edge.slot), ("e2", str(edge.control).lower()), ("e3", edge.tensor)),
        )
        yield f'<edge id="w{number}" source="n{edge.source}" target="n{edge.target}">{told}</edge>\n'


def datas(pairs: tuple[tuple[str, Any], ...]) -> str:
    """Return the values of an element, without empty ones."""
    return "".join(f'<data key="{name}">{words(str(value))}</data>' for name, value in pairs if value != "")
