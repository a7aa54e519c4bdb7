"""Text, JSON and markdown."""

from __future__ import annotations

import json

import pytest

from graphviz_tb.diff import diff
from graphviz_tb.errors import UnknownChoice
from graphviz_tb.proto import GraphDef
from tests.diff.blocks import ODD, SAME, stack
from tests.diff.pairs import FIXTURES, REAL, chain, graph_def


def test_json_has_the_schema() -> None:
    told = json.loads(diff(stack(SAME, SAME), stack(SAME, ODD, SAME)).explain("json"))
    assert (told["format"], told["version"], told["same"]) == ("tbgraph-diff", 2, False)
    (change,) = told["changes"]
    fields = {"kind", "severity", "old", "new", "ops", "detail", "also", "layers", "numbers", "claims", "follows"}
    assert set(change) == fields | {"at_least"}
    assert set(change["at_least"]) <= set(change["numbers"])
    assert told["summary"]["at_least"] == ["flops"]
    assert change["detail"]["op_types"]["Tanh"] == 1
    assert told["summary"]["kinds"] == {"added": 1}


def test_text_without_colour_has_no_escapes() -> None:
    changes = diff(chain("Relu", "Tanh"), chain("Relu", "Elu"))
    assert "\x1b" not in changes.explain()
    assert "\x1b[33m~\x1b[0m" in changes.explain(colour=True)
    assert changes.explain().splitlines()[0] == "1 change: 1 changed; 2 ops"


def test_the_gravest_first_and_no_more_than_asked() -> None:
    changes = diff(graph_def(REAL[0]), graph_def(REAL[-1]))
    shown = [line for line in changes.explain(limit=3).splitlines() if line[:4] in ("  + ", "  − ", "  ~ ", "  → ")]
    assert len(shown) == 3
    assert "other changes (--all)" in changes.explain(limit=3)


def test_markdown_fits_a_comment() -> None:
    old = GraphDef(node=[{"name": f"{'x' * 200}{at}", "op": "A"} for at in range(900)])
    new = GraphDef(node=[{"name": f"{'y' * 200}{at}", "op": f"B{at}"} for at in range(900)])
    told = diff(old, new).explain("markdown")
    assert len(told) < 65_000
    assert "more change" in told
    assert told.startswith("### Graph diff: 1,800 changes")
    assert "</details>" in told


def test_a_name_cannot_break_out() -> None:
    old = GraphDef(node=[{"name": "a", "op": "A"}])
    new = GraphDef(node=[{"name": "a", "op": "A"}, {"name": "`<script>\n# x\x1b[31m", "op": "B"}])
    assert "\x1b" not in diff(old, new).explain()
    assert "\n# x" not in diff(old, new).explain("markdown")


def test_an_unknown_style() -> None:
    with pytest.raises(UnknownChoice, match="unknown style 'html'"):
        diff(chain("A"), chain("B")).explain("html")  # type: ignore[arg-type]


def test_a_note_on_both_sides_is_there_once() -> None:
    log = next((FIXTURES / "logdirs" / "torch_pair").glob("events*"))
    text = diff(log, log).explain()
    assert text.count("note: ") == 1
