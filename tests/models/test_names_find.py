"""Names find: through calls, by abbreviation, and say what they are when they are no graph."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from graphviz_tb import load
from graphviz_tb.commands import cli
from graphviz_tb.errors import UnknownFormat, UnknownNode
from graphviz_tb.model.paths import path_address
from graphviz_tb.read.source import _expand_run_name, list_contents, read_source

FIXTURES = Path(__file__).parents[2] / "fixtures"
RNN = FIXTURES / "models" / "keras3" / "rnn_saved"


def test_two_stars_go_into_calls() -> None:
    model = load(RNN)
    found = [path_address(model.hierarchy, path) for path in model.names.find_paths("**lstm_cell**")]
    assert found
    assert all("::" in name for name in found)
    assert not [name for name in found if "lstm_cell" not in name]


def test_one_star_ends_at_the_border_of_a_call() -> None:
    model = load(RNN)
    (call, *_) = [path for path in model.names.find_paths("**while") if len(path) == 1]
    name = path_address(model.hierarchy, call)
    bodies = {path_address(model.hierarchy, path) for path in model.names.find_paths(f"{name}::*")}
    assert bodies == {f"{name}::cond", f"{name}::body"}


def test_what_is_not_there_points_to_the_tree() -> None:
    with pytest.raises(UnknownNode) as caught:
        load(RNN).names.find_paths("**/nothing")
    assert "tbgraph tree" in str(caught.value.hint)


def test_a_run_is_abbreviated_where_one_has_the_folders(tmp_path: Path) -> None:
    for run in ("a/train", "b/deep/train"):
        shutil.copytree(FIXTURES / "logdirs" / "xor_filewriter", tmp_path / run)
    wanted = read_source(tmp_path / "a").graph_def
    for entry in list_contents(tmp_path):
        assert _expand_run_name(entry.run, ["a/train"]) == entry.run
    from graphviz_tb.options import ReadOptions

    assert read_source(tmp_path, ReadOptions(run="a")).graph_def == wanted
    assert read_source(tmp_path, ReadOptions(run="deep")).graph_def == wanted


@pytest.mark.parametrize(
    ("name", "what"),
    [("variables/variables.data-00000-of-00001", "values of a checkpoint"), ("variables/variables", "prefix")],
)
def test_the_files_of_a_checkpoint_say_what_they_are(tmp_path: Path, name: str, what: str) -> None:
    folder = tmp_path / "variables"
    folder.mkdir()
    (folder / "variables.data-00000-of-00001").write_bytes(bytes(range(200)))
    (folder / "variables.index").write_bytes(b"x")
    with pytest.raises(UnknownFormat, match=what):
        read_source(tmp_path / name)


def test_a_fingerprint_is_no_graph(tmp_path: Path) -> None:
    made = b"".join(bytes([number << 3]) + b"\xff\xff\xff\xff\x01" for number in range(1, 6)) + b"\x32\x02\x08\x01"
    (tmp_path / "fingerprint.pb").write_bytes(made)
    with pytest.raises(UnknownFormat, match="fingerprint"):
        read_source(tmp_path / "fingerprint.pb")


def test_a_file_instead_of_a_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    result = CliRunner().invoke(cli, [str(FIXTURES / "real" / "xor.pbtxt")])
    assert result.exit_code == 0
    assert result.output.strip().endswith("xor.html")


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("rendr", "no command 'rendr'; did you mean: tbgraph render"),
        ("Tree", "no command 'Tree'; did you mean: tbgraph tree"),
        ("xyz", "no command 'xyz'; choose one of: open, render, diff, info, serve, find, check, review, tree, scalars"),
        ("", "no command ''; choose one of: "),
    ],
)
def test_a_command_that_there_is_not_names_the_nearest(word: str, said: str) -> None:
    result = CliRunner().invoke(cli, [word, "x"])
    assert result.exit_code == 2
    assert said in result.output
