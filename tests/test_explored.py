"""A model as one explores it in Python: by name, by what nodes are, as tables."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import graphviz_tb
from graphviz_tb.errors import RequestError, ToolMissing, UnknownNode
from tests.each import each
from tests.effort import part

FIXTURES = Path(__file__).parents[1] / "fixtures"
MNIST = FIXTURES / "real/mnist_cnn.pbtxt"


@pytest.fixture(scope="module")
def model() -> graphviz_tb.Model:
    return graphviz_tb.load(MNIST)


# What people type before they read: each is true of a trained MNIST network of two convolutions and two dense layers.
GUESSES = [
    "len(model) == 529 and len(model.nodes) == 529",
    "'conv1' in model and 'conv9' not in model",
    "model['conv1'] in model and all(node in model for node in model) and 3 not in model",
    "model['conv1'].kind == 'scope'",
    "model['conv1/Wx_plus_b/Conv2D'].op == 'Conv2D'",
    "model['conv1/Wx_plus_b/Conv2D'].shape == (None, 28, 28, 4)",
    "model['conv1/Wx_plus_b/Conv2D'].attrs['padding'].s == b'SAME'",
    "model['conv1/Wx_plus_b/Conv2D'].parent == model['conv1/Wx_plus_b']",
    "model['conv1/Wx_plus_b/Conv2D'].inputs.names == ['input_reshape/Reshape', 'conv1/weights/Variable/read']",
    "'conv1/Wx_plus_b/add' in model['conv1/Wx_plus_b/Conv2D'].outputs",
    "model['conv1'].inputs.names == ['input_reshape/Reshape']",
    "[weight.shape for weight in model['conv1'].weights] == [(5, 5, 1, 4), (4,)]",
    "model['conv1'].parameters == 104 and model.parameters == 7370",
    "model.size_bytes == 4 * 7370 and model.flops == model.cost.under(0).flops",
    "[layer.name for layer in model.layers] == ['conv1', 'conv2', 'fc1', 'fc2']",
    "model.inputs.names == ['input/x-input', 'input/y-input', 'dropout/keep_prob']",
    "[name.split('/')[0] for name in model.outputs.names] == ['cross_entropy', 'accuracy']",
    "[node.op for node in model.find('op:Conv2D')] == ['Conv2D', 'Conv2D']",
    "model.find('conv?/pool').names == ['conv1/pool', 'conv2/pool']",
    "model.find('**pool', 'op:MaxPool').names == ['conv1/pool', 'conv2/pool']",
    "{node.name for node in model.find('params>1k') if node.kind == 'scope'} >= {'fc1'}",
    "model.find('attr:padding=SAME', 'op:MaxPool').names == ['conv1/pool', 'conv2/pool']",
    "len(model.find('op:NoSuch')) == 0",
    "next(iter(model)).name == 'input/x-input' and model.nodes[0].op == 'Placeholder'",
    "[node.name for node in model.nodes[:2]] == ['input/x-input', 'input/y-input']",
    "model.nodes['conv1/activation'].op == 'Relu'",
    "len(model.functions) == 0",
    "model['conv1'].children[0].parent == model['conv1']",
    "model.to_dot().startswith('digraph')",
    "model.to_pydot().get_type() == 'digraph'",
    "model.to_html().startswith('<!doctype html>')",
    "not model.diff(MNIST)",
    "repr(model['conv1']) == \"<Node 'conv1': scope, 27 ops>\"",
    "repr(model.nodes).startswith('<529 nodes>') and repr(model.nodes).endswith('509 more')",
    "'<table>' in model.nodes._repr_html_()",
    "model._repr_svg_() == model.picture().render('svg').decode()",
    "model.diff(MNIST)._repr_svg_().startswith('<svg')",
]


@each("guess", part(GUESSES, 3))
def test_what_people_type(guess: str, model: graphviz_tb.Model) -> None:
    assert eval(guess, {"model": model, "MNIST": MNIST}), guess


def test_the_summary_lists_layers(model: graphviz_tb.Model, capsys: pytest.CaptureFixture[str]) -> None:
    model.summary()
    lines = capsys.readouterr().out.splitlines()
    assert lines[2].split() == ["conv1", "?×14×14×4", "104"]
    assert lines[-2:] == ["Parameters: 7,370 (28.8 KB)", "FLOPs: at least 1.63 M"]


@each(
    ("file", "expected"),
    [
        ("real/keras2_functional.pb", {"two_headed/shared": 136, "two_headed/sub_model/s1": 72, "two_headed/cls": 250}),
        ("real/transformer_block_v2.pb", {"block/mha/query": 272, "block/ln1": 32, "block/ff1": 544}),
        ("containers/keras3_mnist.keras", {"sequential/dense": 25_120, "sequential/flatten": 0}),
        ("real/frozen_mlp.pb", {"conv0": 40, "conv1": 296, "logits": 2_010}),
    ],
)
def test_layers_have_their_parameters(file: str, expected: dict[str, int]) -> None:
    layers = graphviz_tb.load(FIXTURES / file).layers
    assert {name: layers[name].parameters for name in expected} == expected


def test_a_keras_model_has_its_inputs() -> None:
    assert graphviz_tb.load(FIXTURES / "containers/keras3_mnist.keras").inputs.names == ["sequential/input_layer"]


def test_a_name_that_is_not_there_is_a_key_error(model: graphviz_tb.Model) -> None:
    with pytest.raises(KeyError) as caught:
        model["conv3"]
    assert str(caught.value) == "no node or group 'conv3'; nearest: 'conv2', 'conv1', 'conv[1-2]'"
    with pytest.raises(UnknownNode, match="no node 'fc9'"):
        model.nodes["fc9"]


@each(
    ("term", "said"),
    [
        ("weight>3", "nothing to compare is called 'weight'"),
        ("params>many", "'many' is not a number"),
        ("size==", "it is followed by nothing"),
    ],
)
def test_a_term_that_compares_with_nothing_is_refused(term: str, said: str, model: graphviz_tb.Model) -> None:
    with pytest.raises(RequestError, match=said):
        model.find(term)


def test_hostile_names_stay_text_in_a_notebook() -> None:
    model = graphviz_tb.load(b'node { name: "<img src=x>" op: "<b>" }')
    assert "<img" not in model.nodes._repr_html_()
    assert "<b>" not in model.nodes._repr_html_()


def test_a_table_of_pandas(model: graphviz_tb.Model) -> None:
    pandas = pytest.importorskip("pandas", reason="pandas is not installed (pip install pandas)")
    frame = model.to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert frame.set_index("name").loc["conv1/Wx_plus_b/Conv2D", "op"] == "Conv2D"


def test_tbgraph_is_the_same_package() -> None:
    code = (
        "import tbgraph, graphviz_tb; from tbgraph import load; assert tbgraph is graphviz_tb and load is tbgraph.load"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True, env=os.environ)
    assert done.returncode == 0, done.stderr


def test_a_table_without_pandas_says_what_to_install(model: graphviz_tb.Model, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ToolMissing, match="pandas") as error:
        model.to_pandas()
    assert error.value.hint == "pip install pandas"


def test_a_log_says_what_it_holds() -> None:
    assert (
        repr(graphviz_tb.open_log(MNIST.parents[1] / "logged/tf2_summaries"))
        == "<Log 'tf2_summaries': 2 runs, 17 tags>"
    )
