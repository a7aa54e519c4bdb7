"""List the files below a folder, entering each folder once; pair the models of two folders.

Links may form cycles, lead to one place many times, or to the whole machine.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path, PurePath, PurePosixPath

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
    linked_count = entry_count = 0
    # Links wait until all folders are done, so that real folders keep their own names.
    folders, links = deque([top]), deque[Path]()
    in_links = False
    while folders or links:
        in_links |= not folders
        folder = folders.popleft() if folders else _folder_behind_link(links.popleft(), entered)
        if folder is None:
            continue
        run = os.path.relpath(folder, top).replace(os.sep, "/")
        for path, is_folder, is_link in _folder_entries(folder, notices):
            linked_count += in_links
            entry_count += 1
            if not is_folder:
                files.append((run, path))
            elif is_link:
                links.append(path)
            elif _enter_once(path, entered):
                folders.append(path)
        if entry_count > WALKED_FILES:
            what = f"'{top}' holds more than {WALKED_FILES:,} files"
            raise TooLarge(what, hint="give the folder of the model or of the logs itself")
        if linked_count > MAX_LINKED_FILES:
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


# Two folders of models: pairs with equal paths, and models that only one folder has.

MODEL_SUFFIXES = frozenset({".pb", ".pbtxt", ".keras", ".meta", ".json", ".h5", ".graphdef", ".prototxt"})
EVENTS_WORD = "tfevents"


@dataclass(frozen=True, slots=True)
class ModelPair:
    """A model of two folders: its path below them, and its file on either side (None: missing there)."""

    path: str
    old: Path | None
    new: Path | None


@dataclass(frozen=True, slots=True)
class Collection:
    """A folder of models: paths below it, unreadable folders with the reason, and other notices."""

    folder: Path
    models: frozenset[str]
    unread: Mapping[str, str]
    notices: tuple[Notice, ...]


def collection_pair(old: str, new: str) -> tuple[Collection, Collection] | None:
    """Return two folders of models; None if one is a single source (a file, a SavedModel, a log directory) or neither
    contains a model."""
    if not all(path and os.path.isdir(path) for path in (old, new)):  # noqa: PTH112 - never raises, for any name
        return None
    before = _read_collection(Path(old))
    after = _read_collection(Path(new)) if before else None
    return (before, after) if before and after and (before.models or after.models) else None


def _read_collection(folder: Path) -> Collection | None:
    """Return a folder of models, possibly empty; None if the folder is a single source."""
    below = list_files_below(folder)
    # A folder of runs is one source: `--run` says which of them is compared.
    if any(EVENTS_WORD in file.name for _, file in below.files):
        return None
    found = _model_paths(below)
    unread = {
        os.path.relpath(notice.where, folder).replace(os.sep, "/"): notice.message
        for notice in below.notices
        if notice.code == UNREAD_FOLDER_CODE
    }
    odd = tuple(notice for notice in below.notices if notice.code != UNREAD_FOLDER_CODE)
    return None if "." in found else Collection(folder, frozenset(found), unread, odd)


def _model_paths(below: FolderListing) -> set[str]:
    """Return the paths of all models in a folder; a SavedModel is one, as a whole."""
    files = [(PurePath(place), path) for place, path in below.files]
    saved = {place for place, path in files if path.name in SAVED_MODEL_FILES}
    found = set()
    for place, path in files:
        # Files inside a SavedModel, in `variables/` or `assets/`, are part of it.
        whole = next((around for around in (*reversed(place.parents), place) if around in saved), None)
        if whole is not None:
            found.add(whole.as_posix())
        elif path.suffix.lower() in MODEL_SUFFIXES and path.is_file():
            found.add((place / path.name).as_posix())
    return found


def model_pairs(old: Collection, new: Collection) -> list[ModelPair]:
    """Return every model of two folders, paired by path, except in folders that could not be read on one side."""
    unread = {*old.unread, *new.unread}
    return [
        ModelPair(
            path,
            old.folder / path if path in old.models else None,
            new.folder / path if path in new.models else None,
        )
        for path in sorted(old.models | new.models)
        if unread.isdisjoint(map(str, PurePosixPath(path).parents))
    ]
