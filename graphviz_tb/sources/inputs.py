"""Find the files that a source reads (no output may overwrite them), and read small user files."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from graphviz_tb.errors import ReadError, RequestError, TooLarge
from graphviz_tb.model.sources import URL_SEPARATOR
from graphviz_tb.sources.walk import SAVED_MODEL_FILES, list_files_below, saved_model_file

METADATA_FILE_NAME, FINGERPRINT_FILE_NAME = "keras_metadata.pb", "fingerprint.pb"  # next to the file of a SavedModel
ADDRESS_OF_COPY: dict[str, str] = {}  # path of a local copy → its address
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
        return any(is_source_file(each, file) for each in source)
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


def localize_source(source: Any) -> Any:
    """Return the path of a local copy for a remote source (`gs://bucket/logs`), else the source itself.

    Raises `ReadError` if there is nothing, `ToolMissing` if the package for this kind of address is not installed.
    """
    if not (isinstance(source, str) and URL_SEPARATOR in source):
        return source
    from graphviz_tb.sources.remote import local_copy  # most sources are local

    path = local_copy(source)
    ADDRESS_OF_COPY[str(path)] = source
    return path


def name_of_user(path: str) -> str:
    """Return the user's name for a path: the address, for a local copy of a remote source."""
    whole = next((copy for copy in ADDRESS_OF_COPY if path == copy or path.startswith(f"{copy}{os.sep}")), None)
    return path if whole is None else ADDRESS_OF_COPY[whole].rstrip("/") + path[len(whole) :].replace(os.sep, "/")


def read_small_file(path: Path, limit: int, hint: str) -> bytes:
    """Read a small user file. Raises `ReadError` if it cannot be read, `TooLarge` above `limit`."""
    try:
        with path.open("rb") as file:
            data = file.read(limit + 1)  # a device may be endless
    except OSError as error:
        raise ReadError(f"cannot read {str(path)!r}: {error.strerror}", hint=hint) from None
    if len(data) > limit:
        raise TooLarge(f"{path.name} has more than {limit:,} bytes", hint=hint)
    return data


def check_stdin_once(sources: Iterable[Any]) -> None:
    """Raise if standard input is given for more than one source."""
    if sum(isinstance(source, str) and source == "-" for source in sources) > 1:
        raise RequestError("standard input can be read only once: - is given twice", hint="give one of them as a file")


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
