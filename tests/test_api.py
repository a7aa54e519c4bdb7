"""The front door: what a program that imports us may rely on."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree

import pytest

import graphviz_tb
from graphviz_tb.errors import RequestError, UnknownChoice, UnknownNode
from graphviz_tb.proto import GraphDef
from tests.each import each

FIXTURES = Path(__file__).parents[1] / "fixtures"
GOOD = FIXTURES / "real/hidden_scope.pbtxt"
# a ─▶ b
TEXT = b'node { name: "s/a" op: "A" } node { name: "s/b" op: "B" input: "s/a" }'


def test_everything_promised_is_there() -> None:
    assert sorted([*graphviz_tb.__all__, "errors", "options", "summary"]) == dir(graphviz_tb)
    for name in dir(graphviz_tb):
        assert getattr(graphviz_tb, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'lod'"):
        graphviz_tb.lod  # noqa: B018


def test_sources_of_every_kind() -> None:
    graph = GraphDef(node=[{"name": "s/a", "op": "A"}, {"name": "s/b", "op": "B", "input": ["s/a"]}])
    wanted = graphviz_tb.load(TEXT).json_bytes()
    for source in (graph, graph.SerializeToString(), TEXT, SimpleNamespace(as_graph_def=lambda: graph)):
        assert graphviz_tb.load(source).json_bytes() == wanted
    assert graphviz_tb.load(GOOD).json_bytes() == graphviz_tb.load(str(GOOD)).json_bytes()


def test_choices_by_name() -> None:
    model = graphviz_tb.load(TEXT, series_min=3, folds=False)
    assert (model.options.group.series_min, model.options.group.folds) == (3, False)
    assert graphviz_tb.load(TEXT, preset="tensorboard").options == graphviz_tb.Options.preset("tensorboard")
    with pytest.raises(UnknownChoice, match="series_mim"):
        graphviz_tb.load(TEXT, series_mim=3)
    with pytest.raises(UnknownChoice, match="depht"):
        model.picture(depht=1)
    with pytest.raises(UnknownNode, match="'s/c'"):
        model.picture(open=("s/c",))


def test_options_and_a_preset_together_name_the_conflict() -> None:
    with pytest.raises(RequestError, match="both options and preset"):
        graphviz_tb.load(TEXT, graphviz_tb.Options(), preset="tensorboard")


def test_options_cannot_be_changed_behind_our_back() -> None:
    options = graphviz_tb.Options()
    with pytest.raises(AttributeError):
        options.group.series_min = 3  # type: ignore[misc]
    hierarchy = graphviz_tb.load(TEXT).hierarchy
    for column in (hierarchy.kind, hierarchy.parent, hierarchy.end, hierarchy.graph.source, hierarchy.graph.control):
        with pytest.raises(ValueError, match="read-only"):
            column[0] = 0


def test_pictures_and_files(tmp_path: Path) -> None:
    model = graphviz_tb.load(GOOD)
    picture = model.picture(depth=1)
    ElementTree.fromstring(picture.render("svg"))
    assert picture._repr_svg_() == picture.render("svg").decode()
    picture.save(tmp_path / "a.svg")
    model.save(tmp_path / "b.svg", depth=1)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    model.save(tmp_path / "c.json")
    assert (tmp_path / "c.json").read_bytes() == model.json_bytes()


def test_every_colouring_draws(tmp_path: Path) -> None:
    from graphviz_tb.color import SCHEMES
    from graphviz_tb.errors import MissingFacts

    drawn = 0
    for scheme in SCHEMES:
        for theme in ("light", "dark"):
            try:
                ElementTree.fromstring(graphviz_tb.load(GOOD).picture(color_by=scheme, theme=theme).render("svg"))
                drawn += 1
            except MissingFacts:
                assert SCHEMES[scheme].measured or SCHEMES[scheme].logged or SCHEMES[scheme].given
    assert drawn >= 8


def test_errors_say_whose_turn_it_is() -> None:
    with pytest.raises(graphviz_tb.ReadError) as read:
        graphviz_tb.load(b"\x89PNG\r\n\x1a\n" + bytes(100))
    assert read.value.exit_code == 3
    assert isinstance(read.value, graphviz_tb.TbGraphError)
    with pytest.raises(graphviz_tb.GraphError):
        graphviz_tb.load(b'node { name: "a" op: "A" input: "nobody" }', strict=True)
    with pytest.raises(graphviz_tb.RequestError):
        graphviz_tb.load(GOOD, preset="netron")
    with pytest.raises(graphviz_tb.ToolError):
        graphviz_tb.load(GOOD).save("/nowhere/at/all/graph.svg")
    assert pickle.loads(pickle.dumps(UnknownNode("no node"))).args == ("no node",)


def test_the_library_prints_nothing() -> None:
    code = f"import graphviz_tb; graphviz_tb.load({str(GOOD)!r}).picture(open_all=True).render()"
    done = subprocess.run([sys.executable, "-c", code], cwd=FIXTURES.parent, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "")


def test_one_word_is_a_list_of_one() -> None:
    model = graphviz_tb.load(TEXT)
    assert model.picture(open="s").render() == model.picture(open=["s"]).render() == model.picture(open=("s",)).render()


@each(
    ("choice", "said"),
    [({"depth": -1}, "the least is 0"), ({"scale": float("nan")}, "scale is nan"), ({"width": 0}, "the least is 1"),
     ({"max_open": 0}, "the least is 1"), ({"direction": "UP"}, "BT, TB, LR, RL"),
     ({"series_min": 3}, "option of a picture")],
)  # fmt: skip
def test_choices_that_cannot_be(choice: dict, said: str) -> None:
    with pytest.raises(RequestError, match=said):
        graphviz_tb.load(TEXT).picture(**choice)


@pytest.mark.parametrize("choice", [{"max_children": 1}, {"max_children": -3}, {"max_bytes": 0}, {"min_nodes": 0}])
def test_numbers_that_cannot_be_kept(choice: dict) -> None:
    with pytest.raises(RequestError, match="the least is"):
        graphviz_tb.load(TEXT, **choice)
