"""The GitHub Action: its shell steps run here, in the order and with the variables that action.yml gives them.

GitHub's own part cannot run here: its expressions (`${{ … }}`), upload-artifact, and the API behind `gh`: a program in
the place of `gh` writes down what it is asked.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent
from typing import TYPE_CHECKING

import pytest

from tests.ci.before_after import NEW, OLD
from tests.each import each

if TYPE_CHECKING:
    from tests.ci.conftest import Repository

pytestmark = pytest.mark.machine
ROOT = Path(__file__).parents[2]
ACTION = (ROOT / "action.yml").read_text()
HOSTILE = "$(touch injected) `touch injected`; \"'&.pbtxt"


@dataclass(frozen=True)
class Step:
    """A step: its condition, its variables with their expressions, its script ("" where it uses another action)."""

    condition: str
    env: dict[str, str]
    script: str


def steps() -> dict[str, Step]:
    """The steps of action.yml by name."""
    found = {}
    for text in ACTION.split("\n    - name: ")[1:]:
        name, _, rest = text.partition("\n")
        env = re.search(r"^      env:\n((?:        .*\n)+)", rest, re.MULTILINE)
        script = re.search(r"^      run: \|\n((?:        .*\n|\n)+)|^      run: (?!\|)(.*)$", rest, re.MULTILINE)
        condition = re.search(r"^      if: (.*)$", rest, re.MULTILINE)
        found[name] = Step(
            condition[1] if condition else "",
            dict(line.strip().split(": ", 1) for line in env[1].splitlines()) if env else {},
            (dedent(script[1]) if script[1] else script[2]) if script else "",
        )
    return found


STEPS = steps()


@dataclass
class Runner:
    """A runner of GitHub: a checkout, and a `gh` that writes down what it is asked."""

    checkout: Repository
    temp: Path

    def run(self, name: str, **values: str) -> tuple[int, str, dict[str, str]]:
        """Run a step with its variables: exit code, what it printed, its outputs."""
        step = STEPS[name]
        assert values.keys() - {"GITHUB_BASE_REF"} == step.env.keys()
        output = self.temp / "output"
        output.write_text("")
        (self.temp / "step.sh").write_text(step.script)
        done = self.checkout.run(
            *("bash", "--noprofile", "--norc", "-eo", "pipefail", str(self.temp / "step.sh")),
            **values,
            RUNNER_TEMP=str(self.temp),
            GITHUB_OUTPUT=str(output),
            GITHUB_STEP_SUMMARY=str(self.temp / "summary.md"),
            GITHUB_REPOSITORY="owner/project",
        )
        outputs = dict(line.split("=", 1) for line in output.read_text().splitlines())
        return done.returncode, done.stdout + done.stderr, outputs

    def review(self, model: str, base: str = "main", **inputs: str) -> tuple[int, str]:
        """The steps from the base to the comment: the exit code of the last, and the comment."""
        code, said, found = self.run("Find the base", BASE="", BEFORE="", GITHUB_BASE_REF=base)
        assert code == 0, said
        asked = {"ASSERT": "", "FAIL_ON": "none", "FORMATS": "svg", "TITLE": "Model graph", **inputs}
        code, said, outputs = self.run("Review", MODEL=model, REV=found["rev"], **asked)
        (self.temp / "said").write_text(said)
        if code:
            return code, said
        self.comment(outputs["folder"])
        code, _, _ = self.run("Result", CODE=outputs["code"])
        return code, (Path(outputs["folder"]) / "comment.md").read_text()

    def comment(self, folder: str) -> str:
        """The step that comments."""
        code, said, _ = self.run("Comment", FOLDER=folder, GH_TOKEN="secret", NUMBER="7", RUN="https://host/runs/1")
        assert code == 0, said
        return said

    def asked(self) -> list[list[str]]:
        """The calls of `gh` so far, each as its words."""
        path = self.temp / "gh.log"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


@pytest.fixture
def runner(repository: Repository, tmp_path: Path) -> Runner:
    """A pull request that has one commit behind main; main has no model."""
    repository.commit(readme_md="A project")
    repository.git("clone", "-q", "--bare", str(repository.folder), str(tmp_path / "origin.git"))
    repository.git("remote", "add", "origin", f"file://{tmp_path / 'origin.git'}")
    temp = tmp_path / "temp"
    (temp / "tbgraph/bin").mkdir(parents=True)
    programs = tmp_path / "programs"
    (temp / "tbgraph/bin/tbgraph").symlink_to(programs / "tbgraph")
    (temp / "ids").write_text("")
    log = "import json, sys; print(json.dumps(sys.argv[1:]))"
    repository.program(
        programs / "gh",
        f"python3 -c '{log}' \"$@\" >> '{temp}/gh.log'; test ! -f '{temp}/refuse' && "
        f"case \"$*\" in *--paginate*) cat '{temp}/ids';; esac",
    )
    return Runner(repository, temp)


def on_main(runner: Runner, **files: str | None) -> None:
    """What main has at its tip; the pull request starts there, in a checkout of one commit."""
    runner.checkout.commit(**files)
    runner.checkout.git("push", "-q", "origin", "HEAD:main")
    runner.checkout.git("checkout", "-q", "-b", "feature")
    runner.checkout.git("fetch", "-q", "--depth=1", "origin", "main")


@each("name", STEPS)
def test_what_comes_from_outside_is_no_text_of_a_script(name: str) -> None:
    assert "${{" not in STEPS[name].script
    checked = subprocess.run(["bash", "-n"], input=STEPS[name].script, text=True, capture_output=True, check=False)
    assert checked.returncode == 0, checked.stderr


def test_the_first_pull_request_is_green_and_says_new(runner: Runner) -> None:
    runner.checkout.git("checkout", "-q", "-b", "feature")
    (runner.checkout.folder / "model.pbtxt").write_text(NEW)
    code, comment = runner.review("model.pbtxt\n", FAIL_ON="any", ASSERT="count(op:Gelu) == 1\n")
    assert code == 0
    assert "### `model.pbtxt`: new (not in refs/tbgraph/base); 2 ops" in comment
    assert (runner.temp / "summary.md").read_text() == comment
    read, write = runner.asked()
    assert read[:3] == ["api", "--paginate", "repos/owner/project/issues/7/comments?per_page=100"]
    body = f"body=@{runner.temp}/tbgraph-comment.md"
    assert write == ["api", "--silent", "--method", "POST", "repos/owner/project/issues/7/comments", "--field", body]
    assert (runner.temp / "tbgraph-comment.md").read_text().startswith(comment)


def test_unchanged_changed_and_deleted(runner: Runner) -> None:
    on_main(runner, model_pbtxt=OLD)
    assert runner.review("model.pbtxt", FAIL_ON="any")[0] == 0
    (runner.checkout.folder / "model.pbtxt").write_text(NEW)
    (runner.temp / "ids").write_text("31\n42\n")  # ours, and one more of ours
    code, comment = runner.review("model.pbtxt", FAIL_ON="any")
    assert (code, "- ~ `b  op Relu6 → Gelu`" in comment) == (1, True)
    assert "Pictures: `model.pbtxt.svg`, `model.pbtxt.diff.svg`" in comment
    assert runner.asked()[-1][2:5] == ["--method", "PATCH", "repos/owner/project/issues/comments/31"]
    (runner.checkout.folder / "model.pbtxt").unlink()
    code, comment = runner.review("model.pbtxt", FAIL_ON="structure")
    assert (code, "removed (it is in refs/tbgraph/base)" in comment) == (1, True)


def test_hostile_files_names_and_titles(runner: Runner) -> None:
    on_main(runner, model_pbtxt=OLD)
    (runner.checkout.folder / HOSTILE).write_text(OLD.replace('"b"', '"::error::b"'))
    code, comment = runner.review(f"{HOSTILE}\nmodel.pbtxt\n", TITLE="$(touch injected) --> x", ASSERT="count(b) < 0")
    assert code == 1
    assert "new (not in" in comment
    assert comment.splitlines()[0] == "<!-- tbgraph review: __touch injected_ ___ x -->"
    assert not list(runner.checkout.folder.glob("injected*"))
    said = (runner.temp / "said").read_text().splitlines()
    stop, again = (at for at, line in enumerate(said) if line.startswith("::") and len(line) > 30)
    assert (stop, said[stop].split("::")[1:]) == (0, ["stop-commands", said[again].strip(":")])
    assert "    ::::error::::b" in said[stop:again]  # printed where the runner takes no commands


def test_what_cannot_be_reviewed_fails_with_its_reason(runner: Runner) -> None:
    code, said = runner.review("nowhere.pbtxt")
    assert code == 2
    assert "error: no 'nowhere.pbtxt' here, nor in refs/tbgraph/base" in said
    (runner.checkout.folder / "model.pbtxt").write_text(NEW)
    code, said = runner.review("model.pbtxt", ASSERT="params <")
    assert (code, "a number is missing" in said) == (2, True)
    assert runner.asked() == []


def test_a_pull_request_from_a_fork_may_not_comment(runner: Runner) -> None:
    folder = runner.temp / "made"
    folder.mkdir()
    (folder / "comment.md").write_text("<!-- tbgraph review: x -->\n")
    (runner.temp / "refuse").write_text("")
    assert runner.comment(str(folder)).startswith("::warning::tbgraph cannot read the comments")


def test_the_base_of_a_push_is_what_it_replaced(runner: Runner) -> None:
    on_main(runner, model_pbtxt=OLD)
    before = runner.checkout.git("rev-parse", "HEAD").strip()
    assert runner.run("Find the base", BASE="", BEFORE=before)[2] == {"rev": before}
    tree = runner.checkout.git("hash-object", "-t", "tree", "/dev/null").strip()
    assert runner.run("Find the base", BASE="", BEFORE="0" * 40)[2] == {"rev": tree}
    assert runner.run("Find the base", BASE="v1\nother=x", BEFORE="")[2] == {"rev": "v1"}


def test_every_input_is_documented_and_used() -> None:
    inputs = re.findall(r"^  ([\w-]+):\n    description: .+", ACTION.partition("\noutputs:")[0], re.MULTILINE)
    text = (ROOT / "docs/ci.md").read_text()
    for name in inputs:
        assert f"`{name}`" in text, f"docs/ci.md does not know the input {name}"
        assert re.search(rf"\binputs\.{name}\b", ACTION.partition("\nruns:")[2]), name


def test_comments_of_others_are_never_changed(require: Callable[..., None]) -> None:
    """The expression that finds the comment, by a program that has the same language."""
    found = re.search(r"^ours='(.*)'$", STEPS["Comment"].script, re.MULTILINE)
    assert found
    marker = "<!-- tbgraph review: x -->"
    comments = [
        {"id": 1, "user": {"type": "User"}, "body": f"{marker}\nnot of a bot"},
        {"id": 2, "user": {"type": "Bot"}, "body": f"said: {marker}"},
        {"id": 3, "user": {"type": "Bot"}, "body": f"{marker}\n## Model graph"},
    ]
    require("jq")
    done = subprocess.run(
        ["jq", found[1]], input=json.dumps(comments), env={"MARKER": marker, "PATH": "/usr/bin:/bin"}, text=True,
        capture_output=True, check=True,
    )  # fmt: skip
    assert done.stdout == "3\n"
