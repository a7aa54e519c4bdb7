"""Where layers are told beside an op graph, the scopes of that graph are these layers."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from google.protobuf import text_format

from graphviz_tb import load
from graphviz_tb.annotate.statistics import join_statistics
from graphviz_tb.errors import MalformedProto
from graphviz_tb.graphs.layer_rows import match_layers_to_scopes
from graphviz_tb.model.layers import Layer
from graphviz_tb.proto import RunMetadata, SavedModel
from graphviz_tb.read.source import list_contents, read_source

FIXTURES = Path(__file__).parents[2] / "fixtures"
KERAS2, KERAS3 = FIXTURES / "models" / "keras2", FIXTURES / "models" / "keras3"
TRUTH = json.loads((KERAS2 / "truth.json").read_text())


def lines(model_layers: dict[str, Layer]) -> dict[str, str]:
    return {name: layer.one_line for name, layer in model_layers.items()}


@pytest.mark.parametrize("name", ["cnn", "subclassed"])
def test_keras_metadata_tells_each_layer(name: str) -> None:
    layers = read_source(KERAS2 / f"{name}_told" / "keras_metadata.pb").layers
    for path, layer in TRUTH[name].items():
        assert layers[path].class_name == layer["class"]
        assert layers[path].parameters == layer["parameters"]


def test_the_tuples_of_keras_metadata_are_those_of_the_json() -> None:
    told = read_source(KERAS2 / "cnn_told" / "keras_metadata.pb").layers["cnn/conv2"]
    plain = read_source(KERAS2 / "cnn.json").layers["cnn/conv2"]
    assert told.telling == plain.telling == "16 · 3×3 · stride 2 · same · no bias"
    assert (told.outputs, told.config["kernel_size"]) == (plain.outputs, [3, 3])


@pytest.mark.parametrize("name", ["cnn", "subclassed"])
def test_the_scopes_of_a_saved_model_bear_class_and_configuration(name: str) -> None:
    model = load(KERAS2 / f"{name}_told")
    scopes = {node["name"]: node["layer"]["class"] for node in model.to_json()["nodes"] if "layer" in node}
    wanted = {path: layer["class"] for path, layer in TRUTH[name].items() if layer["class"] != "InputLayer"}
    assert wanted.items() <= scopes.items()
    if name == "cnn":
        svg = model.render("svg").decode()
        assert "Conv2D · 8 · 3×3 · relu" in svg
        assert "Functional · 8 layers" in svg


def test_a_layer_of_an_op_graph_stays_closed_in_the_first_picture() -> None:
    shown = {box.address for box in load(KERAS2 / "cnn_told").picture().scene.boxes if not box.open}
    assert shown >= {f"cnn/{name}" for name in ("conv1", "norm", "pool", "conv2", "flat", "drop", "classes")}


def test_a_run_with_both_graphs_bears_the_layers() -> None:
    model = load(FIXTURES / "logdirs" / "keras2_callback")
    told = lines(dict(model.hierarchy.graph.layers))
    assert told["two_headed/shared"] == "Dense · 8 · 2 calls"
    assert told["two_headed/sub_model/s1"].startswith("Dense")
    assert not [name for name in told if "gradient_tape" in name]


def test_tensorboards_preset_and_the_whole_file_bear_none() -> None:
    for choices in ({"preset": "tensorboard"}, {"whole_file": True}):
        assert not load(KERAS2 / "cnn_told", **choices).hierarchy.graph.layers


@pytest.mark.parametrize("name", ["cnn", "nested", "siamese", "rnn", "custom"])
def test_keras_3_counts_names_up(name: str) -> None:
    layers = read_source(KERAS3 / f"{name}.json").layers
    graph = read_source(KERAS3 / f"{name}_saved").graph_def
    found = match_layers_to_scopes((node.name for node in graph.node), layers)
    kept = [path for path, layer in layers.items() if layer.class_name not in ("InputLayer", "Dropout")]
    for path in kept:
        scopes = [scope for scope, layer in found.items() if layer == path]
        assert scopes, path
        assert all(scope.count("/") == path.count("/") for scope in scopes)


def test_names_that_count_by_themselves_are_told_apart() -> None:
    names = [f"m_1/{scope}/MatMul" for scope in ("dense_1", "dense_1_2", "dense_2_1")]
    assert match_layers_to_scopes(names, ["m", "m/dense", "m/dense_1", "m/dense_2"]) == {
        "m_1": "m",
        "m_1/dense_1": "m/dense",
        "m_1/dense_1_2": "m/dense_1",
        "m_1/dense_2_1": "m/dense_2",
    }


def test_a_graph_of_tensorflow_1_has_no_scope_of_its_model() -> None:
    names = ["dense/MatMul", "gradients/dense/MatMul_grad"]
    assert match_layers_to_scopes(names, ["m", "m/dense"]) == {"dense": "m/dense"}


def test_a_damaged_file_of_layers_harms_no_saved_model(tmp_path: Path) -> None:
    shutil.copytree(KERAS2 / "cnn_told", tmp_path / "cnn")
    path = tmp_path / "cnn" / "keras_metadata.pb"
    whole = path.read_bytes()
    path.write_bytes(whole[:5000])
    assert load(tmp_path / "cnn").hierarchy.op_count(0) == load(KERAS2 / "cnn_told").hierarchy.op_count(0)
    assert len(list_contents(tmp_path / "cnn")) == 2
    with pytest.raises(MalformedProto, match="cut short"):
        read_source(path)
    path.write_bytes(whole.replace(b'{"name": "cnn"', b'["name": "cnn"', 1))
    assert "root/conv1" in read_source(path).layers  # the record of the model is lost, those of its layers are not


@pytest.mark.parametrize("around", ["cnn/{}", "cnn_1/{}_1", "StatefulPartitionedCall/cnn/{}"])
def test_a_trace_of_the_ops_is_joined_with_the_layers(around: str) -> None:
    # two ops of a layer, one of another, one of a gradient, which belongs to no layer
    times = {f"{around.format('conv1')}/Conv2D": 30, f"{around.format('conv1')}/Relu": 12}
    times |= {f"{around.format('pool')}/MaxPool": 5, f"gradient_tape/{around.format('pool')}/MaxPoolGrad": 7}
    entries = [{"node_name": name, "all_start_micros": 1, "all_end_rel_micros": time} for name, time in times.items()]
    trace = RunMetadata(step_stats={"dev_stats": [{"device": "/device:CPU:0", "node_stats": entries}]})
    model = load(KERAS3 / "cnn.json")
    stats = join_statistics(model.hierarchy, [trace])
    told = {model.hierarchy.name[row]: stats.figures(row) for row in range(len(model.hierarchy))}
    assert (told["cnn/conv1"].time, told["cnn/pool"].time, told["cnn"].time) == (30 + 12, 5, 30 + 12 + 5)
    assert not told["cnn/conv2"].known
    assert [name for name, _ in stats.unmatched] == [f"gradient_tape/{around.format('pool')}/MaxPoolGrad"]


def test_a_scope_is_called_what_the_program_calls_its_layer(tmp_path: Path) -> None:
    # as Keras 3 names scopes: with a counter behind the layer's name
    saved = SavedModel.FromString((KERAS2 / "cnn_told" / "saved_model.pb").read_bytes())
    text = re.sub(r"\bcnn/(\w+)/", r"cnn/\1_3/", text_format.MessageToString(saved))
    (tmp_path / "saved_model.pb").write_bytes(text_format.Parse(text, SavedModel()).SerializeToString())
    shutil.copy(KERAS2 / "cnn_told" / "keras_metadata.pb", tmp_path)
    model = load(tmp_path)
    assert "cnn/conv1_3" in {box.address for box in model.picture().scene.boxes}
    svg = model.render("svg").decode()
    assert ">conv1 · ReLU<" in svg
    assert ">conv1_3" not in svg
    typed = model.picture(open=["cnn/conv1_3"]).scene  # the scope's own name, or the layer's
    assert "cnn/conv1_3/Conv2D" in {box.address for box in typed.boxes}
    assert model.picture(open=["cnn/conv1"]).scene == typed
