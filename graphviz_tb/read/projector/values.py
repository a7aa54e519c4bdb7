"""Read the points of an embedding, as float32."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from pathlib import Path

import numpy as np

from graphviz_tb.errors import MalformedText, ReadError, TooLarge
from graphviz_tb.limits import EMBEDDING_POINTS, MAX_EMBEDDING_NUMBERS, MAX_EMBEDDING_TEXT_BYTES, MAX_SPRITE_BYTES
from graphviz_tb.model.embeddings import Embedding, EmbeddingForm, Points
from graphviz_tb.read.checkpoint.values import READABLE_DTYPES, read_stored_rows
from graphviz_tb.read.opened import unreadable_error

EMBEDDING_DTYPES = READABLE_DTYPES
MAX_CACHED_FILES = 256  # cached line counts and checkpoint indexes: a log is searched repeatedly
LINES_PER_BLOCK = 4_096  # parsed at once


def read_points(embedding: Embedding) -> Points:
    """Read the first points of an embedding in a file, as many as the limits allow. Raises ReadError."""
    if embedding.values is None:
        raise ReadError(f"'{embedding.name}' is in no file of its own")
    rows = points_to_read(embedding)
    try:
        if embedding.form is EmbeddingForm.CHECKPOINT:
            return read_stored_rows(embedding.values, embedding.name, rows)
        if embedding.form is EmbeddingForm.BINARY:
            return read_binary_points(embedding, rows)
        return read_text_points(embedding.values, rows, embedding.dimensions)
    except OSError as error:
        raise unreadable_error(embedding.values, error) from None


def points_to_read(embedding: Embedding) -> int:
    """Return how many points of an embedding are read."""
    return min(embedding.points, EMBEDDING_POINTS, MAX_EMBEDDING_NUMBERS // max(1, embedding.dimensions))


def read_binary_points(embedding: Embedding, rows: int) -> Points:
    """Read rows of float32."""
    assert embedding.values is not None
    count = rows * embedding.dimensions
    values = np.fromfile(embedding.values, "<f4", count)
    if len(values) < count:
        raise ReadError(f"{embedding.values} is shorter than its shape says", hint="write it again")
    return values.astype(np.float32, copy=False).reshape(rows, embedding.dimensions)


@lru_cache(MAX_CACHED_FILES)
def text_extent(path: Path, changed: int, size: int) -> tuple[int, int]:
    """Count lines and columns of a TSV file; `changed` and `size` are part of the cache key. Raises ReadError if it is
    too large or empty."""
    try:
        if size > MAX_EMBEDDING_TEXT_BYTES:
            raise TooLarge(f"{path} has more than {MAX_EMBEDDING_TEXT_BYTES:,} bytes", hint="write it as .bytes")
        with path.open("rb") as handle:
            columns, lines = 0, 0
            for line in handle:
                if line.strip():
                    columns = columns or line.rstrip(b"\r\n").count(b"\t") + 1
                    lines += 1
    except OSError as error:
        raise unreadable_error(path, error) from None
    if not lines:
        raise ReadError(f"{path} holds no numbers")
    return lines, columns


def read_text_points(path: Path, rows: int, dimensions: int) -> Points:
    """Read rows of numbers, tabs between them. Raises MalformedText if one is not a number."""
    out = np.empty((rows, dimensions), np.float32)
    done = 0
    for numbers, lines in line_blocks(path, rows):
        wrong = next((at for at, line in enumerate(lines) if line.count(b"\t") != dimensions - 1), None)
        if wrong is not None:
            columns = lines[wrong].count(b"\t") + 1
            raise MalformedText(f"{columns} numbers, not {dimensions}", line=numbers[wrong], column=1, name=path.name)
        try:
            parsed = np.array(b"\t".join(lines).split(b"\t")).astype(np.float64)
        except ValueError:
            raise bad_number_error(path, numbers, lines) from None
        with np.errstate(over="ignore"):
            out[done : done + len(lines)] = parsed.reshape(-1, dimensions)
        done += len(lines)
    return out[:done]


def line_blocks(path: Path, rows: int) -> Iterator[tuple[list[int], list[bytes]]]:
    """Yield blocks of the non-blank lines of a file, with their line numbers (from 1)."""
    with path.open("rb") as handle:
        numbered = ((number, line.rstrip(b"\r\n")) for number, line in enumerate(handle, 1) if line.strip())
        wanted = islice(numbered, rows)
        while some := list(islice(wanted, LINES_PER_BLOCK)):
            yield [number for number, _ in some], [line for _, line in some]


def bad_number_error(path: Path, numbers: list[int], lines: list[bytes]) -> MalformedText:
    """Return the error for the first word that is not a number."""
    for at, line in zip(numbers, lines, strict=True):
        for column, word in enumerate(line.split(b"\t"), 1):
            try:
                float(word)
            except ValueError:
                said = word.decode("utf-8", "replace")[:40]
                return MalformedText(f"{said!r} is no number", line=at, column=column, name=path.name)
    return MalformedText("this is no row of numbers", line=numbers[0], column=1, name=path.name)


def read_sprite(embedding: Embedding) -> bytes:
    """Read the bytes of the sprite image, unchecked. Raises ReadError if there is none, or it is too large."""
    if embedding.sprite is None:
        raise ReadError(f"'{embedding.name}' has no sprite")
    path = embedding.sprite.path
    try:
        with path.open("rb") as handle:
            data = handle.read(MAX_SPRITE_BYTES + 1)
    except OSError as error:
        raise unreadable_error(path, error) from None
    if len(data) > MAX_SPRITE_BYTES:
        raise TooLarge(f"{path} has more than {MAX_SPRITE_BYTES:,} bytes", hint="write smaller pictures")
    return data
