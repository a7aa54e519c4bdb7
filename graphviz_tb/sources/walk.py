"""List the files below a folder, entering each folder once.

Links may form cycles, lead to one place many times, or to the whole machine.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from graphviz_tb.errors import ReadError, TooLarge
from graphviz_tb.limits import MAX_LINKED_FILES, WALKED_FILES
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.notice import Notice

UNREAD_FOLDER_CODE = "unread-folder"
FileId = tuple[int, int]  # device and inode
SAVED_MODEL_FILES = ("saved_model.pb", "saved_model.pbtxt")  # in a SavedModel folder


def saved_model_file(folder: Path) -> Path | None:
    """Return the model file of a SavedModel folder; None if it has none, or cannot be entered."""
    # Unlike Path.is_file, this does not raise if the folder may not be entered.
    return next((folder / name for name in SAVED_MODEL_FILES if os.path.isfile(folder / name)), None)  # noqa: PTH113


@dataclass(frozen=True, slots=True)
class FolderListing:
    """All `files` with their folder relative to the top, sorted; `notices` report skipped folders."""

    files: tuple[tuple[str, Path], ...]
    notices: tuple[Notice, ...] = ()


def list_files_below(top: Path) -> FolderListing:
    """List the files below a folder.

    A folder reachable by several names is entered once, preferably under its own name rather than a link's. Raises
    ReadError if `top` cannot be listed, TooLarge if it holds too much to be a log. Unreadable folders below it are
    skipped with a notice.
    """
    try:
        os.scandir(top).close()
        entered = {file_identity(top)}
    except (OSError, ValueError) as error:
        raise cannot_list_error(top, error) from None
    files: list[tuple[str, Path]] = []
    notices: list[Notice] = []
    linked = seen = 0
    # Links wait until all folders are done, so that real folders keep their own names.
    folders, links = deque([top]), deque[Path]()
    behind = False
    while folders or links:
        behind |= not folders
        folder = folders.popleft() if folders else _folder_behind_link(links.popleft(), entered)
        if folder is None:
            continue
        run = os.path.relpath(folder, top).replace(os.sep, "/")
        for path, is_folder, is_link in _folder_entries(folder, notices):
            linked += behind
            seen += 1
            if not is_folder:
                files.append((run, path))
            elif is_link:
                links.append(path)
            elif _enter_once(path, entered):
                folders.append(path)
        if seen > WALKED_FILES:
            what = f"'{top}' holds more than {WALKED_FILES:,} files"
            raise TooLarge(what, hint="give the folder of the model or of the logs itself")
        if linked > MAX_LINKED_FILES:
            text = f"links in '{top}' lead to more than {MAX_LINKED_FILES:,} files: the rest of them was not looked at"
            notices.append(Notice("many-linked-files", text, str(folder)))
            break
    in_order = sorted(files, key=lambda file: (Path(file[0]).parts, file[1].name))
    return FolderListing(tuple(in_order), tuple(notices))


def cannot_list_error(folder: Path, error: OSError | ValueError) -> ReadError:
    """Convert a system error."""
    reason = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else str(error)
    return ReadError(f"cannot read the folder '{folder}': {reason}")


def file_identity(path: Path) -> FileId:
    """Return device and inode of a path."""
    status = path.stat()
    return status.st_dev, status.st_ino


def _folder_entries(folder: Path, notices: list[Notice]) -> Iterator[tuple[Path, bool, bool]]:
    """Yield (path, is folder, is link) for each entry of a folder, sorted by name."""
    try:
        with os.scandir(folder) as listed:
            entries = sorted(listed, key=lambda entry: entry.name)
    except OSError as error:
        notices.append(Notice(UNREAD_FOLDER_CODE, cannot_list_error(folder, error).message, str(folder)))
        return
    for entry in entries:
        with suppress(OSError):  # a link to itself
            yield Path(entry.path), entry.is_dir(), entry.is_symlink()


def _folder_behind_link(link: Path, entered: set[FileId]) -> Path | None:
    """Return the folder that a link leads to, unless it was entered before."""
    return link if _enter_once(link, entered) else None


def _enter_once(folder: Path, entered: set[FileId]) -> bool:
    """Mark a folder as entered; return False if it was already."""
    with suppress(OSError):
        known = file_identity(folder)
        if known not in entered:
            entered.add(known)
            return True
    return False
