"""Tags of logs at rows of graphs: by which rule, and at the right one."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import numpy as np
from click.testing import CliRunner

from graphviz_tb import load
from graphviz_tb.api.pipeline import Model
from graphviz_tb.commands import cli
from graphviz_tb.errors import MissingFacts
from graphviz_tb.logs.joins import MODULE_SCOPE, InputTracer, _parameter_paths, _parse_tag
from graphviz_tb.logs.log import open_log
from graphviz_tb.model.joins import JoinRule, MeasuredAspect, TagJoin
from graphviz_tb.ops.signatures import summary_input_slots
from tests.each import each

FIXTURES = Path(__file__).parents[2] / "fixtures"


def tags_of(folder: Path) -> list[str]:
    log = open_log(folder)
    return [tag for tag in log.tags() if tag not in log.tags("graph")]


def counts(joins: tuple[TagJoin, ...]) -> dict[str, int]:
    return dict(Counter(each.rule.value for each in joins))


def nodes(model: Model, tag: str) -> list[str]:
    return [model.hierarchy.name[row] for row in model.joins([tag])[0].rows]


@each(
    ("name", "expected"),
    [
        ("logged/tf1_filewriter", {"summary-op": 17}),
        ("logdirs/xor_filewriter", {"summary-op": 6}),
        ("logged/tf2_function", {"summary-op": 3}),
        ("logged/keras3_callback", {"path": 24, "run": 7}),
        ("logged/keras2_callback", {"path": 12, "run": 4}),
        ("logdirs/keras2_callback", {"path": 10, "run": 3}),
        ("logdirs/keras3_callback", {"path": 10, "run": 4}),
        ("logged/torch_layers", {"path": 84, "run": 1}),
    ],
)
def test_every_tag_of_a_layer_is_joined(name: str, expected: dict[str, int]) -> None:
    assert counts(load(FIXTURES / name).joins(tags_of(FIXTURES / name))) == expected


def test_parameters_of_pytorch_are_at_their_own_module() -> None:
    model = load(FIXTURES / "logged/torch_layers")
    for each_join in model.joins(tags_of(FIXTURES / "logged/torch_layers")):
        parts = each_join.tag.replace("/", ".").split(".")
        wanted = [part for part in parts if part not in ("grad", "grad_norm")][:-1]
        for row in each_join.rows:
            found = [MODULE_SCOPE.fullmatch(part) for part in model.hierarchy.name[row].split("/")]
            assert [part[1] for part in found if part] == wanted


@each(
    ("name", "expected"),
    [("torch_pair", {"path": 17, "variable": 1}), ("torch_transformer", {"path": 25, "scope-above": 4})],
)
def test_names_of_parameters(name: str, expected: dict[str, int]) -> None:
    """`out_proj` has no scope; `scale` is a parameter of the model itself; lists of modules are in no scope."""
    model = load(FIXTURES / "logdirs" / name)
    assert counts(model.joins(_parameter_paths(model.hierarchy.graph))) == expected


def test_lists_of_modules_are_in_names_and_not_in_scopes() -> None:
    model = load(FIXTURES / "logdirs/torch_pair")
    assert nodes(model, "grad/towers.1.0.weight") == ["Pair/Sequential[1]/Linear[0]"]
    assert nodes(model, "scale") == ["Pair"]
    assert [each.rule for each in model.joins(["epoch/0", "lr/group0", "loss"])] == [JoinRule.RUN] * 3


@each("name", ["mnist_cnn.pbtxt", "cifar10_shapes.pb"])
def test_summaries_without_their_ops_are_found_by_name(name: str) -> None:
    """Rules agree: what a summary measures lies in the layer that its tag names."""
    model = load(FIXTURES / "real" / name)
    graph = model.hierarchy.graph
    back = InputTracer(graph)
    slots = {op: found for op in graph.op_types if (found := summary_input_slots(op)) is not None}
    written = np.flatnonzero(graph.nodes_of_types(slots.__contains__)).tolist()
    tags = {back.constant_text(node, slots[graph.op_types[graph.op[node]]][0]) for node in written}
    assert len(tags) > 40
    assert counts(model.joins(tags)) == {"summary-op": len(tags)}


def test_a_histogram_of_a_variable_is_at_the_op_that_uses_it() -> None:
    model = load(FIXTURES / "logged/tf1_filewriter", run="train")
    assert nodes(model, "layer1/weights_1") == ["layer1/MatMul"]
    assert nodes(model, "layer1/activations") == ["layer1/activation"]
    assert nodes(model, "input/image/2") == ["x"]


def test_what_a_summary_measures_is_outside_the_scope_that_it_opened() -> None:
    model = load(FIXTURES / "logged/tf2_function")
    assert nodes(model, "encoder/dense/activation") == ["encoder/dense/Relu"]
    assert nodes(model, "loss/value") == ["loss/Mean"]


def keras(*layers: str) -> Model:
    """Layers of a conceptual graph, each with an op in its scope."""
    return load("".join(f'node {{ name: "{layer}/MatMul" op: "MatMul" }} ' for layer in layers).encode())


def test_the_name_of_the_model_may_lack_on_either_side() -> None:
    model = keras("model/dense", "model/inner/deep", "alone")
    assert nodes(model, "dense/kernel_0/histogram") == ["model/dense"]
    assert nodes(model, "deep/kernel_0/histogram") == ["model/inner/deep"]
    assert nodes(model, "net/alone/kernel") == ["alone"]
    assert nodes(model, "model/inner/deep/kernel/image/2") == ["model/inner/deep"]


def test_several_that_fit_equally_are_not_joined() -> None:
    model = keras("left/dense", "right/dense")
    found = model.joins(["dense/kernel", "left/dense/kernel"])
    assert [(each.rule, len(each.rows), each.is_joined) for each in found] == [
        (JoinRule.SEVERAL, 2, False),
        (JoinRule.PATH, 1, True),
    ]


def test_the_scope_above_takes_what_names_more_than_a_weight() -> None:
    found = keras("model/dense").joins(["model/dense/quantised/kernel/max", "model/other/kernel"])
    assert [each.rule for each in found] == [JoinRule.SCOPE_ABOVE, JoinRule.SCOPE_ABOVE]
    assert [each.rows for each in found] == [(2,), (1,)]


def test_gradients_have_names_of_layers_too() -> None:
    """A tag is at the layer, not at what computes its gradient."""
    text = 'node { name: "gradients/dense/MatMul_grad" op: "MatMul" } node { name: "dense/MatMul" op: "MatMul" }'
    assert nodes(load(text.encode()), "dense/kernel") == ["dense"]


@each(
    ("tag", "aspect"),
    [
        ("grad_norm/fc/bias", MeasuredAspect.GRADIENT),
        ("fc.weight_grad", MeasuredAspect.GRADIENT),
        ("fc.weight.grad", MeasuredAspect.GRADIENT),
        ("dense/kernel_0/histogram", MeasuredAspect.WEIGHT),
        ("layer1/activations", MeasuredAspect.ACTIVATION),
        ("val/loss", MeasuredAspect.LOSS),
        ("epoch", None),
    ],
)
def test_words_of_tags_say_what_is_measured(tag: str, aspect: MeasuredAspect | None) -> None:
    assert _parse_tag(tag).aspect is aspect


def test_hostile_tags_take_no_time() -> None:
    deep = "/".join("a" for _ in range(300))
    model = load(f'node {{ name: "{deep}" op: "NoOp" }}'.encode())
    assert len(model.joins([deep, "/" * 1000, "", "a" * 10_000, "grad/" * 300])) == 5


def test_info_lists_joins() -> None:
    run = CliRunner().invoke(cli, ["info", str(FIXTURES / "logged/torch_layers"), "--joins"])
    assert run.exit_code == 0
    assert "84 of 85 tags joined: 84 by path; 1 of the run" in run.output
    run = CliRunner().invoke(cli, ["info", str(FIXTURES / "logged/torch_layers"), "--joins", "--json"])
    first = json.loads(run.output)["joins"][0]
    assert first["tag"] == "fc.bias"
    assert (first["rule"], first["aspect"], first["nodes"]) == ("path", "weight", ["ResNet/Linear[fc]"])


def test_without_a_log_there_are_no_joins() -> None:
    run = CliRunner().invoke(cli, ["info", str(FIXTURES / "real/mnist_cnn.pbtxt"), "--joins"])
    assert isinstance(run.exception, MissingFacts)
    assert "no tags to join" in str(run.exception)
