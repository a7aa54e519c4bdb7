"""Sizes that say how long a shape is, or how many ways a slice has: no graph of a few ops takes memory or time."""

from __future__ import annotations

import tracemalloc

import pytest

from graphviz_tb import load
from graphviz_tb.proto import GraphDef, TensorProto
from tests.op_types import op_types_with_costs, op_types_with_shape_rules
from tests.timing import seconds

HUGE = 2**31


def graph_of(*sizes: int) -> GraphDef:
    graph = GraphDef()
    node = graph.node.add(name="x", op="Placeholder")
    node.attr["dtype"].type = 3
    for size in sizes:
        node.attr["shape"].shape.dim.add(size=size)
    node.attr["shape"].shape.SetInParent()
    unknown = graph.node.add(name="u", op="Placeholder")
    unknown.attr["shape"].shape.unknown_rank = True
    return graph


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [(HUGE,), (HUGE, 2), (2, HUGE), (2**62,)], ids=str)
def test_every_op_whose_inputs_are_that_long(sizes: tuple[int, ...]) -> None:
    graph = graph_of(*sizes)
    for kind in sorted({*op_types_with_shape_rules(), *op_types_with_costs()}):
        for place, first in enumerate("ux"):
            graph.node.add(name=f"{kind}_{place}", op=kind, input=[first, "x", "x", "x"])
    tracemalloc.start()
    load(graph).costs()
    assert tracemalloc.get_traced_memory()[1] < 200e6
    tracemalloc.stop()


def test_ranks_do_not_double() -> None:
    graph = graph_of(2, 2)
    before = "x"
    for number in range(40):
        graph.node.add(name=f"g{number}", op="Gather", input=[before, before])
        before = f"g{number}"
    shapes = load(graph).shapes()
    assert shapes["g1", 0] == (2,) * 5
    assert shapes["g39", 0] is None


def whole(*dims: int, values: tuple[int, ...] = (0,)) -> TensorProto:
    return TensorProto(dtype=3, tensor_shape={"dim": [{"size": size} for size in dims]}, int_val=values)


def constant(graph: GraphDef, name: str, value: TensorProto) -> None:
    graph.node.add(name=name, op="Const").attr["value"].tensor.CopyFrom(value)


@pytest.mark.slow
def test_elements_in_hundreds_of_dimensions_of_one_position_each() -> None:
    # 244 dimensions of 1 and ten of 2: 1,024 elements, each of which a sum looks up
    graph = GraphDef()
    constant(graph, "many", whole(*[1] * 244, *[2] * 10))
    constant(graph, "one", whole())
    for number in range(1000):
        graph.node.add(name=f"sum{number}", op="AddV2", input=["many", "one"]).attr["T"].type = 3
    with seconds(5):
        assert len(load(graph).shapes()["sum999", 0] or ()) == 254


@pytest.mark.slow
def test_a_slice_with_an_ellipsis_in_every_place() -> None:
    graph = graph_of(*[5] * 254)
    constant(graph, "c", whole(1024, values=(1,)))
    for number in range(1000):
        node = graph.node.add(name=f"s{number}", op="StridedSlice", input=["x", "c", "c", "c"])
        node.attr["ellipsis_mask"].i = node.attr["new_axis_mask"].i = -1
    with seconds(5):
        assert load(graph).shapes()["s0", 0] is None


@pytest.mark.slow
def test_many_outputs_that_all_have_the_longest_shape() -> None:
    graph = graph_of(*[-1] * 254)
    constant(graph, "parts", whole(3))
    for number in range(2000):
        node = graph.node.add(name=f"p{number}", op="DynamicPartition", input=["x", "parts"])
        node.attr["num_partitions"].i = 64
    tracemalloc.start()
    with seconds(40):  # a third of it without `tracemalloc`
        shapes = load(graph).shapes()
    assert tracemalloc.get_traced_memory()[1] < 300e6
    tracemalloc.stop()
    assert len(shapes["p0", 0] or ()) == 254
    assert shapes["p1999", 63] is None


@pytest.mark.slow
def test_calls_of_a_body_whose_sizes_follow_from_one_another() -> None:
    # body: x ─▶ Shape ─▶ Maximum ─▶ Minimum ─▶ …, the last 250 of 3,000 packed as a shape; 200 calls of it
    graph = graph_of(-1)
    function = graph.library.function.add()
    function.signature.name = "f"
    function.signature.input_arg.add(name="a", type=1)
    function.signature.output_arg.add(name="o", type=1)
    body = function.node_def
    body.add(name="m0", op="Shape", input=["a"])
    body.add(name="seven", op="Const").attr["value"].tensor.CopyFrom(whole(values=(7,)))
    body.add(name="zero", op="Const").attr["value"].tensor.CopyFrom(whole(values=(0,)))
    for number in range(1, 3001):
        source = f"m{number - 1}:{'z' if number > 1 else 'output'}:0"
        body.add(name=f"m{number}", op=("Maximum", "Minimum")[number % 2], input=[source, "seven:output:0"])
    for node in body:
        node.attr["T"].type = 3
    listed = body.add(
        name="v", op="ConcatV2", input=[*(f"m{number}:z:0" for number in range(2751, 3001)), "zero:output:0"]
    )
    listed.attr["N"].i = 250
    body.add(name="r", op="Fill", input=["v:output:0", "seven:output:0"])
    function.ret["o"] = "r:output:0"
    for number in range(200):
        call = graph.node.add(name=f"c{number}", op="PartitionedCall", input=["x"])
        call.attr["f"].func.name = "f"
        call.attr["Tout"].list.type.append(1)
    graph.node.add(name="end", op="Pack", input=[f"c{number}" for number in range(200)])
    with seconds(5):
        assert load(graph).shapes()["c199", 0] == (None,) * 250


@pytest.mark.slow
@pytest.mark.parametrize(("nodes", "known"), [(100, 30), (20_000, 8)])
def test_a_long_body_is_not_inferred_for_each_of_many_arguments(nodes: int, known: int) -> None:
    # x0 … x29, each of another size, ─▶ a call of one function each: a chain of so many nodes
    graph = GraphDef()
    function = graph.library.function.add()
    function.signature.name = "f"
    function.signature.input_arg.add(name="a", type=1)
    function.signature.output_arg.add(name="o", type=1)
    for number in range(nodes - 1):
        function.node_def.add(name=f"n{number}", op="Relu", input=[f"n{number - 1}:activations:0" if number else "a"])
    function.ret["o"] = f"n{nodes - 2}:activations:0"
    for number in range(30):
        graph.node.add(name=f"x{number}", op="Placeholder").attr["shape"].shape.dim.add(size=number)
        call = graph.node.add(name=f"c{number}", op="PartitionedCall", input=[f"x{number}"])
        call.attr["f"].func.name = "f"
        call.attr["Tout"].list.type.append(1)
    shapes = load(graph).shapes()
    # The first, and 7 more of 20,000 nodes: 140,000.
    assert [shapes[f"c{number}", 0] for number in range(30)] == [
        (number,) if number < known else None for number in range(30)
    ]
