"""Two folders of models: pairs by path, and what is in one of them only."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

SUFFIXES = frozenset({".pb", ".pbtxt", ".keras", ".meta", ".json", ".h5", ".graphdef", ".prototxt"})
SAVED_MODEL = ("saved_model.pb", "saved_model.pbtxt")
EVENTS = "tfevents"


@dataclass(frozen=True, slots=True)
class Pair:
    """A model of two folders: its path in them, and where it is on either side (None: only on the other)."""

    path: str
    old: Path | None
    new: Path | None


def is_collection(path: str) -> bool:
    """Whether a path is a folder of models: no SavedModel and no log directory, with a model somewhere in it."""
    folder = Path(path)
    if not folder.is_dir():
        return False
    names = [name for _, _, names in os.walk(folder) for name in names]
    # A folder of runs is one source: `--run` says which of them is compared.
    return not any(EVENTS in name for name in names) and any(model != "." for model in models(folder))


def models(folder: Path) -> Iterator[str]:
    """The paths of all models below a folder, in order; a SavedModel is one, as a whole."""
    for around, inner, names in os.walk(folder):
        # `os.walk` gives folders in the order of the file system; sorting in place is how it takes another one.
        inner.sort()
        here = Path(around)
        if any(name in SAVED_MODEL for name in names):
            # `os.walk` goes into what is left of this list: not into `variables/` and `assets/` of a SavedModel.
            inner.clear()
            yield here.relative_to(folder).as_posix()
            continue
        for name in sorted(names):
            if Path(name).suffix.lower() in SUFFIXES:
                yield (here / name).relative_to(folder).as_posix()


def pairs(old: str, new: str) -> list[Pair]:
    """Every model of two folders, paired by its path."""
    here, there = set(models(Path(old))), set(models(Path(new)))
    return [
        Pair(path, Path(old, path) if path in here else None, Path(new, path) if path in there else None)
        for path in sorted(here | there)
    ]
