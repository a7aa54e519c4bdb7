"""The house rules that a program can check: lint, types, docstrings, fixtures and their list."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.each import each

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "graphviz_tb"


def run(*command: str) -> None:
    done = subprocess.run([sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.machine
def test_ruff_finds_nothing() -> None:
    run("ruff", "check", "--no-cache", ".")


@pytest.mark.machine
def test_ruff_would_format_nothing() -> None:
    run("ruff", "format", "--no-cache", "--check", ".")


@pytest.mark.machine
def test_the_types_are_right() -> None:
    run("mypy")


def silent(module: ast.Module) -> list[str]:
    """Public classes, and functions of more than a few lines, without a docstring."""
    found = []
    for node in module.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith("_"):
            short = isinstance(node, ast.FunctionDef) and (node.end_lineno or 0) - node.lineno <= 15
            if not short and not ast.get_docstring(node):
                found.append(node.name)
    return found


@each("path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_what_is_public_says_what_it_does(path: Path) -> None:
    module = ast.parse(path.read_text())
    assert ast.get_docstring(module), "a module begins with what it is"
    assert silent(module) == []


def test_every_rule_is_tested() -> None:
    tests = "".join(path.read_text() for path in (ROOT / "tests").rglob("test_*.py"))
    rules = {path.name.partition(".")[0] for path in (ROOT / "fixtures/rules").iterdir()}
    assert {rule for rule in rules if not re.search(rf"\b{rule}\b", tests)} == set()


def test_every_fixture_is_listed() -> None:
    listed = (ROOT / "fixtures/README.md").read_text()
    for folder in ("real", "broken", "crashers", "containers", "logdirs", "run_metadata", "edits", "steps", "exports"):
        for path in (ROOT / "fixtures" / folder).iterdir():
            assert path.name in listed or path.name.partition(".")[0] in listed, path


def test_nothing_names_another_machine() -> None:
    """No path of whoever wrote it."""
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False).stdout.split()
    for name in tracked:
        path = ROOT / name
        if path.suffix in (".py", ".md", ".toml", ".js", ".html", ".css", "") and path.is_file():
            assert str(ROOT).encode() not in path.read_bytes(), name


@pytest.mark.parametrize(
    ("demand", "part", "failed"),
    [("", "dot", False), ("all", "dot", True), ("all", "tensorflow", False), ("node, tensorflow", "tensorflow", True)],
)
def test_what_is_absent_is_skipped_unless_it_is_demanded(
    demand: str, part: str, failed: bool, require: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TBGRAPH_REQUIRE", demand)
    monkeypatch.setitem(require.__globals__, "present", lambda _: False)  # of several modules named `conftest`
    with pytest.raises(pytest.fail.Exception if failed else pytest.skip.Exception, match=f"{part} is not installed"):
        require(part)
