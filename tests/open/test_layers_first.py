"""The first picture of a small model shows its layers before the ops of any, and the model before its loss."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest

from graphviz_tb import load
from graphviz_tb.api.pipeline import Model
from graphviz_tb.model.paths import path_address
from graphviz_tb.open.first_picture import FirstPicture
from graphviz_tb.proto import GraphDef


class Made:
    """A graph in the making: every op bears its layer's scope."""

    def __init__(self) -> None:
        self.graph = GraphDef()

    def op(self, name: str, kind: str, *inputs: str) -> str:
        self.graph.node.add(name=name, op=kind, input=inputs)
        return name

    def dense(self, scope: str, x: str, more: int = 0) -> str:
        """x ─▶ MatMul ─▶ Relu …, with a kernel."""
        read = self.op(f"{scope}/read", "ReadVariableOp", self.op(f"{scope}/kernel", "VarHandleOp"))
        x = self.op(f"{scope}/MatMul", "MatMul", x, read)
        for number in range(1 + more):
            x = self.op(f"{scope}/act{number}", "Relu", x)
        return x

    def model(self) -> Model:
        return load(self.graph)


def opened(model: Model) -> set[str]:
    return {path_address(model.hierarchy, path) for path in model.picture().opened} - {""}


def test_repeats_are_opened_before_the_ops_of_a_layer() -> None:
    # x ─▶ net/emb ─▶ three blocks of three layers each ─▶ net/head, the largest layer
    made = Made()
    x = made.dense("net/emb", made.op("x", "Placeholder"))
    for block in range(3):
        for layer in ("att", "wide", "narrow"):
            x = made.dense(f"net/block_{block}/{layer}", x)
    made.op("y", "Identity", made.dense("net/head", x, more=12))
    found = opened(made.model())
    assert "net/block_0" in found
    assert "net/head" not in found


def test_a_loss_of_many_ops_does_not_take_the_place_of_the_model() -> None:
    # x ─▶ two layers ─▶ a loss that also counts in a variable of its own, beside many other ops
    made = Made()
    x = made.dense("net/second", made.dense("net/first", made.op("x", "Placeholder"), more=2), more=2)
    for number in range(9):
        x = made.op(f"loss/square{number}", "Square", x)
        handle = made.op(f"loss/total{number}", "VarHandleOp")
        read = made.op(f"loss/read{number}", "ReadVariableOp", handle)
        made.op(f"loss/set{number}", "AssignVariableOp", handle, made.op(f"loss/add{number}", "AddV2", read, x))
    for number in range(8):
        made.op(f"out{number}", "Identity", x)
    found = opened(made.model())
    assert "net" in found
    assert "loss" not in found


def test_a_call_of_next_to_all_is_opened_among_ops_that_count() -> None:
    # x ─▶ nine ops that count, beside a call of a function of thirty
    made = Made()
    x = made.op("x", "Placeholder")
    for number in range(9):
        x = made.op(f"count{number}", "Square", x)
    made.op("run", "PartitionedCall", "x")
    made.graph.node[-1].attr["f"].func.name = "step"
    function = made.graph.library.function.add()
    function.signature.name = "step"
    for number in range(30):
        function.node_def.add(name=f"net/layer{number}", op="Relu", input=[f"net/layer{number - 1}"] if number else [])
    assert "run" in opened(made.model())


def test_a_long_stack_is_opened_before_layers_without_weights() -> None:
    # x ─▶ net/emb ─▶ net/shape, five ops without a weight ─▶ six blocks of two layers each ─▶ net/head
    made = Made()
    x = made.dense("net/emb", made.op("x", "Placeholder"))
    for number in range(5):
        x = made.op(f"net/shape/op{number}", "Reshape", x)
    for block in range(6):
        for layer in ("wide", "narrow"):
            x = made.dense(f"net/block_{block}/{layer}", x)
    made.op("y", "Identity", made.dense("net/head", x))
    found = opened(made.model())
    assert "net/block_0" in found
    assert found.isdisjoint({"net/shape", "net/head"})


TAIL = {
    "mix": "Dense",
    "act": "ReLU",
    "drop": "Dropout",
    "norm": "LayerNormalization",
    "flat": "Flatten",
    "odds": "Softmax",
}


def towers() -> Model:
    """Two inputs ─▶ two layers each ─▶ score ─▶ six layers."""

    def layer(kind: str, name: str, *inputs: str) -> dict[str, Any]:
        called = [[[source, 0, 0, {}] for source in inputs]] if inputs else []
        return {"class_name": kind, "name": name, "config": {"name": name}, "inbound_nodes": called}

    layers = [layer("InputLayer", side) for side in ("user", "item")]
    for side in ("user", "item"):
        layers += [layer("Embedding", f"{side}_emb", side), layer("Dense", f"{side}_fc", f"{side}_emb")]
    layers.append(layer("Dot", "score", "user_fc", "item_fc"))
    for (before, _), (name, kind) in pairwise([("score", "Dot"), *TAIL.items()]):
        layers.append(layer(kind, name, before))
    config = {"name": "net", "layers": layers, "input_layers": [], "output_layers": [["odds", 0, 0]]}
    return load(json.dumps({"class_name": "Functional", "config": config}).encode())


def test_towers_of_few_layers_are_drawn_alike_and_whole() -> None:
    picture = towers().picture().scene
    assert {box.address.rpartition("/")[2] for box in picture.boxes if not box.open} == {
        *("user", "user_emb", "user_fc", "item", "item_emb", "item_fc", "score"),
        *("mix (act)", *TAIL.keys() - {"mix", "act"}),  # a dense layer and its activation are one box
    }
    assert len([box for box in picture.boxes if box.open and box.kind == "fold"]) in (0, 2)


def seven_layers(made: Made) -> str:
    """x ─▶ seven layers of a scope, one larger than the other; the last."""
    x = made.op("x", "Placeholder")
    for number in range(7):
        x = made.dense(f"net/layer{'abcdefg'[number]}", x, more=number)
    return x


def test_the_steps_of_one_layer_do_not_lead() -> None:
    # x ─▶ eight layers, among them one that is written out for twenty steps with the same kernel
    made = Made()
    x = seven_layers(made)
    kernel = made.op("net/each/kernel", "VarHandleOp")
    steps = []
    for number in range(20):
        read = made.op(f"net/each/read_{number}", "ReadVariableOp", kernel)
        step = made.op(f"net/each/slice_{number}", "StridedSlice", x)
        steps.append(made.op(f"net/each/act_{number}", "Relu", made.op(f"net/each/mul_{number}", "MatMul", step, read)))
    made.op("y", "Identity", made.op("net/each/stack", "Pack", *steps))
    found = opened(made.model())
    assert "net" in found
    assert "net/each" not in found


def test_a_layer_of_one_cell_stays_closed() -> None:
    # x ─▶ net/first ─▶ net/rnn: ten ops around net/rnn/cell ─▶ net/last ─▶ six results
    made = Made()
    x = made.dense("net/first", made.op("x", "Placeholder"))
    for number in range(5):
        x = made.op(f"net/rnn/{'abcde'[number]}", "Reshape", x)
    x = made.dense("net/rnn/cell", x, more=3)
    for number in range(5):
        x = made.op(f"net/rnn/{'vwxyz'[number]}", "Transpose", x)
    x = made.dense("net/last", x)
    kinds = ("Exp", "Log", "Abs", "Neg", "Sign", "Round")
    for scope, kind in zip(("curve", "report", "metric", "notes", "alarm", "sum"), kinds, strict=True):
        made.op(f"{scope}/y", kind, made.op(f"{scope}/x", "Square", x))
    found = opened(made.model())
    assert "net" in found
    assert "net/rnn" not in found


def loop(made: Made, name: str, *inputs: str) -> None:
    """A While in whose body twenty ops run."""
    made.op(name, "While", *inputs)
    for attr, size in (("cond", 2), ("body", 20)):
        made.graph.node[-1].attr[attr].func.name = f"{name}_{attr}"
        function = made.graph.library.function.add()
        function.signature.name = f"{name}_{attr}"
        for number in range(size):
            before = [f"op{number - 1}:y:0"] if number else []
            function.node_def.add(name=f"op{number}", op="Tanh", input=before)


def test_the_same_layers_on_each_part_of_an_input_do_not_lead() -> None:
    # x ─▶ seven layers ─▶ five slices, each ─▶ edge ─▶ pool with one kernel for all; together they give y
    made = Made()
    x = seven_layers(made)
    kernel = made.op("net/frames/kernel", "VarHandleOp")
    parts = []
    for step in range(5):
        read = made.op(f"net/frames/edge_{step}/read", "ReadVariableOp", kernel)
        part = made.op(f"net/frames/slice_{step}", "StridedSlice", x)
        part = made.op(f"net/frames/edge_{step}/MatMul", "MatMul", part, read)
        for number in range(4):
            part = made.op(f"net/frames/edge_{step}/relu{number}", "Relu", part)
        parts.append(made.op(f"net/frames/pool_{step}/pool", "MaxPool", part))
    made.op("y", "Identity", made.op("net/frames/stack", "Pack", *parts))
    assert opened(made.model()) == {"net"}


def test_the_cells_of_a_loop_do_not_lead() -> None:
    # x ─▶ seven layers ─▶ rnn: two cells that are written out once, and a loop with their kernels ─▶ y
    made = Made()
    x = seven_layers(made)
    kernels = [made.op(f"net/rnn/{cell}/kernel", "VarHandleOp") for cell in ("cell_0", "cell_1")]
    for cell, kernel in zip(("cell_0", "cell_1"), kernels, strict=True):
        y = made.op(f"net/rnn/{cell}/MatMul", "MatMul", x, made.op(f"net/rnn/{cell}/read", "ReadVariableOp", kernel))
        for number in range(12):
            y = made.op(f"net/rnn/{cell}/act{number}", "Relu", y)
    loop(made, "net/rnn/while", x, *kernels)
    made.op("y", "Identity", "net/rnn/while")
    assert opened(made.model()) == {"net"}


def test_a_layer_of_many_ops_is_not_opened_to_fill_a_picture() -> None:
    # x ─▶ net/first, two ops ─▶ net/rnn, a loop and twelve ops around it ─▶ net/last ─▶ y
    made = Made()
    x = made.dense("net/first", made.op("x", "Placeholder"))
    kernel = made.op("net/rnn/kernel", "VarHandleOp")
    for kind in ("Sin", "Cos", "Tanh", "Exp", "Sqrt", "Max", "Cast", "Abs", "Neg", "Log", "Sign", "Round"):
        x = made.op(f"net/rnn/{kind}", kind, x)
    loop(made, "net/rnn/while", x, kernel)
    made.op("y", "Identity", made.dense("net/last", "net/rnn/while"))
    found = opened(made.model())
    assert "net" in found
    assert "net/rnn" not in found


def test_blocks_are_opened_before_a_layer_whose_ops_are_in_a_scope_of_their_own() -> None:
    # x ─▶ net/emb ─▶ four blocks of two layers each ─▶ net/head/Tensordot, the largest layer
    made = Made()
    x = made.dense("net/emb", made.op("x", "Placeholder"))
    for block in range(4):
        for layer in ("wide", "narrow"):
            x = made.dense(f"net/block_{block}/{layer}", x)
    made.op("y", "Identity", made.dense("net/head/Tensordot", x, more=12))
    found = opened(made.model())
    assert "net/block_0" in found
    assert "net/head" not in found


def test_both_halves_of_a_block_are_opened() -> None:
    # image ─▶ eight unlike layers ─▶ six blocks; a block: norm ─▶ attention ─▶ add ─▶ norm ─▶ 2 dense ─▶ add
    made = Made()

    def numbered(stem: str, number: int) -> str:
        return f"{stem}_{number}" if number else stem

    x = made.op("image", "Placeholder")
    for number, name in enumerate(("rescale", "patch", "embed", "position", "mix", "drop", "project", "shift")):
        x = made.dense(name, x, more=number)
    for block in range(6):
        for half, layers in enumerate((("attention",), ("dense", "wide"))):
            y = made.dense(numbered("norm", 2 * block + half), x)
            for layer in layers:
                y = made.dense(numbered(layer, block), y)
            x = made.op(numbered("add", 2 * block + half), "AddV2", y, x)
    model = made.model()
    shown = {model.hierarchy.display_label(path[-1]) for path in model.picture().opened}
    assert {"attention · norm", "dense · norm · wide"} <= shown


def test_of_a_network_of_short_stages_the_largest_shows_its_block() -> None:
    # image ─▶ seven stages of three equal blocks ─▶ head; a block: two layers and a sum. No stage is a third of all.
    made = Made()
    x = made.op("image", "Placeholder")
    for stage in range(7):
        for block in range(4 if stage == 5 else 3):
            name = f"stage{stage}/block{block}"
            y = made.dense(f"{name}/narrow", x, more=stage)
            x = made.op(f"{name}/add", "AddV2", made.dense(f"{name}/wide", y), x)
    made.dense("head", x)
    found = opened(made.model())
    assert {group.partition("/")[0] for group in found} == {"stage5"}
    assert len(found) > 1  # the stage and a block


@pytest.mark.parametrize(("attends", "full"), [(True, False), (False, False), (True, True)])
def test_where_much_of_the_sheet_is_white_the_attention_of_a_layer_is_open(
    monkeypatch: pytest.MonkeyPatch, attends: bool, full: bool
) -> None:
    # four layers: queries, keys, values ─▶ self ─▶ output, in `attention`, and dense layers behind it
    made = Made()
    x = made.op("x", "Placeholder")
    for layer in range(4):
        held = f"layer_{layer}/attention"
        query, key, value = (made.dense(f"{held}/{name}", x) for name in ("query", "key", "value"))
        if attends:
            scores = made.op(f"{held}/self/scores", "BatchMatMulV2", query, key)
            mixed = made.op(f"{held}/self/mix", "BatchMatMulV2", made.op(f"{held}/self/p", "Softmax", scores), value)
        else:
            mixed = made.op(f"{held}/self/sum", "AddN", query, made.op(f"{held}/self/add", "AddV2", key, value))
        x = made.dense(f"{held}/output", mixed)
        for number, part in enumerate(("norm", "wide", "narrow", "gate", "drop", "mix")):
            x = made.dense(f"layer_{layer}/{part}", x, more=number)
    if full:
        monkeypatch.setattr("graphviz_tb.api.layout.FULL_SHEET_PERCENT", 0)
    assert ("layer_0/attention" in opened(made.model())) is (attends and not full)


def test_the_one_part_of_a_member_opens_although_another_member_has_more() -> None:
    # block: three layers in `body`, and an op; the first has a projection too
    made = Made()
    x = made.op("x", "Placeholder")
    for number in range(5):
        block, start = f"stage/block{number}", x
        for layer in range(3):
            x = made.dense(f"{block}/body/layer{layer}", x)
        skip = start if number else made.dense(f"{block}/projection", start)
        x = made.op(f"{block}/act", "Relu", made.op(f"{block}/body/add", "AddV2", x, skip))
    picture = FirstPicture(made.model().hierarchy, made.model().member_metagraph, one_member=True)
    picture.open_towards_repeat()
    picture.open_main_stack()
    shown = [picture.hierarchy.name[path[-1]] for path in picture.opened]
    assert shown == ["", "stage", "stage/block1/body"]
