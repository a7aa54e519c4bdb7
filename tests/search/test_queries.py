"""One language of search: what it asks for, and that page, server and Python answer alike."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import graphviz_tb
from graphviz_tb.commands import _run_command_line
from graphviz_tb.errors import MissingFacts, RequestError
from graphviz_tb.options import PictureOptions
from graphviz_tb.page.build import page_data
from graphviz_tb.proto import GraphDef
from graphviz_tb.render.html import _layout_script, viewer_source
from graphviz_tb.search.language import NumberTerm, parse_query
from graphviz_tb.search.names import NamePattern
from tests.each import each
from tests.viewer.node import answered

FIXTURES = Path(__file__).parents[2] / "fixtures"
GRAPH = b"""
node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } }
       attr { key: "shape" value { shape { dim { size: 2 } dim { size: 8 } } } } }
node { name: "a/kernel" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } } attr { key: "value" value { tensor {
       dtype: DT_FLOAT tensor_shape { dim { size: 8 } dim { size: 3 } } float_val: 1 } } } }
node { name: "a/matmul" op: "MatMul" input: "x" input: "a/kernel" device: "/device:GPU:0"
       attr { key: "T" value { type: DT_FLOAT } } attr { key: "transpose_a" value { b: false } } }
node { name: "a/relu" op: "Relu" input: "a/matmul" attr { key: "T" value { type: DT_FLOAT } } }
node { name: "a/relu6 (1)" op: "Relu6" input: "a/relu" attr { key: "T" value { type: DT_FLOAT } } }
node { name: "and" op: "Identity" input: "a/relu6 (1)" attr { key: "T" value { type: DT_FLOAT } } }
"""
# What is looked for → the ops that fit, whatever groups do.
ANSWERS = {
    "op:relu": ["a/relu"],  # a type that there is, alone
    "op:rel": ["a/relu", "a/relu6 (1)"],
    "op:Relu*": ["a/relu", "a/relu6 (1)"],
    "op:relu or op:matmul": ["a/matmul", "a/relu"],
    "name:a/ not op:relu not op:relu6": ["a/kernel", "a/matmul"],
    "not (op:relu or op:relu6 or name:a/)": ["and", "x"],
    "a/* op:MatMul": ["a/matmul"],
    "name:*u": [],  # a star ends at a slash
    "**u": ["a/relu"],
    "a/rel?": ["a/relu"],
    "device:gpu": ["a/matmul"],
    "attr:transpose_a=false": ["a/matmul"],
    "attr:transpose": ["a/matmul"],
    "key: transpose_a": ["a/matmul"],
    "shape:2x3 name:a/": ["a/matmul", "a/relu", "a/relu6 (1)"],
    "shape: 2,3 op:MatMul": ["a/matmul"],
    "shape:8": ["a/kernel", "x"],
    "dtype:float32 op:const": ["a/kernel"],
    "params>=24 op:matmul or params>=24 op:const": ["a/kernel"],
    "flops>90": ["a/matmul"],
    "flops > 90": ["a/matmul"],
    "flops>=0.09k flops<1K": ["a/matmul"],
    '"and"': ["and"],
    '"relu6 (1)"': ["a/relu6 (1)"],
    "relu6 (1)": ["a/relu6 (1)"],  # parentheses around a word
    "/lu$/": ["a/relu"],
    "name:/LU6/i": ["a/relu6 (1)"],
    "nothing": [],
    "transpose_a=false": ["a/matmul"],
    "size=SAME": [],  # an attribute, though a quantity is called so too
    '"params>"': [],
    '"typ:Relu"': [],  # in quotes a text
    "a/matmul:0": [],
    "aten::add": [],
}
WRONG = ["", "  ", "(a", "a)", "a or", "not", "and and", "( )", "weight>3", "params>3lbs", "time>3K", "/(/", "x " * 101,
         "typ:Relu", "a and layer:b", "not Type: x", "op:", 'name:""', "attr: )", "params:1M",
         "params>", "params >", "params>=", "op:Relu and Time<x", "flops>1e6 or a", "size!=SAME"]  # fmt: skip


@pytest.fixture(scope="module")
def model() -> graphviz_tb.Model:
    return graphviz_tb.load(GRAPH, series_min=99)


def ops(nodes: Any) -> list[str]:
    return sorted(node.name for node in nodes if node.kind == "op")


@each("query", list(ANSWERS))
def test_what_a_query_finds(query: str, model: graphviz_tb.Model) -> None:
    assert ops(model.find(query)) == ANSWERS[query]


@each("query", WRONG)
def test_a_query_that_cannot_be_read_is_refused(query: str, model: graphviz_tb.Model) -> None:
    with pytest.raises(RequestError):
        model.find(query)


def test_a_field_that_there_is_not_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(RequestError, match="unknown field 'shap'; nearest: 'shape'") as error:
        parse_query("shap:2x3")
    fields = "name, op, device, attr, shape, dtype, source"
    assert error.value.hint == f"fields: {fields}; a text with a colon is put in quotes"
    with pytest.raises(RequestError, match="op: is followed by nothing to look for"):
        parse_query("not op:")
    with pytest.raises(RequestError, match="params is compared, not looked for"):
        parse_query("params:1M")
    with pytest.raises(RequestError, match="params> compares with a number: it is followed by nothing"):
        parse_query("params>")
    with pytest.raises(RequestError, match="params>= compares with a number: '1_000' is not a number"):
        parse_query("op:Conv2D params>=1_000")


def test_a_quantity_that_is_not_known_is_said(model: graphviz_tb.Model) -> None:
    with pytest.raises(MissingFacts, match="time is not known in this graph: no run statistics were read"):
        model.find("time>1ms")
    assert parse_query("time>1.5ms") == NumberTerm("time", ">", 1500.0)
    assert parse_query("weights>=2KiB") == NumberTerm("weight_bytes", ">=", 2048.0)


def test_times_of_a_run_are_compared() -> None:
    steps = FIXTURES / "run_metadata" / "mnist_cnn_step099.pb"
    traced = graphviz_tb.load(FIXTURES / "real" / "mnist_cnn.pbtxt", run_metadata=(str(steps),))
    slow, quick = traced.find("time>=100us"), traced.find("time<100us")
    assert len(slow) > 0
    assert min(node.time or 0 for node in slow) >= 100 > max(node.time or 0 for node in quick)


def test_sums_of_groups_are_compared(model: graphviz_tb.Model) -> None:
    assert [node.kind for node in model.find("name:a", "params>=24") if node.kind != "op"] == ["scope"]


@given(st.text(alphabet='ab:/ ()"*?<>=1kandort', max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    with suppress(RequestError):
        assert parse_query(text)


@pytest.fixture(scope="module")
def page(model: graphviz_tb.Model) -> Any:
    pytest.importorskip("starlette")
    from graphviz_tb.serve.work import _compress_page

    return _compress_page(*page_data(model, PictureOptions()))


NODE = """
const t = (key) => key;
const NODES_PER_BLOCK = 1024;
class App {}
class Graph {}
"""
ASK = """
const {graph, queries} = JSON.parse(require("fs").readFileSync(0, "utf8"));
graph.labels = new Map(graph.labels);
graph.name = (row) => graph.names[row];
graph.lowerCaseName = (row) => graph.names[row].toLowerCase();
class TimeSlices { isOver = true; nextSlice = async () => undefined; }
const held = new Map(graph.held);
graph.blocks = {has: (name) => held.has(name), get: async (name) => held.get(name)};
const app = {state: {graph, facts: {edges: async () => graph.edges}}};
(async () => {
  const answers = [];
  for (const text of queries) {
    try {
      const query = parseQuery(text);
      const search = new RowSearch(app, () => true);
      await search.searchNames(query);
      await search.searchBlocks(query);
      answers.push(search.matchingRows(query));
    } catch (error) {
      if (!(error instanceof QueryError)) throw error;
      answers.push(error.message);
    }
  }
  console.log(JSON.stringify(answers));
})();
"""


def of_the_page(page: Any, model: graphviz_tb.Model, queries: list[str]) -> list[Any]:
    """What the page answers."""
    from graphviz_tb.serve.graph_rows import GraphRows, unpack_block

    rows, words = GraphRows(page), unpack_block(page.blocks["words"])
    blocks = [name for name in page.blocks if name.startswith(("attributes/", "colour/")) and name.count("/") == 1]
    edges = ("source", "target", "key", "slot", "flags", "tensor")
    graph = {
        **{name: rows.column[name].tolist() for name in ("op", "device", "node")},
        "count": len(rows),
        "words": words,
        "labels": [(row, words[word]) for row, word in page.head["labels"]],
        "names": ["", *model.hierarchy.name[1:]],
        "held": [[name, unpack_block(page.blocks[name])] for name in blocks],
        "edges": dict(zip(edges, unpack_block(page.blocks["edges"]).reshape(len(edges), -1).tolist(), strict=True)),
    }
    code = NODE + _layout_script() + viewer_source("patterns.js") + viewer_source("query.js") + ASK
    answers: list[Any] = answered(code, {"graph": graph, "queries": queries})
    return answers


def test_the_page_answers_alike(require: Callable[..., None], page: Any, model: graphviz_tb.Model) -> None:
    require("node")
    answers = of_the_page(page, model, [*ANSWERS, *WRONG, "time>1ms"])
    wanted = [[node.row for node in model.find(query)] for query in ANSWERS]
    assert dict(zip(ANSWERS, answers, strict=False)) == dict(zip(ANSWERS, wanted, strict=True))
    assert [answer for answer in answers[len(ANSWERS) :] if not isinstance(answer, str)] == []


def test_the_page_parses_alike(require: Callable[..., None]) -> None:
    require("node")
    luck = np.random.default_rng(4)
    words = [
        "a",
        "or",
        "and",
        "not",
        "(",
        ")",
        " ",
        " ",
        "op:",
        "KEY:",
        "params",
        ">",
        "<=",
        "=",
        "1.5k",
        "2",
        "GiB",
        '"',
        "/x+/i",
    ]
    texts = [*ANSWERS, *WRONG, *("".join(luck.choice(words, 6)) for _ in range(400))]

    def parsed(text: str) -> Any:
        try:
            return asdict(parse_query(text))
        except RequestError:
            return None

    run = "try { return layout.parse_query(text); } catch (error) { if (!error.kind) throw error; return null; }"
    given = "JSON.parse(require('fs').readFileSync(0, 'utf8'))"
    code = f"{_layout_script()}console.log(JSON.stringify({given}.map((text) => {{ {run} }})));"
    assert answered(code, texts) == json.loads(json.dumps([parsed(text) for text in texts]))


def test_wild_cards_are_those_of_python(require: Callable[..., None]) -> None:
    require("node")
    luck = np.random.default_rng(3)
    pairs = [["".join(luck.choice(list("ab:/*?"), 6)), "".join(luck.choice(list("ab::/"), 5))] for _ in range(800)]
    code = f"{viewer_source('patterns.js')}console.log(JSON.stringify(JSON.parse(process.argv[1])"
    code += ".map(([pattern, text]) => patternTest(pattern)(text))))"
    done = subprocess.run(["node", "-e", code, json.dumps(pairs)], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == [NamePattern(pattern).matches_name(text) for pattern, text in pairs]


def test_the_command_lists_counts_and_ends_as_grep_does(capsys: pytest.CaptureFixture[str]) -> None:
    mnist = str(FIXTURES / "real" / "mnist_cnn.pbtxt")

    def told(*words: str) -> tuple[int, str, str]:
        code = _run_command_line(["find", mnist, *words, "-q"])
        out, err = capsys.readouterr()
        return code, out, err

    assert told("op:MaxPool", "--names") == (0, "conv1/pool\nconv2/pool\n", "")
    code, table, _ = told("op:Conv2D")
    assert (code, "conv1/Wx_plus_b/Conv2D" in table, table.splitlines()[-1]) == (0, True, "2 found")
    assert told("op:MaxPool", "name:conv1", "--count") == (0, "1\n", "")
    assert told("dtype:float16", "--count") == (1, "0\n", "")
    found = json.loads(told("op:MaxPool", "--json")[1])
    assert next((node["name"], node["outputs"][0]["dtype"]) for node in found["nodes"]) == ("conv1/pool", "float32")
    code, _, error = told("(op:MaxPool")
    assert (code, error.splitlines()[0]) == (2, "error: a ( is not closed")
    assert told("time>1ms")[0] == 2


def test_hostile_names_reach_no_terminal(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "hostile.pb"
    nodes = [{"name": "a\x1b[31mb", "op": "Re\nlu"}, {"name": "x\u202ey", "op": "Relu"}]
    path.write_bytes(GraphDef(node=nodes).SerializeToString())
    for words in ((), ("--names",), ("--json",)):
        assert _run_command_line(["find", str(path), "not op:Const", "-q", *words]) == 0
        out = capsys.readouterr().out
        assert not {"\x1b", "\u202e"} & set(out)
    assert _run_command_line(["find", str(path), "not op:Const", "-q", "--names"]) == 0
    assert capsys.readouterr().out.splitlines() == ["a\\x1b[31mb", "x\\u202ey"]
