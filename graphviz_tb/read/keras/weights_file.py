"""Names and weight shapes of the layers in a `.keras` archive (`model.weights.h5`), without values.

Keras files each layer's variables under the objects that hold it (`block/mlp/layers/dense/vars/0`), with its name in an
attribute of `vars`. HDF5 is read by h5py, an optional dependency (only a model whose JSON has no layers needs it), in a
separate process (`hdf5_items.py`).
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

from graphviz_tb.limits import HDF5_SECONDS
from graphviz_tb.read.opened import Opened
from graphviz_tb.read.zipped import BROKEN, blocks, first_byte

WEIGHTS = "model.weights.h5"
VARIABLES = "vars"
NOT_LAYERS = ("optimizer", "metrics")  # at the root: optimizer slots, and metrics
INSTALL = "pip install h5py"  # the extra `keras`, named so that it also helps if our package is on no index
MEAN = [(), ()]  # weights of a metric: a total and a count
PROGRAM = Path(__file__).with_name("hdf5_items.py")


@dataclass(slots=True)
class Kept:
    """One object in the file: its name, and the shapes of the variables directly in it."""

    name: str
    shapes: list[tuple[int, ...]] = field(default_factory=list)


StoredWeights = Mapping[str, Kept]  # by object path; "" is the model
StoredItem = tuple[str, list[int] | None, str | None]


class StoredFile(TypedDict):
    """Content of a Keras HDF5 file: JSON of the model, JSON of its compilation, and the items."""

    model_config: str | None
    training_config: str | None
    items: list[StoredItem]


class UnreadWeights(Exception):
    """The weights could not be read; the message says why."""


def readable() -> bool:
    """Return whether h5py is installed."""
    return find_spec("h5py") is not None


def kept(archive: zipfile.ZipFile, opened: Opened) -> StoredWeights:
    """Return the objects of an archive by path, in numeric order; "" is the model. Empty without h5py or weights.

    Raises UnreadWeights if the weights are damaged, TooLarge if they unpack to more than the source may hold."""
    if WEIGHTS not in archive.namelist() or not readable():
        return {}
    objects: dict[str, Kept] = {}
    for path, shape, name in stored_items(archive, opened):
        around, _, last = path.rpartition("/")
        if shape is None and last == VARIABLES:
            owner_object = objects.setdefault(around, Kept(around.rpartition("/")[2]))
            owner_object.name = name or owner_object.name
        elif shape is not None and (around == VARIABLES or around.endswith(f"/{VARIABLES}")):
            owner = around.removesuffix(VARIABLES).removesuffix("/")
            objects.setdefault(owner, Kept(owner.rpartition("/")[2])).shapes.append(tuple(shape))
    return {path: objects[path] for path in sorted(objects, key=natural) if layer_like(path, objects[path])}


def stored_items(archive: zipfile.ZipFile, opened: Opened) -> list[StoredItem]:
    """List path, shape (None: a group) and name of each item of the weights file."""
    with on_disk(archive, opened) as (path, first, size):
        return stored(path, first, size)["items"]


def stored(path: Path, first: int, size: int) -> StoredFile:
    """Read an HDF5 file of `size` bytes that begins at byte `first` of `path`. Raises UnreadWeights."""
    try:
        command = [sys.executable, str(PROGRAM), str(path), str(first), str(size)]
        done = subprocess.run(command, capture_output=True, timeout=HDF5_SECONDS, check=True, stdin=subprocess.DEVNULL)
        found: StoredFile = json.loads(done.stdout)
    except subprocess.TimeoutExpired:
        raise UnreadWeights(f"reading them takes more than {HDF5_SECONDS} seconds") from None
    except (subprocess.SubprocessError, OSError, ValueError):
        raise UnreadWeights("they are damaged") from None
    return found


@contextmanager
def on_disk(archive: zipfile.ZipFile, opened: Opened) -> Iterator[tuple[Path, int, int]]:
    """Yield the file with the weights, their first byte in it, and their size; compressed weights, and those of an
    archive in memory, are written to a temporary file."""
    info = archive.getinfo(WEIGHTS)
    # Stored uncompressed: h5py reads it inside the archive, without a copy of gigabytes.
    if info.compress_type == zipfile.ZIP_STORED and archive.filename:
        yield Path(archive.filename), first_byte(archive, info), info.file_size
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "weights.h5")
        try:
            with path.open("wb") as out:
                out.writelines(blocks(archive, WEIGHTS, opened, opened.limit))
        except BROKEN as error:
            if isinstance(error, OSError) and error.errno:  # of the machine, such as a full disk
                raise
            raise UnreadWeights(f"they are damaged: {error}") from None
        yield path, 0, path.stat().st_size


def layer_like(path: str, kept_object: Kept) -> bool:
    """Return whether an object may be a layer: not an optimizer, a seed generator or a metric."""
    first, last = path.partition("/")[0], path.rpartition("/")[2]
    return first not in NOT_LAYERS and not last.startswith("seed_generator") and kept_object.shapes != MEAN


def natural(path: str) -> list[tuple[str, int]]:
    """Sort key by the numbers that Keras appends: dense_2 before dense_10.

    >>> sorted(["dense_10", "dense_2", "dense"], key=natural)
    ['dense', 'dense_2', 'dense_10']
    """
    parts = (re.fullmatch(r"(.*?)(?:_([0-9]{1,9}))?", part, re.DOTALL) for part in path.split("/"))
    return [(part[1], int(part[2] or -1)) for part in parts if part]
