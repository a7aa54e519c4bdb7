"""Read the names and weight shapes of the layers in a `.keras` archive (`model.weights.h5`), without values.

A layer's variables are under the path of its object (`block/mlp/layers/dense/vars/0`), and its name is an attribute of
`vars`. HDF5 is read by h5py, an optional dependency, in a separate process (`hdf5_items.py`).
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TypedDict

from graphviz_tb.extras import install_line
from graphviz_tb.limits import MAX_HDF5_SECONDS
from graphviz_tb.sources.streams import OpenedSource
from graphviz_tb.sources.zip_members import ARCHIVE_ERRORS, member_blocks, member_data_offset

ARCHIVE_WEIGHTS = "model.weights.h5"
VARIABLES_GROUP = "vars"
NON_LAYER_GROUPS = ("optimizer", "metrics")  # groups at the root
INSTALL_H5PY = install_line("h5py")
METRIC_SHAPES = [(), ()]  # variables of a metric: a total and a count
HDF5_PROGRAM = Path(__file__).with_name("hdf5_items.py")


@dataclass(slots=True)
class StoredObject:
    """An object in the file: its name, and the shapes of the variables directly in it."""

    name: str
    shapes: list[tuple[int, ...]] = field(default_factory=list)


StoredWeights = Mapping[str, StoredObject]  # by object path; "" is the model
StoredItem = tuple[str, list[int] | None, str | None]


class StoredFile(TypedDict):
    """Content of a Keras HDF5 file: JSON of the model, JSON of its compilation, and the items."""

    model_config: str | None
    training_config: str | None
    items: list[StoredItem]


class UnreadWeights(Exception):
    """The weights could not be read; the message says why."""


def has_h5py() -> bool:
    return find_spec("h5py") is not None


def archive_weights(archive: zipfile.ZipFile, opened: OpenedSource) -> StoredWeights:
    """Return the objects of an archive by path, in numeric order; "" is the model. Empty without h5py or weights.

    Raises UnreadWeights if the weights are damaged, TooLarge if their unpacked size exceeds the limit."""
    if ARCHIVE_WEIGHTS not in archive.namelist() or not has_h5py():
        return {}
    objects: dict[str, StoredObject] = {}
    for path, shape, name in _archive_items(archive, opened):
        folder, _, item = path.rpartition("/")
        if shape is None and item == VARIABLES_GROUP:
            owner_object = objects.setdefault(folder, StoredObject(folder.rpartition("/")[2]))
            owner_object.name = name or owner_object.name
        elif shape is not None and (folder == VARIABLES_GROUP or folder.endswith(f"/{VARIABLES_GROUP}")):
            owner = folder.removesuffix(VARIABLES_GROUP).removesuffix("/")
            objects.setdefault(owner, StoredObject(owner.rpartition("/")[2])).shapes.append(tuple(shape))
    return {path: objects[path] for path in sorted(objects, key=_keras_order) if _is_layer_object(path, objects[path])}


def _archive_items(archive: zipfile.ZipFile, opened: OpenedSource) -> list[StoredItem]:
    """List path, shape (None: a group) and name of each item of the weights file."""
    with _weights_on_disk(archive, opened) as (path, first, size):
        return read_hdf5(path, first, size)["items"]


def read_hdf5(path: Path, first: int, size: int) -> StoredFile:
    """Read an HDF5 file of `size` bytes that begins at byte `first` of `path`. Raises UnreadWeights."""
    try:
        command = [sys.executable, str(HDF5_PROGRAM), str(path), str(first), str(size)]
        done = subprocess.run(
            command, capture_output=True, timeout=MAX_HDF5_SECONDS, check=True, stdin=subprocess.DEVNULL
        )
        found: StoredFile = json.loads(done.stdout)
    except subprocess.TimeoutExpired:
        raise UnreadWeights(f"reading them takes more than {MAX_HDF5_SECONDS} seconds") from None
    except (subprocess.SubprocessError, OSError, ValueError):
        raise UnreadWeights("they are damaged") from None
    # On Windows, Keras joined paths with "\".
    found["items"] = [(path.replace("\\", "/"), shape, name) for path, shape, name in found["items"]]
    return found


@contextmanager
def _weights_on_disk(archive: zipfile.ZipFile, opened: OpenedSource) -> Iterator[tuple[Path, int, int]]:
    """Yield the file with the weights, their first byte in it, and their size; compressed weights, and those of an
    archive in memory, are written to a temporary file."""
    info = archive.getinfo(ARCHIVE_WEIGHTS)
    # h5py can read uncompressed weights inside the archive, without a copy of gigabytes.
    if info.compress_type == zipfile.ZIP_STORED and archive.filename:
        yield Path(archive.filename), member_data_offset(archive, info), info.file_size
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "weights.h5")
        try:
            with path.open("wb") as out:
                out.writelines(member_blocks(archive, ARCHIVE_WEIGHTS, opened, opened.limit))
        except ARCHIVE_ERRORS as error:
            if isinstance(error, OSError) and error.errno:  # an error of the machine, such as a full disk
                raise
            raise UnreadWeights(f"they are damaged: {error}") from None
        yield path, 0, path.stat().st_size


def _is_layer_object(path: str, kept_object: StoredObject) -> bool:
    """Return whether an object may be a layer: not an optimizer, a seed generator or a metric."""
    first, last = path.partition("/")[0], path.rpartition("/")[2]
    return (
        first not in NON_LAYER_GROUPS and not last.startswith("seed_generator") and kept_object.shapes != METRIC_SHAPES
    )


def _keras_order(path: str) -> list[tuple[str, int]]:
    """Sort key by the numbers that Keras appends: dense_2 before dense_10.

    >>> sorted(["dense_10", "dense_2", "dense"], key=_keras_order)
    ['dense', 'dense_2', 'dense_10']
    """
    parts = (re.fullmatch(r"(.*?)(?:_([0-9]{1,9}))?", part, re.DOTALL) for part in path.split("/"))
    return [(part[1], int(part[2] or -1)) for part in parts if part]
