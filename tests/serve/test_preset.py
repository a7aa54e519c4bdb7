"""`tbgraph serve --preset` folds graphs as the preset says."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphviz_tb.commands import _run_command_line
from graphviz_tb.commands.serve import _server_settings
from graphviz_tb.serve.session import ServedSource

DEFAULTS = {
    "host": None, "bind_all": False, "port": 0, "allow_host": (), "allow_frame": (), "path_prefix": "", "title": None,
    "restarts": "last", "poll": 1.0, "memory": 10**9, "checksum": False, "view": None,
    "no_view": True, "no_token": True,
}  # fmt: skip


def test_the_preset_reaches_the_reader_of_graphs(tmp_path: Path) -> None:
    settings = _server_settings(str(tmp_path), {**DEFAULTS, "preset": "tensorboard"})
    assert ServedSource(settings).graphs._preset == "tensorboard"


def test_an_unknown_preset_says_which_there_are(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _run_command_line(["serve", str(tmp_path), "--preset", "tensorbord"]) == 2
    assert "tensorboard" in capsys.readouterr().err
