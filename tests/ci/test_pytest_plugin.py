"""The pytest plugin, in tests of somebody's model: what passes, what fails and how it says so, what is written when."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

import graphviz_tb
from graphviz_tb.diff.baseline import baseline
from graphviz_tb.errors import RequestError, UnknownChoice
from graphviz_tb.proto import GraphDef
from graphviz_tb.pytest_plugin import GraphMatcher
from tests.ci.before_after import OLD
from tests.each import each

pytest_plugins = ["pytester"]
ROOT = Path(__file__).parents[2]
FIXTURES = ROOT / "fixtures"
TEST = next(
    text
    for text in re.findall(r"```python\n(.*?)```", (ROOT / "docs/ci.md").read_text(), re.DOTALL)
    if "def test" in text
)


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A project with a model and a test of it, and of all plugins only this one and xdist."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PYTEST_PLUGINS", "graphviz_tb.pytest_plugin,xdist.plugin")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    pytester.mkdir("model").joinpath("graph.pb").write_text(OLD)
    pytester.makepyfile(test_model=TEST)
    return pytester


def test_a_wrong_word_writes_nothing(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    kept = tmp_path / "kept.json"
    with pytest.raises(UnknownChoice, match="shape"):
        GraphMatcher(request.node, True)(OLD.encode(), kept, include=["shape"])
    assert not kept.exists()
    GraphMatcher(request.node, True)(OLD.encode(), kept, include="shapes")
    assert kept.exists()


@pytest.mark.machine
def test_the_life_of_a_baseline(project: pytest.Pytester) -> None:
    kept = project.path / "graphs/model.json"
    missing = project.runpytest_subprocess()
    missing.assert_outcomes(failed=1)
    missing.stdout.fnmatch_lines(
        [
            "E * there is no graph '*graphs/model.json' to compare with",
            "E * --update-graphs 'test_model.py::test_the_model_is_what_it_was'",
        ]
    )
    assert not kept.exists()
    # Workers of xdist write it, and the summary says so.
    made = project.runpytest_subprocess("--update-graphs", "-n", "1")
    made.assert_outcomes(passed=1)
    made.stdout.fnmatch_lines([f"graph written: {kept}"])
    first = kept.read_bytes()
    (project.path / "model/graph.pb").write_text(OLD.replace("Relu6", "Gelu"))
    differs = project.runpytest_subprocess("-n", "1")
    differs.assert_outcomes(failed=1)
    differs.stdout.fnmatch_lines(
        [
            "E * the graph of * is not that of model.json",
            "E *1 change: 1 changed*",
            "E * ~ b  op Relu6 → Gelu",
            "E *To write the file: pytest --update-graphs*",
        ]
    )
    assert kept.read_bytes() == first
    kept.write_text("damaged")
    project.runpytest_subprocess().stdout.fnmatch_lines(["E * model.json cannot be compared with: *"])
    project.runpytest_subprocess("--update-graphs").assert_outcomes(passed=1)
    project.runpytest_subprocess().assert_outcomes(passed=1)
    assert kept.read_bytes() != first


@each(
    "source",
    [
        "real/mnist_cnn.pbtxt",
        "containers/saved_model",
        "containers/keras3_mnist.keras",
        "real/func_library_nested.pb",
        "real/odd_names.pbtxt",
        "logged/torch_layers",
    ],
)
def test_a_baseline_is_the_graph_itself(source: str, tmp_path: Path) -> None:
    """What is read from it is the same graph, gives the same bytes, and has no weights in it."""
    data, _ = baseline(FIXTURES / source)
    assert graphviz_tb.load(FIXTURES / source).loaded is not None
    assert baseline(graphviz_tb.load(FIXTURES / source))[0] == data
    (tmp_path / "model.json").write_bytes(data)
    assert baseline(tmp_path / "model.json")[0] == data
    changes = graphviz_tb.diff(FIXTURES / source, tmp_path / "model.json")
    assert [change for change in changes if change.severity != "signature"] == []
    assert json.loads(data)


def test_weights_do_not_count() -> None:
    def trained(seed: int) -> bytes:
        graph = GraphDef()
        tensor = graph.node.add(name="w", op="Const").attr["value"].tensor
        tensor.dtype = 1
        tensor.tensor_shape.dim.add(size=100)
        tensor.float_val.extend(seed / 7 + at for at in range(100))
        step = graph.node.add(name="rate", op="Const").attr["value"].tensor
        step.dtype = 1
        step.float_val.append(0.5)
        return graph.SerializeToString()

    assert baseline(trained(1)) == baseline(trained(2))
    assert b'"floatVal": [\n' in baseline(trained(1))[0]  # the rate is a setting


def test_layers_that_no_json_lists_make_no_baseline(require: Callable[..., None]) -> None:
    require("h5py")
    with pytest.raises(RequestError, match="make no baseline"):
        baseline(FIXTURES / "models/keras3/subclassed.keras")
