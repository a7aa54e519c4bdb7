"""A git repository of somebody's model, with a base on another branch, and the commands that are run in it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


class Repository:
    """A repository in a folder; `env` has its own `tbgraph` on the path, and git as nobody has configured it."""

    def __init__(self, folder: Path, programs: Path) -> None:
        self.folder = folder
        programs.mkdir()
        self.program(programs / "tbgraph", f'exec "{sys.executable}" -m graphviz_tb "$@"')
        who = [f"GIT_{role}_{what}" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")]
        self.env = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "GITHUB_"))},
            **dict.fromkeys(who, "nobody@example.org"),
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            "PATH": f"{programs}:{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
        }
        folder.mkdir()
        self.git("init", "-q", "-b", "main")

    @staticmethod
    def program(path: Path, line: str) -> None:
        """Write a program of one line of shell."""
        path.write_text(f"#!/bin/sh\n{line}\n")
        path.chmod(0o755)

    def run(self, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
        """Run a command in the repository."""
        said = {**self.env, **env}
        return subprocess.run(words, cwd=self.folder, env=said, capture_output=True, text=True, check=False)

    def git(self, *words: str) -> str:
        """Run git, which must succeed."""
        done = self.run("git", *words)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def commit(self, **files: str | None) -> None:
        """Write files, or remove them where they are None, and commit all there is. `model_pbtxt` is `model.pbtxt`."""
        for name, text in files.items():
            path = self.folder / name.replace("_", ".")
            if text is None:
                path.unlink()
            else:
                path.write_text(text)
        self.git("add", "--all")
        self.git("commit", "-q", "--allow-empty", "-m", "a step")


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """A repository without a commit."""
    return Repository(tmp_path / "repository", tmp_path / "programs")
