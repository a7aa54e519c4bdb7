"""`tbgraph review`: what became of a model since a revision of git, whatever the repository is like."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from graphviz_tb.commands import _run_command_line

if TYPE_CHECKING:
    from tests.ci.conftest import Repository

# x ─▶ a ─▶ b, and with another op in the place of b.
MODEL = 'node { name: "x" op: "Placeholder" } node { name: "a" op: "Relu" input: "x" }'
OLD, NEW = (f'{MODEL} node {{ name: "b" op: "{op}" input: "a" }}' for op in ("Relu6", "Gelu"))


@pytest.fixture
def here(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> Repository:
    """The repository as the current folder, with a model that was committed and one that was not."""
    repository.commit(model_pbtxt=OLD)
    (repository.folder / "new.pbtxt").write_text(NEW)
    monkeypatch.chdir(repository.folder)
    for name, value in repository.env.items():
        monkeypatch.setenv(name, value)
    return repository


def review(*words: str) -> int:
    return _run_command_line(["review", *words])


def test_what_became_of_a_model(here: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    model = here.folder / "model.pbtxt"
    assert review("model.pbtxt") == 0
    assert capsys.readouterr().out == "model.pbtxt: no change; 3 ops\n"
    model.write_text(NEW)
    assert review("model.pbtxt") == 0
    assert "b  op Relu6 → Gelu" in capsys.readouterr().out
    assert review("model.pbtxt", "--fail-on", "structure", "-q") == 1
    assert review("model.pbtxt", "--fail-on", "signature", "-q") == 0
    assert review("new.pbtxt", "--fail-on", "any") == 0  # the first time is no failure
    assert capsys.readouterr().out == "new.pbtxt: new (not in HEAD); 3 ops\n"
    model.unlink()
    assert review("model.pbtxt") == 0
    assert capsys.readouterr().out == "model.pbtxt: removed (it is in HEAD)\n"
    assert review("model.pbtxt", "--fail-on", "any") == 1


def test_of_several_models_one_that_cannot_be_read_stops_no_other(
    here: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    (here.folder / "broken.pb").write_bytes(b"\x0a\xff")
    assert review("broken.pb", "model.pbtxt") == 3
    broken, model = capsys.readouterr().out.splitlines()
    assert broken.startswith("broken.pb: cannot be read: ")
    assert model == "model.pbtxt: no change; 3 ops"


def test_what_others_did_on_the_base_is_no_change(here: Repository) -> None:
    here.git("checkout", "-q", "-b", "feature")
    here.commit(other_txt="")
    here.git("checkout", "-q", "main")
    here.commit(model_pbtxt=NEW)
    here.git("checkout", "-q", "feature")
    assert review("model.pbtxt", "--base", "main", "--fail-on", "any", "-q") == 0
    here.git("checkout", "-q", "--orphan", "apart")  # nothing in common: the tip it is
    here.commit(other_txt="new")
    assert review("model.pbtxt", "--base", "main", "--fail-on", "any", "-q") == 1


def test_pictures_and_a_comment(here: Repository) -> None:
    (here.folder / "model.pbtxt").write_text(NEW)
    asked = "--assert", "count(op:Gelu) == 0", "--title", "A <title>"
    assert review("model.pbtxt", "new.pbtxt", "-o", "out/review", "-f", "svg", "-f", "html", *asked, "-q") == 1
    out = here.folder / "out/review"
    assert sorted(path.name for path in out.iterdir()) == [
        "comment.md",
        *("model.pbtxt.diff.html", "model.pbtxt.diff.svg", "model.pbtxt.html", "model.pbtxt.svg"),
        *("new.pbtxt.html", "new.pbtxt.svg"),
    ]
    said = (out / "comment.md").read_text()
    assert said.startswith("<!-- tbgraph review: A _title_ -->\n## A \\<title\\>\n\n| model | verdict |")
    assert "| new.pbtxt | new |" in said
    assert "- ~ `b  op Relu6 → Gelu`" in said
    assert "- ✗ count(op:Gelu) == 0: 1 found\n  - b\n" in said
    assert "`HEAD:model.pbtxt` → `model.pbtxt`" in said  # no path of a temporary file
    assert "### `new.pbtxt`: new (not in HEAD); 3 ops" in said


def test_the_base_is_any_revision_and_may_be_empty(here: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    here.git("tag", "before")
    here.commit(model_pbtxt=NEW)
    assert review("model.pbtxt", "--base", "before", "--fail-on", "any") == 1
    assert review("model.pbtxt", "--base", "HEAD~1", "--fail-on", "any") == 1
    assert review("model.pbtxt", "--fail-on", "any") == 0
    empty = here.git("hash-object", "-t", "tree", "/dev/null").strip()
    assert review("model.pbtxt", "--base", empty, "--fail-on", "any") == 0
    capsys.readouterr()
    for base in ("nowhere", "", "--all", "a\nb"):
        assert review("model.pbtxt", f"--base={base}") == 2
    assert "hint: fetch it first" in capsys.readouterr().err


def test_the_first_commit_has_no_base(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(repository.folder)
    (repository.folder / "model.pbtxt").write_text(NEW)
    assert review("model.pbtxt", "--fail-on", "any") == 0


def test_folders_and_paths_from_below(here: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    below = here.folder / "exported" / "model"
    below.mkdir(parents=True)
    fixture = Path(__file__).parents[2] / "fixtures/containers/saved_model"
    for path in filter(Path.is_file, fixture.rglob("*")):
        target = below / path.relative_to(fixture)
        target.parent.mkdir(exist_ok=True, parents=True)
        target.write_bytes(path.read_bytes())
    (below / "link").symlink_to("/etc/passwd")
    here.commit()
    os.chdir(below.parent)
    assert review("model", "../model.pbtxt", "--fail-on", "any") == 0
    assert [line.partition(";")[0] for line in capsys.readouterr().out.splitlines()] == [
        "model: no change",
        "../model.pbtxt: no change",
    ]
    os.chdir(here.folder.parent)
    assert review("repository/model.pbtxt") == 2  # outside of any repository
    os.chdir(here.folder)
    assert review("../programs/tbgraph") == 2
    assert review("nowhere.pb") == 2
    assert "no 'nowhere.pb' here, nor in HEAD" in capsys.readouterr().err


def test_a_link_is_what_it_leads_to_in_the_revision(here: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    (here.folder / "models").mkdir()
    for name, target in (("latest.pbtxt", "models/v1.pbtxt"), ("away.pbtxt", "/etc/hostname")):
        (here.folder / name).symlink_to(target)
    (here.folder / "models/v1.pbtxt").write_text(OLD)
    here.commit()
    assert review("latest.pbtxt", "--fail-on", "any") == 0
    assert capsys.readouterr().out == "latest.pbtxt: no change; 3 ops\n"
    (here.folder / "models/v2.pbtxt").write_text(NEW)
    (here.folder / "latest.pbtxt").unlink()
    (here.folder / "latest.pbtxt").symlink_to("models/v2.pbtxt")
    assert review("latest.pbtxt", "--fail-on", "any") == 1
    assert "b  op Relu6 → Gelu" in capsys.readouterr().out
    (here.folder / "away.pbtxt").unlink()
    (here.folder / "away.pbtxt").write_text(NEW)
    assert review("away.pbtxt") == 0
    assert "not compared with HEAD: 'away.pbtxt' of HEAD is a link to nothing" in capsys.readouterr().out


def test_a_model_in_a_submodule(here: Repository, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    here.git("init", "-q", "-b", "main", str(tmp_path / "other"))
    (tmp_path / "other/m.pbtxt").write_text(OLD)
    here.git("-C", str(tmp_path / "other"), "add", ".")
    here.git("-C", str(tmp_path / "other"), "commit", "-qm", "one")
    here.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(tmp_path / "other"), "sub")
    here.commit()
    assert review("sub/m.pbtxt") == 0
    assert capsys.readouterr().out == "sub/m.pbtxt: no change; 3 ops\n"
    (here.folder / "sub/m.pbtxt").write_text(NEW)
    assert review("sub/m.pbtxt", "--fail-on", "any") == 1
    assert "b  op Relu6 → Gelu" in capsys.readouterr().out
    (here.folder / "sub/.git").unlink()
    assert review("sub/m.pbtxt") == 0
    assert "not compared with HEAD: 'sub' of HEAD is a submodule, and was not fetched" in capsys.readouterr().out


def test_a_base_that_cannot_be_read_is_said(here: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    here.commit(model_pbtxt="version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n", odd_pb="garbage")
    for name in ("model.pbtxt", "odd.pb"):
        (here.folder / name).write_text(NEW)
    assert review("model.pbtxt", "odd.pb") == 0
    lfs, odd = capsys.readouterr().out.splitlines()
    assert lfs == "model.pbtxt: not compared with HEAD: 'model.pbtxt' of HEAD is in Git LFS, and was not fetched"
    assert odd.startswith("odd.pb: not compared with HEAD: ")
    assert review("odd.pb", "--fail-on", "any", "-q") == 3
    (here.folder / "odd.pb").write_text("garbage")
    assert review("odd.pb") == 3


def test_hostile_names_are_harmless(here: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    hostile = "$(touch injected)`touch injected`\n::error::x\x1b[31m|<b>&.pbtxt"
    (here.folder / hostile).write_text(OLD)
    here.commit()
    node = "@everyone <!-- </details> | `x` [a](javascript:b) \\n::set-output name=a::b"
    (here.folder / hostile).write_text(OLD.replace('name: "b"', f'name: "{node}"'))
    assert review(hostile, "model.pbtxt", "-o", "out") == 0
    said = capsys.readouterr().out
    assert "\x1b" not in said
    assert not [line for line in said.splitlines() if line.lstrip().startswith("::")]
    comment = (here.folder / "out/comment.md").read_text()
    assert not [line for line in comment.splitlines() if line.lstrip().startswith("::")]
    text = "".join(comment.split("`")[::2])  # what is not code
    assert "@everyone" not in text
    assert "<b>" not in text.replace("\\<", "")
    assert sorted(path.suffix for path in (here.folder / "out").iterdir()) == [".md", ".svg", ".svg", ".svg"]
    assert not (here.folder / "injected").exists()


def test_requests_that_cannot_be(here: Repository) -> None:
    assert review("model.pbtxt", "-f", "svg") == 2  # nothing is written
    assert review("model.pbtxt", "-o", "") == 2
    assert review("model.pbtxt", "-o", "model.pbtxt") == 5
    assert review("model.pbtxt", "--fail-on", "x") == 2
    assert review("model.pbtxt", "--assert", "x") == 2
    assert review() == 2
    assert not (here.folder / "out").exists()
