"""Local copies of remote sources with the name that the user gave, and small user files."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from graphviz_tb.errors import ReadError, RequestError, TooLarge
from graphviz_tb.model.sources import URL_SEPARATOR

ADDRESS_OF_COPY: dict[str, str] = {}  # path of a local copy → its address


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
