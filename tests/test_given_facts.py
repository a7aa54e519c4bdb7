"""Facts of a user: every form of file and table, what they do to a picture, and the formats of other tools."""

from __future__ import annotations

import io
import json
import pickle
import re
from pathlib import Path
from typing import Any

import networkx
import pytest

from graphviz_tb import load
from graphviz_tb.api.pipeline import Model
from graphviz_tb.commands import _run_command_line
from graphviz_tb.errors import MalformedText, ReadError, RequestError, TbGraphError, UnknownChoice
from graphviz_tb.page.build import page_data
from tests.each import each

# in ─▶ enc/a ─▶ enc/cast ─▶ dec/b ─▶ out
CHAIN = b"""
node { name: "in" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } }
  attr { key: "shape" value { shape { dim { size: 2 } dim { size: 3 } } } } }
node { name: "enc/a" op: "Relu" input: "in" attr { key: "T" value { type: DT_FLOAT } } }
node { name: "enc/cast" op: "Cast" input: "enc/a" device: "/gpu:0" }
node { name: "dec/b" op: "Tanh" input: "enc/cast" input: "^in" }
node { name: "out" op: "Identity" input: "dec/b" }
"""


@pytest.fixture
def chain() -> Model:
    return load(CHAIN)


FORMS: dict[str, Any] = {
    "values by name": {"enc/a": 1.5, "dec/b": 3},
    "columns by name": {"enc/a": {"ms": 1.5}, "dec/b": {"ms": 3}},
    "records": [{"name": "enc/a", "ms": 1.5}, {"name": "dec/b", "ms": "3"}],
    "node data of one graph": {"name": "ms", "results": {"enc/a": {"value": 1.5}, "dec/b": {"value": 3}}},
    "node data of several": {"main": {"results": {"enc/a": {"value": 1.5}, "dec/b": 3}}},
}


@each("form", FORMS)
def test_every_form_is_read(form: str, tmp_path: Path, chain: Model) -> None:
    (tmp_path / "facts.json").write_text(json.dumps(FORMS[form]))
    for source in (FORMS[form], tmp_path / "facts.json"):
        given = chain.with_facts(source).facts.given
        assert given is not None
        assert given.values_of_row(chain["enc/a"].row) == {given.shown: 1.5}
        assert given.values_of_row(chain["dec/b"].row) == {given.shown: 3.0}


@each(
    "text",
    ["node,ms,who\nenc/a,1.5,x\ndec/b,3,\n", "ms;name;who\n1.5;enc/a;x\n3;dec/b;\n", "﻿a\tms\twho\nenc/a\t1.5\tx\n"],
)
def test_csv_with_any_delimiter(text: str, tmp_path: Path, chain: Model) -> None:
    (tmp_path / "facts.csv").write_text(text, encoding="utf-8")
    given = chain.with_facts(tmp_path / "facts.csv").facts.given
    assert given is not None
    assert given.values_of_row(chain["enc/a"].row) == {"ms": 1.5, "who": "x"}
    assert given.shown == "ms"


def test_a_data_frame(chain: Model) -> None:
    pandas = pytest.importorskip("pandas", reason="pandas is not installed (pip install pandas)")
    frame = pandas.DataFrame({"ms": [1.5, float("nan")]}, index=["enc/a", "dec/b"])
    given = chain.with_facts(frame).facts.given
    assert given is not None
    assert given.values_of_row(chain["enc/a"].row) == {"ms": 1.5}


def test_numbers_are_colours_words_and_cards(chain: Model) -> None:
    model = chain.with_facts({"enc/a": 1.0, "enc/cast": 4.0, "dec/b": 2.0})
    assert model.options.picture.color_by == "facts"
    picture = model.picture(open="dec")
    said = {box.address: fill for box, fill in zip(picture.scene.boxes, picture.paint.boxes, strict=True)}
    assert said["enc"].fill != said["dec/b"].fill
    assert not said["in"].hued
    texts = " ".join(text.content for text in picture.scene.texts)
    assert "4" in texts.split()
    assert [row.label for row in picture.paint.legend] == ["0", "1", "2", "3", "4"]
    head, _ = page_data(model, model.options.picture)
    assert "facts" in head["schemes"]
    assert b"svg" in model.render("svg")


def test_texts_are_categories_and_a_group_gives_its_own_to_its_ops(chain: Model) -> None:
    model = chain.with_facts({"enc": "team a", "enc/cast": "team b", "out": "team a"})
    picture = model.picture(depth=0)
    assert [row.label for row in picture.paint.legend] == ["team a", "team b", "no value"]
    enc = [box.address for box in picture.scene.boxes].index("enc")
    assert len(picture.paint.boxes[enc].bands) == 2
    assert picture.paint.accounts[enc] == "value: team a"


def test_one_column_colours_and_all_are_told(chain: Model) -> None:
    facts = {"enc/a": {"ms": 1, "who": "x"}, "out": {"ms": 2}}
    assert chain.with_facts(facts, "who").picture().paint.heading == "who"
    with pytest.raises(UnknownChoice, match="column of facts 'wo'"):
        chain.with_facts(facts, "wo")
    told = chain.with_facts(facts).picture(open="enc")
    at = [box.address for box in told.scene.boxes].index("enc/a")
    assert told.paint.accounts[at] == "ms: 1 · who: x"


def test_odd_numbers(chain: Model) -> None:
    for values in ({"in": float("nan")}, {"in": float("inf"), "out": 1}, {"in": -2, "out": 1}, {"in": 0, "out": 0}):
        for theme in ("light", "dark"):
            assert chain.with_facts(values).render("svg", theme=theme)
    wide = chain.with_facts({"in": 1e-3, "out": 1e3})
    assert [row.label for row in wide.picture().paint.legend] == ["0.001", "0.1", "10", "1e3"]


@each("format", ["cytoscape", "node-data", "model-explorer"])
def test_numbers_that_json_lacks_are_texts(format: str, chain: Model) -> None:
    def refuse(word: str) -> None:
        raise AssertionError(word)

    written = chain.with_facts({"in": float("nan"), "out": float("-inf")}).render(format)
    json.loads(written, parse_constant=refuse)


@each("format", ["graphml", "cytoscape", "model-explorer"])
def test_a_fact_that_is_called_as_what_a_format_says_leaves_that(format: str, chain: Model) -> None:
    written = chain.with_facts([{"node": "in", "op": "mine"}, {"node": "out", "op": "mine"}]).render(format).decode()
    assert "fact_op" in written
    assert "mine" in written
    assert "Placeholder" in written


def test_names_that_are_in_no_graph(chain: Model) -> None:
    model = chain.with_facts({"in": 1, "inn": 2})
    assert [notice.message for notice in model.notices] == ["facts: 1 of 2 names are not in this graph: 'inn'"]
    with pytest.raises(RequestError, match="none of 1 names is in this graph: 'encc'") as error:
        chain.with_facts({"encc": 1})
    assert error.value.hint == "nearest: enc, enc/a, enc/cast" or "enc" in str(error.value.hint)


WRONG = {
    "a.csv": ("name\nx\n", "line 1"),
    "b.csv": ("name,ms\nin,1,2\n", "b.csv: line 2"),
    "c.csv": ("name,ms,ms\nin,1,2\n", "two columns of one name"),
    "d.json": ('{"in": }', "d.json: line 1, column 8"),
    "e.json": ('{"in": [1]}', "is neither a number nor text"),
    "f.json": ("[1]", "takes records"),
    "g.json": ("{}", "no facts"),
    "h.csv": ("", "line 1"),
    "i.json": ("[" * 100_000, "too deep"),
    "j.csv": ("name,ms\n\n", "no facts"),
    "k.csv": ("in,vision\nout,text\n", "k.csv: line 1, column 1: this is not a header: 'in' is a node"),
    "l.csv": ("stem,1.5\nin,2\n", "l.csv: line 1, column 1: a number is not a header"),
}


@each("name", WRONG)
def test_a_wrong_file_says_where_and_what(name: str, tmp_path: Path) -> None:
    text, wanted = WRONG[name]
    (tmp_path / name).write_text(text)
    with pytest.raises(TbGraphError) as error:
        load(CHAIN, facts=tmp_path / name)
    assert wanted in str(error.value)
    assert error.value.hint
    assert isinstance(error.value, MalformedText | RequestError | ReadError)


def test_facts_stay_with_a_view_and_in_a_pickle(chain: Model) -> None:
    model = load(CHAIN, view={"hide": "op:Cast", "open": ["enc"]}, facts={"in": 1, "out": 2})
    assert "enc/cast" not in [box.address for box in model.picture().scene.boxes]
    assert model.picture().paint.scheme == "facts"
    assert pickle.loads(pickle.dumps(model)).render("svg") == model.render("svg")
    assert load(CHAIN, facts={"in": 1}, color_by="none").picture().paint.scheme == "none"


def test_graphml_is_read_by_networkx(chain: Model) -> None:
    model = chain.with_facts({"enc/a": {"ms": 1.5, "who": "<x>"}})
    graph = networkx.read_graphml(io.BytesIO(model.render("graphml")))
    names = {values["name"]: node for node, values in graph.nodes(data=True)}
    assert set(names) == {"in", "enc/a", "enc/cast", "dec/b", "out"}
    a = graph.nodes[names["enc/a"]]
    assert (a["op"], a["scope"], a["ms"], a["who"]) == ("Relu", "enc", 1.5, "<x>")
    assert graph.nodes[names["enc/cast"]]["device"] == "/gpu:0"
    edge = graph.edges[names["in"], names["enc/a"]]
    assert (edge["input"], edge["control"], edge["tensor"]) == (0, False, "2×3 float32")
    assert graph.edges[names["in"], names["dec/b"]]["control"]


def test_facts_of_groups_are_in_every_format(chain: Model) -> None:
    model = chain.with_facts({"enc": {"ms": 4.5}, "in": {"ms": 1}})
    graph = networkx.read_graphml(io.BytesIO(model.render("graphml")))
    assert [values["ms"] for values in graph.nodes.values() if values["name"] == "enc"] == [4.5]
    assert not any("op" in values for values in graph.nodes.values() if values["name"] == "enc")
    (main,) = json.loads(model.render("model-explorer"))["graphs"]
    assert main["groupNodeAttributes"] == {"enc": {"ms": "4.5"}}
    assert "enc" not in [node["id"] for node in main["nodes"]]
    assert json.loads(model.render("node-data"))["main"]["results"] == {"in": {"value": 1.0}, "enc": {"value": 4.5}}
    assert "groupNodeAttributes" not in chain.render("model-explorer").decode()


def test_cytoscape_is_read_by_networkx(chain: Model) -> None:
    document = json.loads(chain.with_facts({"enc/a": 1.5}).render("cytoscape"))
    graph = networkx.cytoscape_graph(document)
    named = {values["name"]: values for _, values in graph.nodes(data=True)}
    assert named["enc/a"]["parent"] == named["enc"]["id"]
    assert named["enc/a"]["fact_value"] == 1.5
    assert graph.number_of_edges() == 5


def test_model_explorer_gets_what_it_takes_and_node_data_come_back(chain: Model, tmp_path: Path) -> None:
    model = chain.with_facts({"enc/a": {"ms": 1.5}, "out": {"ms": 2}})
    document = json.loads(model.render("model-explorer"))
    assert set(document) == {"label", "graphs"}
    nodes = {node["id"]: node for node in document["graphs"][0]["nodes"]}
    assert nodes["enc/cast"]["namespace"] == "enc"
    assert nodes["enc/cast"]["incomingEdges"] == [
        {"sourceNodeId": "enc/a", "sourceNodeOutputId": "0", "targetNodeInputId": "0"}
    ]
    assert nodes["in"]["outputsMetadata"][0]["attrs"] == [{"key": "tensor_shape", "value": "2×3 float32"}]
    (tmp_path / "x.json").write_bytes(model.render("node-data"))
    again = load(CHAIN, facts=tmp_path / "x.json").facts.given
    assert again is not None
    assert again.columns == model.facts.given.columns  # type: ignore[union-attr]
    flops = json.loads(chain.render("node-data"))["main"]
    assert flops["name"] == "FLOPs"
    assert flops["results"]["enc/a"] == {"value": chain["enc/a"].flops}


def test_mermaid_draws_lines_through_borders(chain: Model) -> None:
    text = chain.render("mermaid", open=("enc", "dec"), direction="LR").decode()
    assert text.startswith("flowchart LR\n")
    names = dict(re.findall(r'^ *(b\d+)[(\[]"([^"]*)"', text, re.MULTILINE))
    lines = {(names[a], names[b]) for a, b in re.findall(r"(b\d+) -->? *(b\d+)", text)}
    assert {("in", "a"), ("a", "cast"), ("cast", "b"), ("b", "out")} <= {(a[:4], b[:4]) for a, b in lines}
    assert text.count("subgraph") == text.count("\n  end")
    assert re.search(r"b\d+ -\.-> b\d+", text)


def test_mermaid_refuses_what_it_does_not_draw() -> None:
    nodes = b"".join(b'node { name: "x%d" op: "A" }' % at for at in range(40))
    targets = b"".join(
        b'node { name: "y%d" op: "B" %s }' % (at, b"".join(b'input: "x%d" ' % other for other in range(40)))
        for at in range(20)
    )
    model = load(nodes + targets, folds=False, extract=False, series_min=99)
    with pytest.raises(RequestError, match="Mermaid draws 500 lines"):
        model.render("mermaid", open_all=True)


@each("format", ["graphml", "cytoscape", "model-explorer", "mermaid"])
def test_hostile_names_are_data(format: str, fixtures: Path) -> None:
    model = load(fixtures / "real/odd_names.pbtxt")
    written = model.render(format)
    assert written == model.render(format)
    if format == "graphml":
        networkx.read_graphml(io.BytesIO(written))
    elif format != "mermaid":
        json.loads(written)


def test_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("m.pbtxt").write_bytes(CHAIN)
    Path("f.csv").write_text("name,ms,who\nenc/a,1,x\nout,2,y\n")
    assert (
        _run_command_line(["render", "m.pbtxt", "--facts", "f.csv", "-o", "a.svg", "-o", "a.graphml", "-o", "a.mmd"])
        == 0
    )
    assert "colour: facts" in Path("a.svg").read_text()
    assert (
        _run_command_line(
            ["render", "m.pbtxt", "--facts", "f.csv", "--fact", "who", "-o", "b.svg", "--color-by", "device"]
        )
        == 0
    )
    assert "colour: device" in Path("b.svg").read_text()
    assert _run_command_line(["render", "m.pbtxt", "--facts", "f.csv", "-f", "model-explorer", "-o", "g.json"]) == 0
    assert _run_command_line(["render", "m.pbtxt", "--fact", "who", "-o", "b.svg"]) == 2
    assert _run_command_line(["render", "m.pbtxt", "--facts", "none.csv", "-o", "b.svg"]) == 3
