"""Zip files: a `.keras` archive holds a model's JSON; other archives are recognised and refused."""

from __future__ import annotations

import io
import zipfile
import zlib

from graphviz_tb.errors import TooLarge, UnknownFormat
from graphviz_tb.model.loaded import Entry
from graphviz_tb.options import ReadOptions
from graphviz_tb.read.holding import Found, Holding
from graphviz_tb.read.keras_model import conceptual_graph
from graphviz_tb.read.opened import Opened

CONFIG = "config.json"
CONFIG_LIMIT = 256 << 20  # of the JSON, unpacked


def read_archive(opened: Opened, options: ReadOptions) -> Holding:
    """Before: a zip file. After: the conceptual graph of the Keras model in it."""
    try:
        with zipfile.ZipFile(opened.path or io.BytesIO(opened.data())) as archive:
            names = set(archive.namelist())
            if CONFIG not in names:
                raise _refused(opened.name, names)
            data = _unpacked(archive, opened.name)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError) as error:
        raise UnknownFormat(f"{opened.name}: a broken zip archive: {error}") from None
    content = conceptual_graph(data, opened.name)
    entry = Entry("conceptual", bytes=len(data), format="Keras archive")
    return Holding((Found(entry, lambda: content),), what=opened.name)


def _unpacked(archive: zipfile.ZipFile, name: str) -> bytes:
    with archive.open(CONFIG) as member:
        data = member.read(CONFIG_LIMIT + 1)
    if len(data) > CONFIG_LIMIT:
        raise TooLarge(f"{name}: {CONFIG} unpacks to more than {CONFIG_LIMIT:,} bytes")
    return data


def _refused(name: str, names: set[str]) -> UnknownFormat:
    """The sentence that says what the archive is and what to do."""
    ends = {each.rpartition("/")[2] for each in names}
    if "constants.pkl" in ends or "data.pkl" in ends:
        what = "a TorchScript or PyTorch archive"
        hint = "write the graph with SummaryWriter.add_graph and give the log folder"
    elif "saved_model.pb" in ends:
        what, hint = "a zip with a SavedModel in it", "unpack it and give the folder"
    elif any(each.endswith(".npy") for each in ends):
        what, hint = "a NumPy archive", "it holds arrays, no graph"
    else:
        what, hint = "a zip archive without a Keras model", "unpack it and give what is in it"
    return UnknownFormat(f"{name} is {what}, not a graph", hint=hint)
