"""What files are called reaches no terminal and no page raw: neither its controls nor what turns text round."""

from __future__ import annotations

import json
import shutil
import unicodedata
from pathlib import Path

import pytest

from graphviz_tb.commands import _run_command_line

FIXTURES = Path(__file__).parents[2] / "fixtures"
ODD = "a\u202e\x1b[31m\x07b"


def raw(text: str) -> set[str]:
    """Controls, marks of direction, and ends of lines that are none of ours."""
    return {letter for letter in text if letter != "\n" and unicodedata.category(letter) in ("Cc", "Cf", "Zl", "Zp")}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, model in (("old", "base.json"), ("new", "units.json")):
        (tmp_path / name / ODD).mkdir(parents=True)
        shutil.copy(FIXTURES / "edits" / model, tmp_path / name / ODD / f"{ODD}.json")
    (tmp_path / f"old/{ODD}.pb").write_bytes(b"no graph")
    (tmp_path / f"new/{ODD}.pb").write_bytes(b"no graph")
    (tmp_path / f"old/gone{ODD}.pb").write_bytes(b"no graph")
    (tmp_path / f"{ODD}.pbtxt").write_text('node { name: "x\u202e" op: "A\u2066" input: "y\u2028" }')
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("style", ["text", "json", "markdown"])
def test_folders_of_models(style: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _run_command_line(["diff", "old", "new", "--format", style]) == 1
    told, said = capsys.readouterr()
    assert raw(told) == raw(said) == set()
    if style == "json":
        assert json.loads(told)[0]["path"].startswith(ODD)


@pytest.mark.parametrize("names", [[f"{ODD}.pbtxt"], ["none"], [ODD, f"old/{ODD}.pb", "0", "0", "none", "0", "0"]])
def test_what_git_is_told(names: list[str], folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _run_command_line(["diff", "--git", *names]) == 0
    assert raw(capsys.readouterr().out) == set()


def test_the_title_of_a_page(folder: Path) -> None:
    assert _run_command_line(["render", f"{ODD}.pbtxt", "-q", "-o", "x.html"]) == 0
    head = Path("x.html").read_text().partition("<style>")[0]
    assert raw(head) == set()
    assert "<title>a" in head
