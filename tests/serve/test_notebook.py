"""`%tbgraph LOGDIR` in a notebook."""

from __future__ import annotations

import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import graphviz_tb
from graphviz_tb.errors import RequestError, ToolFailed
from graphviz_tb.serve import notebook


class Shell:
    """What an extension sees of IPython."""

    def __init__(self) -> None:
        self.magics: dict[str, Callable[[str], Any]] = {}

    def register_magic_function(self, function: Callable[[str], Any], kind: str, name: str) -> None:
        """Remember it."""
        assert kind == "line"
        self.magics[name] = function


@pytest.fixture
def ended() -> Iterator[None]:
    """End the servers that a test started."""
    yield
    for running in notebook.RUNNING_SERVERS.values():
        running.terminate()
        running.communicate()
    notebook.RUNNING_SERVERS.clear()


@pytest.mark.slow
def test_a_line_shows_a_server(logs: Path, ended: None) -> None:
    shell = Shell()
    graphviz_tb.load_ipython_extension(shell)
    frame = shell.magics["tbgraph"](f"'{logs}' --port 0")
    assert isinstance(frame, notebook.ServedFrame)
    told = frame._repr_html_()
    address = told.split('src="')[1].split('"')[0]
    request = urllib.request.Request(address, headers={"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "navigate",
                                                       "Sec-Fetch-Dest": "iframe"})  # fmt: skip
    with urllib.request.urlopen(request) as answer:
        assert "http://localhost:*" in answer.headers["content-security-policy"]
    assert shell.magics["tbgraph"](f"'{logs}' --port 0").address == frame.address


def test_a_line_without_a_log(tmp_path: Path, ended: None) -> None:
    with pytest.raises(RequestError, match="log directory"):
        notebook._show_server(" ")
    with pytest.raises(ToolFailed, match="no file or folder"):
        notebook._show_server(str(tmp_path / "nothing.pb"))
