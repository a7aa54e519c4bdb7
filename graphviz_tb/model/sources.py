"""What was given to read, kept for later."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Any


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
