"""What inference makes of small graphs: through ops, functions, branches and loops, and where it says nothing."""

from __future__ import annotations

from typing import Any

import pytest

from graphviz_tb import load
from graphviz_tb.annotate import shapes as outputs
from graphviz_tb.annotate.infer import frame as wiring
from graphviz_tb.annotate.infer import symbols
from graphviz_tb.annotate.tensors import TensorDecoder
from graphviz_tb.proto import GraphDef, NodeDef

FLOAT, INT = {"type": 1}, {"type": 3}


def dims(*sizes: int) -> dict[str, Any]:
    return {"shape": {"dim": [{"size": size} for size in sizes]}}


def placeholder(name: str, *sizes: int, dtype: dict[str, int] = FLOAT) -> dict[str, Any]:
    return {"name": name, "op": "Placeholder", "attr": {"dtype": dtype, "shape": dims(*sizes)}}


def vector(name: str, *numbers: int) -> dict[str, Any]:
    tensor = {"dtype": 3, "tensor_shape": {"dim": [{"size": len(numbers)}]}, "int_val": numbers}
    return {"name": name, "op": "Const", "attr": {"dtype": INT, "value": {"tensor": tensor}}}


def number(name: str, value: int) -> dict[str, Any]:
    tensor = {"dtype": 3, "tensor_shape": {}, "int_val": [value]}
    return {"name": name, "op": "Const", "attr": {"dtype": INT, "value": {"tensor": tensor}}}


def node(name: str, op: str, *inputs: str, **attrs: Any) -> dict[str, Any]:
    return {"name": name, "op": op, "input": inputs, "attr": attrs}


def shapes(*nodes: dict[str, Any], library: list[dict[str, Any]] | None = None, **choices: Any) -> dict[Any, Any]:
    graph = GraphDef(node=nodes, library={"function": library or []})
    return load(graph, **choices).shapes()


def function(name: str, args: list[str], result: str, *nodes: dict[str, Any]) -> dict[str, Any]:
    """A function of float arguments and one result."""
    signature = {
        "name": name,
        "input_arg": [{"name": arg, "type": 1} for arg in args],
        "output_arg": [{"name": "y", "type": 1}],
    }
    return {"signature": signature, "node_def": nodes, "ret": {"y": result}}


def func(name: str) -> dict[str, Any]:
    return {"func": {"name": name}}


def test_a_reshape_knows_the_batch_that_it_gives_back() -> None:
    # x [?, 4, 6] ─▶ shape ─▶ first ─┐
    #            └────────▶ flat ◀───┴─ pack(first, -1) ─▶ matmul with [24, 3]
    found = shapes(
        placeholder("x", -1, 4, 6),
        placeholder("w", 24, 3),
        node("shape", "Shape", "x", T=FLOAT),
        *(vector("zero", 0), vector("one", 1), number("rest", -1)),
        node("first", "StridedSlice", "shape", "zero", "one", "one", shrink_axis_mask={"i": 1}, T=INT),
        node("target", "Pack", "first", "rest", N={"i": 2}, T=INT),
        node("flat", "Reshape", "x", "target", T=FLOAT),
        node("product", "MatMul", "flat", "w", T=FLOAT),
    )
    assert found["flat", 0] == (None, 24)
    assert found["product", 0] == (None, 3)


def test_what_a_product_is_for_turns_no_matrix() -> None:
    # TensorFlow 2.16 and later mark the products of gradients with grad_x and grad_y
    marks = {"adj_x": {"b": False}, "adj_y": {"b": True}, "grad_x": {"b": True}, "grad_y": {"b": False}}
    found = shapes(
        *(placeholder("x", -1, 16, 20), placeholder("y", 30, 20)),
        node("p", "BatchMatMulV2", "x", "y", T=FLOAT, **marks),
    )
    assert found["p", 0] == (None, 16, 30)


def test_two_unknown_sizes_are_not_taken_for_one() -> None:
    # x [?, 4], y [?, 4]: shape(y)[0] is another number than that of x, so x as (shape(y)[0], -1) is of unknown width
    found = shapes(
        *(placeholder("x", -1, 4), placeholder("y", -1, 4), vector("zero", 0), vector("one", 1), number("rest", -1)),
        node("shape", "Shape", "y", T=FLOAT),
        node("first", "StridedSlice", "shape", "zero", "one", "one", shrink_axis_mask={"i": 1}, T=INT),
        node("target", "Pack", "first", "rest", N={"i": 2}, T=INT),
        node("flat", "Reshape", "x", "target", T=FLOAT),
    )
    assert found["flat", 0] == (None, None)


def test_a_diagonal_becomes_a_matrix() -> None:
    # of 3 numbers: on the main diagonal, two above it, one below it in a matrix of four columns
    def made(above: int, columns: int) -> object:
        inputs = ["k", "rows", "columns", "padding"]
        return shapes(
            *(placeholder("x", -1, 3), number("k", above), number("rows", -1), number("columns", columns)),
            number("padding", 0),
            node("y", "MatrixDiagV3", "x", *inputs, T=FLOAT),
        )["y", 0]

    assert [made(0, -1), made(2, -1), made(-1, 4)] == [(None, 3, 3), (None, 5, 5), (None, 4, 4)]


def test_an_op_without_a_rule_gives_nothing() -> None:
    found = shapes(placeholder("x", 2), node("y", "MyOp", "x", T=FLOAT), node("z", "Relu", "y", T=FLOAT))
    assert found["y", 0] is None
    assert found["z", 0] is None


def test_a_function_is_inferred_for_each_set_of_arguments() -> None:
    # a [2, 3] ─▶ f ─▶ g (again)      b [5] ─▶ f
    call = {"f": func("f"), "Tin": {"list": {"type": [1]}}, "Tout": {"list": {"type": [1]}}}
    found = shapes(
        *(placeholder("a", 2, 3), placeholder("b", 5)),
        node("once", "PartitionedCall", "a", **call),
        node("again", "PartitionedCall", "once", **call),
        node("other", "PartitionedCall", "b", **call),
        library=[function("f", ["x"], "r:activations:0", node("r", "Relu", "x", T=FLOAT))],
    )
    assert [found[name, 0] for name in ("once", "again", "other")] == [(2, 3), (2, 3), (5,)]


def test_inside_a_function_stands_what_all_its_calls_agree_on() -> None:
    call = {"f": func("f"), "Tin": {"list": {"type": [1]}}, "Tout": {"list": {"type": [1]}}}
    graph = GraphDef(
        node=[
            *(placeholder("a", 2, 3), placeholder("b", 2, 7)),
            node("one", "PartitionedCall", "a", **call),
            node("two", "PartitionedCall", "b", **call),
        ],
        library={"function": [function("f", ["x"], "r:activations:0", node("r", "Relu", "x", T=FLOAT))]},
    )
    model = load(graph)
    inner = model.hierarchy.graph.name.index("r")
    assert model.facts.decode(inner)("activations:0").shape == (2, None)


def test_sizes_born_in_a_function_are_new_in_each_call() -> None:
    # where(x) has as many rows as x has truths: those of two calls are different numbers
    call = {"f": func("f"), "Tin": {"list": {"type": [1]}}, "Tout": {"list": {"type": [9]}}}
    found = shapes(
        *(placeholder("x", 4), vector("zero", 0), vector("one", 1), number("rest", -1)),
        node("a", "PartitionedCall", "x", **call),
        node("b", "PartitionedCall", "x", **call),
        node("shape", "Shape", "b", T={"type": 9}),
        node("rows", "StridedSlice", "shape", "zero", "one", "one", shrink_axis_mask={"i": 1}, T=INT),
        node("target", "Pack", "rows", "rest", N={"i": 2}, T=INT),
        node("flat", "Reshape", "a", "target", T={"type": 9}),
        library=[function("f", ["x"], "w:index:0", node("w", "Where", "x", T=FLOAT))],
    )
    assert found["a", 0] == (None, 1)
    assert found["flat", 0] == (None, None)


def test_branches_are_joined() -> None:
    # if p: x [2, 3] else y [2, 4]
    found = shapes(
        *(placeholder("p", dtype={"type": 10}), placeholder("x", 2, 3), placeholder("y", 2, 4)),
        node(
            *("choice", "If", "p", "x", "y"),
            then_branch=func("first"),
            else_branch=func("second"),
            Tin={"list": {"type": [1, 1]}},
            Tout={"list": {"type": [1]}},
        ),
        library=[function("first", ["a", "b"], "a"), function("second", ["a", "b"], "b")],
    )
    assert found["choice", 0] == (2, None)


def loop(body_result: str, *nodes: dict[str, Any]) -> dict[Any, Any]:
    """A While over one tensor x [1, 4], whose body gives `body_result`."""
    return shapes(
        placeholder("x", 1, 4),
        node("loop", "While", "x", body=func("body"), cond=func("cond"), T={"list": {"type": [1]}}),
        library=[function("body", ["a"], body_result, *nodes), function("cond", ["a"], "a")],
    )


def test_a_loop_that_keeps_its_shape() -> None:
    assert loop("r:activations:0", node("r", "Relu", "a", T=FLOAT))["loop", 0] == (1, 4)


def test_a_loop_whose_tensor_grows_knows_the_rest() -> None:
    # a ─▶ concat(a, a) along the first axis: 1, 2, 4 …
    axis = number("axis", 0)
    assert loop("c:output:0", axis, node("c", "ConcatV2", "a", "a", "axis:output:0", N={"i": 2}, T=FLOAT))[
        "loop", 0
    ] == (
        None,
        4,
    )


def test_a_loop_of_tensorflow_1_knows_what_comes_back() -> None:
    # enter ─▶ merge ─▶ switch ─▶ grow ─▶ next ─▶ merge: the first size changes, the second does not
    def frame(result: str) -> dict[Any, Any]:
        return shapes(
            *(placeholder("x", 1, 4), number("axis", 0), placeholder("p", dtype={"type": 10})),
            node("enter", "Enter", "x", T=FLOAT),
            node("merge", "Merge", "enter", "next", N={"i": 2}, T=FLOAT),
            node("switch", "Switch", "merge", "p", T=FLOAT),
            node("grow", "ConcatV2", "switch:1", "switch:1", "axis", N={"i": 2}, T=FLOAT),
            node("same", "Relu", "switch:1", T=FLOAT),
            node("next", "NextIteration", result, T=FLOAT),
            node("exit", "Exit", "switch", T=FLOAT),
        )

    assert frame("grow")["exit", 0] == (None, 4)
    assert frame("same")["exit", 0] == (1, 4)


def test_a_function_that_calls_itself_ends() -> None:
    call = {"f": func("f"), "Tin": {"list": {"type": [1]}}, "Tout": {"list": {"type": [1]}}}
    inner = node("again", "PartitionedCall", "x", **call)
    found = shapes(
        placeholder("x", 2),
        node("outer", "PartitionedCall", "x", **call),
        library=[function("f", ["x"], "again:output:0", inner)],
    )
    assert found["outer", 0] is None


def test_a_circle_that_is_no_loop_ends() -> None:
    found = shapes(node("a", "Relu", "b", T=FLOAT), node("b", "Relu", "a", T=FLOAT))
    assert found == {("a", 0): None, ("b", 0): None}


def inferred_for(wanted: str, *nodes: dict[str, Any]) -> set[str]:
    """The nodes that are inferred for the shape of one."""
    graph = load(GraphDef(node=nodes)).hierarchy.graph
    inference = TensorDecoder(graph).inference
    inference.outputs_of_node(graph.index[0][wanted])
    return {graph.name[node] for node in inference.main.outs}


def test_what_no_rule_reads_is_not_inferred() -> None:
    # x ─▶ a ─▶ loss, a scalar whatever a is; a ─▶ flat ─▶ y: the target of the reshape says all but with a -1
    chain = placeholder("x", 2, 6), node("a", "Relu", "x", T=FLOAT)
    assert inferred_for("loss", *chain, node("loss", "L2Loss", "a", T=FLOAT)) == {"loss"}
    reshaped = node("flat", "Reshape", "a", "to", T=FLOAT), node("y", "Relu", "flat", T=FLOAT)
    assert inferred_for("y", *chain, vector("to", 3, 4), *reshaped) == {"y", "flat", "to"}
    assert inferred_for("y", *chain, vector("to", 3, -1), *reshaped) == {"y", "flat", "to", "a", "x"}


def test_elements_are_followed_where_they_are_whole_numbers() -> None:
    # a, b ─▶ p ─▶ flat: its shape is that of a constant, its elements are those of p
    ends = number("a", 2), number("b", 3), vector("to", 1, 2)
    for kind, read in ((INT, {"p", "a", "b"}), (FLOAT, set[str]())):
        pack = node("p", "Pack", "a", "b", T=kind, N={"i": 2})
        flat = node("flat", "Reshape", "p", "to", T=kind)
        assert inferred_for("flat", *ends, pack, flat) == {"flat", "to"} | read


def test_equal_ops_ask_for_what_the_first_of_them_asked_for() -> None:
    # x ─▶ r0 … r9, each a reshape to the shape of the one before, of which the first is to a constant
    chain = [node("r0", "Reshape", "x", "to", T=FLOAT)]
    for at in range(1, 10):
        chain += [node(f"s{at}", "Shape", f"r{at - 1}", T=FLOAT, out_type=INT)]
        chain += [node(f"r{at}", "Reshape", "x", f"s{at}", T=FLOAT)]
    found = inferred_for("r9", placeholder("x", 6), vector("to", 2, 3), *chain)
    assert "x" not in found
    assert {"r0", "r9", "s9", "to"} <= found
    assert shapes(placeholder("x", 6), vector("to", 2, 3), *chain)["r9", 0] == (2, 3)


def test_a_chain_may_be_long() -> None:
    chain = [node(f"n{at}", "Relu", f"n{at - 1}" if at else "x", T=FLOAT) for at in range(3000)]
    assert shapes(*reversed(chain), placeholder("x", 3))["n2999", 0] == (3,)


def test_declared_shapes_count_and_a_contradiction_is_told() -> None:
    listed = {"list": {"shape": [dims(5)["shape"]]}}
    wrong = node("y", "Relu", "x", T=FLOAT, _output_shapes=listed)
    graph = GraphDef(node=[placeholder("x", 2), wrong, node("z", "Relu", "y", T=FLOAT)])
    model = load(graph)
    assert model.shapes() == {("x", 0): (2,), ("y", 0): (5,), ("z", 0): (5,)}
    assert [notice.code for notice in model.facts.odd()] == ["shape-contradiction"]
    assert "'y'" in model.facts.odd()[0].message


def test_what_is_declared_in_part_is_completed() -> None:
    listed = {"list": {"shape": [dims(-1, 3)["shape"]]}}
    found = shapes(placeholder("x", 2, 3), node("y", "Relu", "x", T=FLOAT, _output_shapes=listed))
    assert found["y", 0] == (2, 3)


def test_without_inference_only_what_the_file_says() -> None:
    assert shapes(placeholder("x", 2), node("y", "Relu", "x", T=FLOAT), infer=False) == {("x", 0): (2,), ("y", 0): None}


def test_tensors_say_where_their_shape_is_from() -> None:
    model = load(GraphDef(node=[placeholder("x", 2), node("y", "Relu", "x", T=FLOAT)]))
    assert [model.facts.tensor(at, 0).origin for at in (0, 1)] == ["stated", "inferred"]


def test_asking_adds_nothing_to_a_message() -> None:
    made = GraphDef()
    for op in ("Const", "IteratorGetNext"):
        made.node.add(name=op, op=op)
        made.node.add(name=f"{op}/use", op="Reshape", input=["Const", op])
    before = made.SerializeToString(deterministic=True)
    load(made).shapes()
    assert made.SerializeToString(deterministic=True) == before


def test_sparse_features_of_both_parsers_come_before_the_dense_ones() -> None:
    # two sparse features: indices, values and shape of each; then one dense feature of 7 numbers
    dense = {"dense_shapes": {"list": {"shape": [{"dim": [{"size": 7}]}]}}, "Tdense": {"list": {"type": [1]}}}
    types = {"sparse_types": {"list": {"type": [1, 1]}}}
    found = shapes(
        placeholder("records", 8, dtype={"type": 7}),
        node("old", "ParseExample", "records", Nsparse={"i": 2}, **dense, **types),
        node("new", "ParseExampleV2", "records", num_sparse={"i": 2}, **dense, **types),
    )
    sparse = [(None, 2), (None, 2), (None,), (None,), (2,), (2,)]
    assert [[found[name, output] for output in range(7)] for name in ("old", "new")] == [[*sparse, (8, 7)]] * 2


@pytest.mark.parametrize("length", [3, 1000])
def test_elements_of_many_long_vectors_are_not_all_followed(length: int, monkeypatch: pytest.MonkeyPatch) -> None:
    # long ─▶ sum0 ─▶ sum1 ─▶ …, each cut to two elements, which are the shape of a Fill
    monkeypatch.setattr(symbols, "CLAIMED_NUMBERS", 20_000)
    chain = [node(f"sum{at}", "AddV2", f"sum{at - 1}" if at else "long", "zero", T=INT) for at in range(40)]
    cuts = [node(f"cut{at}", "Slice", f"sum{at}", "zero", "two", T=INT, Index=INT) for at in range(40)]
    fills = [node(f"fill{at}", "Fill", f"cut{at}", "value", T=FLOAT, index_type=INT) for at in range(40)]
    vectors = vector("long", *range(5, 5 + length)), vector("zero", 0), vector("two", 2)
    found = shapes(*vectors, placeholder("value"), *chain, *cuts, *fills)
    known = [found[f"fill{at}", 0] == (5, 6) for at in range(40)]
    assert all(found[f"fill{at}", 0] in ((5, 6), (None, None)) for at in range(40))
    assert all(found[f"sum{at}", 0] == (length,) for at in range(40))
    assert known.count(True) == (40 if length == 3 else 19)


def test_an_inverted_permutation() -> None:
    vectors = vector("order", 2, 0, 1, 3), vector("axes", 5, 6, 7, 8)
    inverse = node("inverse", "InvertPermutation", "order", T=INT)
    target = node("target", "GatherV2", "axes", "inverse", "zero", Tindices=INT, Tparams=INT)
    fill = node("fill", "Fill", "target", "value", T=FLOAT, index_type=INT)
    found = shapes(*vectors, number("zero", 0), placeholder("value"), inverse, target, fill)
    assert found["fill", 0] == (6, 7, 5, 8)


def test_an_output_is_looked_up_once_for_all_sets_of_arguments(monkeypatch: pytest.MonkeyPatch) -> None:
    """A body of two ops is called with vectors of six lengths."""
    asked: list[str] = []

    def output_index(definition: NodeDef, key: str) -> int:
        asked.append(key)
        return outputs.output_index(definition, key)

    monkeypatch.setattr(wiring, "output_index", output_index)
    body = function("f", ["x"], "last:activations:0", node("first", "Abs", "x", T=FLOAT),
                    node("last", "Relu", "first:y:0", T=FLOAT))  # fmt: skip
    call = {"f": func("f"), "Tin": {"list": {"type": [1]}}, "Tout": {"list": {"type": [1]}}}
    calls = [node(f"call{size}", "PartitionedCall", f"x{size}", **call) for size in range(1, 7)]
    found = shapes(*[placeholder(f"x{size}", size) for size in range(1, 7)], *calls, library=[body])
    assert found["call6", 0] == (6,)
    assert asked.count("y:0") == 1


def test_sizes_of_tensorflow_lite_go_through_a_concatenation() -> None:
    """x [?, 8, 4] ─▶ SHAPE ─▶ GATHER [0, 1] ─▶ CONCATENATION ◀─ [4];  x ─▶ RESHAPE to it"""
    nodes = [
        placeholder("x", -1, 8, 4),
        node("shape", "tfl::SHAPE", "x"),
        vector("places", 0, 1),
        node("two", "tfl::GATHER", "shape", "places", axis={"i": 0}),
        vector("units", 4),
        node("sizes", "tfl::CONCATENATION", "two", "units", axis={"i": 0}),
        node("y", "tfl::RESHAPE", "x", "sizes"),
        node("z", "tfl::ADD", "x", "y"),
    ]
    model = load(GraphDef(node=nodes))  # type: ignore[arg-type]
    assert model.shapes()["y", 0] == (None, 8, 4)
    assert model.cost.under(0).bound_word("flops") == ""
