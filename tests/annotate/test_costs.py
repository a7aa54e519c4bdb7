"""What ops cost, on graphs small enough to count by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from graphviz_tb import load
from graphviz_tb.api.pipeline import Model
from graphviz_tb.limits import MAX_QUANTITY
from graphviz_tb.model.costs import NO_COST, Cost, Costs
from graphviz_tb.proto import GraphDef
from graphviz_tb.words.paper import PaperWords

FLOAT = {"type": 1}
TRACE = Path(__file__).resolve().parents[2] / "fixtures/logged/torch_layers"


def node(name: str, op: str, *inputs: str, **attrs: Any) -> dict[str, Any]:
    return {"name": name, "op": op, "input": inputs, "attr": {"T": FLOAT, **attrs}}


def placeholder(name: str, *sizes: int) -> dict[str, Any]:
    shape = {"shape": {"dim": [{"size": size} for size in sizes]}}
    return {"name": name, "op": "Placeholder", "attr": {"dtype": FLOAT, "shape": shape}}


def weights(name: str, *sizes: int) -> dict[str, Any]:
    tensor = {"dtype": 1, "tensor_shape": {"dim": [{"size": size} for size in sizes]}, "float_val": [0.0]}
    return {"name": name, "op": "Const", "attr": {"dtype": FLOAT, "value": {"tensor": tensor}}}


def variable(name: str, *sizes: int, op: str = "VarHandleOp") -> dict[str, Any]:
    shape = {"shape": {"dim": [{"size": size} for size in sizes]}}
    return {"name": name, "op": op, "attr": {"dtype": FLOAT, "shape": shape}}


def model(*nodes: dict[str, Any], library: list[dict[str, Any]] | None = None, **choices: Any) -> Model:
    return load(GraphDef(node=nodes, library={"function": library or []}), **choices)


def test_a_product_of_matrices() -> None:
    # x [4, 6] · w [6, 5]
    costs = model(placeholder("x", 4, 6), weights("w", 6, 5), node("y", "MatMul", "x", "w")).costs()
    macs = 4 * 6 * 5
    assert costs["y"] == Cost(macs=macs, flops=2 * macs, activation_bytes=4 * 5 * 4)
    assert costs["w"] == Cost(parameters=6 * 5, weight_bytes=6 * 5 * 4, undecided=1)
    assert costs["x"] == Cost()


def test_a_convolution() -> None:
    # 8×8 pixels, 3 channels, 16 filters of 3×3, stride 2: 4×4 windows
    attrs = {"strides": {"list": {"i": [1, 2, 2, 1]}}, "padding": {"s": b"SAME"}}
    nodes = (placeholder("x", 2, 8, 8, 3), weights("w", 3, 3, 3, 16), node("y", "Conv2D", "x", "w", **attrs))
    assert model(*nodes).costs()["y"].macs == 2 * 4 * 4 * 16 * (3 * 3 * 3)


def test_an_unknown_size_counts_as_the_batch_and_so_does_what_follows_from_it() -> None:
    # x [?, 6] ─▶ y = x · w [6, 5]: as many rows
    nodes = (placeholder("x", -1, 6), weights("w", 6, 5), node("y", "MatMul", "x", "w"))
    assert model(*nodes).costs()["y"].macs == 1 * 6 * 5
    assert model(*nodes, batch=32).costs()["y"].macs == 32 * 6 * 5
    assert model(*nodes, batch=32).shapes()["y", 0] == (None, 5)


def test_groups_add_up() -> None:
    nodes = (
        *(placeholder("x", 4, 6), weights("a/w", 6, 5), node("a/y", "MatMul", "x", "a/w")),
        *(weights("a/b/w", 5, 2), node("a/b/y", "MatMul", "a/y", "a/b/w")),
    )
    found = model(*nodes)
    row = found.hierarchy.name.index("a")
    assert found.cost.under(row) == sum(found.costs().values(), Cost())
    assert found.cost.under(row).parameters == 6 * 5 + 5 * 2
    assert found.cost.under(found.hierarchy.name.index("a/b")).macs == 4 * 5 * 2


def test_a_variable_that_two_nodes_name_is_counted_once() -> None:
    shared = {"shared_name": {"s": b"w"}}
    one, two = variable("w", 3, 4), variable("w_again", 3, 4)
    for each in (one, two):
        each["attr"] = {**each["attr"], **shared}
    assert model(one, two).cost.under(0).parameters == 3 * 4


def test_slots_of_an_optimizer_are_no_parameters_of_the_network() -> None:
    found = model(variable("w", 3, 4, op="VariableV2"), variable("w/Adam", 3, 4, op="VariableV2"))
    assert found.cost.under(0).parameters == 3 * 4
    assert found.cost.under(0).weight_bytes == 3 * 4 * 4, "nor their bytes"


def test_slots_named_after_their_variable_are_no_parameters_either() -> None:
    nodes = [variable(name, 3, 4, op="VariableV2") for name in ("w", "w/opt", "w/opt_1")]
    update = {"name": "train/update", "op": "ApplyAdam", "input": ["w", "w/opt", "w/opt_1"]}
    found = model(*nodes, update)
    assert found.cost.under(0).parameters == 3 * 4
    assert found.cost.under(0).weight_bytes == 3 * 4 * 4


def test_gradients_are_told_apart() -> None:
    nodes = (
        placeholder("x", 10),
        *(node("y", "Relu", "x"), node("gradients/y_grad/ReluGrad", "ReluGrad", "y", "x")),
    )
    found = model(*nodes).cost
    assert [found.under(0, role).flops for role in ("forward", "gradient", "optimizer")] == [10, 10, 0]


def test_a_call_costs_what_its_function_does_with_its_arguments() -> None:
    signature = {
        "name": "f",
        "input_arg": [{"name": "a", "type": 1}],
        "output_arg": [{"name": "r", "type": 1}],
    }
    body = {"signature": signature, "node_def": [node("s", "Square", "a")], "ret": {"r": "s:y:0"}}
    call = {"f": {"func": {"name": "f"}}, "Tin": {"list": {"type": [1]}}, "Tout": {"list": {"type": [1]}}}
    nodes = (placeholder("x", 3), placeholder("y", 5, 2))
    calls = (node("one", "PartitionedCall", "x", **call), node("two", "PartitionedCall", "y", **call))
    costs = model(*nodes, *calls, library=[body]).costs()
    assert (costs["one"].flops, costs["two"].flops) == (3, 10)


def test_segments_and_what_is_quantised() -> None:
    # ten rows of six, added up by segments; four rows of a table of six columns are picked and added
    costs = model(
        *(placeholder("x", 10, 6), placeholder("ids", 10), placeholder("picked", 4), placeholder("segments", 4)),
        node("sum", "UnsortedSegmentSum", "x", "ids", "picked"),
        node("bag", "SparseSegmentMean", "x", "picked", "segments"),
        *(placeholder("low"), placeholder("high")),
        node("real", "Dequantize", "x", "low", "high"),
    ).costs()
    assert [costs[name].flops for name in ("sum", "bag", "real")] == [10 * 6, 4 * 6, 2 * 10 * 6]


def test_what_nobody_counts_is_said() -> None:
    found = model(placeholder("x", 3), node("y", "MyOp", "x"), node("z", "MyOp", "x"))
    assert found.cost.uncounted == {"MyOp": 2}
    assert found.cost.under(0).uncounted == 2
    assert not found.cost.own[1], "nobody knows of a cost"


def test_a_cost_says_what_is_not_in_it() -> None:
    # x [?, 6] ─▶ a/y = x · w [6, 5]; v, of a size that nobody knows, ─▶ b/read ─▶ b/z
    handle = node("v", "VarHandleOp", dtype=FLOAT, shape={"shape": {"unknown_rank": True}})
    read = node("b/read", "ReadVariableOp", "v", dtype=FLOAT)
    left = (placeholder("x", -1, 6), weights("w", 6, 5), node("a/y", "MatMul", "x", "w"))
    found = model(*left, handle, read, node("b/z", "MatMul", "x", "b/read"))
    a, b = (found.cost.under(found.names.index(0)[name]) for name in ("a", "b"))
    assert (a.uncounted, a.guessed, a.unsized) == (0, 1, 0)
    assert (b.guessed, b.unsized) == (1, 1)
    bounds = ["parameters", "macs", "flops", "activation_bytes", "weight_bytes"]
    assert found.cost.json_entry(0) == {**found.cost.under(0).as_dict(), "at_least": bounds}
    assert "unsized" not in found.cost.json_entry(0), "the quantities alone"


@pytest.mark.parametrize("scheme", ["flops", "parameters", "activations"])
def test_pictures_are_coloured_by_costs(scheme: str) -> None:
    nodes = (placeholder("x", 4, 6), weights("w", 6, 5), node("y", "MatMul", "x", "w"))
    picture = model(*nodes).picture(color_by=scheme)
    drawn = picture.render("svg").decode()
    assert {"flops": "240 FLOPs", "parameters": "240 FLOPs", "activations": "80 B"}[scheme] in drawn


def test_json_has_the_cost_of_each_node() -> None:
    nodes = (placeholder("x", 4, 6), weights("w", 6, 5), node("y", "MatMul", "x", "w"))
    document = model(*nodes).to_json()
    assert document["nodes"][0]["cost"] == {
        "parameters": 30,
        "macs": 120,
        "flops": 240,
        "activation_bytes": 80,
        "weight_bytes": 120,
    }
    assert "cost" not in model(*nodes, infer=False).to_json()["nodes"][0]


def test_a_variable_outside_of_its_layer_counts_in_it() -> None:
    # handle ─▶ read (in net/dense) ─▶ net/dense/MatMul: the handle stands at the root
    nodes = (
        placeholder("x", 4, 3),
        variable("kernel", 3, 5),
        node("net/dense/read", "ReadVariableOp", "kernel"),
        node("net/dense/MatMul", "MatMul", "x", "net/dense/read"),
        node("net/out", "Relu", "net/dense/MatMul"),
    )
    found = model(*nodes)
    (path,) = found.names.find_paths("net/dense")
    assert found.cost.under(path[-1]).parameters == found.cost.under(0).parameters == 3 * 5
    assert found.costs()["kernel"].parameters == 3 * 5  # the node that keeps them


def test_a_variable_that_is_handed_in_counts_and_a_metric_does_not() -> None:
    # w, total: arguments that are handles ─▶ y = x · w; total += sum(y), read again
    handle = {"dtype": {"type": 20}}
    shaped = {"dtype": FLOAT, "_output_shapes": {"list": {"shape": [{"dim": [{"size": 3}, {"size": 5}]}]}}}
    single = {"dtype": FLOAT, "_output_shapes": {"list": {"shape": [{}]}}}
    nodes = (
        placeholder("x", 4, 3),
        {"name": "w", "op": "Placeholder", "attr": handle},
        {"name": "total", "op": "Placeholder", "attr": handle},
        {"name": "net/read", "op": "ReadVariableOp", "input": ["w"], "attr": shaped},
        node("net/MatMul", "MatMul", "x", "net/read"),
        node("sum", "L2Loss", "net/MatMul"),
        node("add", "AssignAddVariableOp", "total", "sum"),
        {"name": "read", "op": "ReadVariableOp", "input": ["total", "^add"], "attr": single},
        node("mean", "Neg", "read"),
    )
    assert model(*nodes).cost.under(0).parameters == 3 * 5


def test_functions_that_call_each_other_in_a_circle_are_added_up() -> None:
    # first ─▶ f0 ─▶ f1 ─▶ f2 ─▶ f0 …, second ─▶ f1: each body calls the next and has one Relu of 4 elements
    shape = {"_output_shapes": {"list": {"shape": [{"dim": [{"size": 4}]}]}}}
    library = [
        {
            "signature": {"name": f"f{at}"},
            "node_def": [
                {"name": "next", "op": f"f{(at + 1) % 3}"},
                {"name": "x", "op": "Placeholder", "attr": {"dtype": FLOAT, **shape}},
                node("y", "Relu", "x:output:0"),
            ],
        }
        for at in range(3)
    ]
    nodes = [{"name": name, "op": "While", "attr": {"body": {"func": {"name": name[:2]}}}} for name in ("f0", "f1_")]
    costs = model(*nodes, library=library).costs()
    assert costs["f0"].flops >= 3 * 4
    assert set(costs) == {"f0", "f1_"}


def test_an_op_may_have_many_weights_and_lack_the_kernels_of_a_gate() -> None:
    # 5 steps of a batch of 2, 3 inputs, 4 cells projected to 6: no input gate, no peepholes
    kernels = dict.fromkeys((2, 3, 4), (4, 3)) | dict.fromkeys((6, 7, 8), (4, 6)) | {16: (6, 4)}
    vectors = dict.fromkeys((13, 14, 15, 21, 22, 23), (4,)) | {17: (6,)}
    given = [weights(f"w{slot}", *sizes) for slot, sizes in (kernels | vectors).items()]
    names = {slot: f"w{slot}" for slot in kernels | vectors} | {0: "x", 18: "h", 19: "c"}
    inputs = [names.get(slot, "") for slot in range(24)]
    states = placeholder("h", 2, 6), placeholder("c", 2, 4)
    lstm = node("y", "tfl::UNIDIRECTIONAL_SEQUENCE_LSTM", *inputs)
    found = model(placeholder("x", 5, 2, 3), *states, *given, lstm)
    sizes = 3 * 4 * 3 + 3 * 4 * 6 + 6 * 4
    assert found.cost.under(0).parameters == sizes + 6 * 4 + 6
    assert found.cost.under(0).macs == 5 * 2 * sizes
    lstm_row = found.hierarchy.name.index("y")
    assert PaperWords(found.hierarchy).words_of_row(lstm_row) == "LSTM 6"


def test_a_recurrent_block_multiplies_with_its_weights_and_not_with_its_state() -> None:
    # BlockLSTM, 5 times, a batch of 2, 3 inputs, 4 cells: each time (2, 3 + 4) · w (3 + 4, 4 gates of 4)
    inputs = ("length", "x", "cs", "h", "w", "wci", "wcf", "wco", "b")
    costs = model(
        *(placeholder("length"), placeholder("x", 5, 2, 3), placeholder("cs", 2, 4), placeholder("h", 2, 4)),
        *(placeholder("w", 7, 16), *(placeholder(name, 4) for name in ("wci", "wcf", "wco")), placeholder("b", 16)),
        node("block", "BlockLSTM", *inputs),
        node("cell", "LSTMBlockCell", "cs", "cs", "h", "w"),
    ).costs()
    assert costs["block"].macs == 5 * 2 * (3 + 4) * (4 * 4)
    assert costs["cell"].macs == 2 * (3 + 4) * (4 * 4)


@pytest.mark.parametrize(
    "op", ["SpaceToBatchND", "BatchToSpaceND", "DepthToSpace", "MatrixDiagV3", "ExtractImagePatches"]
)
def test_what_only_moves_values_costs_nothing(op: str) -> None:
    found = model(placeholder("x", 4, 6, 6, 4), node("moved", op, "x"))
    assert found.cost.under(0).uncounted == 0
    assert found.cost.under(0).flops == 0


@pytest.mark.parametrize("most", [1_000, 2**62])
def test_sums_are_exact_however_large(most: int) -> None:
    # a group of three ops, the second of a gradient; the last two cost the same
    one, two = Cost(flops=most, guessed=1), Cost(macs=most - 1, flops=most - 1)
    ops = [NO_COST, one, two, two]
    costs = Costs(ops, ops, end=[4, 2, 3, 4], role=[0, 0, 1, 0], uncounted={})
    flops = min(MAX_QUANTITY, most + 2 * (most - 1))
    assert costs.under(0) == Cost(macs=2 * (most - 1), flops=flops, guessed=1)
    assert costs.under(0, "gradient") == costs.under(2) == two
    assert costs.distinct_totals(4) == ([costs.under(0), one, two], [0, 1, 2, 2])
    assert [costs.json_entry(row)["flops"] for row in range(4)] == [flops, most, most - 1, most - 1]


def test_a_convolution_of_a_trace_counts_the_kernel_between_its_input_and_its_result() -> None:
    """8 images of 8 × 8: a stem of 3 × 3 from 1 to 4 channels, six of 3 × 3 from 4 to 4, and a layer from 4 to 3."""
    cost = load(TRACE).cost.under(0)
    positions = 8 * 8 * 8
    assert cost.macs == positions * 9 * (1 * 4 + 6 * 4 * 4) + 8 * 4 * 3
