"""Calls of somebody who has not read the documentation of the Python interface."""

from __future__ import annotations

import copy
import inspect
import re
import sys
from collections.abc import Callable
from typing import Any

import pytest

import graphviz_tb
import tbgraph
from graphviz_tb.errors import GUESSES as GUESSES_OF_OWNERS
from graphviz_tb.errors import ToolMissing
from tests.conftest import FIXTURES
from tests.each import each
from tests.effort import part

MNIST = FIXTURES / "real/mnist_cnn.pbtxt"
OLD, NEW = FIXTURES / "edits/base.train.pb", FIXTURES / "edits/inserted.train.pb"
LOG = FIXTURES / "logged/tf2_summaries"
PNG, PDF = b"\x89PNG", b"%PDF"


@pytest.fixture(scope="module")
def m() -> graphviz_tb.Model:
    return graphviz_tb.load(MNIST)


@pytest.fixture(scope="module")
def d() -> graphviz_tb.Changes:
    return graphviz_tb.diff(OLD, NEW)


# What is typed → whether it gave what was meant.
GUESSES: dict[str, Callable[[Any], bool]] = {
    "m.op_types['Conv2D']": lambda got: got == 2,
    "list(m.op_types)[0]": lambda got: got == "Assign",
    "m.devices": lambda got: sum(got.values()) == 271,
    "m.root": lambda got: got.kind == "scope" and got.name == "",
    "m.root.children['fc1'].kind": lambda got: got == "scope",
    "m.root.parent": lambda got: got is None,
    "m.root.parameters == m.parameters": bool,
    "m.picture().svg()": lambda got: got.startswith("<svg"),
    "m.picture().png()": lambda got: got.startswith(PNG),
    "m.picture().pdf()": lambda got: got.startswith(PDF),
    "m.picture().html()": lambda got: got.startswith("<!doctype html>"),
    "m.picture().dot()": lambda got: got.startswith("digraph"),
    "m.picture().mermaid()": lambda got: got.startswith("flowchart"),
    "m.svg()": lambda got: got.startswith("<svg"),
    "m.svg(depth=1, theme='dark')": lambda got: got.startswith("<svg"),
    "m.png(scale=1)": lambda got: got.startswith(PNG),
    "m.pdf()": lambda got: got.startswith(PDF),
    "m.svg() == m.picture().svg()": bool,
    "m._repr_svg_()": lambda got: got.startswith("<svg"),
    "m._repr_html_()": lambda got: got.startswith("<iframe") and len(got) < 400_000,
    "m.picture()._repr_svg_()": lambda got: got.startswith("<svg"),
    "tbgraph.open_log(LOG).tags('scalars') == tbgraph.open_log(LOG).tags('scalar')": bool,
    "d.svg()": lambda got: got.startswith("<svg"),
    "d.png(scale=1)": lambda got: got.startswith(PNG),
    "d.pdf()": lambda got: got.startswith(PDF),
    "d.html()": lambda got: got.startswith("<!doctype html>"),
    "d.show()._repr_html_()": lambda got: got.startswith("<iframe"),
    "d._repr_html_()": lambda got: got.startswith("<iframe") and len(got) < 400_000,
    "tbgraph.errors.ReadError": lambda got: got is graphviz_tb.ReadError,
    "tbgraph.options.Options": lambda got: got is graphviz_tb.Options,
    "tbgraph.summary.summarize": callable,
    "tbgraph.serve": callable,
    "tbgraph.diff": callable,
    "tbgraph.load_ipython_extension": callable,
}


@each("words", part(GUESSES, 3))
def test_a_guess_works(words: str, m: graphviz_tb.Model, d: graphviz_tb.Changes) -> None:
    assert GUESSES[words](eval(words, {"tbgraph": tbgraph, "m": m, "d": d, "LOG": LOG}))


# What is typed → what the error says to type.
HINTS: dict[str, str] = {
    "tbgraph.show('m.pb')": "tbgraph.load(MODEL).show()",
    "tbgraph.draw('m.pb')": "tbgraph.load(MODEL).save(FILE)",
    "tbgraph.plot_model('m.pb')": "tbgraph.load(MODEL).save(FILE)",
    "tbgraph.info('m.pb')": "summary()",
    "tbgraph.compare('a.pb', 'b.pb')": "tbgraph.diff(OLD, NEW)",
    "tbgraph.load_model('m.pb')": "tbgraph.load(MODEL)",
    "tbgraph.scalars('logs')": "tbgraph.open_log(LOGDIR)",
    "tbgraph.html('m.pb')": "to_html()",
    "tbgraph.launch('logs')": "tbgraph.serve(LOGDIR)",
    "m.ops": "nodes",
    "m.params": "parameters",
    "m.plot()": "show()",
    "m.draw('x.png')": "save(FILE)",
    "m.groups": "root.children",
    "m.info()": "summary()",
    "m.get_layer('conv1')": "m['conv1']",
    "m.query('op:Conv2D')": "find(QUERY)",
    "m.weights": "layers",
    "m.edges": "to_networkx().edges",
    "m.graph_def": "hierarchy.graph.graph_def",
    "m.html()": "to_html()",
    "m['conv1'].params": "parameters",
    "m['conv1'].ops": "children",
    "m['conv1'].svg()": "picture(open=NAME)",
    "d.changes": "for change in d",
    "d.markdown()": "to_markdown()",
    "d.plot()": "show()",
    "log.scalars": "series(RUN, TAG)",
    "log.to_pandas()": "-o points.csv",
    "log.plot()": "-o curves.svg",
}


@each("words", HINTS)
def test_a_guess_is_answered(words: str, m: graphviz_tb.Model, d: graphviz_tb.Changes) -> None:
    log = graphviz_tb.open_log(FIXTURES / "logged/tf2_summaries")
    with pytest.raises(AttributeError, match=re.escape(HINTS[words])):
        eval(words, {"tbgraph": tbgraph, "m": m, "d": d, "log": log})


def test_an_unknown_attribute_is_none(m: graphviz_tb.Model) -> None:
    assert not any(hasattr(one, "nothing") for one in (m, m.root, tbgraph))
    assert copy.copy(m.root) == m.root


def test_what_an_error_says_is_there(m: graphviz_tb.Model, d: graphviz_tb.Changes) -> None:
    log = graphviz_tb.open_log(FIXTURES / "logged/tf2_summaries")
    owners: dict[str, Any] = {"graphviz_tb": tbgraph, "Model": m, "Node": m.root, "Changes": d, "Log": log}
    for owner, names in GUESSES_OF_OWNERS.items():
        there = owners[owner]
        assert not [name for name in names if name in dir(there) and owner != "graphviz_tb"]
        for said in names.values():
            for called in re.findall(r"\bm?\.?([a-z_]+)\(", said) + re.findall(r"^([a-z_]+)", said):
                assert called in ("a", "the", "layers", "model", "tbgraph") or any(
                    hasattr(one, called) for one in owners.values()
                )


def test_a_module_of_the_same_name_leaves_the_function() -> None:
    import graphviz_tb.serve.notebook

    assert callable(graphviz_tb.serve)
    assert callable(graphviz_tb.diff)


def test_a_page_too_large_for_a_cell_is_not_made(m: graphviz_tb.Model, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graphviz_tb.api.base_model.CELL_PAGE_OPS", 10)
    assert m._repr_html_() is None
    assert m._repr_svg_().startswith("<svg")


def test_rows_are_frames(m: graphviz_tb.Model, d: graphviz_tb.Changes) -> None:
    pandas = pytest.importorskip("pandas", reason="pandas is not installed (pip install pandas)")
    assert list(m.layers.to_pandas()["name"]) == m.layers.names
    frame = d.to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert (len(frame), list(frame["kind"])) == (len(d), [change.kind for change in d])


def test_rows_are_frames_of_polars(m: graphviz_tb.Model, d: graphviz_tb.Changes) -> None:
    polars = pytest.importorskip("polars", reason="polars is not installed (pip install polars)")
    assert isinstance(m.to_polars(), polars.DataFrame)
    assert m.layers.to_polars()["name"].to_list() == m.layers.names
    assert d.to_polars()["kind"].to_list() == [change.kind for change in d]


@each("package", ["pandas", "polars"])
def test_a_frame_says_what_to_install(package: str, d: graphviz_tb.Changes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.setattr("graphviz_tb.extras.install_line", lambda name: f"pip install {name}")
    with pytest.raises(ToolMissing, match=f"needs {package}") as error:
        getattr(d, f"to_{package}")()
    assert error.value.hint == f"pip install {package}"


def test_a_hint_is_part_of_a_traceback() -> None:
    with pytest.raises(graphviz_tb.ReadError) as error:
        graphviz_tb.load("no.pb")
    assert error.value.__notes__ == [f"hint: {error.value.hint}"]


PUBLIC = (
    graphviz_tb.Model, graphviz_tb.Picture, graphviz_tb.Changes, graphviz_tb.Log, graphviz_tb.Options,
    type(graphviz_tb.load(MNIST).nodes), type(graphviz_tb.load(MNIST).nodes[0]),
)  # fmt: skip


@each("kind", PUBLIC, ids=lambda kind: kind.__name__)
def test_everything_public_has_a_line_of_help_and_types(kind: type) -> None:
    for name in dir(kind):
        if name.startswith("_"):
            continue
        one = inspect.getattr_static(kind, name)
        function = one.fget if isinstance(one, property) else getattr(one, "func", one)
        function = getattr(function, "__func__", function)
        if not inspect.isfunction(function) or not function.__module__.startswith("graphviz_tb"):
            continue
        first = (inspect.getdoc(function) or "").split("\n\n")[0]
        assert first, f"{kind.__name__}.{name} has no help"
        hints = function.__annotations__
        untyped = [each for each in inspect.signature(function).parameters if each not in ("self", "cls", *hints)]
        assert "return" in hints, f"{kind.__name__}.{name} does not say what it gives"
        assert untyped == [], f"{kind.__name__}.{name}"


@each("name", dir(tbgraph))
def test_every_name_of_the_front_door_is_there(name: str) -> None:
    assert getattr(tbgraph, name) is not None
