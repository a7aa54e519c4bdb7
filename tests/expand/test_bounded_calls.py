"""What a call has many of does not multiply when it is open: functions, inputs, constants, results, readers."""

from __future__ import annotations

import tracemalloc

import pytest

import graphviz_tb
from graphviz_tb.expand import bridges
from graphviz_tb.proto import GraphDef
from tests.timing import seconds


def chosen(branches: int, inputs: int) -> GraphDef:
    """Inputs ─▶ a call of one of so many functions, which take none of them."""
    graph = GraphDef(node=[{"name": f"x{number}", "op": "A"} for number in range(inputs)])
    graph.node.add(name="call", op="Case", input=["x0", *(f"x{number}" for number in range(inputs))])
    for number in range(branches):
        graph.node[-1].attr["branches"].list.func.add(name=f"f{number}")
        function = graph.library.function.add()
        function.signature.name = f"f{number}"
        function.node_def.add(name="k", op="A")
    return graph


@pytest.mark.slow
def test_many_branches_of_many_inputs() -> None:
    model = graphviz_tb.load(chosen(5_000, 5_000))
    with seconds(12):
        assert len(model.render("html")) < 5e6


def test_a_function_of_a_call_is_called_by_the_first_attribute_that_names_it() -> None:
    graph = GraphDef(node=[{"name": "call", "op": "If"}])
    for attr in ("then_branch", "else_branch"):
        graph.node[0].attr[attr].func.name = "f"
    graph.node[0].attr["other"].func.name = "g"
    for name in "fg":
        function = graph.library.function.add()
        function.signature.name = name
        function.node_def.add(name="k", op="A")
    boxes = graphviz_tb.load(graph).picture(open_all=True).scene.boxes
    inside = ["call::else_branch", "call::other", "call::else_branch/k", "call::other/k"]
    assert [box.address for box in boxes][1:] == inside


def dataset(results: int, readers: int) -> GraphDef:
    """x ─▶ a dataset whose function gives so many results ─▶ so many that read it"""
    graph = GraphDef(node=[{"name": "x", "op": "A"}, {"name": "call", "op": "MapDataset", "input": ["x"]}])
    graph.node[1].attr["f"].func.name = "f"
    graph.node[1].attr["Targuments"].list.SetInParent()
    function = graph.library.function.add()
    function.signature.name = "f"
    function.signature.input_arg.add(name="a")
    for number in range(readers):
        graph.node.add(name=f"r{2 * number}", op="B", input=["call"])
    for number in range(results):
        function.signature.output_arg.add(name=f"o{number}")
        function.node_def.add(name=f"k{2 * number}", op="C", input=["a"])
        function.ret[f"o{number}"] = f"k{2 * number}:0"
    return graph


@pytest.mark.slow
def test_many_results_for_many_readers() -> None:
    # 2,000 × 2,000 lines would take a gigabyte
    model = graphviz_tb.load(dataset(2_000, 2_000))
    tracemalloc.start()
    with seconds(20):
        model.picture(open=["call"])
    assert tracemalloc.get_traced_memory()[1] < 200e6
    tracemalloc.stop()


def test_some_results_for_some_readers() -> None:
    model = graphviz_tb.load(dataset(3, 4))
    call = model.hierarchy.name.index("call")
    lines = [line for line in model.metagraph((call,)).bridges if not line.inbound]
    assert len(lines) == 3 * 4


@pytest.mark.slow
def test_many_constants_for_many_arguments() -> None:
    graph = GraphDef(node=[{"name": f"c{number}", "op": "Const"} for number in range(8_000)])
    graph.node.add(name="call", op="PartitionedCall", input=[f"c{number}" for number in range(8_000)])
    graph.node[-1].attr["f"].func.name = "f"
    graph.node.add(name="again", op="PartitionedCall", input=["call"])
    graph.node[-1].attr["f"].func.name = "f"
    function = graph.library.function.add()
    function.signature.name = "f"
    for number in range(8_000):
        function.signature.input_arg.add(name=f"a{number}")
    function.node_def.add(name="sum", op="AddN", input=[f"a{number}" for number in range(8_000)])
    model = graphviz_tb.load(graph, folds=False)
    call = model.hierarchy.name.index("call")
    with seconds(4):
        beside = model.metagraph((call,)).annotations
    assert sum(each.kind == "constant" for each in beside) == 8_000


def test_a_call_of_many_inputs_is_followed_once_wherever_it_is_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    # 40 calls of f, in which 300 edges lead into a call of g
    graph = GraphDef(node=[{"name": f"c{number}", "op": "f"} for number in range(40)])
    f, g = graph.library.function.add(), graph.library.function.add()
    f.signature.name, g.signature.name = "f", "g"
    f.node_def.add(name="a", op="A")
    f.node_def.add(name="inner", op="g", input=["a:o:0"] * 300)
    g.node_def.add(name="k", op="B")
    followed: list[int] = []
    through = bridges.follow_into_call
    monkeypatch.setattr(bridges, "follow_into_call", lambda *given: followed.append(given[2]) or through(*given))
    picture = graphviz_tb.load(graph, folds=False).picture(open_all=True)
    assert sum(box.open and "::inner" in box.address for box in picture.scene.boxes) == 40
    assert len(followed) == len(set(followed))
