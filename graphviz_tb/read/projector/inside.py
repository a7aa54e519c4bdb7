"""Paths that a log names: they lead to files of the source, or nowhere."""

from __future__ import annotations

import os
from pathlib import Path

from graphviz_tb.model.notice import Notice

SHOWN = 120  # letters of a path in a notice


class FileRefused(Exception):
    """A named file that is not read; `notice` says why."""

    def __init__(self, code: str, message: str, where: str) -> None:
        super().__init__(message)
        self.notice = Notice(code, message, where)


def inside(top: Path, folder: Path, named: bytes, where: str) -> Path:
    """The file that `named` means in a folder of the source `top`. Raises FileRefused for anything but a file of it.

    A name may come from anybody: `..`, an absolute path or a link that leads out of the source is refused.
    """
    word = named.decode("utf-8", "replace")
    try:
        path = Path(os.path.realpath(folder / os.fsdecode(named)))
        there = path.is_file()
    except (OSError, ValueError):  # a name that is too long, or has a zero in it
        raise FileRefused("no-file", f"{where} names {word[:SHOWN]!r}, which no file can be called", where) from None
    if not path.is_relative_to(os.path.realpath(top)):
        raise FileRefused(
            "outside", f"{where} names {word[:SHOWN]!r}, which is outside of the log: it is not read", where
        )
    if not there:
        raise FileRefused("no-file", f"{where} names {word[:SHOWN]!r}, and there is no such file", where)
    return path
