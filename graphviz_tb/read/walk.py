"""List every file below a folder, each folder once: links may form cycles, lead to one place many times, or to the
whole machine."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from graphviz_tb.errors import ReadError, TooLarge
from graphviz_tb.limits import LINKED_FILES, WALKED_FILES
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.notice import Notice

UNREAD = "unread-folder"
FileId = tuple[int, int]  # device and inode: what a name leads to, however it is spelled


@dataclass(frozen=True, slots=True)
class Below:
    """All `files` with the folder they are in, relative to the top, in the order of names; `notices` say what was not
    looked into."""

    files: tuple[tuple[str, Path], ...]
    notices: tuple[Notice, ...] = ()


def files_below(top: Path) -> Below:
    """What is below a folder.

    A folder that several names lead to is entered once, under its own name rather than that of a link.
    Raises ReadError where `top` itself cannot be listed, or holds too much to be a log; a folder below it that cannot
    be listed is left out.
    """
    try:
        os.scandir(top).close()
        entered = {identity(top)}
    except (OSError, ValueError) as error:
        raise cannot_list(top, error) from None
    files: list[tuple[str, Path]] = []
    notices: list[Notice] = []
    linked = seen = 0
    # Links wait until all folders are through: a folder that lies there itself goes by its own name.
    folders, links = deque([top]), deque[Path]()
    behind = False
    while folders or links:
        behind |= not folders
        folder = folders.popleft() if folders else _behind(links.popleft(), entered)
        if folder is None:
            continue
        run = os.path.relpath(folder, top).replace(os.sep, "/")
        for path, is_folder, is_link in _entries(folder, notices):
            linked += behind
            seen += 1
            if not is_folder:
                files.append((run, path))
            elif is_link:
                links.append(path)
            elif _enter(path, entered):
                folders.append(path)
        if seen > WALKED_FILES:
            what = f"'{top}' holds more than {WALKED_FILES:,} files"
            raise TooLarge(what, hint="give the folder of the model or of the logs itself")
        if linked > LINKED_FILES:
            text = f"links in '{top}' lead to more than {LINKED_FILES:,} files: the rest of them was not looked at"
            notices.append(Notice("many-linked-files", text, str(folder)))
            break
    in_order = sorted(files, key=lambda each: (Path(each[0]).parts, each[1].name))
    return Below(tuple(in_order), tuple(notices))


def cannot_list(folder: Path, error: OSError | ValueError) -> ReadError:
    """What the system said, as our error."""
    reason = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else str(error)
    return ReadError(f"cannot read the folder '{folder}': {reason}")


def identity(path: Path) -> FileId:
    """Which file or folder a name leads to."""
    status = path.stat()
    return status.st_dev, status.st_ino


def _entries(folder: Path, notices: list[Notice]) -> Iterator[tuple[Path, bool, bool]]:
    """What a folder holds, in the order of names: path, whether it is a folder, whether it is a link."""
    try:
        with os.scandir(folder) as listed:
            entries = sorted(listed, key=lambda each: each.name)
    except OSError as error:
        notices.append(Notice(UNREAD, cannot_list(folder, error).message, str(folder)))
        return
    for entry in entries:
        with suppress(OSError):  # a link to itself
            yield Path(entry.path), entry.is_dir(), entry.is_symlink()


def _behind(link: Path, entered: set[FileId]) -> Path | None:
    """The folder that a link leads to, unless it was entered."""
    return link if _enter(link, entered) else None


def _enter(folder: Path, entered: set[FileId]) -> bool:
    """Whether this is the first time; from now on it is not."""
    with suppress(OSError):
        known = identity(folder)
        if known not in entered:
            entered.add(known)
            return True
    return False
