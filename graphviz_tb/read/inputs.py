"""Which files reading a source opens: no output may take the place of one of them."""

from __future__ import annotations

import os
import stat
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from graphviz_tb.read.saved_model import model_file
from graphviz_tb.read.walk import files_below


def is_input(source: Any, file: os.stat_result) -> bool:
    """Whether reading `source` opens this very file, however either is spelled: by device and inode.

    `source` is anything that `read` takes. Only plain files count; a log directory opens all its event files.
    """
    if not stat.S_ISREG(file.st_mode) or not isinstance(source, str | os.PathLike):
        return False
    with suppress(OSError, ValueError):  # what cannot be looked at is not opened either
        if source == "-":
            return os.path.samestat(os.fstat(sys.stdin.fileno()), file)
        path = Path(source)
        if not path.is_dir():
            return bool(str(source)) and os.path.samestat(path.stat(), file)
        return any(os.path.samestat(each.stat(), file) for each in _in_folder(path, file))
    return False


def _in_folder(folder: Path, file: os.stat_result) -> list[Path]:
    """The files that reading a folder opens, of those that can be `file`."""
    model = model_file(folder)
    if model is not None:
        return [model]
    from graphviz_tb.read.logdir import is_event_file  # takes many modules that only folders need

    return [path for _, path in files_below(folder).files if same_size(path, file) and is_event_file(path)]


def same_size(path: Path, file: os.stat_result) -> bool:
    """A quick look, before the first bytes are read."""
    with suppress(OSError):
        return path.stat().st_size == file.st_size
    return False
