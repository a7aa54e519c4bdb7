"""The colours of a diff take time by what is drawn beside boxes, not by that times the edges of the file."""

from __future__ import annotations

import pytest

from graphviz_tb.diff import diff
from graphviz_tb.diff.picture.overlay import Both
from graphviz_tb.diff.picture.rows import FlatEdgeIndex
from graphviz_tb.options import PictureOptions
from graphviz_tb.proto import GraphDef
from tests.conftest import cpu_seconds


def weights_of_one_op(count: int) -> GraphDef:
    names = [f"w{number}" for number in range(count)]
    graph = GraphDef(node=[{"name": "sum", "op": "AddN", "input": names}])
    for name in names:
        graph.node.add(name=name, op="VariableV2")
    return graph


def seconds(count: int) -> float:
    both = Both(diff(b'node { name: "x" op: "Relu" }', weights_of_one_op(count)))
    drawn = both.picture(PictureOptions())
    (stub,) = (stub for stub in drawn.scene.stubs if len(stub.identities) > 1)
    lines = FlatEdgeIndex(both.model.hierarchy, drawn.view, both.overlay("light").edges)
    assert lines.stub(drawn.scene, stub) == {1}
    return cpu_seconds(lambda: FlatEdgeIndex(both.model.hierarchy, drawn.view, lines.states).stub(drawn.scene, stub))


@pytest.mark.slow
def test_edges_of_many_weights_are_not_looked_for_among_all() -> None:
    assert seconds(16_000) < 32 * seconds(2_000)  # eight times as many: 64 times the seconds, were they looked for
