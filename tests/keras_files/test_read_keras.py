"""Conceptual graphs of Keras models: who feeds whom."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from graphviz_tb.errors import MalformedText, NoGraph, TooLarge, UnknownFormat
from graphviz_tb.keras import files
from graphviz_tb.proto import DataType, GraphDef
from graphviz_tb.read.source import read_source
from tests.each import each

FIXTURES = Path(__file__).parents[2] / "fixtures"


def edges(graph: GraphDef) -> dict[str, list[str]]:
    return {node.name: list(node.input) for node in graph.node}


def test_functional_model_as_a_layer() -> None:
    # x ─▶ left  ─▶ p ─▶ one ─▶ first  ─▶ sum
    #   ─▶ right ─▶ q ─▶ two ─▶ second ─▶
    loaded = read_source(FIXTURES / "read/nested_functional.json")
    assert loaded.kind == "conceptual"
    assert edges(loaded.graph_def) == {
        "outer/x": [],
        "outer/left": ["outer/x"],
        "outer/right": ["outer/x"],
        "outer/pair/p": ["outer/left"],
        "outer/pair/q": ["outer/right"],
        "outer/pair/one": ["outer/pair/p"],
        "outer/pair/two": ["outer/pair/q"],
        "outer/first": ["outer/pair/one"],
        "outer/second": ["outer/pair/two"],
        "outer/sum": ["outer/first", "outer/second"],
    }


def test_types_and_classes() -> None:
    nodes = {node.name: node for node in read_source(FIXTURES / "read/nested_functional.json").graph_def.node}
    assert nodes["outer/x"].attr["dtype"].type == DataType.Value("DT_INT64")
    assert nodes["outer/left"].attr["dtype"].type == DataType.Value("DT_FLOAT")
    assert nodes["outer/left"].attr["keras_class"].s == b"Dense"
    assert "dtype" not in nodes["outer/right"].attr  # mixed_float16 is no one type


def test_functional_model_in_a_sequence() -> None:
    # head ─▶ in ─▶ body ─▶ tail
    assert edges(read_source(FIXTURES / "read/functional_in_sequence.json").graph_def) == {
        "line/head": [],
        "line/middle/in": ["line/head"],
        "line/middle/body": ["line/middle/in"],
        "line/tail": ["line/middle/body"],
    }


def test_operands_in_keyword_arguments() -> None:
    graph = read_source(FIXTURES / "read/operator_layers.json").graph_def
    assert edges(graph)["ops/tf.math.add"] == ["ops/x", "ops/y"]


def test_an_operator_of_keras_2_that_works_on_elements_has_a_shape() -> None:
    # ops: x, y ─▶ add, all of them 4 wide
    told = json.loads((FIXTURES / "read/operator_layers.json").read_text())
    for layer in told["config"]["layers"]:
        if layer["class_name"] == "InputLayer":
            layer["config"]["batch_input_shape"] = [None, 4]
    assert read_source(json.dumps(told).encode()).layers["ops/tf.math.add"].outputs == ((None, 4),)


def test_a_name_means_the_layer_of_its_own_model() -> None:
    # x ─▶ d ─▶ sub/d ─▶ sub/e ─▶ f
    assert edges(read_source(FIXTURES / "read/same_names.json").graph_def) == {
        "m/x": [],
        "m/d": ["m/x"],
        "m/sub/d": ["m/d"],
        "m/sub/e": ["m/sub/d"],
        "m/f": ["m/sub/e"],
    }


def test_keras_2_and_3_agree_on_one_model() -> None:
    # in_a ─▶ shared ─▶ sub_model ─▶ add ─▶ cat ─▶ cls, reg
    made = [edges(read_source(FIXTURES / f"containers/keras{version}_functional.json").graph_def) for version in (2, 3)]
    two, three = ({key.replace("input_layer", "input_1"): value for key, value in each.items()} for each in made)
    three = {key: [each.replace("input_layer", "input_1") for each in value] for key, value in three.items()}
    assert two == three
    assert two["two_headed/shared"] == ["two_headed/in_a", "two_headed/in_b"]
    # The shared layer and the shared model are called twice: each call gives an output of its own.
    assert two["two_headed/sub_model/input_1"] == ["two_headed/shared", "two_headed/shared:1"]
    assert two["two_headed/add"] == ["two_headed/sub_model/s2", "two_headed/sub_model/s2:1"]
    assert two["two_headed/cls"] == ["two_headed/cat"]


def test_archive() -> None:
    loaded = read_source(FIXTURES / "containers/keras3_mnist.keras")
    assert loaded.kind == "conceptual"
    names = [node.name for node in loaded.graph_def.node]
    assert [list(node.input) for node in loaded.graph_def.node[1:]] == [[name] for name in names[:-1]]


def test_a_bare_configuration_and_an_old_list_of_layers() -> None:
    layers = [{"class_name": "Dense", "config": {"name": name}} for name in "ab"]
    for model in (
        {"name": "m", "layers": layers},
        {"model_config": {"class_name": "Model", "config": {"name": "m", "layers": layers}}},
        {"class_name": "Sequential", "config": layers, "name": "m"},
    ):
        assert edges(read_source(json.dumps(model).encode()).graph_def)["m/b"] == ["m/a"]


@pytest.mark.parametrize(
    "text",
    [
        '{"class_name": "Model", "config": {"name": 3, "layers": [1, null, {}, {"config": 7, "inbound_nodes": 9}]}}',
        '{"class_name": "M", "config": {"layers": [{"inbound_nodes": [["x"], {"args": 4}, [[[["l", 0, 0]]]], "l"]}]}}',
        '{"class_name": "M", "config": {"layers": [{"class_name": "S", "config": {"layers": []}}, {"config": {}}]}}',
        '{"class_name": "M", "config": {"input_layers": 3, "output_layers": {"a": []}, "layers": [{"name": "a"}]}}',
    ],
)
def test_odd_json_is_read_as_far_as_it_goes(text: str) -> None:
    assert len(read_source(text.encode()).graph_def.node) >= 1


@each(
    ("text", "error"),
    [
        ('{"a": 1}', UnknownFormat),
        ("[1, 2]", UnknownFormat),
        ('{"class_name": "Mine", "config": {}}', NoGraph),
        ('{"class_name": "Model", "config": {"layers": []}}', NoGraph),
        ('{"class_name": "Mod', MalformedText),
        ('{"a":' + "[" * 100_000, MalformedText),
    ],
)
def test_json_without_a_model(text: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        read_source(text.encode())


def test_models_nested_deep() -> None:
    text = '{"class_name": "Dense", "config": {"name": "d"}}'
    for _ in range(150):
        text = '{"class_name": "Sequential", "config": {"name": "s", "layers": [' + text + "]}}"
    (node,) = read_source(text.encode()).graph_def.node
    assert node.name == "s/" * 150 + "d"


def test_an_archive_whose_json_is_a_bomb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MAX_CONFIG_BYTES", 1000)
    with zipfile.ZipFile(tmp_path / "x.keras", "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("config.json", " " * 10_000_000)
    with pytest.raises(TooLarge):
        read_source(tmp_path / "x.keras")


def test_an_encrypted_archive_is_told_by_its_member(tmp_path: Path) -> None:
    path = tmp_path / "x.keras"
    with zipfile.ZipFile(path, "w") as made:
        made.writestr("config.json", "{}")
    data = bytearray(path.read_bytes())
    for mark, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):  # the flags of the member, and of its entry
        data[data.index(mark) + at] |= 1
    path.write_bytes(data)
    with pytest.raises(UnknownFormat, match=r"'config\.json' is encrypted"):
        read_source(path)
