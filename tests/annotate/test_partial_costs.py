"""Sizes that one place does not say and another does, and numbers that are less than the truth."""

from __future__ import annotations

from typing import Any

import pytest

from graphviz_tb import load
from graphviz_tb.api.pipeline import Model
from graphviz_tb.commands.costs import cost_lines, cost_report
from graphviz_tb.commands.table import TextStyle
from graphviz_tb.proto import GraphDef
from tests.annotate.test_costs import FLOAT, model, node, placeholder, weights
from tests.each import each

INT = {"type": 3}


def number(name: str, value: int) -> dict[str, Any]:
    tensor = {"dtype": 3, "tensor_shape": {}, "int_val": [value]}
    return {"name": name, "op": "Const", "attr": {"dtype": INT, "value": {"tensor": tensor}}}


@pytest.mark.parametrize("attrs", [{}, {"transpose_b": {"b": True}}], ids=["plain", "turned"])
def test_the_weight_says_along_which_size_a_product_runs(attrs: dict[str, Any]) -> None:
    # x [1, ?] · w [61, 128]
    sizes = (128, 61) if attrs else (61, 128)
    costs = model(placeholder("x", 1, -1), weights("w", *sizes), node("y", "MatMul", "x", "w", **attrs)).costs()
    assert costs["y"].macs == 61 * 128


def test_a_variable_that_is_handed_in_has_the_shape_that_others_state() -> None:
    # w, an argument without a shape ─▶ read ─▶ y = x · w; another read says that it is 16×4
    handle = {"name": "w", "op": "_Arg", "attr": {"T": {"type": 20}}}
    stated = {"_output_shapes": {"list": {"shape": [{"dim": [{"size": 16}, {"size": 4}]}]}}}
    found = model(
        *(placeholder("x", 8, 16), handle),
        node("read", "ReadVariableOp", "w", dtype=FLOAT),
        node("again", "ReadVariableOp", "w", dtype=FLOAT, **stated),
        *(node("y", "MatMul", "x", "read"), node("z", "MatMul", "x", "again")),
    )
    assert found.shapes()["y", 0] == (8, 4)
    assert found.costs()["y"].macs == 8 * 16 * 4


def test_a_size_that_a_check_leaves_open_is_that_of_its_input() -> None:
    # x [2, 6] ─▶ boxes [3?] … : a size of the batch times 32 stays one, behind a check that says "any"
    checked = {"shape": {"shape": {"dim": [{"size": -1}, {"size": 4}]}}}
    flat = {"tensor": {"dtype": 3, "tensor_shape": {"dim": [{"size": 2}]}, "int_val": [-1, 4]}}
    nodes = (
        placeholder("x", -1, 32, 4),
        {"name": "flat", "op": "Const", "attr": {"dtype": INT, "value": flat}},
        *(node("rows", "Reshape", "x", "flat"), node("checked", "EnsureShape", "rows", **checked)),
        *(weights("w", 4, 5), node("y", "MatMul", "checked", "w")),
    )
    assert model(*nodes).costs()["y"].macs == 32 * 4 * 5


def old(producer: int) -> Model:
    # x, of an empty shape ─▶ y = x · w [4, 8]
    nodes = (placeholder("x"), weights("w", 4, 8), node("y", "MatMul", "x", "w"), node("r", "Relu", "x"))
    return load(GraphDef(node=nodes, versions={"producer": producer}))


def test_programs_that_could_not_write_an_unknown_shape_wrote_an_empty_one() -> None:
    assert old(21).shapes()["x", 0] is None
    assert old(21).shapes()["y", 0] == (None, 8)
    assert old(22).shapes()["x", 0] == ()
    assert old(21).costs()["y"].macs == 4 * 8
    assert [notice.code for notice in old(21).notices] == []


def counting(cond: str, limit: str) -> list[dict[str, Any]]:
    """The functions of a loop: i, n, h ─▶ i + 1, n, h · w [16, 16] while `cond`(i, `limit`)."""
    arguments = [{"name": "i", "type": 3}, {"name": "n", "type": 3}, {"name": "h", "type": 1}]
    w = weights("w", 16, 16)
    return [
        {
            "signature": {"name": "cond", "input_arg": arguments, "output_arg": [{"name": "go", "type": 10}]},
            "node_def": [number("five", 5), node("below", cond, "i", limit), node("is", "Identity", "below:z:0")],
            "ret": {"go": "is:output:0"},
        },
        {
            "signature": {
                "name": "body",
                "input_arg": arguments,
                "output_arg": [{"name": f"{name}_out", "type": kind} for name, kind in (("i", 3), ("n", 3), ("h", 1))],
            },
            "node_def": [
                *(number("one", 1), node("more", "AddV2", "i", "one:output:0"), w),
                *(node("turn", "MatMul", "h", "w:output:0"), node("next", "Identity", "turn:product:0")),
            ],
            "ret": {"i_out": "more:z:0", "n_out": "n", "h_out": "next:output:0"},
        },
    ]


def looping(cond: str, limit: str, *given: dict[str, Any]) -> Model:
    functions = {name: {"func": {"name": name}} for name in ("cond", "body")}
    loop = {"name": "loop", "op": "StatelessWhile", "input": ["from", "n", "h"], "attr": functions}
    return model(number("from", 2), *given, placeholder("h", 1, 16), loop, library=counting(cond, limit))


@pytest.mark.parametrize(
    ("cond", "limit", "rounds"),
    [("Less", "n", 20 - 2), ("LessEqual", "n", 20 - 2 + 1), ("Less", "five:output:0", 5 - 2), ("Less", "i", None)],
)
def test_a_loop_with_a_counter_counts_all_of_its_rounds(cond: str, limit: str, rounds: int | None) -> None:
    found = looping(cond, limit, number("n", 20))
    whole = found.cost.under(0)
    assert whole.macs == (rounds or 1) * 16 * 16
    assert ("flops" in whole.lower_bounds()) is (rounds is None)


def test_a_loop_that_runs_nobody_knows_how_often_counts_one_round_and_says_so() -> None:
    found = looping("Less", "n", {"name": "n", "op": "Placeholder", "attr": {"dtype": INT, "shape": {"shape": {}}}})
    assert found.cost.under(0).macs == 16 * 16
    assert set(found.cost.under(0).lower_bounds()) == {"macs", "flops", "activation_bytes"}


def convolution() -> tuple[dict[str, Any], ...]:
    # an image of unknown height and width ─▶ 32 filters of 7×7
    attrs = {"strides": {"list": {"i": [1, 2, 2, 1]}}, "padding": {"s": b"VALID"}}
    return placeholder("x", -1, -1, -1, 3), weights("w", 7, 7, 3, 32), node("y", "Conv2D", "x", "w", **attrs)


def test_a_batch_is_chosen_and_a_height_is_not_known() -> None:
    batch = model(placeholder("x", -1, 6), weights("w", 6, 5), node("y", "MatMul", "x", "w")).cost.under(0)
    assert batch.lower_bounds() == ()
    height = model(*convolution()).cost.under(0)
    assert height.lower_bounds() == ("macs", "flops", "activation_bytes")
    assert height.unshaped == 1


def test_sizes_that_follow_from_the_batch_are_those_of_a_batch_in_functions_and_where_two_meet() -> None:
    # f(a) + b, both [?, 6]
    signature = {"name": "f", "input_arg": [{"name": "a", "type": 1}], "output_arg": [{"name": "r", "type": 1}]}
    body = {"signature": signature, "node_def": [node("s", "Square", "a")], "ret": {"r": "s:y:0"}}
    call = {"f": {"func": {"name": "f"}}, "Tin": {"list": {"type": [1]}}, "Tout": {"list": {"type": [1]}}}
    nodes = (placeholder("a", -1, 6), placeholder("b", -1, 6), node("c", "PartitionedCall", "a", **call))
    found = model(*nodes, node("y", "AddV2", "c", "b"), library=[body])
    assert found.cost.under(0).lower_bounds() == ()
    assert found.cost.under(0).flops == 6 + 6


def test_a_part_is_called_one_in_every_place() -> None:
    known = (placeholder("a", 4, 6), weights("v", 6, 5), node("z", "MatMul", "a", "v"))
    found = model(*known, *convolution())
    report = cost_report(found.hierarchy, found.cost)
    assert report is not None
    text = "\n".join(cost_lines(report, 10, 100, TextStyle()))
    assert "at least 240" in text
    assert "1 of 4 ops has no known shape" in text
    assert "at least 80 B" in text
    assert report.at_least == ("macs", "flops", "activation_bytes", "non_trainable")
    assert found.to_json()["nodes"][0]["cost"]["at_least"] == ["macs", "flops", "activation_bytes"]


def test_gradients_of_a_stretched_operand_are_summed_along_what_was_stretched() -> None:
    # x [?, 3] + b [3]: the gradient of b is summed over the batch, that of x over nothing
    nodes = (
        *(placeholder("x", -1, 3), weights("b", 3)),
        *(
            node("shape", "Shape", "x"),
            node("of_b", "Shape", "b"),
            node("args", "BroadcastGradientArgs", "shape", "of_b"),
        ),
        *(node("of_x", "Sum", "x", "args"), node("sum", "Sum", "x", "args:1")),
    )
    found = model(*nodes)
    assert (found.shapes()["of_x", 0], found.shapes()["sum", 0]) == ((None, 3), (3,))
    assert found.cost.under(0).lower_bounds() == ()


def test_a_loop_of_control_flow_v1_is_at_least_one_round_and_what_is_behind_it_is_whole() -> None:
    #            ┌──────── next ◀─ h · w ◀─┐
    # x ─▶ in ─▶ merge ─▶ switch ──────────┘     in a second loop around it: its exit is still inside
    #                        └─▶ out ─▶ relu ─▶ away ─▶ end
    attrs = {"T": FLOAT}
    found = model(
        *(placeholder("x", 4, 16), weights("w", 16, 16), placeholder("more")),
        node("around", "Enter", "x", **attrs),
        node("in", "Enter", "around", **attrs),
        node("merge", "Merge", "in", "next", **attrs),
        node("switch", "Switch", "merge", "more", **attrs),
        node("y", "MatMul", "switch:1", "w", **attrs),
        node("next", "NextIteration", "y", **attrs),
        node("out", "Exit", "switch", **attrs),
        node("relu", "Relu", "out", **attrs),
        node("away", "Exit", "relu", **attrs),
        node("end", "Relu", "away", **attrs),
    )
    costs = found.costs()
    assert costs["y"].macs == 4 * 16 * 16
    bounded = [name for name, cost in costs.items() if "flops" in cost.lower_bounds()]
    assert bounded == ["y", "relu"]
    assert "flops" in found.cost.under(0).lower_bounds()


def counted(name: str, start: str, step: str, limit: str, *, compared: str = "Less", op: str = "AddV2") -> list[Any]:
    """A loop of control flow v1 that counts: in ─▶ merge ─▶ switch ─▶ step ─▶ next, with its exit."""
    frame = {"T": INT, "frame_name": {"s": name.encode()}}
    return [
        node(f"{name}_in", "Enter", start, **frame),
        node(f"{name}_merge", "Merge", f"{name}_in", f"{name}_next", T=INT),
        node(f"{name}_limit", "Enter", limit, **frame),
        node(f"{name}_asked", compared, f"{name}_merge", f"{name}_limit", T=INT),
        node(f"{name}_cond", "LoopCond", f"{name}_asked"),
        node(f"{name}_switch", "Switch", f"{name}_merge", f"{name}_cond", T=INT),
        node(f"{name}_count", "Identity", f"{name}_switch:1", T=INT),
        node(f"{name}_step", op, f"{name}_count", step, T=INT),
        node(f"{name}_next", "NextIteration", f"{name}_step", T=INT),
        node(f"{name}_out", "Exit", f"{name}_switch", T=INT),
    ]


def in_loop(name: str, source: str = "x") -> list[Any]:
    """A product that a loop makes in each round."""
    given = node(f"{name}_x", "Enter", source, T=FLOAT, frame_name={"s": name.encode()})
    return [given, node(f"{name}_y", "MatMul", f"{name}_x", "w")]


@each(
    ("start", "step", "limit", "others", "rounds"),
    [
        (0, 1, 20, {}, 20),
        (2, 3, 11, {}, 3),  # 2, 5, 8
        (2, 3, 11, {"compared": "LessEqual"}, 4),
        (7, 1, 7, {}, 0),
        (9, 2, 0, {"compared": "Greater", "op": "Sub"}, 5),  # 9, 7, 5, 3, 1
        (9, -3, 0, {"compared": "GreaterEqual"}, 4),  # 9, 6, 3, 0
        (0, -1, 5, {}, None),  # for ever
        (0, 1, 5, {"op": "Mul"}, None),
    ],
)
def test_a_loop_of_control_flow_v1_costs_all_rounds_that_its_counter_says(
    start: int, step: int, limit: int, others: dict[str, str], rounds: int | None
) -> None:
    found = model(
        *(placeholder("x", 4, 16), weights("w", 16, 16)),
        *(number("start", start), number("step", step), number("limit", limit)),
        *(*counted("loop", "start", "step", "limit", **others), *in_loop("loop")),
    )
    costs = found.costs()
    assert costs["loop_y"].macs == 4 * 16 * 16 * (1 if rounds is None else rounds)
    assert ("flops" in costs["loop_y"].lower_bounds()) == (rounds is None)


def test_a_loop_in_a_loop_runs_in_each_round_and_another_as_often_as_the_first_counted() -> None:
    # 3 rounds of 5; behind them a loop that counts down from what the outer one came to
    nodes = (
        *(placeholder("x", 4, 16), weights("w", 16, 16)),
        *(number("zero", 0), number("one", 1), number("three", 3), number("five", 5)),
        *counted("outer", "zero", "one", "three"),
        node("again", "Enter", "zero", T=INT, frame_name={"s": b"outer"}),
        node("given", "Enter", "x", T=FLOAT, frame_name={"s": b"outer"}),
        *(*counted("inner", "again", "one", "five"), *in_loop("inner", "given")),
        *(*counted("back", "outer_out", "one", "zero", compared="Greater", op="Sub"), *in_loop("back")),
    )
    costs = model(*nodes).costs()
    assert [costs[f"{name}_y"].macs for name in ("inner", "back")] == [15 * 4 * 16 * 16, 3 * 4 * 16 * 16]
    # Of the inner loop the limit is not known: it costs at least one round of its own in each of the outer one.
    costs = model(*(each for each in nodes if each["name"] != "five"), placeholder("five")).costs()
    assert costs["inner_y"].macs == 3 * 4 * 16 * 16
    assert "flops" in costs["inner_y"].lower_bounds()
    assert costs["back_y"].macs == 3 * 4 * 16 * 16


def test_what_leads_to_no_result_costs_nothing_where_the_results_are_said() -> None:
    # x · w ─▶ first, which is returned; x · w ─▶ second ─▶ neg, which nobody takes; x · w ─▶ third, which is printed
    nodes = (
        *(placeholder("x", 4, 16), weights("w", 16, 16)),
        *(node(name, "MatMul", "x", "w") for name in ("first", "second", "third")),
        *(node("neg", "Neg", "second"), node("print", "Print", "third", "x", T=FLOAT)),
    )
    returned = node("result", "_Retval", "first", T=FLOAT)
    for results, wanted in (((), [1, 1, 1]), ((returned,), [1, 0, 1])):
        costs = model(*nodes, *results).costs()
        assert [costs[name].macs for name in ("first", "second", "third")] == [each * 4 * 16 * 16 for each in wanted]


def test_what_a_function_computes_for_nobody_costs_nothing() -> None:
    body = {
        "signature": {
            "name": "f",
            "input_arg": [{"name": name, "type": 1} for name in ("x", "w")],
            "output_arg": [{"name": "y", "type": 1}],
        },
        "node_def": [node("taken", "MatMul", "x", "w"), node("idle", "MatMul", "x", "w")],
        "ret": {"y": "taken:product:0"},
    }
    types = {"Tin": {"list": {"type": [1, 1]}}, "Tout": {"list": {"type": [1]}}}
    call = node("call", "PartitionedCall", "x", "w", f={"func": {"name": "f"}}, **types)
    found = model(placeholder("x", 4, 16), weights("w", 16, 16), call, node("after", "Relu", "call"), library=[body])
    assert found.cost.under(0).macs == 4 * 16 * 16


def test_ops_without_a_shape_are_named_where_they_leave_something_out() -> None:
    # x · w, repeated nobody knows how often: all operations are counted, not all bytes
    nodes = (placeholder("x", 4, 16), weights("w", 16, 16), node("y", "MatMul", "x", "w"), placeholder("to"))
    found = model(*nodes, node("z", "Tile", "y", "to"))
    report = cost_report(found.hierarchy, found.cost)
    assert report is not None
    flops, activations = (
        next(line for line in cost_lines(report, 10, 120, TextStyle()) if line.startswith(f"  {name}"))
        for name in ("FLOPs", "activations")
    )
    assert "at least" not in flops
    assert "no known shape" not in flops
    assert "at least" in activations
    assert "no known shape" in activations


@each("op", ["FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"])
def test_a_batch_norm_has_a_known_shape_but_for_what_its_kernel_keeps(op: str) -> None:
    channels = (placeholder(name, 3) for name in "abcd")
    found = model(placeholder("x", 2, 8, 8, 3), *channels, node("y", op, "x", *"abcd"))
    assert found.costs()["y"].unshaped == 0


def test_what_only_tells_its_shape_costs_nothing() -> None:
    # x · w ─▶ only its shape is asked for, and filled with zeros ─▶ added to x · w
    nodes = (
        *(
            placeholder("x", 4, 16),
            weights("w", 16, 16),
            node("taken", "MatMul", "x", "w"),
            node("seen", "MatMul", "x", "w"),
        ),
        *(node("shape", "Shape", "seen"), node("zeros", "ZerosLike", "seen"), node("sum", "AddV2", "taken", "zeros")),
    )
    costs = model(*nodes).costs()
    assert [costs[name].macs for name in ("taken", "seen")] == [4 * 16 * 16, 0]


def test_branches_of_switch_and_merge_are_added_up_and_say_so() -> None:
    # x ─▶ Switch ─false▶ · w1 ─▶ Merge ─▶ Relu        and a loop around a product: no branch
    #         └────true─▶ · w2 ──────▲
    chosen = {"name": "p", "op": "Placeholder", "attr": {"dtype": {"type": 10}, "shape": {"shape": {}}}}
    branches = model(
        *(placeholder("x", 2, 4), chosen, weights("w1", 4, 4), weights("w2", 4, 4), node("s", "Switch", "x", "p")),
        *(node("y", "MatMul", "s", "w1"), node("z", "MatMul", "s:1", "w2"), node("m", "Merge", "y", "z")),
        node("r", "Relu", "m"),
    )
    whole = branches.cost.under(0)
    assert whole.parameters == 2 * 16
    assert whole.macs == 2 * (2 * 4 * 4)
    assert (whole.is_upper_bound("flops"), whole.is_upper_bound("parameters")) == (True, False)
    assert whole.bound_word("activation_bytes") == "at most "
    assert not branches.costs()["r"].branched
    loop = model(
        *(placeholder("x", 4, 4), node("e", "Enter", "x", frame_name={"s": b"f"}), node("m", "Merge", "e", "n")),
        *(node("less", "Less", "m", "m"), node("c", "LoopCond", "less"), node("s", "Switch", "m", "c")),
        *(node("y", "MatMul", "s:1", "s:1"), node("n", "NextIteration", "y"), node("out", "Exit", "s")),
    )
    assert not loop.cost.under(0).branched
