"""Attributes of another kind than the op has: no shape is found, and the graph is drawn."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from graphviz_tb import load
from graphviz_tb.annotate.infer.op import Op
from graphviz_tb.ops.signatures import op_def
from graphviz_tb.proto import GraphDef, TensorShapeProto
from tests.annotate.test_costs_ill_formed import ODD
from tests.each import each
from tests.effort import part
from tests.fuzz.families import graphs
from tests.op_types import op_types_with_shape_rules


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """Every op type with each attribute that its rule asks for."""
    pairs: dict[tuple[str, str], None] = {}
    attr = Op.attr

    def noted(op: Op, name: str) -> Any:
        pairs[op.definition.op, name] = None
        return attr(op, name)

    monkeypatch.setattr(Op, "attr", noted)
    graph = GraphDef()
    for name in "abc":
        given = graph.node.add(name=name, op="Placeholder")
        given.attr["shape"].shape.CopyFrom(TensorShapeProto(dim=[TensorShapeProto.Dim(size=8)] * 4))
    for kind in op_types_with_shape_rules():
        graph.node.add(name=kind, op=kind, input=["a", "b", "c"])
    model = load(graph)
    assert model.shapes()
    monkeypatch.undo()
    return sorted(pairs)


@each("odd", part(ODD, 12))
def test_a_call_of_what_has_attributes_of_another_kind(odd: str, asked: list[tuple[str, str]]) -> None:
    # a, b, c ─▶ op with an odd attribute ─▶ call of a function of its own ─▶ Neg
    graph = GraphDef()
    for name in "abc":
        graph.node.add(name=name, op="Placeholder")
    for number, (kind, name) in enumerate(asked):
        node = graph.node.add(name=f"x{number}", op=kind, input=["a", "b", "c"])
        node.attr[name].CopyFrom(ODD[odd])
        function = graph.library.function.add(
            signature={"name": f"f{number}", "input_arg": [{"name": "p"}, {"name": "q"}]}
        )
        function.signature.output_arg.add(name="r")
        function.ret["r"] = "p"
        call = graph.node.add(name=f"call{number}", op="PartitionedCall", input=[f"x{number}", f"x{number}:1"])
        call.attr["f"].func.name = f"f{number}"
        graph.node.add(name=f"end{number}", op="Neg", input=[f"call{number}"])
    model = load(graph)
    assert ("Placeholder", "shape") in asked
    for (node, _), shape in model.shapes().items():
        assert shape is None or all(size is None or size >= 0 for size in shape), node


def test_a_list_of_shapes_where_a_shape_is_meant() -> None:
    graph = GraphDef(node=[{"name": "a", "op": "Placeholder"}, {"name": "b", "op": "Relu", "input": ["a"]}])
    graph.node[0].attr["shape"].list.shape.add().dim.add(size=10**18)
    assert load(graph).picture().render("svg")


@each("seed", part(range(60), 3))
def test_attributes_of_any_kind(seed: int) -> None:
    model = load(graphs.attributes(Random(seed)))
    assert model.picture().render("svg")
    assert model.render("json")


@pytest.mark.parametrize("size", [-(2**62), -(2**62) - 3, -(2**63)])
def test_a_number_as_far_below_zero_as_what_stands_for_the_unknown(size: int) -> None:
    # Attributes and constants hold numbers of 64 bits; of the lowest, some are symbols while shapes are worked out.
    graph = GraphDef()
    graph.node.add(name="listed", op="ImmutableConst").attr["shape"].list.i.extend([size, 2])
    graph.node.add(name="x", op="Placeholder")
    const = graph.node.add(name="c", op="Const").attr["value"].tensor
    const.dtype = 9
    const.int64_val.append(size)
    const.tensor_shape.dim.add(size=1)
    for op in ("Reshape", "Fill", "Tile", "ExpandDims", "Slice"):
        graph.node.add(name=op, op=op, input=["c", "c", "c"] if op == "Fill" else ["x", "c", "c"])
        graph.node.add(name=f"{op}_used", op="Neg", input=[op])
    model = load(graph)
    assert ("listed", 0) not in model.shapes() or model.shapes()["listed", 0] is None
    assert model.costs()
    assert model.render("json")


@pytest.mark.parametrize("count", [-(2**63), -(2**62), -1, 2**62, 2**63 - 1])
def test_a_count_of_outputs_that_no_op_has(count: int) -> None:
    # f: x ─▶ op with that many outputs in each list ─▶ Neg of the first, the second and the 10**17th of each list
    graph = GraphDef()
    function = graph.library.function.add(signature={"name": "f", "input_arg": [{"name": "x"}]})
    for kind in op_types_with_shape_rules():
        known = op_def(kind)
        if known is None or not any(output.counted_by for output in known.outputs):
            continue
        node = function.node_def.add(name=kind, op=kind, input=["x", "x"])
        for output in known.outputs:
            if output.counted_by:
                node.attr[output.counted_by].i = count
            for number in (0, 1, 10**17):
                function.node_def.add(
                    name=f"{kind}_{output.name}_{number}", op="Neg", input=[f"{kind}:{output.name}:{number}"]
                )
            function.signature.output_arg.add(name=f"{kind}_{output.name}")
            function.ret[f"{kind}_{output.name}"] = f"{kind}:{output.name}:0"
    graph.node.add(name="x", op="Placeholder")
    graph.node.add(name="call", op="PartitionedCall", input=["x"]).attr["f"].func.name = "f"
    for number in range(len(function.ret)):
        graph.node.add(name=f"used{number}", op="Neg", input=[f"call:{number}"])
    model = load(graph)
    assert len(function.ret) > 10
    assert model.shapes()["used0", 0] is None
    assert model.costs()
    assert model.render("json")


def test_a_sampler_may_sample_more_classes_than_ops_have_outputs() -> None:
    graph = GraphDef(node=[{"name": "c", "op": "UniformCandidateSampler", "input": ["x"]}])
    graph.node[0].attr["num_sampled"].i = 8192
    graph.node[0].attr["num_true"].i = 1
    assert load(graph).shapes()["c", 0] == (8192,)
