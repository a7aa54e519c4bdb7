"""Two folders of models: pairs by path, and what is in one of them only."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePath

from graphviz_tb.read.walk import files_below

SUFFIXES = frozenset({".pb", ".pbtxt", ".keras", ".meta", ".json", ".h5", ".graphdef", ".prototxt"})
SAVED_MODEL = ("saved_model.pb", "saved_model.pbtxt")
EVENTS = "tfevents"


@dataclass(frozen=True, slots=True)
class Pair:
    """A model of two folders: its path in them, and where it is on either side (None: only on the other)."""

    path: str
    old: Path | None
    new: Path | None


def are_collections(old: str, new: str) -> bool:
    """Whether two paths are folders of models: no SavedModel and no log directory, with a model somewhere in one of
    them, at least."""
    found = [models_of_collection(path) for path in (old, new)]
    return None not in found and any(found)


def models_of_collection(path: str) -> set[str] | None:
    """The models of a folder of models, which may be empty; None where it is a single source, or no folder."""
    folder = Path(path)
    if not path or not folder.is_dir():
        return None
    # A folder of runs is one source: `--run` says which of them is compared.
    runs = any(EVENTS in file.name for _, file in files_below(folder).files)
    found = models(folder)
    return None if runs or "." in found else found


def models(folder: Path) -> set[str]:
    """The paths of all models below a folder; a SavedModel is one, as a whole."""
    files = [(PurePath(place), path) for place, path in files_below(folder).files]
    saved = {place for place, path in files if path.name in SAVED_MODEL}
    found = set()
    for place, path in files:
        # What is in a SavedModel, in `variables/` or `assets/`, is part of it.
        whole = next((around for around in (*reversed(place.parents), place) if around in saved), None)
        if whole is not None:
            found.add(whole.as_posix())
        elif path.suffix.lower() in SUFFIXES and path.is_file():
            found.add((place / path.name).as_posix())
    return found


def pairs(old: str, new: str) -> list[Pair]:
    """Every model of two folders, paired by its path."""
    here, there = models(Path(old)), models(Path(new))
    return [
        Pair(path, Path(old, path) if path in here else None, Path(new, path) if path in there else None)
        for path in sorted(here | there)
    ]
