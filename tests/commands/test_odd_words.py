"""Words that name nothing, numbers past all bounds, places that cannot be: each is refused, and the message is one line
that says what is wrong."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

import graphviz_tb
from graphviz_tb.commands import _run_command_line
from graphviz_tb.errors import RequestError
from graphviz_tb.options import MAX_OPTION_INT, AnnotateOptions
from graphviz_tb.proto import SavedModel
from tests.each import each

ROOT = Path(__file__).parents[2]
GOOD = str(ROOT / "fixtures/real/xor.pbtxt")
ODD = "a\nb\r\x1b[31m\u202ec"
SHOWN = r"a\nb\r\x1b[31m\u202ec"


def said(capsys: pytest.CaptureFixture[str], *line: str, code: int) -> str:
    assert _run_command_line(list(line)) == code
    shown = capsys.readouterr()
    assert shown.out == ""
    return shown.err


@each(
    ("line", "code"),
    [
        (["info", ODD], 3),
        (["render", "a.pb", ODD, "-o", "x.svg"], 2),
        (["render", "a.pb", "-o", "x.svg", f"--{ODD}"], 2),
        (["render", "a.pb", "-o", "x.svg", "--depth", ODD], 2),
        (["tree", GOOD, "--by", ODD], 2),
        ([ODD], 2),
        (["tree", GOOD, "--under", ODD], 2),
        (["tree", GOOD, "--tag", ODD], 2),
        (["diff", GOOD, GOOD, "-f", ODD], 2),
    ],
)
def test_words_of_the_command_line_are_shown_not_sent(
    line: list[str], code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    err = said(capsys, *line, code=code)
    assert not set(err) & {"\r", "\x1b", "\u202e"}
    assert "a\nb" not in err
    assert SHOWN in err or SHOWN.replace("\\", "\\\\") in err or "no tag can be chosen" in err


def test_a_line_break_in_the_name_of_a_file_makes_no_second_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a\nerror: b.pbtxt").write_text("node { name: }")
    err = said(capsys, "info", str(tmp_path / "a\nerror: b.pbtxt"), code=3)
    assert r"a\nerror: b.pbtxt: line 1, column 14: expected a value" in err
    assert err.count("\n") == 1


def test_the_graphs_of_a_source_are_listed_one_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = SavedModel(saved_model_schema_version=1)
    for tag in ("serve", "a\r\nb"):
        model.meta_graphs.add().meta_info_def.tags.append(tag)
        model.meta_graphs[-1].graph_def.node.add(name="x", op="NoOp")
    (tmp_path / "saved_model.pb").write_bytes(model.SerializeToString())
    lines = said(capsys, "tree", str(tmp_path), code=2).split("\n")
    assert lines[:3] == ["error: 2 graphs, choose one:", "  --tag-set serve", r"  --tag-set 'a\r\nb'"]
    assert _run_command_line(["tree", str(tmp_path), "--tag-set", "a\r\nb"]) == 0


@pytest.mark.parametrize("name", ["x.pbtxt", "x.json"])
def test_errors_of_text_name_the_file(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad = tmp_path / name
    bad.write_text("node { name: }" if name.endswith("pbtxt") else '{"class_name": }')
    assert f"error: {bad}: line 1, column " in said(capsys, "diff", GOOD, str(bad), code=3)


@each(
    "line",
    [
        ["render", GOOD, "-o", "x.svg", "--preset", ""],
        ["render", GOOD, "-o", "x.svg", "--main", ""],
        ["render", GOOD, "-o", "x.svg", "--aux", ""],
        ["render", GOOD, "-o", "x.svg", "--tag-set", ""],
        ["render", GOOD, "-o", "x.svg", "--format", ""],
        ["diff", GOOD, GOOD, "-f", ""],
        ["diff", GOOD, GOOD, "--include", ""],
        ["diff", GOOD, GOOD, "--include", "shapes", "--include", " ,"],
        ["diff", GOOD, GOOD, "--tag-set", ""],
    ],
    ids=" ".join,
)
def test_an_empty_word_is_no_choice(
    line: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert said(capsys, *line, code=2).startswith("error: ")
    assert list(tmp_path.iterdir()) == []


def test_an_empty_title_is_none(tmp_path: Path) -> None:
    assert _run_command_line(["render", GOOD, "-o", str(tmp_path / "x.svg"), "--title", ""]) == 0


@each(
    ("option", "value", "words"),
    [
        ("--depth", "-1", f"'-1' is neither a whole number from 0 to {MAX_OPTION_INT} nor auto"),
        ("--depth", "9" * 23, f"is neither a whole number from 0 to {MAX_OPTION_INT} nor auto"),
        ("--depth", str(MAX_OPTION_INT + 1), f"is neither a whole number from 0 to {MAX_OPTION_INT} nor auto"),
        ("--max-open", "9" * 23, f"--max-open is {'9' * 23}; the most is {MAX_OPTION_INT}"),
        ("--batch", str(MAX_OPTION_INT + 1), f"batch is {MAX_OPTION_INT + 1}; the most is {MAX_OPTION_INT}"),
        ("--max-open", "9" * 400, f"--max-open is a long value; the most is {MAX_OPTION_INT}"),
    ],
)
def test_numbers_past_the_bounds(option: str, value: str, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert words in said(capsys, "render", GOOD, "-o", "x.svg", option, value, code=2)


def test_the_most_is_a_number_that_is_taken(tmp_path: Path) -> None:
    assert AnnotateOptions(batch=MAX_OPTION_INT).batch == MAX_OPTION_INT
    for option in ("--depth", "--batch", "--max-open"):
        assert (
            _run_command_line(["render", "-q", GOOD, "-o", str(tmp_path / "x.svg"), option, str(MAX_OPTION_INT)]) == 0
        )


@pytest.mark.parametrize("below", ["x.svg", "a/b/x.svg"])
def test_a_file_is_no_directory(below: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "k.svg").touch()
    err = said(capsys, "render", GOOD, "-o", str(tmp_path / "k.svg" / below), code=5)
    assert f"{str(tmp_path / 'k.svg')!r} is a file" in err
    assert "create it first" not in err


@pytest.mark.parametrize(
    "line",
    [
        ["render", "-", "-o", "x.svg", "--run-metadata", "-"],
        ["render", GOOD, "-o", "x.svg", "--run-metadata", "-", "--against", "-"],
        ["info", "-", "--run-metadata", "-"],
        ["tree", "-", "--run-metadata", "-"],
    ],
    ids=" ".join,
)
def test_standard_input_is_read_once(
    line: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    waiting = io.TextIOWrapper(io.BytesIO(Path(GOOD).read_bytes()))
    monkeypatch.setattr(sys, "stdin", waiting)
    assert "standard input can be read only once" in said(capsys, *line, code=2)
    assert waiting.buffer.tell() == 0


def test_the_library_reads_standard_input_once() -> None:
    with pytest.raises(RequestError, match="only once"):
        graphviz_tb.diff("-", "-")
    with pytest.raises(RequestError, match="only once"):
        graphviz_tb.load("-", run_metadata="-")


def test_a_limit_that_is_named_can_be_given_to_diff(capsys: pytest.CaptureFixture[str]) -> None:
    assert "--max-bytes" in said(capsys, "diff", GOOD, GOOD, "--max-bytes", "5", code=3)
    assert _run_command_line(["diff", GOOD, GOOD, "--max-bytes", "10000000"]) == 0
