"""The documentation says what is so: every option is in it, its snippets run, its links lead somewhere."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import fields
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

import click
import pytest

from graphviz_tb import load
from graphviz_tb.commands import COMMANDS, cli
from graphviz_tb.model.formatting import DOCUMENT_VERSIONS
from graphviz_tb.options import Options
from tests.each import each

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "fixtures").glob("*.md")])
FIRST = (
    "python3 -m venv .venv && .venv/bin/pip install -q . && "
    ".venv/bin/tbgraph render fixtures/real/mnist_cnn.pbtxt -o graph.svg"
)
SECOND = (
    "[ -d .venv ] || python3 -m venv .venv; "
    ".venv/bin/pip install -q -e '.[test]' && .venv/bin/python -m pytest -q"
)  # fmt: skip


def page_name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def fences(path: Path) -> list[tuple[str, str]]:
    """The code blocks of a page, each with its language; "" where it names none."""
    return re.findall(r"^ *```(\w*)\n(.*?)^ *```$", path.read_text(), re.DOTALL | re.MULTILINE)


def blocks(path: Path, *languages: str) -> list[str]:
    """The code blocks of a page in some languages."""
    return [block for language, block in fences(path) if language in languages]


def shell_lines(path: Path) -> list[str]:
    return [line for block in blocks(path, "sh", "bash") for line in block.splitlines() if line.strip()]


def commands() -> Iterator[tuple[str, click.Command]]:
    context = click.Context(cli)
    for name, (module, _, _) in COMMANDS.items():
        if importlib.util.find_spec(module):
            command = cli.get_command(context, name)
            assert command is not None
            yield name, command


@pytest.fixture(scope="session")
def make() -> ModuleType:
    """docs/make.py as a module."""
    spec = importlib.util.spec_from_file_location("docs_make", ROOT / "docs/make.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_first_two_shell_lines_of_the_readme() -> None:
    assert shell_lines(ROOT / "README.md")[:2] == [FIRST, SECOND]


def test_continuous_integration_runs_the_second() -> None:
    assert (ROOT / ".ci/run").read_text().rstrip().splitlines()[-1] == SECOND


@each("path", PAGES, ids=page_name)
def test_shell_snippets_parse(path: Path) -> None:
    for block in blocks(path, "sh", "bash"):
        done = subprocess.run(["bash", "-n"], input=block, text=True, capture_output=True, check=False)
        assert done.returncode == 0, f"{block}\n{done.stderr}"


@each("path", PAGES, ids=page_name)
def test_shell_snippets_use_options_that_exist(path: Path) -> None:
    known = {name: {word for param in command.params for word in param.opts} for name, command in commands()}
    for line in shell_lines(path):
        for found in re.finditer(r"tbgraph (\w+)([^|>&]*)", line):
            assert found[1] in COMMANDS, line
            said = set(re.findall(r"(?<= )--?[a-z][\w-]*", found[2]))
            assert said <= known.get(found[1], said) | {"--help", "-h"}, line


# How a shell line begins that is not run here → why. Every other line of every `sh` fence runs as it is written.
NOT_RUN = {
    FIRST: "makes an environment and installs: .ci/run does it",
    SECOND: "runs all tests: .ci/run does it",
    "make ": "the targets of the Makefile, which run these tests",
    "python -m tests.": "measures, and takes minutes",
    "npm install ": "installs",
    "pip install ": "installs",
    "ssh ": "wants another machine",
    "tbgraph open ": "opens a browser: tests/commands/test_habits.py runs it",
    "tbgraph serve ": "goes on until Control-C: tests/serve and tests/browser run it",
    "echo '*.pb diff=tbgraph' >> .gitattributes": "writes the settings of a repository",
    "tbgraph review ": "wants a repository with a history: tests/ci runs it in one",
    "git ": "wants a repository, with settings and a history",
    **dict.fromkeys(
        ("tbgraph render gs:", "tbgraph scalars s3:", "tbgraph diff hf:"),
        "wants a bucket: tests/test_remote.py has one in memory",
    ),
}


def runs(line: str) -> bool:
    """Whether a line of an `sh` fence is a command that must run here."""
    return not line.startswith(("#", *NOT_RUN))


def examples() -> dict[str, str]:
    """Every shell line that must run → the first page that has it; one without its comment counts as the same."""
    found: dict[str, tuple[str, str]] = {}
    for path in PAGES:
        for line in filter(runs, shell_lines(path)):
            found.setdefault(re.sub(r"\s+#.*", "", line), (line, page_name(path)))
    return dict(found.values())


EXAMPLES = examples()
# Word in a line → the part of the machine that it needs.
NEEDS = {"--engine dot": "dot"}


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the fixtures, as the root of a checkout has them, and a `tbgraph` for the path."""
    folder = tmp_path_factory.mktemp("checkout")
    (folder / "fixtures").symlink_to(ROOT / "fixtures")
    (folder / "bin").mkdir()
    (folder / "bin/tbgraph").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m graphviz_tb "$@"\n')
    (folder / "bin/tbgraph").chmod(0o755)
    return folder


@pytest.mark.machine
@pytest.mark.parametrize("line", EXAMPLES, ids=[f"{page}:{line[:60]}" for line, page in EXAMPLES.items()])
def test_every_example_runs_as_it_is_written(line: str, checkout: Path, require: Callable[..., None]) -> None:
    require(*(part for word, part in NEEDS.items() if word in line))
    words = {**environment(), "PATH": f"{checkout / 'bin'}:{os.environ['PATH']}"}
    script = f"set -o pipefail\n{line}"
    done = subprocess.run(["bash", "-c", script], cwd=checkout, env=words, capture_output=True, text=True, check=False)
    assert done.returncode in ((0, 1) if "tbgraph diff " in line else (0,)), f"{line}\n{done.stderr}"


@each("start", NOT_RUN)
def test_what_is_not_run_is_still_there(start: str) -> None:
    assert any(line.startswith(start) for path in PAGES for line in shell_lines(path))


@each("path", PAGES, ids=page_name)
def test_commands_stand_in_fences_that_run(path: Path) -> None:
    """`tbgraph` begins a line in `sh` only; what a command printed stands below `$ tbgraph …`."""
    for language, block in fences(path):
        if language not in ("sh", "bash"):
            assert not re.search(r"^\s*(\S+ .*\| *)?(tbgraph|(python3? )?(\./)?cli\.py) ", block, re.MULTILINE), block


@pytest.mark.machine
@each("path", PAGES, ids=page_name)
def test_python_snippets_run(path: Path, tmp_path: Path) -> None:
    """Each block by itself, if it reads fixtures; one that reads the reader's own files need only be Python.

    `print(x)  # result`: the comment is the result.
    """
    (tmp_path / "fixtures").symlink_to(ROOT / "fixtures")
    for block in blocks(path, "python"):
        compile(block, page_name(path), "exec")
        if "fixtures/" not in block:
            continue
        done = subprocess.run(
            [sys.executable, "-c", block], cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{block}\n{done.stderr}"
        said = re.findall(r"^print\(.*\)  +# (.*)$", block, re.MULTILINE)
        assert [line for line in said if line not in done.stdout] == [], done.stdout + done.stderr


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT)}


@each("path", PAGES, ids=page_name)
def test_links_lead_to_files(path: Path) -> None:
    text = re.sub(r"```.*?```|`[^`\n]*`", "", path.read_text(), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"\w+:", target):
            continue
        place, _, anchor = target.partition("#")
        page = (path.parent / place) if place else path
        assert page.exists(), f"{target} of {page_name(path)}"
        if anchor and page.suffix == ".md":
            assert anchor in anchors(page), f"{target} of {page_name(path)}"


def anchors(path: Path) -> set[str]:
    """The names that GitHub gives to the headings of a page."""
    heads = re.findall(r"^#+ (.+)$", path.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head).strip().lower().replace(" ", "-") for head in heads}


def test_the_readme_has_a_snippet_that_runs() -> None:
    assert any("fixtures/" in block for block in blocks(ROOT / "README.md", "python"))


def test_every_command_is_there() -> None:
    assert [name for name, _ in commands()] == list(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_and_option_is_documented(name: str) -> None:
    text = (ROOT / "docs/cli.md").read_text()
    page = re.search(rf"^## tbgraph {name}$(.*?)(?=^## |\Z)", text, re.DOTALL | re.MULTILINE)
    assert page, f"docs/cli.md does not know {name}: run docs/make.py"
    command = dict(commands())[name]
    for param in command.params:
        if isinstance(param, click.Option) and not param.hidden:
            assert param.help, f"{param.opts[0]} of {name} has no help"
            for word in param.opts:
                assert f"`{word}`" in page[1], f"docs/cli.md does not know {word} of {name}: run docs/make.py"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_in_the_readme_with_an_example(name: str) -> None:
    text = (ROOT / "README.md").read_text()
    assert f"| `tbgraph {name} " in text
    assert any(line.startswith(f"tbgraph {name} ") for line in shell_lines(ROOT / "README.md"))


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself(name: str) -> None:
    command = dict(commands())[name]
    assert command.help
    assert f"tbgraph {name}" in command.help, "an example is missing"
    assert "Exit codes" in (command.epilog or "")


def test_every_choice_of_load_is_listed() -> None:
    rows = (ROOT / "docs/api.md").read_text().partition("| group | options |")[2].partition("\n\n")[0]
    groups = [field.default_factory() for field in fields(Options)]  # type: ignore[misc]
    choices = {field.name for group in groups for field in fields(group)}
    assert choices - {"tensorboard"} <= set(re.findall(r"`(\w+)`", rows))  # what a preset alone sets is no choice


def test_generated_parts_are_current(make: ModuleType) -> None:
    stale = [page_name(path) for path in make.pages() if make.renewed(path.read_text()) != path.read_text()]
    assert stale == [], "run docs/make.py"


def test_the_schema_names_every_field() -> None:
    text = (ROOT / "docs/json.md").read_text()
    for source in ("real/numbered_series.pb", "real/func_library_v2.pb"):
        document = load(ROOT / "fixtures" / source).to_json()
        fields = {key for node in document["nodes"] for key in node}
        fields |= {key for group in document["groups"].values() for key in group}
        fields |= {key for group in document["groups"].values() for edge in group["edges"] for key in edge}
        assert {field for field in fields if f"`{field}`" not in text} == set()


def test_every_page_can_be_found_from_the_index() -> None:
    seen: set[Path] = set()
    todo = [ROOT / "docs/index.md"]
    while todo:
        page = todo.pop().resolve()
        if page in seen or not page.exists() or page.suffix != ".md":
            continue
        seen.add(page)
        links = re.findall(r"\]\(([^)\s#]+)", page.read_text())
        todo += [page.parent / link for link in links if not re.match(r"\w+:", link)]
    missing = {page_name(path) for path in (ROOT / "docs").rglob("*.md")} - {page_name(path) for path in seen}
    assert missing == set()


def test_the_changelog_knows_the_version() -> None:
    import graphviz_tb

    heads = re.findall(r"^## (\S+?),? ", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert heads[0] == graphviz_tb.__version__
    assert all(newer > older for newer, older in pairwise(heads))


def test_the_manual_lists_the_routes_of_the_server() -> None:
    pytest.importorskip("starlette")
    from graphviz_tb.serve.server import ALL_ROUTES

    served = {re.sub(r"\{\w+(:path)?\}", "*", route.path) for route in ALL_ROUTES if route.path.startswith("/api/")}
    text = (ROOT / "docs/serve.md").read_text().partition("## HTTP API")[2]
    rows = re.findall(r"^\| (?:POST )?(`/.*?) \|", text, re.MULTILINE)
    listed: set[str] = set()
    for row in rows:
        first, *others = (part.partition("?")[0] for part in re.findall(r"`(/[^`]*)`", row))
        paths = [first, *(each if each.startswith("/api/") else f"{first.rpartition('/')[0]}{each}" for each in others)]
        listed |= {re.sub(r"/(ID|NAME|1,2)(?=/|$)", "/*", path) for path in paths}
    assert listed == served


def test_json_examples_are_json() -> None:
    for path in PAGES:
        for block in blocks(path, "json"):
            value: Any = json.loads(block)
            assert value["version"] == DOCUMENT_VERSIONS[value["format"]]


def test_the_repository_names_no_machine() -> None:
    """Paths of someone's home, and hosts of packages, have no place in what is published."""
    for path in PAGES:
        text = path.read_text()
        assert not re.search(r"/home/\w|/root/|/Users/\w|file://|localhost:\d", text), page_name(path)


def test_the_readmes_have_the_same_commands() -> None:
    korean, english = (
        [re.sub(r"\s+#.*", "", line) for line in shell_lines(ROOT / name)] for name in ("README.ko.md", "README.md")
    )
    assert korean == english
    assert (
        blocks(ROOT / "README.ko.md", "yaml")[0].replace("OWNER를 바꾸십시오", "replace OWNER")
        in (ROOT / "README.md").read_text()
    )
    rows = {
        name: re.findall(r"^\| (?:`(tbgraph \w+)|(\d+) \|)", (ROOT / name).read_text(), re.MULTILINE)
        for name in ("README.ko.md", "README.md")
    }
    assert set(rows["README.ko.md"]) == set(rows["README.md"])
