"""Every form opens with nothing but its path, and the same graph from two forms gives the same JSON."""

from __future__ import annotations

import gzip
import io
import sys
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import text_format

from graphviz_tb import load
from graphviz_tb.api.pipeline import Model
from graphviz_tb.model.hierarchy import RowKind
from graphviz_tb.proto import Event, GraphDef, MetaGraphDef, SavedModel
from graphviz_tb.read.source import read_source
from tests.conftest import FIXTURES
from tests.each import each
from tests.effort import part
from tests.events.test_read_events import events

GRAPHS = sorted(FIXTURES.glob("real/*.pb*"))
LOGS = sorted(FIXTURES.glob("logdirs/*"))
CONTAINERS = sorted(FIXTURES.glob("containers/*"))
TITLES = [
    ("logdirs/xor_filewriter", "xor_filewriter"),
    ("logdirs/mnist_runs", "mnist_runs · run train"),
    ("logdirs/mnist_runs/train", "train"),
    ("logdirs/trace_export", "trace_export · tag my_func_trace"),
    ("logdirs/keras3_callback", "keras3_callback · run train · tag keras"),
    ("containers/saved_model", "saved_model · tag set serve"),
    ("real/xor.pbtxt", "xor.pbtxt"),
]


def forms_of(graph: GraphDef, folder: Path) -> list[Path]:
    """One graph, written in every form that can hold it. Names and suffixes say nothing on purpose."""
    meta = MetaGraphDef(graph_def=graph)
    meta.meta_info_def.tags.append("serve")
    saved = SavedModel(saved_model_schema_version=1, meta_graphs=[meta])
    log = events(Event(file_version="brain.Event:2"), Event(graph_def=graph.SerializeToString()))
    written = {f"{name}.{kind}": data for name, message in {"graph": graph, "meta": meta, "saved": saved}.items()
               for kind, data in (("one", message.SerializeToString()),
                                  ("two", text_format.MessageToString(message).encode()))}  # fmt: skip
    written |= {"events": log, "log/events.out.tfevents.1": log, "runs/train/events": log}
    written |= {"model/saved_model.pb": saved.SerializeToString()}
    written |= {name + ".packed": gzip.compress(data, 1) for name, data in written.items() if "/" not in name}
    for name, data in written.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return [*(folder / name for name in written), folder / "log", folder / "runs", folder / "model"]


@each("path", part(GRAPHS, 12), ids=lambda path: path.name)
def test_every_form_of_a_graph_is_the_same_graph(path: Path, tmp_path: Path) -> None:
    graph = read_source(path).graph_def
    for form in forms_of(graph, tmp_path):
        assert read_source(form).graph_def == graph, form


@pytest.mark.parametrize("name", part(["odd_names.pbtxt", "colocate.pb", "func_library_v2.pb"], 3))
def test_every_form_gives_the_same_json(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = load(FIXTURES / "real" / name).json_bytes()
    forms = forms_of(read_source(FIXTURES / "real" / name).graph_def, tmp_path)
    for form in forms:
        assert load(form).json_bytes() == wanted, form
        if form.is_file():
            standard = io.TextIOWrapper(io.BytesIO(form.read_bytes()))
            monkeypatch.setattr(sys, "stdin", standard)
            assert load("-").json_bytes() == wanted, form


@each("path", [*LOGS, *CONTAINERS], ids=lambda path: path.name)
def test_real_logs_and_containers_open_with_nothing_but_their_path(path: Path) -> None:
    model = load(path)
    assert model.hierarchy.op_count(0) > 0
    assert model.picture().scene.boxes
    assert not [notice for notice in model.notices if notice.code not in ("conceptual-graph", "unknown-input")]


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("logdirs/keras2_callback", "real/keras2_functional.pb"),
        ("containers/saved_model", "containers/saved_model/saved_model.pb"),
        ("logdirs/mnist_runs", "logdirs/mnist_runs/train"),
    ],
)
def test_what_was_written_twice_gives_the_same_json(one: str, two: str) -> None:
    # the run of a log bears layers besides
    assert without_layers(load(FIXTURES / one)) == without_layers(load(FIXTURES / two))


def without_layers(model: Model) -> dict[str, Any]:
    document = model.to_json()
    for node in document["nodes"]:
        node.pop("layer", None)
    return document


def test_a_whole_saved_model_is_its_graph() -> None:
    whole = load(FIXTURES / "containers/saved_model", whole_file=True)
    assert whole.json_bytes() == load(FIXTURES / "real/savedmodel_small.pb", whole_file=True).json_bytes()


@each(("source", "title"), part(TITLES, 2))
def test_titles_name_the_source_and_what_was_chosen(source: str, title: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = FIXTURES / source
    assert load(path).picture().caption.title == title
    monkeypatch.chdir(path.parent)
    assert load(path.name).picture().caption.title == title
    assert load(f"../{path.parent.name}/{path.name}").picture().caption.title == title
    if path.is_dir():
        monkeypatch.chdir(path)
        assert load(".").picture().caption.title == title
        assert load("./").picture().caption.title == title


# The layers that a reader looks for, each a box of the first picture.
LAYERS = {
    "keras3_callback": ["in_a", "in_b", "shared", "sub_model", "cat", "cls", "reg"],
    "keras2_callback": ["shared", "sub_model", "cls", "reg", "Adam", "mean_squared_error"],
    "torch_transformer": ["Embedding[embedding]", "TransformerEncoderLayer[0]", "Sequential[head]"],
    "torch_pair": ["Embedding[embedding]", "LSTM[reader]", "Sequential[0]", "Sequential[1]", "Sequential[alike]"],
    "xor_filewriter": ["Layer1", "Layer2"],
    "mnist_runs": ["conv1", "conv2", "fc1", "fc2"],
}


@each(("folder", "layers"), LAYERS.items())
def test_the_first_picture_of_a_log_shows_its_layers(folder: str, layers: list[str]) -> None:
    model = load(FIXTURES / "logdirs" / folder)
    scene, hierarchy = model.picture().scene, model.hierarchy
    shown = {word for text in scene.texts for word in (text.full, text.content)}
    stacks = [box.row for box in scene.boxes if hierarchy.kind[box.row] == RowKind.SERIES]
    shown |= {hierarchy.display_label(member) for row in stacks for member in hierarchy.children(row).tolist()}
    assert [layer for layer in layers if layer not in shown] == []


@pytest.mark.parametrize("count", [3000, 20_000])
def test_a_saved_model_of_few_ops_and_many_objects(count: int, tmp_path: Path) -> None:
    """What is not taken apart, as the objects of the program, does not count against a file."""
    meta = MetaGraphDef(graph_def=GraphDef(node=[{"name": "x", "op": "Relu"}]))
    child = b"\x0a\x05\x08\x01\x12\x01a"  # node 1, called "a"
    meta.object_graph_def.MergeFromString((b"\x0a" + bytes([len(child)]) + child) * count)
    saved = SavedModel(saved_model_schema_version=1, meta_graphs=[meta]).SerializeToString()
    (tmp_path / "saved_model.pb").write_bytes(saved)
    for source in (tmp_path, saved, meta.SerializeToString()):
        assert [node.name for node in read_source(source).graph_def.node] == ["x"]
