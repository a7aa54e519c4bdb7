"""JSON may put anything where a class of Keras takes a size: the layer is drawn, what follows from it is unknown."""

from __future__ import annotations

import json
import pickle
import time
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from graphviz_tb import Model, load
from graphviz_tb.commands import _run_command_line
from graphviz_tb.errors import MalformedText
from graphviz_tb.keras.model import conceptual_graph
from graphviz_tb.keras.output_shapes import layer_output_shapes
from graphviz_tb.keras.parameters import parameter_count
from graphviz_tb.keras.validation import PER_DIMENSION_OPTIONS, SIZE_OPTIONS
from graphviz_tb.ops.layers import LAYER_CLASSES
from tests.each import each
from tests.timing import within

INPUTS = {"images": [None, 8, 8, 4], "sequence": [None, 6, 4], "vector": [None, 4], "wide": [2**62] * 4}
CELL = {"class_name": "LSTMCell", "config": {"units": 3}}
GOOD = {
    **dict.fromkeys(sorted(SIZE_OPTIONS), 2),
    "kernel_size": 3,
    "pool_size": 2,
    "size": 2,
    "target_shape": [-1, 2],
    "dims": [2, 1],
    "axes": 1,
    "axis": -1,
    "equation": "abc,cd->abd",
    "bias_axes": "d",
    "cropping": 1,
    "function": "tf.add",
    "cell": CELL,
    "padding": 1,
    "layer": {"class_name": "LSTM", "config": {"units": 3, "return_sequences": True}},
    "output_mode": "one_hot",
}
ODD: list[Any] = [
    *(None, True, False, 0, -1, 2**63, 10**400, 1.5, float("nan"), float("inf"), "x" * 50, "9" * 5000, {}, {"a": 1}),
    *([], [0, 0], [None, None], [[]], [1.5], [10**400] * 2, [2**62] * 200, [1] * 1000, "->", "a" * 5000),
]


def layer(kind: str, config: Any, number: int, source: str) -> Any:
    return {"class_name": kind, "name": f"x{number}", "config": config, "inbound_nodes": [[[source, 0, 0, {}]]]}


def model(layers: list[Any]) -> bytes:
    given = [
        {"class_name": "InputLayer", "name": name, "config": {"name": name, "batch_input_shape": shape}}
        for name, shape in INPUTS.items()
    ]
    described = {"name": "m", "layers": given + layers, "input_layers": [[name, 0, 0] for name in INPUTS]}
    return json.dumps({"class_name": "Functional", "config": described}).encode()


@pytest.mark.slow
@each("odd", ODD, ids=lambda value: repr(value)[:20])
def test_a_value_that_no_class_takes_in_every_place_of_every_class(odd: Any) -> None:
    numbers = count()
    layers = [
        layer(kind, {**GOOD, key: odd}, number := next(numbers), list(INPUTS)[number % len(INPUTS)])
        for kind in sorted({*LAYER_CLASSES})
        for key in sorted(SIZE_OPTIONS | PER_DIMENSION_OPTIONS)
    ]
    content = conceptual_graph(model(layers), "m.json")
    assert all(fact.parameters is None or fact.parameters >= 0 for fact in (content.layers or {}).values())


def test_what_is_sound_is_counted_beside_what_is_not() -> None:
    dense = {"name": "good", "units": 3}
    made = load(model([layer("Dense", dense, 0, "vector"), layer("Dense", {"name": "bad", "units": "3"}, 1, "vector")]))
    assert made.costs()["m/good"].parameters == 15
    assert made.shapes()["m/good", 0] == (None, 3)
    assert ("m/bad", 0) not in made.shapes() or made.shapes()["m/bad", 0] is None


@each("odd", [["xx"], {"a": 1}])
def test_a_text_is_no_size_that_is_multiplied(odd: Any) -> None:
    config = {"equation": "abcd,de->abce", "output_shape": odd}
    assert parameter_count("EinsumDense", config, [(2**62,) * 4]) is None


def test_a_recurrent_convolution_gives_an_image_for_each_step_or_the_last() -> None:
    # two kernels for each of four gates, of the image (3 channels) and of the state (4), and biases
    config = {"filters": 4, "kernel_size": [3, 3], "return_sequences": True, "return_state": True}
    image, state = (None, 5, 6, 6, 4), (None, 6, 6, 4)
    assert layer_output_shapes("ConvLSTM2D", config, [(None, 5, 8, 8, 3)]) == [image, state, state]
    assert layer_output_shapes("ConvLSTM2D", {**config, "return_sequences": False}, [(None, 5, 8, 8, 3)])[0] == state
    assert parameter_count("ConvLSTM2D", config, [(None, 5, 8, 8, 3)]) == 4 * (9 * 4 * (3 + 4) + 4)


@pytest.mark.parametrize(("kind", "key"), [("Bidirectional", "layer"), ("TimeDistributed", "layer"), ("RNN", "cell")])
def test_a_layer_in_a_layer_in_a_layer(kind: str, key: str) -> None:
    inner: Any = {"class_name": "LSTM", "config": {"units": 3}}
    for _ in range(280):
        inner = {"class_name": kind, "config": {"name": "x", key: inner}}
    assert pickle.loads(pickle.dumps(load(model([{**inner, "inbound_nodes": [[["sequence", 0, 0]]]}]))))


def nested(levels: int) -> bytes:
    return model([layer("Dense", {"name": "d", "deep": "?", "strides": "?", "pool_size": "?"}, 0, "vector")]).replace(
        b'"?"', b"[" * levels + b"1" + b"]" * levels
    )


def test_values_nested_as_deep_as_may_be_are_drawn_in_every_form(tmp_path: Path) -> None:
    (tmp_path / "m.json").write_bytes(nested(595))
    out = [word for suffix in ("svg", "json", "html") for word in ("-o", str(tmp_path / f"a.{suffix}"))]
    file = str(tmp_path / "m.json")
    assert (
        _run_command_line(["render", file, *out, "-q"])
        == _run_command_line(["info", file, "--json"])
        == _run_command_line(["diff", file, file, "-q"])
        == 0
    )


def test_values_nested_deeper_are_refused_on_every_python() -> None:
    with pytest.raises(MalformedText, match="nested too deep"):
        load(nested(600))
    assert isinstance(load(nested(2).replace(b'"tf.add"', b'"' + b"[" * 900 + b'"')), Model)


@pytest.mark.slow
def test_many_numbers_of_many_digits_take_no_time() -> None:
    start = time.process_time()
    load(model([layer("Reshape", {"name": "r", "target_shape": [10**4000] * 3000}, 0, "vector")]))
    load(model([layer("Flatten", {"name": "f", "batch_input_shape": [2**62] * 200_000}, 0, "nowhere")]))
    assert within(time.process_time() - start, 20)


@pytest.mark.slow
def test_ways_within_ways_have_no_states_without_end() -> None:
    """Keras wraps a recurrent layer alone: another of both ways would give twice as many states as that one."""
    inner: Any = {"class_name": "LSTM", "config": {"units": 3, "return_sequences": True, "return_state": True}}
    for _ in range(40):
        inner = {"class_name": "Bidirectional", "config": {"layer": inner}}
    start = time.process_time()
    layers = [layer("Bidirectional", {"layer": inner["config"]["layer"], "name": "x0"}, 0, "sequence")]
    found = conceptual_graph(model(layers), "m").layers
    assert found["m/x0"].outputs == ()
    assert within(time.process_time() - start, 5)


@pytest.mark.parametrize("output", [10**12, 2**63, -(10**12)])
def test_an_output_that_no_layer_can_have(output: int) -> None:
    tensor = {"class_name": "__keras_tensor__", "config": {"shape": [None, 4], "keras_history": ["vector", 0, output]}}
    taker = {"class_name": "Dense", "config": {"name": "d", "units": 3}, "inbound_nodes": [{"args": [tensor]}]}
    found = conceptual_graph(model([{**taker, "name": "d"}]), "m").layers
    assert len(found["m/vector"].outputs) == 1


@each("kind", ["Activation", "Dropout", "ZeroPadding2D"])
def test_a_wrapper_that_normalises_a_kernel_around_a_layer_without_one(kind: str) -> None:
    inner = {"class_name": kind, "config": {"activation": "relu", "padding": 1}}
    assert parameter_count("SpectralNormalization", {"layer": inner}, [(None, 8, 8, 4)]) is None
    dense = {"class_name": "Dense", "config": {"units": 3}}
    assert parameter_count("SpectralNormalization", {"layer": dense}, [(None, 4)]) == 4 * 3 + 3 + 3


def test_each_direction_counts_with_the_layer_that_runs_in_it() -> None:
    settings = {"layer": {"class_name": "GRU", "config": {"units": 3}}}
    config = {**settings, "backward_layer": {"class_name": "LSTM", "config": {"units": 5}}}
    assert parameter_count("Bidirectional", config, [(None, 7, 4)]) == 3 * 3 * (4 + 3 + 2) + 4 * 5 * (4 + 5 + 1)
    assert layer_output_shapes("Bidirectional", config, [(None, 7, 4)]) == [(None, 8)]
    assert parameter_count("Bidirectional", settings, [(None, 7, 4)]) == 2 * 3 * 3 * (4 + 3 + 2)


@pytest.mark.parametrize("kind", ["Bidirectional", "TimeDistributed", "SpectralNormalization"])
def test_a_custom_layer_in_a_wrapper_is_not_counted_as_the_one_of_its_name(kind: str) -> None:
    inner = {"class_name": "Dense", "module": None, "registered_name": "own>Dense", "config": {"units": 3}}
    assert parameter_count(kind, {"layer": inner}, [(None, 7, 4)]) is None
