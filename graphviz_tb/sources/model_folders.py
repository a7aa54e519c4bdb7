"""Two folders of models: pairs with equal paths, and models that only one folder has."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath, PurePosixPath

from graphviz_tb.model.notice import Notice
from graphviz_tb.sources.walk import UNREAD_FOLDER_CODE, FolderListing, list_files_below

MODEL_SUFFIXES = frozenset({".pb", ".pbtxt", ".keras", ".meta", ".json", ".h5", ".graphdef", ".prototxt"})
SAVED_MODEL_FILES = ("saved_model.pb", "saved_model.pbtxt")
EVENTS_WORD = "tfevents"


@dataclass(frozen=True, slots=True)
class ModelPair:
    """A model of two folders: its path in them, and where it is on either side (None: only on the other)."""

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
    """Return a folder of models, which may hold none; None where it is a single source."""
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
