"""The same edit at several places is one change, and what is handed over belongs to what took it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from graphviz_tb.diff import diff
from tests.diff.pairs import FIXTURES, graph_def, renamed
from tests.diff.test_causes import graph, told

# x ─▶ m/a ─▶ m/a/norm ─▶ m/b ─▶ m/b/norm ─▶ m/c
BLOCKS = ("x Placeholder", "m/a/MatMul MatMul x", "m/a/BiasAdd BiasAdd m/a/MatMul", "m/a/Relu Relu m/a/BiasAdd",
          "m/b/MatMul MatMul m/a/Relu", "m/b/BiasAdd BiasAdd m/b/MatMul", "m/b/Relu Relu m/b/BiasAdd",
          "m/c Softmax m/b/Relu")  # fmt: skip


@pytest.mark.parametrize("turn", [False, True])
def test_what_went_at_two_places(turn: bool) -> None:
    bare = [line.replace("/BiasAdd", "/MatMul") if "Relu Relu" in line else line for line in BLOCKS]
    old, new = graph(*BLOCKS), graph(*(line for line in bare if "BiasAdd BiasAdd" not in line))
    changes = diff(new, old) if turn else diff(old, new)
    (change,) = changes
    assert (change.kind, change.place_count, change.ops) == ("added" if turn else "removed", 2, 2)
    assert change.detail["op_types"] == {"BiasAdd": 2}


@pytest.mark.parametrize(("many", "told"), [(2, 2), (3, 1), (12, 1)])
def test_many_members_of_one_series(many: int, told: int) -> None:
    def stack(normed: bool) -> Any:
        lines, at = ["x Placeholder"], "x"
        for number in range(many):
            lines.append(f"m/dense_{number}/MatMul MatMul {at}")
            at = f"m/dense_{number}/MatMul"
            if normed:
                lines.append(f"m/norm_{number}/Rsqrt Rsqrt {at}")
                at = f"m/norm_{number}/Rsqrt"
        return graph(*lines, f"m/out Softmax {at}")

    changes = diff(stack(True), stack(False))
    assert len(changes) == told
    assert sum(change.place_count for change in changes) == many


def test_a_swap_in_two_towers() -> None:
    # x ─▶ s/relu ─▶ s/pool ─▶ s/end, twice: the layers are shared
    def towers(one: str, two: str) -> Any:
        lines = ["x Placeholder", "y Placeholder"]
        for tower, start in (("m/s", "x"), ("m/s_1", "y")):
            kinds = {"relu": "LeakyRelu", "pool": "MaxPool"}
            lines += [f"{tower}/{one}/op {kinds[one]} {start}", f"{tower}/{two}/op {kinds[two]} {tower}/{one}/op"]
            lines += [f"{tower}/end/MatMul MatMul {tower}/{two}/op"]
        return graph(*lines, "m/out Sub m/s/end/MatMul m/s_1/end/MatMul")

    (change,) = diff(towers("relu", "pool"), towers("pool", "relu"))
    assert change.detail["order"] == {"old": ["relu", "pool"], "new": ["pool", "relu"], "blocks": 2}


def siamese(shared: bool) -> bytes:
    """Two inputs through one tower, or through one each."""

    def tower(name: str) -> dict[str, Any]:
        layers = [{"class_name": "InputLayer", "config": {"name": f"{name}_in", "batch_shape": [None, 4]}},
                  {"class_name": "Dense", "config": {"name": f"{name}_fc", "units": 3}}]  # fmt: skip
        return {"class_name": "Sequential", "config": {"name": name, "layers": layers}, "name": name}

    def tensor(name: str, call: int = 0) -> dict[str, Any]:
        return {"class_name": "__keras_tensor__", "config": {"shape": [None, 4], "keras_history": [name, call, 0]}}

    def called(*args: Any) -> dict[str, Any]:
        return {"args": list(args), "kwargs": {}}

    calls = [called(tensor("p"))] + ([called(tensor("q"))] if shared else [])
    towers = [{**tower("one"), "inbound_nodes": calls}]
    towers += [] if shared else [{**tower("two"), "inbound_nodes": [called(tensor("q"))]}]
    inputs = [{"class_name": "InputLayer", "name": name, "inbound_nodes": [],
               "config": {"name": name, "batch_shape": [None, 4]}} for name in "pq"]  # fmt: skip
    end = tensor("one", 1) if shared else tensor("two")
    out = {"class_name": "Subtract", "name": "out", "config": {"name": "out"}}
    layers = [*inputs, *towers, {**out, "inbound_nodes": [called([tensor("one"), end])]}]
    config = {
        "name": "m",
        "layers": layers,
        "input_layers": [["p", 0, 0], ["q", 0, 0]],
        "output_layers": [["out", 0, 0]],
    }
    return json.dumps({"class_name": "Functional", "config": config}).encode()


def test_a_tower_of_its_own() -> None:
    assert told(diff(siamese(True), siamese(False))) == [("added", None, "m/two")]
    assert told(diff(siamese(False), siamese(True))) == [("removed", "m/two", None)]


def test_weights_of_several_layers_are_their_own() -> None:
    # tower/a, tower/b use the weights of first/a, first/b; then their own
    def made(shared: bool) -> Any:
        lines = ["x Placeholder", "y Placeholder"]
        for at in "ab":
            lines += [f"m/first/{at}/kernel VarHandleOp", f"m/first/{at}/read ReadVariableOp m/first/{at}/kernel"]
            if not shared:
                lines += [f"m/tower/{at}/kernel VarHandleOp", f"m/tower/{at}/read ReadVariableOp m/tower/{at}/kernel"]
        for tower, start in (("first", "x"), ("tower", "y")):
            lender = "first" if shared else tower
            lines += [f"m/{tower}/a/MatMul MatMul {start} m/{lender}/a/read",
                      f"m/{tower}/b/MatMul MatMul m/{tower}/a/MatMul m/{lender}/b/read"]  # fmt: skip
        return graph(*lines, "out Sub m/first/b/MatMul m/tower/b/MatMul")

    (change,) = diff(made(True), made(False))
    assert (change.new, change.detail["key"], change.detail["old"]) == ("m/tower", "weights", "shared with m/first")


def test_shapes_of_keras_inputs_in_words() -> None:
    def model(size: int) -> bytes:
        layers = [{"class_name": "InputLayer", "config": {"name": "in", "batch_shape": [None, size]}},
                  {"class_name": "Dense", "config": {"name": "fc", "units": 3}}]  # fmt: skip
        return json.dumps({"class_name": "Sequential", "config": {"name": "m", "layers": layers}}).encode()

    (change,) = diff(model(4), model(6))
    assert (change.detail["old"], change.detail["new"], change.severity) == ("?×4", "?×6", "signature")


def test_sizes_computed_before_the_program_runs_follow_an_input() -> None:
    # x ─▶ m/conv ─▶ m/up: the size to scale to is a constant, the size of x times a scale
    def made(size: int) -> Any:
        whole = graph("x Placeholder", "m/up/Const Const", "m/up/two=2 Const", "m/up/mul Mul m/up/Const m/up/two",
                      "m/conv/Conv2D Conv2D x", "m/up/resize ResizeNearestNeighbor m/conv/Conv2D m/up/mul",
                      "m/out/Softmax Softmax m/up/resize")  # fmt: skip
        shape = whole.node[0].attr["shape"].shape
        for length in (-1, size, size, 3):
            shape.dim.add(size=length)
        tensor = whole.node[1].attr["value"].tensor
        tensor.Clear()
        tensor.dtype = 3
        tensor.int_val.extend([size, size])
        tensor.tensor_shape.dim.add(size=2)
        return whole

    (change,) = diff(made(4), made(5))
    assert change.name == "x"
    assert [each.name for each in change.consequences] == ["m/out/Softmax", "m/up/mul"]  # what is given, and its size


def test_sizes_that_repeat_a_change_are_not_said_again() -> None:
    # m/fc: a kernel of 4×3 or 4×5 numbers, and the shape of what it gives
    def made(units: int) -> Any:
        lines = ["x Placeholder", "m/fc/kernel Const", "m/fc/MatMul MatMul x m/fc/kernel", f"m/fc/shape={units} Const"]
        whole = graph(*lines, "m/fc/Reshape Reshape m/fc/MatMul m/fc/shape", "out Softmax m/fc/Reshape")
        tensor = whole.node[1].attr["value"].tensor
        tensor.Clear()
        tensor.dtype = 1
        tensor.float_val.append(0.5)
        for size in (4, units):
            tensor.tensor_shape.dim.add(size=size)
        return whole

    change = next(change for change in diff(made(3), made(5)) if change.detail.get("key") == "units")
    assert "with" not in change.detail


def test_a_convolution_in_groups_is_said_so() -> None:
    # x ─▶ m/conv ─▶ m/after: TensorFlow calls a function that holds the convolution in groups, on a CPU
    def made(conv: str, taken: int) -> Any:
        lines = ["x Placeholder", "m/conv/kernel Const", f"m/conv/{conv} x m/conv/kernel"]
        whole = graph(*lines, f"m/after/Tanh Tanh {lines[-1].split()[0]}", "m/last/Softmax Softmax m/after/Tanh")
        tensor = whole.node[1].attr["value"].tensor
        tensor.Clear()
        tensor.dtype = 1
        tensor.float_val.append(0.5)
        for size in (3, 3, taken, 8):
            tensor.tensor_shape.dim.add(size=size)
        return whole

    old, new = made("Conv2D Conv2D", 8), made("call PartitionedCall", 2)
    new.node[2].attr["f"].func.name = "conv_xla"
    function = new.library.function.add()
    function.signature.name = "conv_xla"
    for name in ("inputs", "kernel"):
        function.signature.input_arg.add(name=name, type=1)
    function.signature.output_arg.add(name="given", type=1)
    function.node_def.add(name="Conv2D", op="Conv2D", input=["inputs", "kernel"])
    function.ret["given"] = "Conv2D:output:0"
    for one, two, counts in ((old, new, (1, 4)), (new, old, (4, 1))):
        (change,) = diff(one, two)
        assert (change.name, change.detail) == ("m/conv", {"key": "groups", "old": counts[0], "new": counts[1]})


def test_a_rate_is_said_at_the_layer() -> None:
    # m/drop: random numbers above the rate, what is left times 1 / (1 − rate)
    def made(rate: float) -> Any:
        scope = "m/drop/stateless_dropout"
        whole = graph("x Placeholder", "m/fc/MatMul MatMul x", f"{scope}/Mul Mul m/fc/MatMul {scope}/scale",
                      f"{scope}/GreaterEqual GreaterEqual x {scope}/rate", f"{scope}/rate Const",
                      f"{scope}/scale Const", f"{scope}/SelectV2 SelectV2 {scope}/GreaterEqual {scope}/Mul",
                      "m/out/Tanh Tanh m/last/MatMul",
                      f"m/last/MatMul MatMul {scope}/SelectV2")  # fmt: skip
        for at, value in ((4, rate), (5, 1 / (1 - rate))):
            tensor = whole.node[at].attr["value"].tensor
            tensor.Clear()
            tensor.dtype = 1
            tensor.float_val.append(value)
        return whole

    (change,) = diff(made(0.1), made(0.3))
    assert (change.name, change.detail["key"], "with" in change.detail) == ("m/drop", "rate", False)


def test_names_that_are_numbers_are_counted() -> None:
    # x ─▶ 12 ─▶ m/40 ─▶ out: what a function captured and what was traced is called by a number; 31 and 57, later
    def made(first: int, second: int) -> Any:
        return graph("x Placeholder", f"{first} MatMul x", f"m/{second} Relu {first}", f"out Softmax m/{second}")

    assert diff(made(12, 40), made(57, 31)).same


def test_inputs_that_pytorch_traced_are_counted() -> None:
    def made(name: str, op: str) -> Any:
        return graph(f"{name} Placeholder", f"net/act {op} {name}")

    assert diff(made("input", "onnx::Relu"), made("input.1", "onnx::Relu")).same
    (change,) = diff(made("input", "Relu"), made("input.1", "Relu"))
    assert change.kind == "renamed"


def test_values_that_pytorch_traced_are_counted() -> None:
    # the same module, traced where more was traced before: no name of a module is another, all numbers are
    def later(name: str) -> str:
        around, _, leaf = name.rpartition("/")
        stem = leaf.rstrip("0123456789")
        counted = f"{stem}{int(leaf[len(stem) :]) + 57}" if leaf[len(stem) :] else leaf
        return f"{around}/{counted}" if around.count("/") else name

    old = graph_def(FIXTURES / "logdirs" / "torch_transformer")
    new = renamed(old, later)
    assert diff(old, new).same
    act = next(node for node in new.node if node.op == "aten::relu" and "head" in node.name)
    act.op = "aten::gelu"
    (change,) = diff(old, new)
    assert (change.detail["old"], change.detail["new"], change.consequences) == ("aten::relu", "aten::gelu", ())


def test_a_captured_variable_is_no_input() -> None:
    # fed with x and the handle of a variable; a layer more brings a handle more
    def made(*layers: str) -> Any:
        lines, before = ["x Placeholder"], "x"
        for number, layer in enumerate(layers):
            lines += [f"{number + 100} Placeholder", f"m/{layer}/MatMul MatMul {before} {number + 100}"]
            before = f"m/{layer}/MatMul"
        whole = graph(*lines, f"out Softmax {before}")
        for node in whole.node:
            if node.name.isdecimal():
                node.attr["dtype"].type = 20
        return whole

    (change,) = diff(made("a"), made("a", "b"))
    assert (change.kind, change.severity) == ("added", "op")


def residual_blocks(norm_first: bool) -> bytes:
    """Blocks of x + dense(dense(x)), with a normalisation before each block, or behind its sum; Keras counts names."""
    layers: list[dict[str, Any]] = [
        {"class_name": "InputLayer", "name": "x", "config": {"name": "x"}, "inbound_nodes": []}
    ]

    def layer(kind: str, name: str, number: int, *inputs: str, **config: Any) -> str:
        name = f"{name}_{number}" if number else name
        inbound = [[[source, 0, 0, {}] for source in inputs]] if inputs else []
        layers.append({"class_name": kind, "name": name, "config": {"name": name, **config}, "inbound_nodes": inbound})
        return name

    before = layer("InputLayer", "x", 0)
    for block in range(3):
        inner = layer("LayerNormalization", "layer_normalization", block, before) if norm_first else before
        inner = layer("Dense", "dense", 2 * block, inner, units=32, activation="relu")
        inner = layer("Dense", "dense", 2 * block + 1, inner, units=16)
        before = layer("Add", "add", block, before, inner)
        if not norm_first:
            before = layer("LayerNormalization", "layer_normalization", block, before)
    config = {"name": "m", "layers": layers, "input_layers": [["x", 0, 0]], "output_layers": [[before, 0, 0]]}
    return json.dumps({"class_name": "Functional", "config": config}).encode()


def test_counted_layers_whose_names_and_settings_all_stayed_are_only_rewired() -> None:
    for pair in ((True, False), (False, True)):
        assert set(diff(*map(residual_blocks, pair)).kinds) == {"rewired", "signature-changed"}


@pytest.mark.parametrize("turned", [False, True])
def test_an_op_that_moves_before_another_one_is_a_single_edit(turned: bool) -> None:
    """A gate multiplies the result of a product, or what the product takes."""
    start = ("x Placeholder", "h Placeholder", "w VarHandleOp", "cell/Read ReadVariableOp w",
             "cell/MatMul MatMul h cell/Read", "cell/slice StridedSlice cell/MatMul",
             "cell/gate Sigmoid cell/slice")  # fmt: skip
    behind = ("cell/mul Mul cell/gate cell/slice", "cell/add AddV2 x cell/mul", "y Softmax cell/add")
    before = ("cell/mul Mul cell/gate h", "cell/MatMul_1 MatMul cell/mul cell/Read",
              "cell/add AddV2 x cell/MatMul_1", "y Softmax cell/add")  # fmt: skip
    pair = graph(*start, *behind), graph(*start, *before)
    assert len(diff(*(pair[::-1] if turned else pair))) == 1
