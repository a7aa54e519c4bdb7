"""One name of the distribution; what lacks an extra says the line to type, for this shell and this Python."""

from __future__ import annotations

import os
import sys
import tomllib
from pathlib import Path

import pytest

from graphviz_tb import extras
from graphviz_tb.extras import EXTRAS, _environment_tool, how_to_install, install_line
from tests.each import each

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_there_is_one_name() -> None:
    assert PROJECT["name"] == extras.DISTRIBUTION
    assert set(EXTRAS) == set(PROJECT["optional-dependencies"]) - {"test"}


@each(
    "path", sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "graphviz_tb").rglob("*.py")]), ids=str
)
def test_nobody_is_told_another_name(path: Path) -> None:
    if path.name in ("CHANGELOG.md",):
        return
    assert "graphviz_tb[" not in path.read_text(encoding="utf-8"), path


# Manager of the environment → the lines for an extra, and for a package.
MANAGED = "(the system manages this Python, and pip refuses)"
LINES = {
    "pip": ("pip install 'tbgraph[serve]'", "pip install pandas"),
    "uv": ("uv pip install 'tbgraph[serve]'", "uv pip install pandas"),
    "uv tool": ("uv tool install --force 'tbgraph[serve]'", "uv tool install --with pandas tbgraph"),
    "pipx": ("pipx install --force 'tbgraph[serve]'", "pipx inject tbgraph pandas"),
    "managed": (
        f"python3 -m venv .venv && .venv/bin/pip install 'tbgraph[serve]' {MANAGED}",
        f"python3 -m venv .venv && .venv/bin/pip install pandas {MANAGED}",
    ),
}  # fmt: skip


@each("tool", LINES)
def test_the_line_is_that_of_the_environment(tool: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extras, "_environment_tool", lambda: tool)
    monkeypatch.setattr(extras, "_shell_name", lambda: "zsh")
    assert (how_to_install("serve"), install_line("pandas")) == LINES[tool]


@each("shell", {"cmd": '"tbgraph[serve]"', "powershell": "'tbgraph[serve]'", "fish": "'tbgraph[serve]'"}.items())
def test_brackets_are_quoted_as_the_shell_wants(shell: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extras, "_environment_tool", lambda: "pip")
    monkeypatch.setattr(extras, "_shell_name", lambda: shell[0])
    assert how_to_install("serve") == f"pip install {shell[1]}"


def test_who_manages_an_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def tool(prefix: str, base: str = "/usr") -> str:
        monkeypatch.setattr(sys, "prefix", prefix)
        monkeypatch.setattr(sys, "base_prefix", base)
        return _environment_tool()

    assert tool("/home/a/.local/pipx/venvs/tbgraph") == "pipx"
    assert tool("/home/a/.local/share/uv/tools/tbgraph") == "uv tool"
    assert tool(str(tmp_path)) == "pip"
    (tmp_path / "pyvenv.cfg").write_text("home = /usr/bin\nuv = 0.5.1\n")
    assert tool(str(tmp_path)) == "uv"
    monkeypatch.setattr("sysconfig.get_path", lambda name: str(tmp_path))
    assert tool("/usr") == "pip"
    (tmp_path / "EXTERNALLY-MANAGED").touch()
    assert tool("/usr") == "managed"


@pytest.mark.skipif(os.name == "nt", reason="of other systems")
def test_the_shell_is_that_of_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHELL", "/usr/bin/fish")
    assert extras._shell_name() == "fish"
