"""Who takes which output of which call of a layer: names, states, shared layers and models, wrappers around models."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from graphviz_tb import Model, load

Taken = tuple[str, int, int]  # a layer, which call of it, which output
LSTM = {"units": 16, "return_sequences": True, "return_state": True}


def tensor(taken: Taken) -> Any:
    return {"class_name": "__keras_tensor__", "config": {"keras_history": list(taken)}}


def layer(version: int, kind: str, name: str, config: Mapping[str, Any], *calls: Sequence[Taken]) -> dict[str, Any]:
    """A layer as Keras 2 or 3 writes it, called with one list of tensors at a time."""
    if version == 2:
        nodes: list[Any] = [[[*taken, {}] for taken in call] for call in calls]
    else:
        nodes = [{"args": [[tensor(taken) for taken in call]], "kwargs": {}} for call in calls]
    return {"class_name": kind, "name": name, "config": {"name": name, **config}, "inbound_nodes": nodes}


def given(name: str, *sizes: int | None) -> dict[str, Any]:
    return layer(3, "InputLayer", name, {"batch_shape": [None, *sizes]})


def model(name: str, layers: list[dict[str, Any]], ins: Any, outs: Any) -> dict[str, Any]:
    config = {"name": name, "layers": layers, "input_layers": ins, "output_layers": outs}
    return {"class_name": "Functional", "config": config}


def first(*names: str) -> list[Any]:
    return [[name, 0, 0] for name in names]


def made(described: Mapping[str, Any]) -> Model:
    return load(json.dumps(described).encode())


def inputs(loaded: Model) -> dict[str, list[str]]:
    assert loaded.loaded is not None
    return {node.name: list(node.input) for node in loaded.loaded.graph_def.node}


def shapes(loaded: Model, name: str) -> tuple[tuple[int | None, ...] | None, ...]:
    assert loaded.loaded is not None
    return loaded.loaded.layers[name].outputs


both = pytest.mark.parametrize("version", [2, 3])


# x ─▶ my_block ─▶ my_block_1 ─▶ my_block_3 ─▶ my_block_2 ─▶ head; only the fourth block and the head have names
def test_layers_without_names_are_a_chain() -> None:
    blocks: list[Any] = [{"class_name": "MyBlock", "config": {"n": 4}, "registered_name": "mine>MyBlock"}] * 3
    named = {"class_name": "MyBlock", "config": {"n": 4, "name": "my_block_2"}}
    head = {"class_name": "Dense", "config": {"name": "head", "units": 2}}
    loaded = made(
        {"class_name": "Sequential", "config": {"name": "net", "layers": [given("x", 4), *blocks, named, head]}}
    )
    assert inputs(loaded) == {
        "net/x": [],
        "net/my_block": ["net/x"],
        "net/my_block_1": ["net/my_block"],
        "net/my_block_3": ["net/my_block_1"],
        "net/my_block_2": ["net/my_block_3"],
        "net/head": ["net/my_block_2"],
    }
    assert not loaded.notices


# x ─▶ a ─▶ a ─▶ b, in a list that names two layers alike
def test_of_two_layers_of_one_name_the_second_is_counted() -> None:
    layers = [{"class_name": "Dense", "config": {"name": name, "units": 2}} for name in ("a", "a", "b")]
    loaded = made({"class_name": "Sequential", "config": {"name": "s", "layers": [given("x", 4), *layers]}})
    assert inputs(loaded) == {"s/x": [], "s/a": ["s/x"], "s/a_1": ["s/a"], "s/b": ["s/a_1"]}


# x ─▶ lstm ─▶ sequence: on_x · hidden state: on_h · hidden and cell state: sum
@both
def test_states_of_a_recurrent_layer_are_outputs_of_their_own(version: int) -> None:
    layers = [
        given("x", 5, 3),
        layer(version, "LSTM", "lstm", LSTM, [("x", 0, 0)]),
        layer(version, "Dense", "on_x", {"units": 5}, [("lstm", 0, 0)]),
        layer(version, "Dense", "on_h", {"units": 3}, [("lstm", 0, 1)]),
        layer(version, "Add", "sum", {}, [("lstm", 0, 1), ("lstm", 0, 2)]),
    ]
    loaded = made(model("m", layers, first("x"), first("on_x", "on_h", "sum")))
    assert inputs(loaded)["m/on_x"] == ["m/lstm"]
    assert inputs(loaded)["m/on_h"] == ["m/lstm:1"]
    assert inputs(loaded)["m/sum"] == ["m/lstm:1", "m/lstm:2"]
    assert shapes(loaded, "m/on_h") == ((None, 3),)
    assert loaded.shapes()["m/lstm", 1] == (None, 16)
    assert loaded.costs()["m/on_h"].parameters == 16 * 3 + 3


# a, b ─▶ head (called twice, on images of different sizes) ─▶ two outputs; both calls of it ─▶ sum
@both
def test_each_call_of_a_shared_layer_gives_an_output(version: int) -> None:
    conv = {"filters": 2, "kernel_size": [1, 1]}
    layers = [
        given("a", 8, 8, 3),
        given("b", 4, 4, 3),
        layer(version, "Conv2D", "head", conv, [("a", 0, 0)], [("b", 0, 0)]),
        layer(version, "Flatten", "large", {}, [("head", 0, 0)]),
        layer(version, "Flatten", "small", {}, [("head", 1, 0)]),
    ]
    loaded = made(model("m", layers, first("a", "b"), first("large", "small")))
    assert (inputs(loaded)["m/large"], inputs(loaded)["m/small"]) == (["m/head"], ["m/head:1"])
    assert shapes(loaded, "m/head") == ((None, 8, 8, 2), (None, 4, 4, 2))
    assert shapes(loaded, "m/small") == ((None, 4 * 4 * 2),)
    # Two operations for each product, one for the bias of each output.
    assert loaded.costs()["m/head"].flops == (8 * 8 + 4 * 4) * 2 * (2 * 3 + 1)
    assert loaded.costs()["m/head"].parameters == 3 * 2 + 2


# a, b ─▶ tower: i ─▶ d (called twice; Keras counts the calls of a model from 1) ─▶ difference
@both
@pytest.mark.parametrize("start", [0, 1])
def test_each_call_of_a_shared_model_gives_an_output(version: int, start: int) -> None:
    inside = [given("i", 4), layer(version, "Dense", "d", {"units": 3}, [("i", 0, 0)])]
    tower = model("tower", inside, first("i"), first("d"))
    tower |= {
        key: layer(version, "", "tower", {}, [("a", 0, 0)], [("b", 0, 0)])[key] for key in ("name", "inbound_nodes")
    }
    taken = [("tower", start, 0), ("tower", start + 1, 0)]
    layers = [given("a", 4), given("b", 4), tower, layer(version, "Subtract", "difference", {}, taken)]
    loaded = made(model("m", layers, first("a", "b"), first("difference")))
    assert inputs(loaded)["m/tower/i"] == ["m/a", "m/b"]
    assert inputs(loaded)["m/difference"] == ["m/tower/d", "m/tower/d:1"]
    assert loaded.cost.under(0).parameters == 4 * 3 + 3
    assert loaded.costs()["m/tower/d"].flops == 2 * (2 * 4 * 3 + 3)


# A layer of a class that nobody knows gives two tensors; both are taken, and one line carries both.
@both
def test_two_outputs_of_a_custom_layer_are_two_tensors_everywhere(version: int) -> None:
    layers = [
        given("x", 2),
        layer(version, "Twice", "twice", {}, [("x", 0, 0)]),
        layer(version, "Add", "add", {}, [("twice", 0, 0), ("twice", 0, 1)]),
    ]
    loaded = made(model("m", layers, first("x"), first("add")))
    assert inputs(loaded)["m/add"] == ["m/twice", "m/twice:1"]
    (edges,) = (group["edges"] for group in loaded.to_json()["groups"].values() if len(group["edges"]) == 2)
    assert sorted(edge["tensors"] for edge in edges) == [1, 2]


# a (zed) · b (abc) ─▶ inner ─▶ outputs in a dict; the call lists them the other way round
@both
def test_tensors_in_dicts_belong_together_by_their_keys(version: int) -> None:
    inside = [
        given("ia", 4),
        given("ib", 6),
        layer(version, "Dense", "da", {"units": 3}, [("ia", 0, 0)]),
        layer(version, "Dense", "db", {"units": 5}, [("ib", 0, 0)]),
    ]
    inner = model("inner", inside, {"zed": ["ia", 0, 0], "abc": ["ib", 0, 0]}, {"p": ["da", 0, 0], "o": ["db", 0, 0]})
    call: dict[str, Taken] = {"abc": ("y", 0, 0), "zed": ("x", 0, 0)}
    if version == 2:
        inner["inbound_nodes"] = [{key: [*taken, {}] for key, taken in call.items()}]
    else:
        inner["inbound_nodes"] = [{"args": [{key: tensor(taken) for key, taken in call.items()}], "kwargs": {}}]
    # Outputs are numbered in the order of their keys, too.
    last = layer(version, "Concatenate", "c", {}, [("inner", 1, 1), ("inner", 1, 0)])
    loaded = made(model("m", [given("x", 4), given("y", 6), inner, last], first("x", "y"), first("c")))
    assert inputs(loaded)["m/inner/ia"] == ["m/x"]
    assert inputs(loaded)["m/inner/ib"] == ["m/y"]
    assert inputs(loaded)["m/c"] == ["m/inner/da", "m/inner/db"]


def in_steps(inner: Any, *sizes: int | None, kind: str = "TimeDistributed") -> Model:
    """x ─▶ a wrapper around a model ─▶ out."""
    wrapper = layer(3, kind, "each", {"layer": inner}, [("x", 0, 0)])
    layers = [given("x", *sizes), wrapper, layer(3, "Dense", "out", {"units": 2}, [("each", 0, 0)])]
    return made(model("m", layers, first("x"), first("out")))


ENCODER = model("e", [given("i", 4), layer(3, "Dense", "d", {"units": 3}, [("i", 0, 0)])], first("i"), first("d"))
SEQUENCE = {"class_name": "Sequential", "config": {"name": "e", "layers": ENCODER["config"]["layers"]}}


@pytest.mark.parametrize("inner", [ENCODER, SEQUENCE], ids=["functional", "sequential"])
def test_time_distributed_opens_to_the_model_in_it(inner: Any) -> None:
    loaded = in_steps(inner, 5, 4)
    assert inputs(loaded) == {
        "m/x": [],
        "m/each/e/i": ["m/x"],
        "m/each/e/d": ["m/each/e/i"],
        "m/out": ["m/each/e/d"],
    }
    # What it holds runs at each of five steps; shapes are those of all steps.
    assert shapes(loaded, "m/each/e/d") == ((None, 5, 3),)
    assert loaded.costs()["m/each/e/d"].flops == 5 * (2 * 4 * 3 + 3)
    assert loaded.loaded is not None
    assert loaded.loaded.layers["m/each"].parameters == 4 * 3 + 3
    assert loaded.loaded.layers["m/each"].one_line == "TimeDistributed · 5 steps"


def test_steps_in_steps_multiply() -> None:
    twice = {"class_name": "TimeDistributed", "config": {"name": "t", "layer": ENCODER}}
    loaded = in_steps(twice, 7, 5, 4)
    assert shapes(loaded, "m/each/t/e/d") == ((None, 7, 5, 3),)
    assert loaded.costs()["m/each/t/e/d"].flops == 7 * 5 * (2 * 4 * 3 + 3)


def test_work_of_unknown_steps_is_not_counted() -> None:
    loaded = in_steps(ENCODER, None, 4)
    assert shapes(loaded, "m/each/e/d") == ((None, None, 3),)
    assert loaded.cost.uncounted == {"Dense": 1}  # that within; the one after it is counted


def test_tensorboard_has_the_layers_of_the_file() -> None:
    config = layer(3, "TimeDistributed", "each", {"layer": ENCODER}, [("x", 0, 0)])
    shared = layer(3, "LSTM", "lstm", LSTM, [("each", 0, 0)])
    layers = [given("x", 5, 4), config, shared, layer(3, "Dense", "h", {"units": 1}, [("lstm", 0, 1)])]
    loaded = load(json.dumps(model("m", layers, first("x"), first("h"))).encode(), preset="tensorboard")
    assert inputs(loaded) == {"m/x": [], "m/each": ["m/x"], "m/lstm": ["m/each"], "m/h": ["m/lstm"]}


# q, k, mask ─▶ attention: a mask is taken, and is no key
@both
def test_a_mask_is_no_key_of_an_attention(version: int) -> None:
    config = {"num_heads": 2, "key_dim": 4}
    if version == 2:
        kwargs = {"value": ["k", 0, 0], "attention_mask": ["mask", 0, 0]}
        node: Any = [["q", 0, 0, kwargs]]
    else:
        node = {
            "args": [tensor(("q", 0, 0)), tensor(("k", 0, 0))],
            "kwargs": {"attention_mask": tensor(("mask", 0, 0))},
        }
    attention = {**layer(version, "MultiHeadAttention", "att", config), "inbound_nodes": [node]}
    loaded = made(model("m", [given("q", 5, 8), given("k", 7, 12), given("mask", 5, 7), attention], [], first("att")))
    assert inputs(loaded)["m/att"] == ["m/q", "m/k", "m/mask"]
    kernels = 8 * 2 * 4 + 12 * 2 * 4 + 12 * 2 * 4 + 2 * 4 * 8
    assert loaded.costs()["m/att"].parameters == kernels + 3 * 2 * 4 + 8


def test_many_calls_of_many_runs_are_listed_once() -> None:
    """Models in models multiply their calls: what would be millions of outputs is listed for the first of them."""
    inside: dict[str, Any] = layer(2, "Dense", "d", {"units": 2}, *[[("i", 0, 0)]] * 50)
    described = model("n", [given("i", 2), inside], first("i"), [["d", 49, 0]])
    for _ in range(4):
        called = {**described, "name": "n", "inbound_nodes": [[["i", 0, 0, {}]]] * 50}
        described = model("n", [given("i", 2), called], first("i"), [["n", 49, 0]])
    loaded = made(described)
    assert len(shapes(loaded, "n/n/n/n/n/d")) == 50
    assert loaded.costs()["n/n/n/n/n/d"].flops == 50**5 * (2 * 2 * 2 + 2)


def test_models_in_models_that_are_each_called_twice_end() -> None:
    # 60 models in each other, each called twice: 2^60 runs of the innermost, whose layer gives nothing that is known
    layer: dict[str, Any] = {"class_name": "Mine", "name": "x", "config": {"name": "x"}, "inbound_nodes": []}
    for depth in range(60):
        name, inner = f"n{depth}", layer["name"]
        given = {"class_name": "InputLayer", "name": "i", "config": {"name": "i", "batch_shape": 64}}
        layer["inbound_nodes"] = [[["i", 0, 0, {}]], [["i", 0, 0, {}]]]
        config = {"name": name, "layers": [{**given, "inbound_nodes": []}, layer]}
        config |= {"input_layers": [["i", 0, 0]], "output_layers": [[inner, 0, 0], [inner, 1, 0]]}
        layer = {"class_name": "Functional", "name": name, "config": config, "inbound_nodes": []}
    assert load(json.dumps(layer).encode()).hierarchy


@both
def test_a_layer_whose_calls_feed_each_other_is_a_node_for_each_call(version: int) -> None:
    # x ─▶ d ─▶ act ─▶ d
    layers = [
        given("x", 4),
        layer(version, "Dense", "d", {"units": 4}, [("x", 0, 0)], [("act", 0, 0)]),
        layer(version, "ReLU", "act", {}, [("d", 0, 0)]),
    ]
    loaded = made(model("m", layers, first("x"), [["d", 1, 0]]))
    assert inputs(loaded) == {"m/x": [], "m/d": ["m/x"], "m/d (2)": ["m/act"], "m/act": ["m/d"]}
    assert loaded.loaded is not None
    known = loaded.loaded.layers
    assert (known["m"].parameters, known["m/d"].parameters, known["m/d (2)"].parameters) == (20, 20, 0)
    assert known["m"].results == ("m/d (2)",)
    assert "shared weights" in known["m/d"].telling
