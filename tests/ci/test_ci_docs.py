"""What docs/ci.md tells to type runs, in a repository like the reader's."""

from __future__ import annotations

import re
import shlex
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from graphviz_tb.commands import _run_command_line
from tests.ci.before_after import NEW, OLD

if TYPE_CHECKING:
    from tests.ci.conftest import Repository

pytestmark = pytest.mark.machine
ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/ci.md").read_text()


def block(start: str) -> str:
    """The first YAML of the page that holds a text."""
    return next(text for text in re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL) if start in text)


@pytest.fixture
def project(repository: Repository, tmp_path: Path) -> Repository:
    """A branch that changes model/graph.pb; main has the older one, here and at origin."""
    (repository.folder / "model").mkdir()
    (repository.folder / "model/graph.pb").write_text(OLD)
    repository.commit()
    repository.git("clone", "-q", "--bare", str(repository.folder), str(tmp_path / "origin.git"))
    repository.git("remote", "add", "origin", f"file://{tmp_path / 'origin.git'}")
    repository.git("fetch", "-q", "origin")
    repository.git("checkout", "-q", "-b", "feature")
    (repository.folder / "model/graph.pb").write_text(NEW)
    repository.commit()
    return repository


def test_every_line_with_review_runs(project: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    pages = "\n".join((ROOT / name).read_text() for name in ("docs/ci.md", "docs/cli.md", "README.md"))
    lines = {re.sub(r"\s+#.*", "", line) for line in re.findall(r"^tbgraph review .*", pages, re.MULTILINE)}
    assert lines
    monkeypatch.chdir(project.folder)
    for line in lines:
        words = shlex.split(line.partition("||")[0])
        assert _run_command_line(words[1:]) == 0, line
    assert (project.folder / "review/comment.md").exists()


def test_the_script_of_gitlab_runs(project: Repository) -> None:
    script = block("merge_request_event").partition("script:\n")[2].partition("  artifacts:")[0]
    lines = [line.strip().removeprefix("- ") for line in script.splitlines()]
    assert lines[0].startswith("pip install ")
    done = project.run("bash", "-ec", "\n".join(lines[1:]), CI_MERGE_REQUEST_TARGET_BRANCH_NAME="main")
    assert done.returncode == 0, done.stderr
    assert "Relu6 → Gelu" in done.stdout
    assert (project.folder / "review/model_graph.pb.diff.svg").exists()


def test_the_hooks_run_in_pre_commit(project: Repository, tmp_path: Path, require: Callable[..., None]) -> None:
    """With the hooks of this checkout and the settings of the page; `system`: nothing is installed from the network."""
    require("pre-commit")
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    declared = (ROOT / ".pre-commit-hooks.yaml").read_text()
    (hooks / ".pre-commit-hooks.yaml").write_text(declared.replace("language: python", "language: system"))
    for words in (("init", "-q"), ("add", "--all"), ("commit", "-q", "-m", "hooks")):
        done = project.run("git", "-C", str(hooks), *words)
        assert done.returncode == 0, done.stderr
    settings = block("tbgraph-check").replace("https://github.com/OWNER/tbgraph", str(hooks))
    revision = project.git("-C", str(hooks), "rev-parse", "HEAD").strip()
    (project.folder / ".pre-commit-config.yaml").write_text(settings.replace("rev: main", f"rev: {revision}"))
    (project.folder / "model/graph.pb").write_text(OLD)
    (project.folder / "other; $(touch injected).pbtxt").write_text(NEW.replace("Gelu", "Cast"))
    project.git("add", "--all")
    done = project.run(
        "python3", "-m", "pre_commit", "run", PATH=path_of_python(project), PRE_COMMIT_HOME=str(tmp_path)
    )
    assert done.returncode == 1, done.stdout + done.stderr
    said = textwrap.dedent(done.stdout)
    assert "✗ count(op:Cast) == 0: 1 found" in said
    assert re.search(r"tbgraph review\.+Passed", said)
    assert "op Gelu → Relu6" in said
    assert not list(project.folder.glob("injected*"))


def path_of_python(project: Repository) -> str:
    """The path on which `python3` is the one that runs the tests."""
    return f"{Path(sys.executable).parent}:{project.env['PATH']}"
