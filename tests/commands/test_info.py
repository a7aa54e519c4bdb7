"""`tbgraph info`: what a source holds and what is in a graph, as text of any width and as JSON."""

from __future__ import annotations

import io
import json
import re
import shutil
import sys
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphviz_tb import load
from graphviz_tb.api.summary import summarize
from graphviz_tb.commands import _run_command_line
from graphviz_tb.commands.costs import statistics_lines, statistics_values
from graphviz_tb.commands.info_text import report_on_graph
from graphviz_tb.commands.table import (
    TextStyle,
    as_encodable,
    bar_text,
    clip_middle,
    format_table,
    join_fitting,
    pad_text,
    shown_width,
    wrap_text,
)
from tests.each import each
from tests.effort import part

FIXTURES = Path(__file__).parents[2] / "fixtures"
SOURCES = [
    "real/mnist_cnn.pbtxt",
    "real/numbered_series.pb",
    "real/odd_names.pbtxt",
    "real/func_library_recursive.pbtxt",
    "real/multi_device.pb",
    "containers/saved_model",
    "containers/keras3_mnist.keras",
    "logdirs/mnist_runs",
    "logdirs/keras2_callback",
    "logdirs/trace_export",
    "run_metadata/mnist_cnn_step099.pb",
]


def shown(text: str) -> int:
    """Places that a line takes, counted apart from the code under test."""
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text
    )


@pytest.fixture
def tell(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Any:
    """Run a command at a width; gives the exit code and what was printed."""

    def call(*arguments: str, width: int = 80) -> tuple[int, str, str]:
        monkeypatch.setenv("COLUMNS", str(width))
        code = _run_command_line(list(arguments))
        done = capsys.readouterr()
        return code, done.out, done.err

    return call


def facts(tell: Any, *arguments: str) -> dict[str, Any]:
    code, out, _ = tell("info", *arguments, "--json")
    assert code == 0
    found: dict[str, Any] = json.loads(out)
    assert (found["format"], found["version"]) == ("tbgraph-info", 1)
    return found


@each("source", part(SOURCES, 2))
@each("width", part([17, 1, 40, 80, 200], 3))
def test_no_line_is_wider_than_the_terminal(tell: Any, source: str, width: int) -> None:
    code, out, _ = tell("info", str(FIXTURES / source), width=width)
    assert code == 0
    assert out
    assert max(map(shown, out.splitlines())) <= width


def test_the_counts_are_those_of_the_graph(tell: Any) -> None:
    graph = facts(tell, str(FIXTURES / "real/mnist_cnn.pbtxt"))["graph"]
    model = load(FIXTURES / "real/mnist_cnn.pbtxt")
    document = model.to_json()
    root = document["nodes"][0]
    assert graph["nodes"] == len(model.loaded.graph_def.node) == 529  # type: ignore[union-attr]
    assert graph["ops"] == root["ops"]
    assert graph["op_types"] == dict(sorted(root["op_types"].items(), key=lambda pair: (-pair[1], pair[0])))
    assert graph["ops"] + graph["constants"] + graph["weights"] + graph["summaries"] == graph["nodes"]
    assert graph["edges"]["all"] == graph["edges"]["data"] + graph["edges"]["control"] == 754
    assert graph["scopes"] == sum(node["kind"] == "scope" for node in document["nodes"]) - 1
    assert ["conv1", "conv2"] in [each["names"] for each in graph["structures"]["largest"]]
    assert graph["shapes"]["known"] <= graph["shapes"]["edges"] == graph["edges"]["data"]


def test_an_exported_program_has_its_form_and_its_buffers(tell: Any) -> None:
    path = str(FIXTURES / "exported/resnet.pt2")
    graph = facts(tell, path)["graph"]
    # Of each norm the mean and the variance.
    assert graph["buffers"] == 2 * graph["op_types"]["aten::batch_norm"]
    _, out, _ = tell("info", path)
    assert "PyTorch export, " in out
    assert f"buffers       {graph['buffers']}  of these weights" in out
    assert facts(tell, str(FIXTURES / "real/mnist_cnn.pbtxt"))["graph"]["buffers"] == 0


def test_shapes_are_counted_by_their_origin() -> None:
    #   x:0 ─▶ a ─▶ b     x states its shape, a declares one, that of b is inferred
    text = b"""
      node { name: "x" op: "Placeholder" attr { key: "shape" value { shape { dim { size: 2 } } } } }
      node { name: "a" op: "Relu" input: "x"
             attr { key: "_output_shapes" value { list { shape { dim { size: 2 } } } } } }
      node { name: "b" op: "Relu" input: "a" } node { name: "c" op: "Relu" input: "b" input: "^x" }
    """
    model = load(text)
    shapes = summarize(model.hierarchy, model.facts).shapes
    assert (shapes.edges, shapes.declared, shapes.stated, shapes.inferred) == (3, 1, 1, 1)
    shapes = summarize(model.hierarchy, load(text, infer=False).facts).shapes
    assert (shapes.edges, shapes.with_shape) == (3, 1 + 1)


def test_structures_inside_listed_ones_are_not_listed_again() -> None:
    model = load(FIXTURES / "real/numbered_series.pb")
    found = summarize(model.hierarchy, model.facts).structures
    assert [(each.times, each.names[0]) for each in found.largest[:1]] == [(20, "dense_1")]
    assert not any(name.startswith("dense_1/") for each in found.largest for name in each.names)


def test_functions_count_their_calls(tell: Any) -> None:
    graph = facts(tell, str(FIXTURES / "real/func_library_recursive.pbtxt"))["graph"]
    assert graph["ops_through_calls"] is None
    assert [function["ops_through_calls"] for function in graph["functions"]] == [None]
    assert "∞" in tell("info", str(FIXTURES / "real/func_library_recursive.pbtxt"))[1]


def test_a_log_directory_is_listed_and_its_graph_told(tell: Any) -> None:
    found = facts(tell, str(FIXTURES / "logdirs/mnist_runs"))
    assert [(entry["kind"], entry["tag"]) for entry in found["holds"]] == [
        ("op", "__run_graph__"),
        ("profile", "step002"),
        ("profile", "step004"),
    ]
    assert (found["graph"]["ops"], found["graph"]["weights"]) == (270, 52)
    out = tell("info", str(FIXTURES / "logdirs/mnist_runs"))[1]
    assert re.search(r"train +step004 +run statistics", out)
    assert "Op types" in out


def test_several_graphs_need_no_choice(tell: Any, tmp_path: Path) -> None:
    source = next((FIXTURES / "logdirs/xor_filewriter").iterdir())
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / source.name).write_bytes(source.read_bytes())
    found = facts(tell, str(tmp_path))
    assert [entry["run"] for entry in found["holds"]] == ["one", "two"]
    assert found["graph"] is None
    code, out, _ = tell("info", str(tmp_path))
    assert code == 0
    assert "--run one" in out
    assert facts(tell, str(tmp_path), "--run", "two")["graph"]["nodes"] == 150
    code, _, err = tell("info", str(tmp_path), "--run", "three")
    assert (code, "choose one of: one, two" in err) == (2, True)


def test_signatures_are_told(tell: Any) -> None:
    found = facts(tell, str(FIXTURES / "containers/saved_model"))
    assert found["graph"]["signatures"][0]["inputs"][0] == {
        "key": "feat",
        "tensor": "serving_default_feat:0",
        "dtype": "float32",
        "shape": [None, 8],
    }
    assert "?×8" in tell("info", str(FIXTURES / "containers/saved_model"))[1]


def test_run_statistics_alone_are_listed(tell: Any) -> None:
    found = facts(tell, str(FIXTURES / "run_metadata/mnist_cnn_step099.pb"))
    assert ([entry["kind"] for entry in found["holds"]], found["graph"]) == (["profile"], None)


def test_standard_input(tell: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    data = io.BytesIO((FIXTURES / "containers/saver.meta").read_bytes())
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(data))
    code, out, _ = tell("info", "-")
    assert code == 0
    assert out.startswith("standard input\nMetaGraphDef")


def test_hot_spots_are_told_with_their_coverage() -> None:
    measured = report_on_graph(load(FIXTURES / "logdirs/mnist_runs", step="2"), ()).statistics
    assert measured is not None
    found = statistics_values(measured)
    assert 0 < found["coverage"] < 1
    values = [spot["value"] for spot in found["ops_by_time"]]
    assert values == sorted(values, reverse=True)
    lines = statistics_lines(measured, 5, 80, TextStyle())
    assert any(line.startswith("  coverage") and "75 of 270 ops" in line for line in lines)
    assert {"Ops by time", "Scopes by memory"} <= set(lines)
    assert max(map(shown, lines)) <= 80


def test_notices_are_part_of_the_answer(tell: Any) -> None:
    path = str(FIXTURES / "real/odd_names.pbtxt")
    code, out, err = tell("info", path)
    assert (code, err) == (0, "")
    assert "names no node" in out
    assert "names no node" not in tell("info", path, "--quiet")[1]
    assert [notice["count"] for notice in facts(tell, path)["graph"]["notices"]] == [1, 3]
    assert tell("info", path, "--strict")[0] in (3, 4)


@pytest.mark.parametrize(
    ("source", "code"), [("broken/empty.pb", 3), ("broken/model.onnx", 3), ("broken/no_model", 3), ("absent.pb", 3)]
)
def test_errors(tell: Any, source: str, code: int) -> None:
    found, out, err = tell("info", str(FIXTURES / source))
    assert (found, out) == (code, "")
    assert err.startswith("error: ")


def test_no_colour_in_a_pipe(tell: Any) -> None:
    assert "\x1b" not in tell("info", str(FIXTURES / "real/mnist_cnn.pbtxt"))[1]


def test_hostile_names_do_nothing(tell: Any, tmp_path: Path) -> None:
    path = tmp_path / "x.pbtxt"
    path.write_text(r'node { name: "a/\033[2J\n층층😀‮x" op: "\033]0;t\007" device: "\r/gpu" }')
    for arguments in (["info"], ["tree"], ["tree", "--ops", "--depth", "9"]):
        code, out, _ = tell(arguments[0], str(path), *arguments[1:])
        assert code == 0
        assert not set(out) & set("\x1b\x07\r‮")


@given(st.lists(st.lists(st.text(max_size=30), min_size=3, max_size=3), max_size=6), st.integers(1, 60))
def test_tables_keep_within_their_width(rows: list[list[str]], width: int) -> None:
    lines = format_table(rows, width, right=(1,), shrinking=(0, 2))
    assert len(lines) == len(rows)
    assert all(shown_width(line) <= width for line in lines)


@given(st.text(max_size=40), st.integers(0, 50))
def test_cuts_and_pads_take_the_places_they_say(text: str, width: int) -> None:
    assert shown_width(clip_middle(text, width)) <= width
    assert shown_width(pad_text(text, width)) == width
    assert all(shown_width(line) <= max(width, 1) for line in wrap_text(text, max(width, 1)))
    assert shown_width(join_fitting([text, text], width)) <= max(width, 0)


@pytest.mark.parametrize("text", ["encoder/layer_12/output", "층층층층층층", "e\u0301e\u0301e\u0301e\u0301"])
def test_a_cut_keeps_both_ends(text: str) -> None:
    cut = clip_middle(text, 5)
    assert shown_width(cut) in (4, 5, shown_width(text))
    assert cut.startswith(text[0])
    assert cut.endswith(text[-1])


def test_bars_grow() -> None:
    assert [bar_text(share / 8, 1) for share in range(9)] == ["", *"▏▎▍▌▋▊▉█"]
    assert shown_width(bar_text(2.0, 7)) == 7


def test_what_an_encoding_lacks_is_replaced() -> None:
    assert as_encodable("└─ a ×2 ██▌", "ascii") == "`- a x2 ###"
    assert as_encodable("층", "latin-1") == "\\uce35"


def test_a_log_of_a_profile_without_a_graph_has_its_tables(tell: Any, tmp_path: Path) -> None:
    folder = tmp_path / "log/plugins/profile/2026_01_01"
    folder.mkdir(parents=True)
    shutil.copy(FIXTURES / "run_metadata/xplane_cpu/host.xplane.pb", folder)
    code, out, _ = tell("info", str(tmp_path / "log"), "--profile", "--json")
    assert code == 0
    document = json.loads(out)
    assert (document["format"], document["label"], len(document["steps"])) == ("tbgraph-profile", "log", 3)
    assert all(step["slices"] for step in document["steps"])
    code, _, err = tell("info", str(FIXTURES / "logged/tf2_summaries"), "--profile")
    assert (code, "no graph" in err) == (3, True)
