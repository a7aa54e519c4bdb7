"""Ops of whose outputs nothing is followed, as there is no room for more sizes, count as unknown."""

from __future__ import annotations

import pytest
from google.protobuf import text_format

import graphviz_tb
from graphviz_tb.proto import GraphDef


@pytest.mark.parametrize("op", ["Variable", "VariableV2", "VarHandleOp", "Const"])
def test_weights_whose_shapes_have_no_room(op: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graphviz_tb.annotate.infer.symbols.CLAIMED_NUMBERS", 0)
    graph = GraphDef()
    weight = graph.node.add(name="w", op=op)
    weight.attr["dtype"].type = 1
    weight.attr["shape"].shape.dim.extend([weight.attr["shape"].shape.Dim(size=1)] * 200)
    weight.attr["value"].tensor.dtype = 1
    weight.attr["value"].tensor.tensor_shape.dim.extend([weight.attr["shape"].shape.Dim(size=1)] * 200)
    graph.node.add(name="x", op="Placeholder")
    graph.node.add(name="y", op="MatMul", input=["x", "w"])
    model = graphviz_tb.load(graph)
    assert model.cost.under(0).flops >= 0
    assert b"w" in model.render("svg")
    if op != "VarHandleOp":  # its sizes are asked for where it is read
        assert [notice.code for notice in model.facts.odd()] == ["shape-limit"]


@pytest.mark.parametrize("most", [0, 100])
def test_a_body_that_is_not_inferred_for_all_arguments_is_told(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graphviz_tb.annotate.infer.calls.NODES_AGAIN", most)
    sizes = range(2, 5)
    graph = text_format.Parse(
        """library { function {
          signature { name: "f" input_arg { name: "x" type: DT_FLOAT } output_arg { name: "y" type: DT_FLOAT } }
          node_def { name: "r" op: "Relu" input: "x" attr { key: "T" value { type: DT_FLOAT } } }
          ret { key: "y" value: "r:activations:0" } } }"""
        + "".join(
            f"""node {{ name: "in{size}" op: "Placeholder" attr {{ key: "dtype" value {{ type: DT_FLOAT }} }}
                  attr {{ key: "shape" value {{ shape {{ dim {{ size: {size} }} }} }} }} }}
                node {{ name: "call{size}" op: "PartitionedCall" input: "in{size}"
                  attr {{ key: "f" value {{ func {{ name: "f" }} }} }} }}
                node {{ name: "out{size}" op: "Relu" input: "call{size}" }}"""
            for size in sizes
        ),
        GraphDef(),
    )
    model = graphviz_tb.load(graph)
    nodes = [model.hierarchy.graph.name.index(f"call{size}") for size in sizes]
    key = model.hierarchy.graph.keys.index("0")
    shapes = [model.facts.tensor(node, key).shape for node in nodes]
    assert shapes == [(2,), None, None] if most == 0 else [(2,), (3,), (4,)]
    assert [notice.code for notice in model.facts.odd()] == (["shape-limit"] if most == 0 else [])


@pytest.mark.parametrize("most", [10, 100])
@pytest.mark.parametrize("op", ["PartitionedCall", "While"])
def test_results_of_calls_past_all_that_are_looked_at(op: str, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    # six calls of a function of five results; a While looks at them once more
    monkeypatch.setattr("graphviz_tb.annotate.infer.calls.RESULTS_GIVEN", most)
    shape = {"shape": {"dim": [{"size": 7}]}}
    made = {"name": "p", "op": "Placeholder", "attr": {"dtype": {"type": 1}, "shape": shape}}
    relu = {"name": "r", "op": "Relu", "input": ["p:output:0"], "attr": {"T": {"type": 1}}}
    results = [f"r{at}" for at in range(5)]
    signature = {"name": "f", "output_arg": [{"name": name, "type": 1} for name in results]}
    function = {"signature": signature, "node_def": [made, relu], "ret": dict.fromkeys(results, "r:activations:0")}
    called = {"func": {"name": "f"}}
    attr = {"f": called} if op == "PartitionedCall" else {"body": called, "cond": called}
    graph = GraphDef(library={"function": [function]})
    for at in range(6):
        graph.node.add(name=f"c{at}", op=op, attr=attr, input=["w"] * 5 if op == "While" else [])
        graph.node.add(name=f"u{at}", op="Relu", input=[f"c{at}:4"])
    graph.node.add(name="w", op="Placeholder", attr=made["attr"])
    model = graphviz_tb.load(graph)
    key = model.hierarchy.graph.keys.index("4")
    nodes = [model.hierarchy.graph.name.index(f"c{at}") for at in range(6)]
    known = sum(model.facts.tensor(node, key).shape == (7,) for node in nodes)
    assert known == (6 if most == 100 else 2)
    assert [notice.code for notice in model.facts.odd()] == (["shape-limit"] if most == 10 else [])
