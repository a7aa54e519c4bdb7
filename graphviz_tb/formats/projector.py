"""Find the embeddings of a source. A path that a log names is followed only to files inside the source."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import islice
from math import isfinite, prod
from pathlib import Path

import numpy as np

from graphviz_tb.errors import MalformedText, ReadError, TooLarge
from graphviz_tb.formats.checkpoint import (
    INDEX_SUFFIX,
    READABLE_DTYPES,
    find_index_files,
    is_index_file,
    read_checkpoint,
    read_full_names,
    read_stored_rows,
)
from graphviz_tb.formats.pbtxt import parse_text_message
from graphviz_tb.limits import (
    EMBEDDING_POINTS,
    MAX_EMBEDDING_DIMENSIONS,
    MAX_EMBEDDING_NUMBERS,
    MAX_EMBEDDING_TEXT_BYTES,
    MAX_LISTED_EMBEDDINGS,
    MAX_METADATA_BYTES,
    MAX_METADATA_COLUMNS,
    MAX_METADATA_LETTERS,
    MAX_PROJECTOR_CONFIG_BYTES,
    MAX_SPRITE_BYTES,
    MIN_EMBEDDING_POINTS,
)
from graphviz_tb.model.logs import Embedding, EmbeddingForm, Embeddings, PointColumn, Points, Sprite
from graphviz_tb.model.measure import truncate_text
from graphviz_tb.model.notice import Notice
from graphviz_tb.model.sources import StoredTensor
from graphviz_tb.proto import EmbeddingInfo, ProjectorConfig
from graphviz_tb.sources.streams import unreadable_error
from graphviz_tb.sources.walk import list_files_below

PROJECTOR_CONFIG = "projector_config.pbtxt"


def _read_projector_config(path: Path, where: str) -> tuple[ProjectorConfig, tuple[Notice, ...]]:
    """Read a configuration and its notices; an empty one if it cannot be read."""
    try:
        with path.open("rb") as handle:
            data = handle.read(MAX_PROJECTOR_CONFIG_BYTES + 1)
        if len(data) > MAX_PROJECTOR_CONFIG_BYTES:
            return ProjectorConfig(), (
                Notice("projector", f"{where} has more than {MAX_PROJECTOR_CONFIG_BYTES:,} bytes"),
            )
        config, notices = parse_text_message(data, ProjectorConfig)
    except (OSError, ReadError) as error:
        return ProjectorConfig(), (Notice("projector", f"{where} cannot be read: {error}", where),)
    if any(embedding.bookmarks_path for embedding in config.embeddings):
        notices = (*notices, Notice("bookmarks", f"bookmarks that {where} names are not read", where))
    return config, notices


# Read the points of an embedding, as float32.

EMBEDDING_DTYPES = READABLE_DTYPES
MAX_CACHED_FILES = 256  # cached line counts and checkpoint indexes: a log is searched repeatedly
LINES_PER_BLOCK = 4_096  # parsed at once


def read_points(embedding: Embedding) -> Points:
    """Read the first points of an embedding in a file, as many as the limits allow. Raises ReadError."""
    if embedding.values is None:
        raise ReadError(f"'{embedding.name}' is in no file of its own")
    rows = min(embedding.points, EMBEDDING_POINTS, MAX_EMBEDDING_NUMBERS // max(1, embedding.dimensions))
    try:
        if embedding.form is EmbeddingForm.CHECKPOINT:
            return read_stored_rows(embedding.values, embedding.name, rows)
        if embedding.form is EmbeddingForm.BINARY:
            return _read_binary_points(embedding, rows)
        return _read_text_points(embedding.values, rows, embedding.dimensions)
    except OSError as error:
        raise unreadable_error(embedding.values, error) from None


def _read_binary_points(embedding: Embedding, rows: int) -> Points:
    """Read rows of float32."""
    assert embedding.values is not None
    count = rows * embedding.dimensions
    values = np.fromfile(embedding.values, "<f4", count)
    if len(values) < count:
        raise ReadError(f"{embedding.values} is shorter than its shape says", hint="write it again")
    return values.astype(np.float32, copy=False).reshape(rows, embedding.dimensions)


@lru_cache(MAX_CACHED_FILES)
def _text_extent(path: Path, changed: int, size: int) -> tuple[int, int]:
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


def _read_text_points(path: Path, rows: int, dimensions: int) -> Points:
    """Read rows of numbers, tabs between them. Raises MalformedText if one is not a number."""
    out = np.empty((rows, dimensions), np.float32)
    row = 0
    for numbers, lines in _line_blocks(path, rows):
        wrong = next((index for index, line in enumerate(lines) if line.count(b"\t") != dimensions - 1), None)
        if wrong is not None:
            columns = lines[wrong].count(b"\t") + 1
            raise MalformedText(f"{columns} numbers, not {dimensions}", line=numbers[wrong], column=1, name=path.name)
        try:
            parsed = np.array(b"\t".join(lines).split(b"\t")).astype(np.float64)
        except ValueError:
            raise _bad_number_error(path, numbers, lines) from None
        with np.errstate(over="ignore"):
            out[row : row + len(lines)] = parsed.reshape(-1, dimensions)
        row += len(lines)
    return out[:row]


def _line_blocks(path: Path, rows: int) -> Iterator[tuple[list[int], list[bytes]]]:
    """Yield blocks of the non-blank lines of a file, with their line numbers (from 1)."""
    with path.open("rb") as handle:
        numbered = ((number, line.rstrip(b"\r\n")) for number, line in enumerate(handle, 1) if line.strip())
        wanted = islice(numbered, rows)
        while some := list(islice(wanted, LINES_PER_BLOCK)):
            yield [number for number, _ in some], [line for _, line in some]


def _bad_number_error(path: Path, numbers: list[int], lines: list[bytes]) -> MalformedText:
    """Return the error for the first word that is not a number."""
    for at, line in zip(numbers, lines, strict=True):
        for column, word in enumerate(line.split(b"\t"), 1):
            try:
                float(word)
            except ValueError:
                said = word.decode("utf-8", "replace")[:40]
                return MalformedText(f"{said!r} is not a number", line=at, column=column, name=path.name)
    return MalformedText("this is not a row of numbers", line=numbers[0], column=1, name=path.name)


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


# Metadata of the points of an embedding: a line for each point, tabs between columns.

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
    has_header = len(lines) == points + 1 or (len(lines) != points and "\t" in (lines or [""])[0])
    notices = []
    if len(lines) - has_header != points:
        text = f"{name} has {len(lines) - has_header:,} lines for {points:,} points"
        notices.append(Notice("metadata", text, name))
    rows = [line.split("\t") for line in lines[has_header : has_header + read]]
    titles = lines[0].split("\t") if has_header else []
    width = max([len(titles), *map(len, rows)], default=0)
    if width > MAX_METADATA_COLUMNS:
        text = f"{name} has {width:,} columns: {MAX_METADATA_COLUMNS} of them are shown"
        notices.append(Notice("metadata", text, name))
    columns = [
        _point_column(_column_title(titles, at, width), rows, at, read)
        for at in range(min(width, MAX_METADATA_COLUMNS))
    ]
    return tuple(columns), tuple(notices)


def _column_title(heads: Sequence[str], at: int, wide: int) -> str:
    if at < len(heads) and heads[at].strip():
        return truncate_text(heads[at], MAX_METADATA_LETTERS)
    return LABEL_COLUMN if wide == 1 else f"column {at + 1}"


def _point_column(name: str, rows: Sequence[Sequence[str]], at: int, read: int) -> PointColumn:
    texts = [truncate_text(row[at], MAX_METADATA_LETTERS) if at < len(row) else "" for row in rows]
    texts += [""] * (read - len(texts))
    return PointColumn(name, tuple(texts), _is_numeric_column(texts))


def _is_numeric_column(texts: Sequence[str]) -> bool:
    """Return whether there are texts that are not empty, and all of these are finite numbers.

    >>> (
    ...     _is_numeric_column(["1", "", "2.5"]),
    ...     _is_numeric_column(["1", "nan"]),
    ...     _is_numeric_column(["", ""]),
    ...     _is_numeric_column(["1_0"]),
    ... )
    (True, False, False, False)
    """
    filled = {text.strip() for text in texts} - {""}
    try:
        return bool(filled) and all(isfinite(float(text)) and "_" not in text for text in filled)
    except ValueError:
        return False


TENSORS_FILE = "tensors.tsv"  # as torch calls it: points without metadata, too
# Names that gensim (`X_tensor.tsv`, `X_metadata.tsv`) and tutorials (`vecs.tsv`, `meta.tsv`) use.
POINTS_NAME = re.compile(r"(.*?)(?:tensors?|vectors?|vecs?|embeddings?)\.tsv", re.IGNORECASE | re.DOTALL)
METADATA_NAME = re.compile(r"(.*?)(?:metadata|meta|labels)\.tsv", re.IGNORECASE | re.DOTALL)
# Names of optimizer state, which has the shape of a variable: of tf.train.Checkpoint, and of Keras 3.
OPTIMIZER_STATE_PARTS = (".OPTIMIZER_SLOT", "optimizer/_variables/", "optimizer/_momentums/", "optimizer/_velocities/")
SLOT_SUFFIXES = ("/Adam", "/Adam_1", "/Momentum", "/Adagrad", "/RMSProp", "/RMSProp_1", "/Adadelta", "/Ftrl", "/Ftrl_1")
LAST_SEGMENT = re.compile(rb"[/\\]")  # between parts of a path, on any machine
SHOWN_PATH_LETTERS = 120  # letters of a path in a notice


def find_embeddings(source: Path) -> Embeddings:
    """Find the embeddings of a log directory, or of one checkpoint (an index, or the prefix of its files).

    Tensors in event files are not included. Raises ReadError if the source cannot be listed.
    """
    if not source.is_dir():
        indexes = find_index_files(source)
        return Embeddings(tuple(_embeddings_of_checkpoint(".", indexes[-1])) if indexes else ())
    return EmbeddingFinder(source).find_all()


class EmbeddingFinder:
    """Searches the folders of a source for embeddings and collects notices."""

    def __init__(self, top: Path) -> None:
        self.top = top
        self.notices: list[Notice] = []
        self.files: dict[str, list[Path]] = {}
        for run, path in list_files_below(top).files:
            self.files.setdefault(run, []).append(path)
        self.used: set[Path] = set()  # files that a configuration names

    def find_all(self) -> Embeddings:
        """Return all embeddings, those that configurations name before other files and variables of their folder."""
        configured = {run: self.configured_embeddings(run, paths) for run, paths in self.files.items()}
        every: list[Embedding] = []
        for run, paths in self.files.items():
            named = configured[run]
            known = {embedding.name for embedding in named}
            every += [*named, *(each for each in self.unconfigured_embeddings(run, paths) if each.name not in known)]
        if len(every) > MAX_LISTED_EMBEDDINGS:
            self.notices.append(Notice("embeddings", f"{len(every) - MAX_LISTED_EMBEDDINGS:,} embeddings are left out"))
        return Embeddings(tuple(every[:MAX_LISTED_EMBEDDINGS]), tuple(self.notices))

    def configured_embeddings(self, run: str, paths: list[Path]) -> list[Embedding]:
        """Return the tensors that the configuration of a folder names, and all of its checkpoint."""
        path = next((path for path in paths if path.name == PROJECTOR_CONFIG), None)
        if path is None:
            folder = next((path.parent for path in paths if path.name.endswith(INDEX_SUFFIX)), None)
            return (
                list(self.checkpoint_embeddings(run, self.latest_checkpoint((folder,)))) if folder is not None else []
            )
        where = f"{run}/{PROJECTOR_CONFIG}" if run != "." else PROJECTOR_CONFIG
        config, notices = _read_projector_config(path, where)
        self.notices += notices
        infos = {info.tensor_name.decode("utf-8", "replace").removesuffix(":0"): info for info in config.embeddings}
        stored = {
            each.name: each for each in self.checkpoint_embeddings(run, self.checkpoint_for(config, path.parent, where))
        }
        # As in TensorBoard, an entry without a name applies to all tensors of the checkpoint.
        for_all = infos.pop("", None) if stored else None
        found = []
        for name, info in infos.items():
            embedding = self.named_embedding(run, name, info, path.parent, where, stored.pop(name, None))
            found += [embedding] if embedding is not None else []
        for embedding in stored.values():
            found.append(embedding if for_all is None else self.add_metadata(embedding, for_all, path.parent, where))
        return found

    def named_embedding(
        self, run: str, name: str, info: EmbeddingInfo, folder: Path, where: str, stored: Embedding | None
    ) -> Embedding | None:
        """Return one tensor that a configuration names; None, with a notice, if it cannot be read."""
        embedding = stored
        if info.tensor_path:
            try:
                path = self._resolve_moved(folder, info.tensor_path, where)
                embedding = _embedding_of_file(run, name or path.name, path, tuple(info.tensor_shape))
                self.used.add(path)
            except FileRefused as refused:
                self.notices.append(refused.notice)
                return None
            except ReadError as error:
                self.notices.append(Notice("embedding", f"'{name[:80]}' cannot be read: {error}", where))
                return None
        if embedding is None:
            text = f"{where} names the tensor '{name[:80]}', which no checkpoint of the log holds"
            self.notices.append(Notice("embedding", text, where))
            return None
        return self.add_metadata(embedding, info, folder, where)

    def add_metadata(self, one: Embedding, info: EmbeddingInfo, folder: Path, where: str) -> Embedding:
        """Add the metadata and the sprite that a configuration names to an embedding."""
        metadata, sprite = None, None
        try:
            metadata = self._resolve_moved(folder, info.metadata_path, where) if info.metadata_path else None
        except FileRefused as refused:
            self.notices.append(refused.notice)
        try:
            if info.sprite.image_path:
                width, height, *_ = [*info.sprite.single_image_dim, 0, 0]
                path = self._resolve_moved(folder, info.sprite.image_path, where)
                sprite = Sprite(path, (width, height or width)) if width else None
        except FileRefused as refused:
            self.notices.append(refused.notice)
        return replace(one, metadata=metadata, sprite=sprite)

    def _resolve_moved(self, folder: Path, named: bytes, where: str) -> Path:
        """Return the file that a configuration names; if it is absent, because the log was moved, the file of that name
        next to the configuration. Raises FileRefused."""
        try:
            return _resolve_inside(self.top, folder, named, where)
        except FileRefused as refused:
            last = LAST_SEGMENT.split(named)[-1]
            try:
                path = _resolve_inside(self.top, folder, last, where) if last not in (b"", named) else None
            except FileRefused:
                path = None
            if path is None:
                raise refused from None
            text = f"{refused.notice.message.partition(': it is not read')[0]}: the file of that name beside it is read"
            self.notices.append(Notice("moved", text, where))
            return path

    def unconfigured_embeddings(self, run: str, paths: list[Path]) -> Iterator[Embedding]:
        """Yield the TSV files of a folder that no configuration names: torch's `tensors.tsv`, and pairs of points and
        metadata whose names begin alike."""
        names = {path.name: path for path in paths}
        for name, metadata_name in _tsv_pairs(names):
            if Path(names[name]).resolve() in self.used:
                continue
            try:
                path = _resolve_inside(self.top, names[name].parent, os.fsencode(name), run)
                metadata = (
                    _resolve_inside(self.top, path.parent, os.fsencode(metadata_name), run) if metadata_name else None
                )
                yield replace(_embedding_of_file(run, name, path, ()), metadata=metadata)
            except FileRefused as refused:
                self.notices.append(refused.notice)
            except ReadError as error:
                self.notices.append(Notice("embedding", str(error), run))

    def latest_checkpoint(self, folders: Iterable[Path]) -> Path | None:
        """Return the index of the latest checkpoint of the first folder that has one."""
        return next((found[-1] for folder in folders if (found := find_index_files(folder))), None)

    def checkpoint_for(self, config: ProjectorConfig, folder: Path, where: str) -> Path | None:
        """Return the checkpoint that a configuration names, else the latest of its folder or of the parent folder."""
        if config.model_checkpoint_path:
            try:
                path = _resolve_inside(self.top, folder, config.model_checkpoint_path + INDEX_SUFFIX.encode(), where)
            except FileRefused as refused:
                self.notices.append(refused.notice)
            else:
                if is_index_file(path):
                    return path
        above = folder.parent if folder != self.top else folder
        return self.latest_checkpoint((folder, above))

    def checkpoint_embeddings(self, run: str, index: Path | None) -> Iterator[Embedding]:
        """Yield the embeddings of a checkpoint; none, with a notice, if it cannot be read."""
        if index is not None:
            try:
                yield from _embeddings_of_checkpoint(
                    run, _resolve_inside(self.top, index.parent, index.name.encode(), run)
                )
            except FileRefused as refused:
                self.notices.append(refused.notice)
            except ReadError as error:
                self.notices.append(Notice("checkpoint", str(error), run))


def _tsv_pairs(names: Iterable[str]) -> Iterator[tuple[str, str | None]]:
    """Yield each TSV file of points with its metadata; None for `tensors.tsv` alone.

    >>> list(_tsv_pairs(["a_tensor.tsv", "a_metadata.tsv", "other_vectors.tsv", "tensors.tsv"]))
    [('a_tensor.tsv', 'a_metadata.tsv'), ('tensors.tsv', None)]
    """
    names = sorted(names)
    metadata = {found[1]: name for name in names if (found := METADATA_NAME.fullmatch(name))}
    for name in names:
        found = POINTS_NAME.fullmatch(name)
        if found and (found[1] in metadata or name == TENSORS_FILE):
            yield name, metadata.get(found[1])


def _embedding_of_file(run: str, name: str, path: Path, shape: tuple[int, ...]) -> Embedding:
    """Return the embedding in a file: float32 if it has the bytes of its shape, else text. Raises ReadError."""
    size = path.stat().st_size
    if len(shape) == 2 and all(shape) and size == 4 * prod(shape) and path.suffix.lower() != ".tsv":
        _check_dimensions(shape[1], name)
        return Embedding(run, name, EmbeddingForm.BINARY, *shape, path)
    points, dimensions = _text_extent(path, path.stat().st_mtime_ns, size)
    _check_dimensions(dimensions, name)
    return Embedding(run, name, EmbeddingForm.TEXT, points, dimensions, path)


def _check_dimensions(dimensions: int, name: str) -> None:
    """Raise ReadError for too many dimensions."""
    if dimensions > MAX_EMBEDDING_DIMENSIONS:
        raise ReadError(f"'{name[:80]}' has {dimensions:,} dimensions; {MAX_EMBEDDING_DIMENSIONS:,} are read")


def _embeddings_of_checkpoint(run: str, index: Path) -> list[Embedding]:
    """Return the variables of a checkpoint with two axes, optimizer state excluded. Raises ReadError."""
    status = index.stat()
    return [replace(embedding, run=run) for embedding in stored_embeddings(index, status.st_mtime_ns, status.st_size)]


@lru_cache(MAX_CACHED_FILES)
def stored_embeddings(index: Path, changed: int, size: int) -> tuple[Embedding, ...]:
    """Return the embeddings of a checkpoint, without a run; cached while the file is unchanged. Raises ReadError."""
    tensors = [tensor for tensor in read_checkpoint(index).tensors if _may_be_embedding(tensor)]
    names = read_full_names(index) if tensors else {}
    return tuple(
        Embedding(
            "", one.name, EmbeddingForm.CHECKPOINT, one.shape[0], one.shape[1], index, full_name=names.get(one.name, "")
        )
        for one in tensors
    )


def _may_be_embedding(tensor: StoredTensor) -> bool:
    """Return whether the rows of a stored tensor may be points."""
    name, shape = tensor.name, tensor.shape
    return (
        tensor.dtype in EMBEDDING_DTYPES
        and len(shape) == 2
        and shape[0] >= MIN_EMBEDDING_POINTS
        and 2 <= shape[1] <= MAX_EMBEDDING_DIMENSIONS
        and not any(word in name for word in OPTIMIZER_STATE_PARTS)
        and not name.endswith(SLOT_SUFFIXES)
    )


class FileRefused(Exception):
    """A file that a log names is not read; `notice` says why."""

    def __init__(self, code: str, message: str, where: str) -> None:
        super().__init__(message)
        self.notice = Notice(code, message, where)


def _resolve_inside(top: Path, folder: Path, named: bytes, where: str) -> Path:
    """Resolve `named` in a folder of the source `top`. Raises FileRefused for anything but a file inside the source.

    Names are not trusted: `..`, an absolute path or a link that leads out of the source is refused.
    """
    word = named.decode("utf-8", "replace")
    try:
        path = Path(os.path.realpath(folder / os.fsdecode(named)))
        is_file = path.is_file()
    except (OSError, ValueError):  # a name that is too long, or contains a NUL
        raise FileRefused(
            "no-file", f"{where} names {word[:SHOWN_PATH_LETTERS]!r}, which no file can be called", where
        ) from None
    if not path.is_relative_to(os.path.realpath(top)):
        raise FileRefused(
            "outside",
            f"{where} names {word[:SHOWN_PATH_LETTERS]!r}, which is outside of the log: it is not read",
            where,
        )
    if not is_file:
        raise FileRefused("no-file", f"{where} names {word[:SHOWN_PATH_LETTERS]!r}, and there is no such file", where)
    return path


# Embeddings of a source: tensors that a configuration names, files, and variables of checkpoints.
