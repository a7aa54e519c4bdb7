"""What TensorFlow.js writes, and text that is no graph."""

from __future__ import annotations

import json

import pytest

from graphviz_tb import load
from graphviz_tb.errors import MalformedText, UnknownFormat

FLOAT = {"type": "DT_FLOAT"}
BATCH = {"shape": {"dim": [{"size": "-1"}, {"size": "4"}]}}
KERNEL = {"tensor": {"dtype": "DT_FLOAT", "tensorShape": {"dim": [{"size": "4"}, {"size": "3"}]}}}
NODES = [
    {"name": "x", "op": "Placeholder", "attr": {"dtype": FLOAT, "shape": BATCH}},
    {"name": "w", "op": "Const", "attr": {"dtype": FLOAT, "value": KERNEL}},
    {"name": "y", "op": "MatMul", "input": ["x", "w"], "attr": {"T": FLOAT, "_new": {"s": "YWJj"}}, "later": 1},
]
LAYERS = [
    {"class_name": "Dense", "config": {"name": "a", "units": 3, "batch_input_shape": [None, 4]}},
    {"class_name": "Dense", "config": {"name": "b", "units": 2}},
]
SEQUENTIAL = {"class_name": "Sequential", "config": {"name": "m", "layers": LAYERS}}


@pytest.mark.parametrize("wrapped", [True, False])
def test_a_graph_model_is_read(wrapped: bool) -> None:
    graph = {"node": NODES, "library": {}, "versions": {"producer": 987}}
    whole = {"format": "graph-model", "modelTopology": graph, "weightsManifest": []} if wrapped else graph
    model = load(json.dumps(whole).encode())
    assert model.shapes()["y", 0] == (None, 3)
    assert model.cost.under(0).parameters == 4 * 3


@pytest.mark.parametrize("topology", [SEQUENTIAL, {"model_config": SEQUENTIAL, "keras_version": "2.15"}])
def test_a_layers_model_is_read(topology: object) -> None:
    model = load(json.dumps({"format": "layers-model", "modelTopology": topology, "weightsManifest": []}).encode())
    assert model.cost.under(0).parameters == 4 * 3 + 3 + 3 * 2 + 2


def test_a_graph_whose_values_fit_no_field_is_refused() -> None:
    nodes = [{"name": "x", "op": "A", "attr": {"shape": {"shape": {"dim": [{"size": "many"}]}}}}]
    with pytest.raises(MalformedText, match="no GraphDef as JSON"):
        load(json.dumps({"modelTopology": {"node": nodes}}).encode())


@pytest.mark.parametrize("text", [b'item {\n  id: 1\n  name: "cat"\n}\n', b"# a map\nitem { id: 1 }\nitem { id: 2 }\n"])
def test_text_of_another_message_names_the_field(text: bytes) -> None:
    with pytest.raises(UnknownFormat, match=r"unknown field 'item'.*: not a GraphDef"):
        load(text)
