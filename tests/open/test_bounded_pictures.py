"""Two lists of a file do not multiply in a picture: stubs and open groups, names of calls and boxes inside."""

from __future__ import annotations

import tracemalloc

import pytest

import graphviz_tb
from graphviz_tb.proto import GraphDef
from tests.timing import seconds


@pytest.mark.slow
def test_many_stubs_beside_many_open_groups() -> None:
    # 40 hubs ┄▶ x in each of 2,400 scopes: 96,000 stubs, 2,400 groups open
    graph = GraphDef(node=[{"name": f"h{hub}", "op": "Hub"} for hub in range(40)])
    for scope in range(2400):
        graph.node.add(name=f"s{scope}/x", op=f"T{scope % 200}", input=[f"^h{hub}" for hub in range(40)])
    model = graphviz_tb.load(graph, folds=False)
    with seconds(40):
        boxes = model.picture(open_all=True).scene.boxes
    assert sum(box.open and box.kind == "scope" for box in boxes) == 2400


def called(name: str, count: int) -> GraphDef:
    """x ─▶ a call of a function of unlike nodes in a row ─▶ y"""
    graph = GraphDef(node=[{"name": "x", "op": "P"}, {"name": name, "op": "PartitionedCall", "input": ["x"]}])
    graph.node[1].attr["f"].func.name = "f"
    graph.node.add(name="y", op="Relu", input=[name])
    graph.node.add(name="z", op="Relu6", input=["y"])
    function = graph.library.function.add()
    function.signature.name = "f"
    function.signature.input_arg.add(name="a", type=1)
    for number in range(count):
        source = f"n{number - 1}:o:0" if number else "a"
        function.node_def.add(name=f"n{number}", op=f"T{number}", input=[source])
    return graph


def test_the_name_of_a_call_is_not_repeated_without_end() -> None:
    # a name of 200,000 letters, and 1,500 boxes inside that each begin with it: 300 MB
    model = graphviz_tb.load(called("q" * 200_000, 1500), folds=False)
    tracemalloc.start()
    for picture in (model.picture(open_all=True), model.picture(depth=2), model.picture(open=["q" * 200_000])):
        [notice] = [notice for notice in picture.notices if notice.code == "long-addresses"]
        assert (
            notice.message
            == "not everything is open: addresses that begin with the names of calls would be too long together"
        )
        assert not any(box.open for box in picture.scene.boxes)
    assert tracemalloc.get_traced_memory()[1] < 200e6
    tracemalloc.stop()


def test_calls_in_each_other_are_opened_as_far_as_their_paths_have_room(monkeypatch: pytest.MonkeyPatch) -> None:
    # each function calls the next; of the letters counted before level d, each deeper one takes d times as many
    graph = GraphDef(node=[{"name": "c", "op": "f0"}])
    for at in range(200):
        function = graph.library.function.add()
        function.signature.name = f"f{at}"
        function.node_def.add(name="c", op=f"f{at + 1}" if at < 199 else "Neg")
    assert sum(box.open for box in graphviz_tb.load(graph).picture(open_all=True).scene.boxes) == 200
    monkeypatch.setattr("graphviz_tb.open.groups.FREE_ADDRESS_LETTERS", 9 * (50 * 51 // 2))
    picture = graphviz_tb.load(graph).picture(open_all=True)
    assert sum(box.open for box in picture.scene.boxes) == 50
    assert "long-addresses" in [notice.code for notice in picture.notices]


def test_lines_of_a_function_are_not_repeated_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    # 39 lines in each call, 3 between them
    graph = called("first", 40)
    for name, before in (("second", "first"), ("third", "second"), ("fourth", "third")):
        graph.node.add(name=name, op="f", input=[before])
    model = graphviz_tb.load(graph, folds=False)
    monkeypatch.setattr("graphviz_tb.open.groups.MAX_OPEN_LINES", 100)
    for picture in (model.picture(open_all=True), model.picture(depth=2), model.picture(open=["*"])):
        assert [box.address for box in picture.scene.boxes if box.open] == ["first", "second"]
        [notice] = [notice for notice in picture.notices if notice.code == "max-lines"]
        assert notice.message == "not everything is open: the picture would pass 100 lines"
    # What is named is opened.
    assert "third" in [box.address for box in model.picture(open=["first", "second", "third"]).scene.boxes if box.open]


def test_a_call_with_a_usual_name_opens() -> None:
    picture = graphviz_tb.load(called("call", 1500), folds=False).picture(open_all=True)
    assert [box.address for box in picture.scene.boxes if box.open] == ["call"]


@pytest.mark.slow
def test_a_page_makes_no_addresses() -> None:
    # as many boxes in the call as would make 2 GB
    model = graphviz_tb.load(called("q" * 400_000, 5000))
    with seconds(20):
        assert len(model.render("html")) < 5e6
