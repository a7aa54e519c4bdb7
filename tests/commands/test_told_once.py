"""What a command line says: once, of the right thing, and never nothing."""

from __future__ import annotations

import json
import os
import shutil
import stat
from pathlib import Path
from typing import Any

import click
import pytest

from graphviz_tb.commands import _run_command_line, cli
from graphviz_tb.proto import GraphDef

GRAPH = 'node { name: "a/x" op: "X" } node { name: "a/y" op: "Y" input: "a/x" } node { name: "b" op: "Z" input: "a/y" }'


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with two graphs."""
    monkeypatch.chdir(tmp_path)
    Path("g.pbtxt").write_text(GRAPH)
    Path("h.pbtxt").write_text(GRAPH.replace('"Z"', '"W"'))
    return tmp_path


def test_without_a_command_the_help_is_printed_once(capfd: Any) -> None:
    assert _run_command_line([]) == 2
    said = capfd.readouterr()
    assert said.err.count("Usage: tbgraph") == 1
    assert "\\n" not in said.err + said.out


@pytest.mark.parametrize("text", ["", "# nothing\n", "versions { producer: 3 }"])
def test_a_graph_without_nodes_is_no_choice(text: str, here: Path, capfd: Any) -> None:
    Path("blank.pbtxt").write_text(text)
    codes = [_run_command_line([command, "blank.pbtxt"]) for command in ("info", "tree")]
    assert codes == [3, 3]
    assert "say which one is meant" not in capfd.readouterr().out


@pytest.mark.parametrize(
    "words",
    [
        ["--theme", "nonsense"],
        ["--theme", "dark"],
        ["--direction", "LR"],
        ["--open", "a"],
        ["-o", "x.json", "--open", "a"],
        ["-o", "x.svg", "--width", "300"],
        ["-o", "x.svg", "--theme", "nonsense"],
    ],
)
def test_an_option_that_changes_no_output_of_a_diff_is_refused(words: list[str], here: Path, capfd: Any) -> None:
    assert _run_command_line(["diff", "g.pbtxt", "h.pbtxt", *words]) == 2
    assert not list(here.glob("x.*"))
    assert (
        _run_command_line(
            ["diff", "g.pbtxt", "h.pbtxt", "-o", "x.png", "-o", "x.html", "--width", "300", "--theme", "dark"]
        )
        == 1
    )


@pytest.mark.parametrize("quiet", [[], ["-q"]])
def test_what_every_pair_of_two_folders_refuses_is_said_once(quiet: list[str], here: Path, capfd: Any) -> None:
    for side in ("old", "new"):
        Path(side).mkdir()
        for name in ("one.pbtxt", "two.pbtxt"):
            shutil.copy("g.pbtxt", Path(side, name))
    assert _run_command_line(["diff", "old", "new", "--run", "x", *quiet]) == 2
    assert capfd.readouterr().err.count("error:") == 1


@pytest.mark.parametrize("side", ["old", "new"])
def test_a_folder_that_cannot_be_read_is_not_compared(
    side: str, here: Path, capfd: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in ("old", "new"):
        Path(folder, "x/deep").mkdir(parents=True)
        shutil.copy("g.pbtxt", Path(folder, "x/deep/g.pbtxt"))
        shutil.copy("g.pbtxt", Path(folder, "same.pbtxt"))
    scandir = os.scandir

    def refuse(path: Any) -> Any:
        if Path(path) == Path(side, "x"):
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    assert _run_command_line(["diff", "old", "new"]) == 3
    told = capfd.readouterr().out
    assert f"x: not compared: cannot read the folder '{side}/x': Permission denied" in told
    assert "same.pbtxt: same" in told
    assert "removed" not in told
    assert "added" not in told
    assert _run_command_line(["diff", "old", "new", "--format", "json"]) == 3
    assert [each["path"] for each in json.loads(capfd.readouterr().out)] == ["x", "same.pbtxt"]
    assert _run_command_line(["diff", "old", "new", "--strict"]) == 3
    assert capfd.readouterr().err.startswith(f"error: cannot read the folder '{side}/x': Permission denied\n")


def test_a_limit_that_many_patterns_meet_is_told_once(here: Path, capfd: Any) -> None:
    nodes = [{"name": f"g{group}/n{node}", "op": f"T{node}"} for group in range(30) for node in range(9)]
    Path("many.pb").write_bytes(GraphDef(node=nodes).SerializeToString())
    patterns = [f"--open=g{first}*" for first in range(1, 10)]
    assert _run_command_line(["render", "many.pb", "-o", "m.svg", "--no-fold", "--max-open", "40", *patterns]) == 0
    assert capfd.readouterr().err.count("not everything is open") == 1


@pytest.mark.parametrize("command", ["info", "tree", "diff"])
def test_a_name_that_is_too_long_is_one_of_a_file(command: str, here: Path, capfd: Any) -> None:
    assert _run_command_line([command, "x" * 300, *(["g.pbtxt"] if command == "diff" else [])]) == 3
    assert "cannot read" in capfd.readouterr().err


@pytest.mark.parametrize("words", [["-o", ""], ["-o", "", "-f", "svg"]])
def test_an_output_without_a_name(words: list[str], here: Path, capfd: Any) -> None:
    assert _run_command_line(["render", "g.pbtxt", *words]) == 2
    assert "the name of an output is empty" in capfd.readouterr().err


def test_an_empty_step_is_no_step(fixtures: Path, capfd: Any) -> None:
    assert _run_command_line(["info", str(fixtures / "logdirs/mnist_runs"), "--step", ""]) == 2
    assert "unknown step ''" in capfd.readouterr().err


def test_a_signature_of_a_source_that_has_none(fixtures: Path, capfd: Any) -> None:
    assert _run_command_line(["info", str(fixtures / "containers/saver.meta"), "--signature", "train"]) == 2
    assert "the source has none" in capfd.readouterr().err


def test_the_library_s_names_of_options_are_those_of_the_command_line(here: Path, capfd: Any) -> None:
    assert _run_command_line(["render", "g.pbtxt", "-o", "g.html", "--page-max", "-inf"]) == 2
    assert capfd.readouterr().err.startswith("error: --page-max is ")


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="whoever may write everything is asked nothing")
def test_a_read_only_output_is_kept(here: Path, capfd: Any) -> None:
    Path("ro.svg").write_text("kept")
    Path("ro.svg").chmod(stat.S_IRUSR)
    assert _run_command_line(["render", "g.pbtxt", "-o", "ro.svg"]) == 5
    assert "read-only" in capfd.readouterr().err
    assert Path("ro.svg").read_text() == "kept"


def test_a_damaged_module_is_no_control_c(monkeypatch: pytest.MonkeyPatch, capfd: Any) -> None:
    def broken(context: click.Context, word: str) -> None:
        raise EOFError("marshal data too short")

    monkeypatch.setattr(cli, "get_command", broken)
    assert _run_command_line(["info", "x"]) == 70
    assert "marshal data too short" in capfd.readouterr().err
