"""Depth costs what it holds, not its square: calls in calls, scopes in scopes."""

from __future__ import annotations

import json
import time

import pytest

from graphviz_tb import diff, load
from graphviz_tb.expand.bridges import crossings_fit_memory
from graphviz_tb.proto import GraphDef
from tests.timing import within


def calls(levels: int, each: int) -> GraphDef:
    """f0 calls f1 `each` times, f1 calls f2 …"""
    graph = GraphDef()
    for level in range(levels):
        function = graph.library.function.add()
        function.signature.name = f"f{level}"
        for number in range(each):
            function.node_def.add(name=f"c{number}", op=f"f{level + 1}" if level + 1 < levels else "Neg")
    graph.node.add(name="top", op="f0")
    return graph


@pytest.mark.slow
@pytest.mark.parametrize(("levels", "each"), [(600, 1), (200, 2), (50, 40)])
def test_everything_open_in_calls_of_calls(levels: int, each: int) -> None:
    model = load(calls(levels, each))
    start = time.process_time()
    picture = model.picture(open_all=True)
    assert within(time.process_time() - start, 8)
    assert len(picture.scene.boxes) == (levels + 1 if each == 1 else len(picture.scene.boxes))
    assert len(picture.scene.boxes) <= 5000
    assert bool(picture.notices) == (each > 1)  # 2^200 boxes are not counted out


@pytest.mark.slow
def test_a_name_of_a_hundred_thousand_segments() -> None:
    """Each scope holds the names of those around it: 10 GB, were they all made."""
    name = "/".join("s" * 100_000)
    model = load(GraphDef(node=[{"name": name, "op": "A"}, {"name": "y", "op": "B", "input": [name]}]))
    assert any(notice.code == "deep-names" for notice in model.notices)
    assert sum(map(len, model.hierarchy.name)) < 400 << 20
    assert model.hierarchy.op_count(0) == 2
    assert model.picture().scene.boxes


@pytest.mark.slow
def test_diff_of_names_thousands_deep() -> None:
    old = GraphDef(node=[{"name": "/".join("s" * 3000), "op": "A"}])
    new = GraphDef(node=[{"name": "/".join("s" * 3000), "op": "B"}, {"name": "z", "op": "C"}])
    changes = diff(old, new)
    assert len(list(changes)) >= 2  # the op, as one exchange or as what went and came, and the new one
    assert changes.picture().render("svg")


@pytest.mark.slow
def test_thousands_of_edges_that_lead_a_thousand_groups_deep() -> None:
    """Each group finds its own lines, and what these carry is kept once: gigabytes, were all found together."""
    deep, inputs = "/".join("s" * 700), [f"x{number}" for number in range(12_000)]
    graph = GraphDef(node=[{"name": name, "op": "A"} for name in inputs])
    graph.node.add(name=f"{deep}/y", op="B", input=inputs)
    model = load(graph)
    assert not crossings_fit_memory(model.hierarchy)
    start = time.process_time()
    model.expander.bundle_all_levels()
    rows = [
        row for row, name in enumerate(model.hierarchy.name) if name.startswith("s") and model.hierarchy.can_open(row)
    ]
    levels = [model.expander.metagraph((row,)) for row in rows]
    carried = [line.carried_tensors for level in levels for line in level.bridges]
    assert all(each.known_size(enough=1) is None for each in carried)
    assert 10 * len(set(map(id, carried))) < len(carried)
    assert within(time.process_time() - start, 15)


@pytest.mark.slow
@pytest.mark.parametrize("segment", ["é", "\N{GRINNING FACE}", "\x07"])
def test_letters_that_take_more_room_are_fewer(segment: str) -> None:
    """JSON writes them as escapes of six letters, and memory has two or four bytes for each."""
    name = "/".join([segment] * 30_000)
    names = load(GraphDef(node=[{"name": name, "op": "A"}])).hierarchy.name
    assert sum(len(json.dumps(each)) for each in names) < 400 << 20


@pytest.mark.slow
def test_lines_of_control_that_lead_thousands_of_groups_deep() -> None:
    """The level where both ends are seen is looked for once, not from each group anew."""
    deep = "/".join("s" * 2000)
    graph = GraphDef(node=[{"name": f"x{number}", "op": "A"} for number in range(4)])
    for depth in range(1, 2000):  # a scope with an op of its own has a frame of its own
        graph.node.add(name=f"{deep[: 2 * depth - 1]}/w", op="W")
    graph.node.add(name=f"{deep}/y", op="B", input=[f"^x{number}" for number in range(4)])
    graph.node.add(name=f"{deep}/z", op="B", input=[f"{deep}/y"])
    model = load(graph)
    start = time.process_time()
    picture = model.picture(open_all=True)
    assert within(time.process_time() - start, 6)
    assert sum(box.open for box in picture.scene.boxes) == 2000
