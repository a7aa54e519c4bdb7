"""Two folders of models, of which one may be empty."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from graphviz_tb.commands import _run_command_line
from graphviz_tb.proto import SavedModel

MODEL = Path(__file__).parents[2] / "fixtures/real/xor.pbtxt"


@pytest.fixture
def folders(tmp_path: Path) -> tuple[str, str]:
    full, empty = tmp_path / "full", tmp_path / "empty"
    full.mkdir()
    empty.mkdir()
    shutil.copy(MODEL, full / "one.pbtxt")
    return str(full), str(empty)


def test_all_models_of_a_folder_may_be_gone(folders: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    full, empty = folders
    for sources, word in (((full, empty), "removed"), ((empty, full), "added")):
        assert _run_command_line(["diff", *sources]) == 1
        assert capsys.readouterr().out == f"one.pbtxt: {word}\n"
    assert _run_command_line(["diff", full, full]) == 0


def test_two_empty_folders_hold_nothing(folders: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert _run_command_line(["diff", folders[1], folders[1]]) == 3
    assert "it is empty" in capsys.readouterr().err


def test_a_saved_model_and_an_empty_folder_are_no_two_folders_of_models(
    folders: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    full, empty = folders
    (Path(full) / "saved_model.pb").write_bytes(b"")
    assert _run_command_line(["diff", full, empty]) == 3


def several(*tags: str) -> bytes:
    """A SavedModel with a graph for each tag."""
    saved = SavedModel()
    for tag in tags:
        graph = saved.meta_graphs.add()
        graph.meta_info_def.tags.append(tag)
        graph.graph_def.node.add(name=tag, op="X")
    return saved.SerializeToString()


UNSOUND = b'node { name: "x" op: "X" input: "nowhere" }'


@pytest.fixture
def three(tmp_path: Path) -> list[str]:
    """Two folders with a pair that differs, a pair of several graphs, and a pair with an input that is not there."""
    for side in ("old", "new"):
        (tmp_path / side / "saved").mkdir(parents=True)
        (tmp_path / side / "differs.pbtxt").write_text(f'node {{ name: "x" op: "{side}" }}')
        (tmp_path / side / "saved" / "saved_model.pb").write_bytes(several("serve", side))
        (tmp_path / side / "unsound.pbtxt").write_bytes(UNSOUND)
    return [str(tmp_path / "old"), str(tmp_path / "new")]


def test_a_pair_that_cannot_be_compared_is_told_and_the_others_are_compared(
    three: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert _run_command_line(["diff", *three]) == 2
    told = capsys.readouterr()
    assert "differs.pbtxt: 1 change" in told.out
    assert "saved: not compared: 2 graphs, choose one: --tag-set serve, --tag-set old\n" in told.out
    assert "unsound.pbtxt: same" in told.out
    assert not told.err
    assert _run_command_line(["diff", *three, "--strict", "--format", "json"]) == 4
    differs, saved, unsound = json.loads(capsys.readouterr().out)
    assert "changes" in differs
    assert saved["state"].startswith("not compared: 2 graphs")
    assert unsound["state"].startswith("not compared: ")
    assert "nowhere" in unsound["state"]


def test_a_choice_that_some_pairs_have_is_taken_there(three: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert _run_command_line(["diff", *three, "--tag-set", "serve"]) == 2
    told = capsys.readouterr().out
    assert "saved: same" in told
    assert "unsound.pbtxt: not compared: no tag set can be chosen here" in told


def test_a_pair_that_is_too_large_is_told(three: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert _run_command_line(["diff", *three, "--max-bytes", "40"]) == 3
    told = capsys.readouterr().out
    assert "differs.pbtxt: 1 change" in told
    assert "unsound.pbtxt: not compared" in told


def test_a_word_that_no_pair_knows_is_a_wrong_request(three: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert _run_command_line(["diff", *three, "--kind", "banana"]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert "unknown kind 'banana'" in told.err
    assert _run_command_line(["diff", *three, *["--tag-set", "serve"] * 3]) == 2
    assert capsys.readouterr().out == ""


def test_strict_refuses_a_graph_that_is_not_sound_in_a_single_pair_too(three: list[str]) -> None:
    pair = [f"{side}/unsound.pbtxt" for side in three]
    assert _run_command_line(["diff", *pair]) == 0
    assert _run_command_line(["diff", *pair, "--strict"]) == 4


def test_a_comment_begins_with_a_table_and_says_of_the_same_one_row(
    three: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    _run_command_line(["diff", *three, "--format", "markdown"])
    told = capsys.readouterr().out
    assert told.startswith(
        "| model | verdict | Δ parameters | Δ FLOPs |\n|---|---|---:|---:|\n| differs.pbtxt | 1 change: "
    )
    assert "| unsound.pbtxt | same |  |  |" in told
    assert "## unsound.pbtxt" not in told
    assert "## differs.pbtxt" in told
