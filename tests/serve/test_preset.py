"""`tbgraph serve` draws graphs as its options say, as `render` does."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import graphviz_tb
from graphviz_tb.commands import _run_command_line
from graphviz_tb.commands.open import open_page
from graphviz_tb.commands.serve import _server_settings, serve
from graphviz_tb.errors import ReadError
from graphviz_tb.page.build import page_data
from graphviz_tb.serve.work import make_graph_page
from tests.serve.writing import Writer, chain


def settings_of(command: Any, *words: str) -> Any:
    """The settings that a command line asks for."""
    context = command.make_context("serve", [*words])
    path = context.params.get("path") or context.params["models"][0]
    return _server_settings(path, context.params)


def test_the_preset_reaches_the_reader_of_graphs(tmp_path: Path) -> None:
    settings = settings_of(serve, str(tmp_path), "--no-view", "--preset", "tensorboard")
    assert not settings.options.group.folds


def test_an_unknown_preset_says_which_there_are(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _run_command_line(["serve", str(tmp_path), "--preset", "tensorbord"]) == 2
    assert "tensorboard" in capsys.readouterr().err


def test_the_page_is_that_of_the_same_choices_in_python(tmp_path: Path) -> None:
    Writer(tmp_path / "run").graph(chain("m/a", "m/b/c", "m/b/d", "e/f", "e/g"))
    words = ["--open", "m/**", "--color-by", "op-type", "--direction", "TB", "--theme", "dark", "--select", "m/a"]
    settings = settings_of(serve, str(tmp_path), "--no-view", "--aux", "e", *words)
    page = make_graph_page(lambda *told: None, settings, {}, ())
    choices: dict[str, Any] = {"open": ("m/**",), "color_by": "op-type", "direction": "TB", "theme": "dark"}
    model = graphviz_tb.load(tmp_path, aux=("e",), select=("m/a",), **choices)
    head, _ = page_data(model, model.options.picture)
    assert json.dumps(page.head, sort_keys=True, default=str) == json.dumps(head, sort_keys=True, default=str)


def test_facts_of_a_file_are_in_the_page(tmp_path: Path) -> None:
    Writer(tmp_path / "run").graph(chain("m/a", "m/b", "c"))
    (tmp_path / "facts.csv").write_text("name,load\nm/a,3\nm/b,5\n")
    settings = settings_of(serve, str(tmp_path / "run"), "--no-view", "--facts", str(tmp_path / "facts.csv"))
    page = make_graph_page(lambda *told: None, settings, {}, ())
    assert page.head["options"]["color_by"] == "facts"


def test_open_serves_with_the_usual_choices(tmp_path: Path, client: Callable[..., Any]) -> None:
    settings = settings_of(open_page, str(tmp_path), "--no-view")
    assert (settings.options, settings.facts) == (graphviz_tb.Options(), None)


def test_a_log_folder_may_come_later(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    logs = str(tmp_path / "logs")
    assert settings_of(serve, logs).source == logs
    assert f"no folder {logs!r} yet" in capsys.readouterr().err
    with pytest.raises(ReadError, match="no file or folder"):
        settings_of(serve, str(tmp_path / "model.pb"))
