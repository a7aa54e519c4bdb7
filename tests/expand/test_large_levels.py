"""A level of a hundred thousand lines takes no more for each than a few numbers."""

from __future__ import annotations

import tracemalloc

from graphviz_tb import load
from graphviz_tb.proto import GraphDef

BOXES = 250


def dense() -> GraphDef:
    """Every op feeds every op behind it."""
    names, graph = [chr(97 + at // 26) + chr(97 + at % 26) for at in range(BOXES)], GraphDef()
    for at, name in enumerate(names):
        graph.node.add(name=name, op="AddN", input=names[:at])
    return graph


def test_lines_are_columns() -> None:
    model = load(dense(), folds=False)
    tracemalloc.start()
    level = model.metagraph((0,))
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    lines = BOXES * (BOXES - 1) // 2
    assert len(level.edges) == lines
    assert [edge.carried_tensors.outputs for edge in level.edges[:2]] == [((0, 0),), ((0, 0),)]
    assert [level.edges[at].flat_edges.tolist() for at in (0, 1, lines - 1)] == [[0], [1], [lines - 1]]  # type: ignore[union-attr]
    assert most < 400 * lines  # bytes; with an object for each thing that a line says it is 640
