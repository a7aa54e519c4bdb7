"""Remote sources (`gs://`, `s3://`, `hf://`, `memory://`): keep a local copy that follows changes.

Everything else reads files; `local_copy` returns the path of the copy.
"""

from __future__ import annotations

import atexit
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from graphviz_tb.errors import ReadError, TbGraphError, TooLarge, ToolMissing
from graphviz_tb.extras import how_to_install, install_line
from graphviz_tb.limits import MAX_REMOTE_BYTES, MAX_REMOTE_FILES
from graphviz_tb.progress import advance

ADDRESS_SCHEME = re.compile(r"([a-z][a-z0-9+.-]*)://.", re.IGNORECASE)
# Files that are copied from a folder: events, traces, models, and files next to these. Weights are not copied.
WANTED_FILES = re.compile(
    r"tfevents|\.(pb|pbtxt|meta|keras|json|xplane\.pb|trace\.json\.gz|pb\.gz|tsv|toml|h5|bytes)$", re.IGNORECASE
)
UNWANTED_FILES = re.compile(r"(^|/)(variables|checkpoints?)/|\.data-\d+-of-\d+$")
PACKAGE_BY_SCHEME = {
    "gs": "gcsfs",
    "gcs": "gcsfs",
    "s3": "s3fs",
    "s3a": "s3fs",
    "hf": "huggingface_hub",
    "http": "aiohttp",
    "https": "aiohttp",
    "abfs": "adlfs",
    "az": "adlfs",
}
RemoteStamp = tuple[int, str]  # bytes, and anything else that changes with the file


def is_remote(source: Any) -> bool:
    """Return whether a source is a remote address, and not an existing file.

    >>> is_remote("gs://bucket/logs"), is_remote("logs/a"), is_remote("call::body")
    (True, False, False)
    """
    return isinstance(source, str) and ADDRESS_SCHEME.match(source) is not None and not os.path.lexists(source)


def local_copy(source: Any) -> Any:
    """Return the path of the local copy of a remote source; any other source itself.

    Raises `ReadError` if there is nothing, `ToolMissing` if the package for this kind of address is not installed.
    """
    return _mirror_of_address(source).path if is_remote(source) else source


MIRROR_BY_ADDRESS: dict[str, RemoteMirror] = {}  # by address, so that all parts of a program share one copy


def _mirror_of_address(address: str) -> RemoteMirror:
    """Return the copy of a remote source, made on first use."""
    if address not in MIRROR_BY_ADDRESS:
        mirror = RemoteMirror.create(address)
        mirror.refresh()
        MIRROR_BY_ADDRESS[address] = mirror
    return MIRROR_BY_ADDRESS[address]


def mirror_at(path: str | os.PathLike[str]) -> RemoteMirror | None:
    """Return the mirror whose copy is at a path, or None."""
    return next((mirror for mirror in MIRROR_BY_ADDRESS.values() if mirror.path == str(path)), None)


@dataclass(slots=True)
class RemoteMirror:
    """A local copy at `path` of the file or folder `root` of `files` (an fsspec file system).

    `seen` is the stamp of each file when it was copied.
    """

    address: str
    files: Any = field(repr=False)
    root: str
    path: str
    seen: dict[str, RemoteStamp] = field(default_factory=dict, repr=False)

    @classmethod
    def create(cls, address: str) -> RemoteMirror:
        """Create the mirror of an address, still empty."""
        scheme = address.partition("://")[0].lower()
        with _convert_remote_errors(address, scheme):
            try:
                from fsspec.core import url_to_fs
            except ModuleNotFoundError:
                raise ToolMissing(f"{scheme}:// needs fsspec", hint=how_to_install("remote")) from None
            files, root = url_to_fs(address)
        folder = tempfile.mkdtemp(prefix="tbgraph-")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        name = _safe_path_part(PurePosixPath(root.rstrip("/")).name) or scheme
        return cls(address, files, root, str(Path(folder) / name))

    def refresh(self) -> bool:
        """Copy new and changed files, delete vanished ones; return whether anything changed. Raises `ReadError`."""
        with _convert_remote_errors(self.address, self.address.partition("://")[0]):
            self.files.invalidate_cache()
            listed = self._list_files()
        changed = False
        for number, (remote, target, stamp) in enumerate(listed):
            advance("copy files", number, len(listed))
            if self.seen.get(remote) != stamp:
                self._copy_file(remote, target, stamp)
                changed = True
        for gone in self.seen.keys() - {remote for remote, _, _ in listed}:
            self._local_path(gone).unlink(missing_ok=True)
            del self.seen[gone]
            changed = True
        return changed

    def _list_files(self) -> list[tuple[str, Path, RemoteStamp]]:
        """List the wanted files with their local paths, in one request."""
        if self.files.isfile(self.root):
            return [(self.root, Path(self.path), _remote_stamp(self.files.info(self.root)))]
        found = self.files.find(self.root, detail=True)
        if not found and not self.files.isdir(self.root):
            raise ReadError(f"no file or folder {self.address!r}", hint="list it with the tools of that place")
        wanted = {
            name: info for name, info in found.items() if WANTED_FILES.search(name) and not UNWANTED_FILES.search(name)
        }
        if len(wanted) > MAX_REMOTE_FILES:
            raise TooLarge(f"{self.address!r} holds {len(wanted):,} files", hint="name a folder in it")
        size = sum(int(info.get("size") or 0) for info in wanted.values())
        if size > MAX_REMOTE_BYTES:
            raise TooLarge(
                f"{self.address!r} holds {size / 1e9:,.0f} GB of logs", hint="name a folder in it, or copy it"
            )
        Path(self.path).mkdir(parents=True, exist_ok=True)
        return [(name, self._local_path(name), _remote_stamp(info)) for name, info in sorted(wanted.items())]

    def _local_path(self, remote: str) -> Path:
        """Return the local path of a file, inside the copy whatever its name."""
        if remote == self.root:
            return Path(self.path)
        inside = remote.removeprefix(self.root.rstrip("/")).strip("/")
        return Path(self.path).joinpath(*(_safe_path_part(part) for part in inside.split("/") if _safe_path_part(part)))

    def _copy_file(self, remote: str, target: Path, stamp: RemoteStamp) -> None:
        """Copy a file; of an event file that grew, only the new bytes."""
        before, size = self.seen.get(remote), stamp[0]
        with _convert_remote_errors(f"{self.address} ({remote})", ""):
            target.parent.mkdir(parents=True, exist_ok=True)
            if before is not None and before[0] <= size and "tfevents" in remote and target.exists():
                data = self.files.cat_file(remote, start=target.stat().st_size, end=size)
                with target.open("ab") as file:
                    file.write(data)
            else:
                part = target.with_name(f"{target.name}.part")
                self.files.get_file(remote, str(part))
                part.replace(target)
        self.seen[remote] = stamp


def _safe_path_part(part: str) -> str:
    """Return a path component that cannot leave the folder.

    >>> _safe_path_part(".."), _safe_path_part("a\\0b"), _safe_path_part("run 1")
    ('', 'a_b', 'run 1')
    """
    return "" if part in (".", "..") else re.sub(r"[\0\\/:]", "_", part)


def _remote_stamp(info: dict[str, Any]) -> RemoteStamp:
    """Return size and version of a file: the first version field that its file system provides."""
    keys = ("etag", "ETag", "md5Hash", "generation", "mtime", "LastModified", "last_modified", "updated", "created")
    return int(info.get("size") or 0), next((str(info[key]) for key in keys if info.get(key) is not None), "")


@contextmanager
def _convert_remote_errors(what: str, scheme: str) -> Iterator[None]:
    """Convert a file system's errors: a missing package, or why nothing can be read."""
    try:
        yield
    except TbGraphError:
        raise
    except ImportError as error:
        package = PACKAGE_BY_SCHEME.get(scheme.lower(), error.name or "another package")
        raise ToolMissing(f"{scheme}:// needs {package}", hint=install_line(package)) from None
    except FileNotFoundError:
        raise ReadError(f"no file or folder {what!r}", hint="list it with the tools of that place") from None
    except ValueError as error:
        raise ReadError(
            f"{what!r} is not an address that fsspec knows: {error}", hint="gs:// s3:// hf:// memory://"
        ) from None
    except Exception as error:  # file systems raise anything: missing rights, no network
        said = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
        raise ReadError(f"cannot read {what!r}: {said}", hint="may you read it with the tools of that place?") from None
