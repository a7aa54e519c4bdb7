"""Layers are called as the program calls them, whatever counters a file has behind their scopes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from graphviz_tb import load
from graphviz_tb.api.pipeline import Model
from graphviz_tb.errors import UnknownNode
from graphviz_tb.model.hierarchy import RowKind
from graphviz_tb.proto import GraphDef, NodeDef
from graphviz_tb.words.view import _sibling_numbers
from tests.each import each

FIXTURES = Path(__file__).parents[2] / "fixtures"
KERAS3 = sorted((FIXTURES / "models" / "keras3").glob("*_saved"))


def scopes(model: Model) -> list[str]:
    """What the scopes of a model are called, functions included."""
    hierarchy = model.hierarchy
    return [hierarchy.display_label(row) for row in range(1, len(hierarchy)) if hierarchy.kind[row] == RowKind.SCOPE]


def counted(tmp_path: Path, *scopes: str, variable: str = "", read: str = "Cast") -> Model:
    """x ─▶ a MatMul in each scope, with a kernel that a function is given or a variable."""
    graph = GraphDef()
    graph.node.add(name="x", op="Placeholder")
    for scope in scopes:
        reads = f"{scope}/{read}/ReadVariableOp"
        graph.node.add(name=variable or f"{reads}/resource", op="VarHandleOp")
        graph.node.add(name=reads, op="ReadVariableOp", input=[variable or f"{reads}/resource"])
        graph.node.add(name=f"{scope}/MatMul", op="MatMul", input=["x", reads])
    path = tmp_path / "graph.pb"
    path.write_bytes(graph.SerializeToString())
    return load(path)


@each("path", KERAS3, ids=lambda path: path.name)
def test_every_layer_with_weights_is_found_by_its_name(path: Path) -> None:
    truth = json.loads((path.parent / "truth.json").read_text())[path.name.removesuffix("_saved")]
    layers = [name.rpartition("/")[2] for name, told in truth.items() if told["weights"]]
    model = load(path)
    called = scopes(model)
    assert layers
    assert [layer for layer in layers if layer not in called] == []
    assert any(model.hierarchy.name[row].endswith("_1") for row in range(1, len(model.hierarchy)))


def test_a_frozen_graph_has_no_names_of_variables_and_is_told_by_its_reads() -> None:
    edits = FIXTURES / "edits"
    layers = json.loads((edits / "rebuilt.json").read_text())["config"]["layers"]
    names = {layer["config"]["name"] for layer in layers}
    called = set(scopes(load(edits / "rebuilt.frozen.pb")))
    assert names - called == {"image", "dropout_1"}  # an argument, and what freezing leaves out
    assert {"conv2d_1", "batch_normalization_1", "fc", "classes"} <= called


def test_a_file_of_others_keeps_its_counters() -> None:
    for path in (*(FIXTURES / "models" / "keras2").glob("*_saved"), FIXTURES / "real" / "gan_scopes.pb"):
        model = load(path)
        rows = [row for row in range(1, len(model.hierarchy)) if model.hierarchy.kind[row] == RowKind.SCOPE]
        assert not [row for row in rows if row in model.hierarchy.labels], path


def test_two_counters_are_one_too_many(tmp_path: Path) -> None:
    # layers dense and dense_1: scopes dense_1 and dense_1_2
    assert scopes(counted(tmp_path, "dense_1", "dense_1_2")) == ["dense", "dense_1"]


def test_a_layer_that_is_called_twice_is_called_so_twice(tmp_path: Path) -> None:
    assert scopes(counted(tmp_path, "tower_1", "tower_3")) == ["tower", "tower"]


def test_a_name_that_is_there_keeps_the_others_apart(tmp_path: Path) -> None:
    assert scopes(counted(tmp_path, "dense", "dense_1")) == ["dense", "dense_1"]


def test_a_variable_that_bears_the_counter_has_the_word(tmp_path: Path) -> None:
    assert scopes(counted(tmp_path, "dense_1", variable="dense_1/kernel")) == ["dense_1"]
    assert scopes(counted(tmp_path, "dense_1", variable="dense/kernel")) == ["dense"]


def test_another_way_to_read_is_no_sign(tmp_path: Path) -> None:
    assert scopes(counted(tmp_path, "dense_1", read="MatMul")) == ["dense_1"]


def test_both_names_find(tmp_path: Path) -> None:
    model = counted(tmp_path, "net_1/dense_1", "net_1/dense_1_2")
    for pattern in ("net/dense_1", "net_1/dense_1_2", "**/dense_1_2", "n?t/dense_1"):
        (path,) = model.names.find_paths(pattern)
        assert model.hierarchy.name[path[-1]] == "net_1/dense_1_2"
    with pytest.raises(UnknownNode, match="net_1/dense_1"):
        model.names.find_paths("net/dense_2")
    with pytest.raises(UnknownNode):
        model.names.find_paths("**/relu")


def test_tensorboards_preset_shows_the_names_of_the_file() -> None:
    called = scopes(load(FIXTURES / "edits" / "base.frozen.pb", preset="tensorboard"))
    assert {"conv2d_1", "fc_1"} <= set(called)


def test_the_constants_of_a_normalisation_say_nothing_of_names() -> None:
    # (x - mean) / max(√variance, small) in scope scale_1 ─▶ dense_1, whose kernel is read as Keras 3 reads it
    graph = GraphDef()
    wide = {
        "dtype": {"type": 1},
        "value": {"tensor": {"dtype": 1, "tensor_shape": {"dim": [{"size": 1}, {"size": 5}]}}},
    }
    graph.node.add(name="x", op="Placeholder")
    for name in ("scale_1/Sub/y", "scale_1/Sqrt/x", "scale_1/small", "dense_1/Cast/ReadVariableOp/resource"):
        graph.node.append(NodeDef(name=name, op="Const", attr=wide))
    graph.node.add(name="scale_1/Sub", op="Sub", input=["x", "scale_1/Sub/y"])
    graph.node.add(name="scale_1/Sqrt", op="Sqrt", input=["scale_1/Sqrt/x"])
    graph.node.add(name="scale_1/Maximum", op="Maximum", input=["scale_1/Sqrt", "scale_1/small"])
    graph.node.add(name="scale_1/truediv", op="RealDiv", input=["scale_1/Sub", "scale_1/Maximum"])
    read = graph.node.add(name="dense_1/Cast/ReadVariableOp", op="Identity")
    read.input.append("dense_1/Cast/ReadVariableOp/resource")
    graph.node.add(name="dense_1/MatMul", op="MatMul", input=["scale_1/truediv", read.name])
    assert scopes(load(graph)) == ["scale", "dense"]


def test_two_calls_of_a_layer_are_numbered_by_their_counters(tmp_path: Path) -> None:
    # the second call stands first in the file, as after freezing
    model = counted(tmp_path, "dense_3", "dense_1")
    numbers = _sibling_numbers(model.hierarchy, 0)
    assert {model.hierarchy.name[row]: text for row, text in numbers.items()} == {"dense_1": " #1", "dense_3": " #2"}
