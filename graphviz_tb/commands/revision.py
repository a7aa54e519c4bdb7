"""Files of a revision of a git repository."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from graphviz_tb.errors import ReadError, RequestError, ToolMissing

LINK_MODE, SUBMODULE_MODE = "120000", "160000"  # modes of entries of a tree
OBJECT_KIND_COMMAND = ("cat-file", "-t")


@dataclass(frozen=True, slots=True)
class Revision:
    """A revision by its name, and its tree; `top` is the folder of the repository.

    `tree` is "" if there is no commit yet.
    """

    name: str
    tree: str
    top: Path

    @classmethod
    def find_revision(cls, name: str) -> Revision:
        """Return the revision of a name, in the repository of the current folder.

        The merge base of HEAD and the named commit is used, so that later changes there do not count as ours; without a
        merge base, the named commit itself.

        Raises `RequestError` if there is no such revision or repository, `ToolMissing` if git is not installed.
        """
        if not name or name.startswith("-") or not name.isprintable():
            raise RequestError(f"{name!r} is not a revision", hint="a branch, a tag or a commit: --base origin/main")
        top, why = _ask_git("rev-parse", "--show-toplevel")
        if top is None:
            raise RequestError(f"no git repository here: {why}", hint="run it inside the repository of the model")
        common, _ = _ask_git("merge-base", "HEAD", name)
        tree, _ = _ask_git("rev-parse", "--verify", "--quiet", f"{common or name}^{{tree}}")
        if tree is None and not (name == "HEAD" and _ask_git("rev-list", "--all", "--max-count=1")[0] == ""):
            hint = "fetch it first: git fetch origin BRANCH, or fetch-depth: 0 of actions/checkout"
            raise RequestError(f"no revision {name!r} in this repository", hint=hint)
        return cls(name, tree or "", Path(top))

    def repository_path(self, path: str) -> str:
        """Return the path of a file below `top`, with slashes. Raises `RequestError` for a file outside the
        repository."""
        # Resolve the folder, not the file: a link in the repository is in the repository.
        given = Path(os.path.abspath(path))  # noqa: PTH100 - `resolve` would follow the link itself
        place = Path(os.path.realpath(given.parent)) / given.name
        try:
            return place.relative_to(os.path.realpath(self.top)).as_posix()
        except ValueError:
            raise RequestError(
                f"{path!r} is not in the repository {str(self.top)!r}", hint="name a file in it"
            ) from None

    def extract(self, path: str, folder: Path) -> Path | None:
        """Write a file, or a folder with its contents, into `folder`; return None if the revision does not have it.

        Links are replaced by their targets in the revision, submodules by their commits. Raises `ReadError` for
        anything that git cannot give.
        """
        if (inner := self.find_submodule(path)) is not None:
            revision, rest = inner
            return revision.extract(rest, folder)
        object_id, kind = self.find_object(path)
        if not object_id and self.tree and self.tree_entry(path)[0] == LINK_MODE:
            hint = "keep the file itself in the repository"
            raise ReadError(f"{path!r} of {self.name} is a link to nothing in the repository", hint=hint)
        target = folder / (PurePosixPath(path).name or self.top.name)
        if kind == "blob":
            self.write_object(object_id, path, target)
        elif kind == "tree":
            self.write_tree(object_id, path, target)
        return target if object_id else None

    def write_tree(self, tree: str, path: str, target: Path) -> None:
        target.mkdir()
        listed = self.run_here("ls-tree", "--full-tree", "-r", "-z", tree).stdout
        for line in filter(None, listed.split(b"\0")):
            head, _, name = os.fsdecode(line).partition("\t")
            mode, kind, object_id = head.split()
            if ".." in PurePosixPath(name).parts or name.startswith("/"):
                continue
            file = target.joinpath(*PurePosixPath(name).parts)
            file.parent.mkdir(parents=True, exist_ok=True)
            path_in_revision = f"{path}/{name}" if path else name
            if mode == SUBMODULE_MODE:
                self.extract(path_in_revision, file.parent)
                continue
            if mode == LINK_MODE:  # a link may lead anywhere, even to a folder that contains it
                object_id, kind = self.find_object(path_in_revision)
            if kind == "blob":
                self.write_object(object_id, path_in_revision, file)

    def find_object(self, path: str) -> tuple[str, str]:
        """Return the object at a path and its kind, following links; "" if there is none."""
        if not self.tree:
            return "", ""
        name = f"{self.tree}:{path}"
        query = os.fsencode(name) + b"\n"
        if "\n" in name:  # a line break would end the query
            object_id, kind = (
                _ask_git(*words, name, top=self.top)[0]
                for words in (("rev-parse", "-q", "--verify"), OBJECT_KIND_COMMAND)
            )
            return object_id or "", kind or ""
        answer = self.run_here(
            "cat-file", "--batch-check=%(objectname) %(objecttype)", "--follow-symlinks", given=query
        )
        lines = os.fsdecode(answer.stdout).splitlines() or [""]
        object_id, _, kind = lines[0].partition(" ")
        return (object_id, kind) if kind in ("blob", "tree") else ("", "")

    def tree_entry(self, path: str) -> tuple[str, str]:
        """Return the mode and the object of a path in the tree, without following links; "" if there is none."""
        listed = self.run_here("ls-tree", "--full-tree", "-z", self.tree, f":(literal){path}").stdout
        mode, _, rest = os.fsdecode(listed).partition("\t")[0].partition(" ")
        return mode, rest.partition(" ")[2]

    def find_submodule(self, path: str) -> tuple[Revision, str] | None:
        """Return the revision of the submodule that contains a path, and the path in it; None outside submodules."""
        parts = PurePosixPath(path).parts
        for many in range(1, len(parts) + 1) if self.tree else ():
            around, rest = "/".join(parts[:many]), "/".join(parts[many:])
            mode, commit = self.tree_entry(around)
            if mode != SUBMODULE_MODE:
                continue
            top = self.top / around
            if not (top / ".git").exists() or _ask_git("cat-file", "-e", commit, top=top)[0] is None:
                hint = "git submodule update --init, or submodules: true of actions/checkout"
                raise ReadError(f"{around!r} of {self.name} is a submodule, and was not fetched", hint=hint)
            return Revision(self.name, commit, top), rest
        return None

    def write_object(self, found: str, path: str, target: Path) -> None:
        # With the filters of the repository: Git LFS keeps large files elsewhere.
        done = self.run_here("cat-file", "--filters", f"--path={path}", found)
        if done.returncode:
            raise ReadError(f"git cannot give {path!r} of {self.name}: {_last_output_line(done.stderr)}")
        from graphviz_tb.formats.detect import LFS_POINTER

        if done.stdout.startswith(LFS_POINTER):
            hint = "git lfs fetch, or lfs: true of actions/checkout"
            raise ReadError(f"{path!r} of {self.name} is in Git LFS, and was not fetched", hint=hint)
        target.write_bytes(done.stdout)

    def run_here(self, *words: str, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        return _run_git(*words, top=self.top, given=given)


def _run_git(*words: str, top: Path | None = None, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """Run git in a repository, or in the current folder. Raises `ToolMissing` if it is not installed."""
    try:
        return subprocess.run(["git", *words], capture_output=True, check=False, input=given, cwd=top)
    except FileNotFoundError:
        raise ToolMissing("the program 'git' is not installed", hint="apt-get install git") from None


def _ask_git(*words: str, top: Path | None = None) -> tuple[str | None, str]:
    """Return the one-line answer of git (None if it fails), and the last line of its errors."""
    done = _run_git(*words, top=top)
    return (None if done.returncode else os.fsdecode(done.stdout).rstrip("\n")), _last_output_line(done.stderr)


def _last_output_line(said: bytes) -> str:
    return (said.decode("utf-8", "replace").strip().splitlines() or [""])[-1]
