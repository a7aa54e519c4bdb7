"""Find the files that reading a source opens: no output may overwrite them."""

from __future__ import annotations

import os
import stat
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from graphviz_tb.sources.walk import SAVED_MODEL_FILES, list_files_below, saved_model_file

METADATA_FILE_NAME, FINGERPRINT_FILE_NAME = "keras_metadata.pb", "fingerprint.pb"  # next to the file of a SavedModel
SAVED_MODEL_FOLDERS = ("variables", "assets", "assets.extra")  # folders of a SavedModel


def is_source_file(source: Any, file: os.stat_result) -> bool:
    """Return whether reading `source` opens this file, compared by device and inode.

    `source` is anything that `read` takes, or a tuple of them. Only regular files count. A log directory opens its
    event files and traces; a SavedModel includes everything TensorFlow wrote next to it.
    """
    if isinstance(source, os.stat_result):  # an opened file, whose name may have changed
        # The inode of a deleted file may be reused, with a different time.
        return os.path.samestat(source, file) and source.st_mtime_ns == file.st_mtime_ns
    if isinstance(source, tuple):  # the two sources of a diff
        return any(is_source_file(part, file) for part in source)
    if not stat.S_ISREG(file.st_mode) or not isinstance(source, str | os.PathLike):
        return False
    with suppress(OSError, ValueError):  # what cannot be listed is not opened either
        if source == "-":
            return os.path.samestat(os.fstat(sys.stdin.fileno()), file)
        path = Path(source)
        if not path.is_dir():
            return bool(str(source)) and any(_is_same_file(each, file) for each in (path, *_files_of_saved_model(path)))
        return any(_is_same_file(each, file) for each in _files_read_from_folder(path, file))
    return False


def _is_same_file(path: Path, file: os.stat_result) -> bool:
    with suppress(OSError):
        return os.path.samestat(path.stat(), file)
    return False


def _files_of_saved_model(model: Path) -> list[Path]:
    """Return the files that belong to a SavedModel, by TensorFlow's names."""
    if model.name not in SAVED_MODEL_FILES:
        return []
    folders = (model.with_name(part) for part in SAVED_MODEL_FOLDERS)
    inside = [path for folder in folders if folder.is_dir() for _, path in list_files_below(folder).files]
    return [
        *(model.with_name(name) for name in (*SAVED_MODEL_FILES, METADATA_FILE_NAME, FINGERPRINT_FILE_NAME)),
        *inside,
    ]


def _files_read_from_folder(folder: Path, file: os.stat_result) -> list[Path]:
    """Return the files that reading a folder opens, limited to candidates for `file`."""
    model = saved_model_file(folder)
    if model is not None:
        return _files_of_saved_model(model)
    # These are needed for folders only.
    from graphviz_tb.events.graphs import is_event_file
    from graphviz_tb.formats.profiler_traces import find_trace_files

    below = list_files_below(folder)
    events = [path for _, path in below.files if _has_same_size(path, file) and is_event_file(path)]
    return [*events, *(path for _, _, path in find_trace_files(below))]


def _has_same_size(path: Path, file: os.stat_result) -> bool:
    """Return whether the file has this size: a quick test before any bytes are read."""
    with suppress(OSError):
        return path.stat().st_size == file.st_size
    return False
