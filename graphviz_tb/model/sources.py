"""Sources that were given to read, kept for later."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import Any

ADDRESS = "://"  # in the name of a source that is elsewhere


def plain_files(source: Any) -> tuple[os.stat_result, ...]:
    """The plain files of several sources, as the system knows them: a file may get another name."""
    found = []
    for each in source:
        if isinstance(each, str | os.PathLike) and os.fspath(each) not in ("-", ""):
            with suppress(OSError, ValueError):
                found.append(Path(each).stat())
    return tuple(told for told in found if stat.S_ISREG(told.st_mode))


def lasting(source: Any) -> Any:
    """A source whose path means the same from every folder: a program may change the current one. Others, and "-" for
    standard input, are as they were; of several, each.

    >>> lasting("-"), lasting(b"node {}"), lasting((None,))
    ('-', b'node {}', (None,))
    """
    if isinstance(source, tuple):
        return tuple(map(lasting, source))
    if isinstance(source, str | os.PathLike) and os.fspath(source) not in ("-", ""):
        with suppress(OSError, TypeError):  # the current folder is gone; a path may be bytes
            return Path.cwd() / source
    return source
