"""Which files reading a source opens: no output may take the place of one of them."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from graphviz_tb.errors import ReadError, RequestError, TooLarge
from graphviz_tb.model.sources import ADDRESS
from graphviz_tb.read.saved_model import FILES, model_file
from graphviz_tb.read.walk import files_below

METADATA, FINGERPRINT = "keras_metadata.pb", "fingerprint.pb"  # beside the file of a SavedModel
COPIES: dict[str, str] = {}  # the address that a copy is of, by its path
PARTS = ("variables", "assets", "assets.extra")  # folders of a SavedModel


def is_input(source: Any, file: os.stat_result) -> bool:
    """Whether reading `source` opens this very file, however either is spelled: by device and inode.

    `source` is anything that `read` takes, or several. Only plain files count; a log directory opens all its event
    files and traces, and all that TensorFlow wrote belongs to a SavedModel.
    """
    if isinstance(source, os.stat_result):  # of what was opened, which may have another name now
        # The number of a file that is gone may be given to another, which has another time.
        return os.path.samestat(source, file) and source.st_mtime_ns == file.st_mtime_ns
    if isinstance(source, tuple):  # of a diff
        return any(is_input(each, file) for each in source)
    if not stat.S_ISREG(file.st_mode) or not isinstance(source, str | os.PathLike):
        return False
    with suppress(OSError, ValueError):  # what cannot be looked at is not opened either
        if source == "-":
            return os.path.samestat(os.fstat(sys.stdin.fileno()), file)
        path = Path(source)
        if not path.is_dir():
            return bool(str(source)) and any(_is_same(each, file) for each in (path, *_of_saved_model(path)))
        return any(_is_same(each, file) for each in _in_folder(path, file))
    return False


def local(source: Any) -> Any:
    """A source as it can be read here: of one that is elsewhere (`gs://bucket/logs`) the path of a copy, else itself.

    Raises `ReadError` where there is nothing, `ToolMissing` where the package that reaches it is not installed.
    """
    if not (isinstance(source, str) and ADDRESS in source):
        return source
    from graphviz_tb.read.remote import copied  # most sources are here

    path = copied(source)
    COPIES[str(path)] = source
    return path


def named(path: str) -> str:
    """What a user called a source that is read at a path: of a copy, and what is in it, the address."""
    whole = next((copy for copy in COPIES if path == copy or path.startswith(f"{copy}{os.sep}")), None)
    return path if whole is None else COPIES[whole].rstrip("/") + path[len(whole) :].replace(os.sep, "/")


def bounded(path: Path, limit: int, hint: str) -> bytes:
    """The bytes of a small file of a user. Raises `ReadError` where it cannot be read, `TooLarge` past the `limit`."""
    try:
        with path.open("rb") as file:
            data = file.read(limit + 1)  # a device may go on for ever
    except OSError as error:
        raise ReadError(f"cannot read {str(path)!r}: {error.strerror}", hint=hint) from None
    if len(data) > limit:
        raise TooLarge(f"{path.name} has more than {limit:,} bytes", hint=hint)
    return data


def check_once(sources: Iterable[Any]) -> None:
    """Refuse standard input for more than one source: what was read from it is gone."""
    if sum(isinstance(source, str) and source == "-" for source in sources) > 1:
        raise RequestError("standard input can be read only once: - is given twice", hint="give one of them as a file")


def _is_same(path: Path, file: os.stat_result) -> bool:
    """Whether a path leads to this very file."""
    with suppress(OSError):
        return os.path.samestat(path.stat(), file)
    return False


def _of_saved_model(model: Path) -> list[Path]:
    """Return the files next to the file of a SavedModel that are part of it, by the names that TensorFlow gives."""
    if model.name not in FILES:
        return []
    folders = (model.with_name(part) for part in PARTS)
    inside = [path for folder in folders if folder.is_dir() for _, path in files_below(folder).files]
    return [*(model.with_name(name) for name in (*FILES, METADATA, FINGERPRINT)), *inside]


def _in_folder(folder: Path, file: os.stat_result) -> list[Path]:
    """The files that reading a folder opens, of those that can be `file`."""
    model = model_file(folder)
    if model is not None:
        return _of_saved_model(model)
    # Modules that only folders need.
    from graphviz_tb.read.log_traces import trace_files
    from graphviz_tb.read.logdir import is_event_file

    below = files_below(folder)
    events = [path for _, path in below.files if same_size(path, file) and is_event_file(path)]
    return [*events, *(path for _, _, path in trace_files(below))]


def same_size(path: Path, file: os.stat_result) -> bool:
    """A quick look, before the first bytes are read."""
    with suppress(OSError):
        return path.stat().st_size == file.st_size
    return False
