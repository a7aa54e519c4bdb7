"""Files of a revision of a git repository, as they were then."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from graphviz_tb.errors import ReadError, RequestError, ToolMissing

LINK = "120000"  # the mode of a symbolic link in a tree
LFS = b"version https://git-lfs.github.com/spec/"


@dataclass(frozen=True, slots=True)
class Revision:
    """A revision by its name, and the tree that it is; `top` is the folder of the repository.

    `tree` is "" where there is no commit yet: nothing was in it.
    """

    name: str
    tree: str
    top: Path

    @classmethod
    def of(cls, name: str) -> Revision:
        """The revision of a name, in the repository of the current folder.

        It is the commit where HEAD parted from it, so that what others did there since then is no change of ours; the
        revision itself where the two have no commit in common.

        Raises `RequestError` where there is no such revision or repository, `ToolMissing` where git is not installed.
        """
        if not name or name.startswith("-") or not name.isprintable():
            raise RequestError(f"{name!r} is no revision", hint="a branch, a tag or a commit: --base origin/main")
        top, why = asked("rev-parse", "--show-toplevel")
        if top is None:
            raise RequestError(f"no git repository here: {why}", hint="run it inside the repository of the model")
        common, _ = asked("merge-base", "HEAD", name)
        tree, _ = asked("rev-parse", "--verify", "--quiet", f"{common or name}^{{tree}}")
        if tree is None and not (name == "HEAD" and asked("rev-list", "--all", "--max-count=1")[0] == ""):
            hint = "fetch it first: git fetch origin BRANCH, or fetch-depth: 0 of actions/checkout"
            raise RequestError(f"no revision {name!r} in this repository", hint=hint)
        return cls(name, tree or "", Path(top))

    def inside(self, path: str) -> str:
        """The path of a file below `top`, with slashes. Raises `RequestError` for one that is not in the repository."""
        # The folder is resolved, the file is not: a link in the repository is in the repository.
        given = Path(os.path.abspath(path))  # noqa: PTH100 - `resolve` would follow the link itself
        place = Path(os.path.realpath(given.parent)) / given.name
        try:
            return place.relative_to(os.path.realpath(self.top)).as_posix()
        except ValueError:
            raise RequestError(
                f"{path!r} is not in the repository {str(self.top)!r}", hint="name a file in it"
            ) from None

    def take(self, path: str, folder: Path) -> Path | None:
        """Write a file, or a folder with all that is in it, into `folder`; None where the revision has none."""
        kind = None if not self.tree else asked("cat-file", "-t", f"{self.tree}:{path}")[0]
        target = folder / PurePosixPath(path).name
        if kind == "blob":
            self._write(path, target)
        elif kind == "tree":
            target.mkdir()
            for inner in self._files(path):
                below = target.joinpath(*PurePosixPath(inner).parts)
                below.parent.mkdir(parents=True, exist_ok=True)
                self._write(f"{path}/{inner}", below)
        return target if kind in ("blob", "tree") else None

    def _files(self, path: str) -> list[str]:
        """The paths of ordinary files below a folder; a link may lead anywhere."""
        listed = git("ls-tree", "--full-tree", "-r", "-z", f"{self.tree}:{path}").stdout
        entries = [os.fsdecode(line).partition("\t") for line in listed.split(b"\0") if line]
        ordinary = [name for head, _, name in entries if head.split()[1] == "blob" and head.split()[0] != LINK]
        return [name for name in ordinary if ".." not in PurePosixPath(name).parts and not name.startswith("/")]

    def _write(self, path: str, target: Path) -> None:
        # With the filters of the repository: Git LFS keeps large files elsewhere.
        done = git("cat-file", "--filters", f"{self.tree}:{path}")
        if done.returncode:
            raise ReadError(f"git cannot give {path!r} of {self.name}: {last_line(done.stderr)}")
        if done.stdout.startswith(LFS):
            hint = "git lfs fetch, or lfs: true of actions/checkout"
            raise ReadError(f"{path!r} of {self.name} is in Git LFS, and was not fetched", hint=hint)
        target.write_bytes(done.stdout)


def git(*words: str) -> subprocess.CompletedProcess[bytes]:
    """Run git in the current folder. Raises `ToolMissing` where it is not installed."""
    try:
        return subprocess.run(["git", *words], capture_output=True, check=False, stdin=subprocess.DEVNULL)
    except FileNotFoundError:
        raise ToolMissing("the program 'git' is not installed", hint="apt-get install git") from None


def asked(*words: str) -> tuple[str | None, str]:
    """What git answers in one line, None where it fails; and why it does."""
    done = git(*words)
    return (None if done.returncode else os.fsdecode(done.stdout).rstrip("\n")), last_line(done.stderr)


def last_line(said: bytes) -> str:
    """The last line of what a program said."""
    return (said.decode("utf-8", "replace").strip().splitlines() or [""])[-1]
