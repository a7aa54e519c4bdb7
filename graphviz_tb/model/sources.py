"""Sources of a graph: their files, and paths that stay valid when the current folder changes."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import Any

URL_SEPARATOR = "://"  # in the name of a remote source


def regular_file_stats(source: Any) -> tuple[os.stat_result, ...]:
    """Return the stat results of regular files among several sources, to recognise them under another name."""
    found = []
    for each in source:
        if isinstance(each, str | os.PathLike) and os.fspath(each) not in ("-", ""):
            with suppress(OSError, ValueError):
                found.append(Path(each).stat())
    return tuple(status for status in found if stat.S_ISREG(status.st_mode))


def absolute_sources(source: Any) -> Any:
    """Make the path of a source (or of each in a tuple) absolute, since a program may change the current folder. "-"
    (standard input) and sources that are not paths are returned unchanged.

    >>> absolute_sources("-"), absolute_sources(b"node {}"), absolute_sources((None,))
    ('-', b'node {}', (None,))
    """
    if isinstance(source, tuple):
        return tuple(map(absolute_sources, source))
    if isinstance(source, str | os.PathLike) and os.fspath(source) not in ("-", ""):
        with suppress(OSError, TypeError):  # the current folder is gone; a path may be bytes
            return Path.cwd() / source
    return source
