"""`tbgraph serve` as a command: what it refuses, and what it prints."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from graphviz_tb.commands import cli


@pytest.mark.parametrize("words", [("--poll", "nan"), ("--poll", "0"), ("--memory", "0"), ("--port", "65536")])
def test_numbers_that_make_no_sense(logs: Path, words: tuple[str, str]) -> None:
    done = CliRunner().invoke(cli, ["serve", str(logs), *words])
    assert done.exit_code == 2
    assert words[0] in done.output


@pytest.mark.parametrize("prefix", ["/a b", "/a/../b", "..", "/./", "/?"])
def test_prefixes_that_no_browser_asks_for(logs: Path, prefix: str) -> None:
    from graphviz_tb.errors import RequestError

    done = CliRunner().invoke(cli, ["serve", str(logs), "--path-prefix", prefix])
    assert isinstance(done.exception, RequestError)
    assert "--path-prefix" in done.exception.message


def test_quiet_prints_the_address_alone(logs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from graphviz_tb.serve import server

    def introduced(settings: Any, say: server.PrintLines, opened: Any) -> None:
        say(server._introduction_lines(settings, settings.port - 1))

    monkeypatch.setattr(server, "run_server", introduced)
    monkeypatch.setattr(server, "has_display", lambda: False)
    loud, quiet = (
        CliRunner().invoke(cli, ["serve", str(logs), "--port", "7007", *more]).stdout for more in ([], ["-q"])
    )
    assert loud.startswith("http://localhost:7007/\nport 7006 is taken")
    assert "ssh -L 7007:localhost:7007" in loud
    assert quiet == "http://localhost:7007/\n"
