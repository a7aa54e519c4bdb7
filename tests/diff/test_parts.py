"""The parts of a chain in the order in which data runs through them."""

from __future__ import annotations

from graphviz_tb.diff.changes.places import sort_parts_by_flow
from graphviz_tb.diff.columns.side import GraphColumns
from graphviz_tb.model.change import Change, NodeEdits
from graphviz_tb.model.change_content import Unit
from graphviz_tb.options import DiffOptions
from graphviz_tb.proto import GraphDef
from tests.each import each
from tests.flat import flatten


def order(nodes: str) -> str:
    """The order of ops that came, each a part of its own: `b:ac` is an op b with inputs a and c, `k=` a constant."""
    message = GraphDef()
    for word in nodes.split():
        name, _, inputs = word.partition(":")
        op = "Const" if "=" in name else "Relu"
        message.node.add(name=name.removesuffix("="), op=op, input=list(inputs))
    graph = flatten(message)
    parts = [
        Change("added", "op", None, name, 1, Unit(), edits=NodeEdits(added=(number,)))
        for number, name in enumerate(graph.name)
    ]
    return "".join(str(part.new) for part in sort_parts_by_flow(GraphColumns(graph, DiffOptions()), parts))


@each(
    ("nodes", "expected"),
    [
        ("a:c b:a c", "cab"),  # c ─▶ a ─▶ b
        ("d c b a", "abcd"),  # by themselves: by name
        ("z a:z b", "bza"),  # z ─▶ a: b, by itself, is before z by name
        ("a= c:a b:c", "cba"),  # a constant a ─▶ c ─▶ b: last, though it feeds the first
        ("d:c c:d a:c b:d", "abcd"),  # c ⇄ d, and what they feed: nothing is ready, the first by name goes on
        ("b:d c:b d:c e x:e", "exbcd"),  # b ─▶ c ─▶ d ─▶ b, beside e ─▶ x
    ],
)
def test_parts_follow_the_data(nodes: str, expected: str) -> None:
    assert order(nodes) == expected
