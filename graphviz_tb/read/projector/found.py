"""Find the embeddings of a source. A path that a log names is followed only to files inside the source."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from math import prod
from pathlib import Path

from graphviz_tb.errors import ReadError
from graphviz_tb.limits import MAX_EMBEDDING_DIMENSIONS, MAX_LISTED_EMBEDDINGS, MIN_EMBEDDING_POINTS
from graphviz_tb.model.checkpoint import StoredTensor
from graphviz_tb.model.embeddings import Embedding, EmbeddingForm, Embeddings, Sprite
from graphviz_tb.model.notice import Notice
from graphviz_tb.proto import EmbeddingInfo, ProjectorConfig
from graphviz_tb.read.checkpoint import INDEX_SUFFIX, find_index_files, is_index_file, read_checkpoint
from graphviz_tb.read.checkpoint.full_names import read_full_names
from graphviz_tb.read.projector.config import PROJECTOR_CONFIG, read_projector_config, tensor_name
from graphviz_tb.read.projector.values import EMBEDDING_DTYPES, MAX_CACHED_FILES, text_extent
from graphviz_tb.read.walk import list_files_below

TENSORS_FILE, METADATA_FILE = "tensors.tsv", "metadata.tsv"  # as torch calls them
# Names of optimizer state, which has the shape of a variable: of tf.train.Checkpoint, and of Keras 3.
OPTIMIZER_STATE_PARTS = (".OPTIMIZER_SLOT", "optimizer/_variables/", "optimizer/_momentums/", "optimizer/_velocities/")
SLOT_SUFFIXES = ("/Adam", "/Adam_1", "/Momentum", "/Adagrad", "/RMSProp", "/RMSProp_1", "/Adadelta", "/Ftrl", "/Ftrl_1")
SHOWN_PATH_LETTERS = 120  # letters of a path in a notice


def find_embeddings(source: Path) -> Embeddings:
    """Find the embeddings of a log directory, or of one checkpoint (an index, or the prefix of its files).

    Tensors in event files are not included. Raises ReadError if the source cannot be listed.
    """
    if not source.is_dir():
        indexes = find_index_files(source)
        return Embeddings(tuple(embeddings_of_checkpoint(".", indexes[-1])) if indexes else ())
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
            known = {each.name for each in named}
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
        config, notices = read_projector_config(path, where)
        self.notices += notices
        infos = {tensor_name(info): info for info in config.embeddings}
        stored = {
            each.name: each for each in self.checkpoint_embeddings(run, self.checkpoint_for(config, path.parent, where))
        }
        # As in TensorBoard, an entry without a name applies to all tensors of the checkpoint.
        whole = infos.pop("", None) if stored else None
        out = []
        for name, info in infos.items():
            one = self.named_embedding(run, name, info, path.parent, where, stored.pop(name, None))
            out += [one] if one is not None else []
        for one in stored.values():
            out.append(one if whole is None else self.add_metadata(one, whole, path.parent, where))
        return out

    def named_embedding(
        self, run: str, name: str, info: EmbeddingInfo, folder: Path, where: str, stored: Embedding | None
    ) -> Embedding | None:
        """Return one tensor that a configuration names; None, with a notice, if it cannot be read."""
        one = stored
        if info.tensor_path:
            try:
                path = resolve_inside(self.top, folder, info.tensor_path, where)
                one = embedding_of_file(run, name or path.name, path, tuple(info.tensor_shape))
                self.used.add(path)
            except FileRefused as refused:
                self.notices.append(refused.notice)
                return None
            except ReadError as error:
                self.notices.append(Notice("embedding", f"'{name[:80]}' cannot be read: {error}", where))
                return None
        if one is None:
            text = f"{where} names the tensor '{name[:80]}', which no checkpoint of the log holds"
            self.notices.append(Notice("embedding", text, where))
            return None
        return self.add_metadata(one, info, folder, where)

    def add_metadata(self, one: Embedding, info: EmbeddingInfo, folder: Path, where: str) -> Embedding:
        """Add the metadata and the sprite that a configuration names to an embedding."""
        metadata, sprite = None, None
        try:
            metadata = resolve_inside(self.top, folder, info.metadata_path, where) if info.metadata_path else None
        except FileRefused as refused:
            self.notices.append(refused.notice)
        try:
            if info.sprite.image_path:
                width, height, *_ = [*info.sprite.single_image_dim, 0, 0]
                path = resolve_inside(self.top, folder, info.sprite.image_path, where)
                sprite = Sprite(path, (width, height or width)) if width else None
        except FileRefused as refused:
            self.notices.append(refused.notice)
        return replace(one, metadata=metadata, sprite=sprite)

    def unconfigured_embeddings(self, run: str, paths: list[Path]) -> Iterator[Embedding]:
        """Yield the `tensors.tsv` (torch's name) of a folder, unless a configuration names it."""
        names = {path.name: path for path in paths}
        if TENSORS_FILE not in names or Path(names[TENSORS_FILE]).resolve() in self.used:
            return
        try:
            path = resolve_inside(self.top, names[TENSORS_FILE].parent, TENSORS_FILE.encode(), run)
            metadata = (
                resolve_inside(self.top, path.parent, METADATA_FILE.encode(), run) if METADATA_FILE in names else None
            )
            yield replace(embedding_of_file(run, TENSORS_FILE, path, ()), metadata=metadata)
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
                path = resolve_inside(self.top, folder, config.model_checkpoint_path + INDEX_SUFFIX.encode(), where)
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
                yield from embeddings_of_checkpoint(
                    run, resolve_inside(self.top, index.parent, index.name.encode(), run)
                )
            except FileRefused as refused:
                self.notices.append(refused.notice)
            except ReadError as error:
                self.notices.append(Notice("checkpoint", str(error), run))


def embedding_of_file(run: str, name: str, path: Path, shape: tuple[int, ...]) -> Embedding:
    """Return the embedding in a file: float32 if it has the bytes of its shape, else text. Raises ReadError."""
    size = path.stat().st_size
    if len(shape) == 2 and all(shape) and size == 4 * prod(shape) and path.suffix.lower() != ".tsv":
        check_dimensions(shape[1], name)
        return Embedding(run, name, EmbeddingForm.BINARY, *shape, path)
    points, dimensions = text_extent(path, path.stat().st_mtime_ns, size)
    check_dimensions(dimensions, name)
    return Embedding(run, name, EmbeddingForm.TEXT, points, dimensions, path)


def check_dimensions(dimensions: int, name: str) -> None:
    """Raise ReadError for too many dimensions."""
    if dimensions > MAX_EMBEDDING_DIMENSIONS:
        raise ReadError(f"'{name[:80]}' has {dimensions:,} dimensions; {MAX_EMBEDDING_DIMENSIONS:,} are read")


def embeddings_of_checkpoint(run: str, index: Path) -> list[Embedding]:
    """Return the variables of a checkpoint with two axes, optimizer state excluded. Raises ReadError."""
    status = index.stat()
    return [replace(one, run=run) for one in stored_embeddings(index, status.st_mtime_ns, status.st_size)]


@lru_cache(MAX_CACHED_FILES)
def stored_embeddings(index: Path, changed: int, size: int) -> tuple[Embedding, ...]:
    """Return the embeddings of a checkpoint, without a run; cached while the file is unchanged. Raises ReadError."""
    tensors = [each for each in read_checkpoint(index).tensors if may_be_embedding(each)]
    names = read_full_names(index) if tensors else {}
    return tuple(
        Embedding(
            "", one.name, EmbeddingForm.CHECKPOINT, one.shape[0], one.shape[1], index, full_name=names.get(one.name, "")
        )
        for one in tensors
    )


def may_be_embedding(tensor: StoredTensor) -> bool:
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


def resolve_inside(top: Path, folder: Path, named: bytes, where: str) -> Path:
    """Resolve `named` in a folder of the source `top`. Raises FileRefused for anything but a file inside the source.

    Names are not trusted: `..`, an absolute path or a link that leads out of the source is refused.
    """
    word = named.decode("utf-8", "replace")
    try:
        path = Path(os.path.realpath(folder / os.fsdecode(named)))
        there = path.is_file()
    except (OSError, ValueError):  # a name that is too long, or has a zero in it
        raise FileRefused(
            "no-file", f"{where} names {word[:SHOWN_PATH_LETTERS]!r}, which no file can be called", where
        ) from None
    if not path.is_relative_to(os.path.realpath(top)):
        raise FileRefused(
            "outside",
            f"{where} names {word[:SHOWN_PATH_LETTERS]!r}, which is outside of the log: it is not read",
            where,
        )
    if not there:
        raise FileRefused("no-file", f"{where} names {word[:SHOWN_PATH_LETTERS]!r}, and there is no such file", where)
    return path
