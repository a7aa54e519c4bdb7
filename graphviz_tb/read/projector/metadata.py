"""Metadata of the points of an embedding: a line for each point, tabs between columns."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from pathlib import Path

from graphviz_tb.limits import MAX_METADATA_BYTES, MAX_METADATA_COLUMNS, MAX_METADATA_LETTERS
from graphviz_tb.model.embeddings import PointColumn
from graphviz_tb.model.measure import truncate_text
from graphviz_tb.model.notice import Notice

LABEL_COLUMN = "label"  # name of a single column, as in TensorBoard


def read_point_metadata(path: Path, points: int, read: int) -> tuple[tuple[PointColumn, ...], tuple[Notice, ...]]:
    """Read the columns of a file about `points` points, texts for the first `read` of them, and its notices.

    The first line names the columns if there is one line more than points, or if the number of lines fits neither way
    and the first line has several columns. Missing texts are empty.
    """
    name = path.name
    try:
        with path.open("rb") as handle:
            data = handle.read(MAX_METADATA_BYTES + 1)
    except OSError as error:
        return (), (Notice("metadata", f"{name} cannot be read: {error.strerror}", name),)
    if len(data) > MAX_METADATA_BYTES:
        return (), (Notice("metadata", f"{name} has more than {MAX_METADATA_BYTES:,} bytes: it is not read", name),)
    lines = data.decode("utf-8-sig", "replace").split("\n")
    lines = [line.removesuffix("\r") for line in lines]
    while lines and not lines[-1] and len(lines) != points:
        lines.pop()
    headed = len(lines) == points + 1 or (len(lines) != points and "\t" in (lines or [""])[0])
    notices = []
    if len(lines) - headed != points:
        text = f"{name} has {len(lines) - headed:,} lines for {points:,} points"
        notices.append(Notice("metadata", text, name))
    rows = [line.split("\t") for line in lines[headed : headed + read]]
    heads = lines[0].split("\t") if headed else []
    wide = max([len(heads), *map(len, rows)], default=0)
    if wide > MAX_METADATA_COLUMNS:
        text = f"{name} has {wide:,} columns: {MAX_METADATA_COLUMNS} of them are shown"
        notices.append(Notice("metadata", text, name))
    columns = [
        point_column(column_title(heads, at, wide), rows, at, read) for at in range(min(wide, MAX_METADATA_COLUMNS))
    ]
    return tuple(columns), tuple(notices)


def column_title(heads: Sequence[str], at: int, wide: int) -> str:
    """Return the title of the column at a position."""
    if at < len(heads) and heads[at].strip():
        return truncate_text(heads[at], MAX_METADATA_LETTERS)
    return LABEL_COLUMN if wide == 1 else f"column {at + 1}"


def point_column(name: str, rows: Sequence[Sequence[str]], at: int, read: int) -> PointColumn:
    """Return one column, a text for each point."""
    texts = [truncate_text(row[at], MAX_METADATA_LETTERS) if at < len(row) else "" for row in rows]
    texts += [""] * (read - len(texts))
    return PointColumn(name, tuple(texts), is_numeric_column(texts))


def is_numeric_column(texts: Sequence[str]) -> bool:
    """Return whether there are texts that are not empty, and all of these are finite numbers.

    >>> (
    ...     is_numeric_column(["1", "", "2.5"]),
    ...     is_numeric_column(["1", "nan"]),
    ...     is_numeric_column(["", ""]),
    ...     is_numeric_column(["1_0"]),
    ... )
    (True, False, False, False)
    """
    said = {text.strip() for text in texts} - {""}
    try:
        return bool(said) and all(isfinite(float(text)) and "_" not in text for text in said)
    except ValueError:
        return False
