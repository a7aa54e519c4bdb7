"""Two folders of models, of which one may be empty."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from graphviz_tb.commands import run

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
        assert run(["diff", *sources]) == 1
        assert capsys.readouterr().out == f"one.pbtxt: {word}\n"
    assert run(["diff", full, full]) == 0


def test_two_empty_folders_hold_nothing(folders: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["diff", folders[1], folders[1]]) == 3
    assert "it is empty" in capsys.readouterr().err


def test_a_saved_model_and_an_empty_folder_are_no_two_folders_of_models(
    folders: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    full, empty = folders
    (Path(full) / "saved_model.pb").write_bytes(b"")
    assert run(["diff", full, empty]) == 3
