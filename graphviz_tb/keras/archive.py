"""Read zip files: `.keras` archives and programs of `torch.export`; refuse others."""

from __future__ import annotations

import io
import zipfile
from contextlib import ExitStack
from functools import partial

from graphviz_tb.errors import UnknownFormat
from graphviz_tb.formats.contents import SourceContents, SourceItem
from graphviz_tb.formats.detect import EXPORT_HINT
from graphviz_tb.formats.torch_export import is_export_archive, read_export_archive
from graphviz_tb.limits import MAX_CONFIG_BYTES, MAX_GRAPH_BYTES
from graphviz_tb.model.sources import SourceEntry
from graphviz_tb.options import ReadOptions
from graphviz_tb.sources.streams import OpenedSource
from graphviz_tb.sources.zip_members import ARCHIVE_ERRORS, archive_error, member_blocks

KERAS_CONFIG_NAME = "config.json"


def read_archive(opened: OpenedSource, options: ReadOptions) -> SourceContents:
    """Read the Keras model in a zip file as a conceptual graph."""
    with ExitStack() as closing:
        # Only unpacking is in the `try`: errors in the model's JSON have their own messages.
        try:
            archive = closing.enter_context(zipfile.ZipFile(opened.path or io.BytesIO(opened.data())))
            exported = is_export_archive(archive.namelist())
            data, on_disk = (b"", None) if exported else _read_archive_config(archive, opened)
        except ARCHIVE_ERRORS as error:
            raise archive_error(opened.name, error) from None
        if exported:
            closing.pop_all()  # programs are read later, when they are chosen
            return read_export_archive(opened, archive)
        from graphviz_tb.keras.model import conceptual_graph
        from graphviz_tb.keras.weights import archive_weights

        content = conceptual_graph(data, opened.name, partial(archive_weights, archive, opened), on_disk)
    entry = SourceEntry("conceptual", bytes=len(data), format="Keras archive")
    return SourceContents((SourceItem(entry, lambda: content),), what=opened.name)


def _read_archive_config(archive: zipfile.ZipFile, opened: OpenedSource) -> tuple[bytes, int | None]:
    """Return the model's JSON, and its compressed size if that limits the source."""
    names = set(archive.namelist())
    if KERAS_CONFIG_NAME not in names:
        raise _unknown_archive_error(opened.name, names)
    data = b"".join(
        member_blocks(archive, KERAS_CONFIG_NAME, opened, MAX_CONFIG_BYTES if opened.bounded else MAX_GRAPH_BYTES)
    )
    return data, archive.getinfo(KERAS_CONFIG_NAME).compress_size if opened.bounded else None


def _unknown_archive_error(name: str, names: set[str]) -> UnknownFormat:
    """Return an error with the kind of the archive and a hint."""
    ends = {name.rpartition("/")[2] for name in names}
    if "constants.pkl" in ends or "data.pkl" in ends:
        what, hint = "a TorchScript or PyTorch archive", EXPORT_HINT
    elif "saved_model.pb" in ends:
        what, hint = "a zip with a SavedModel in it", "unpack it and give the folder"
    elif any(end.endswith(".npy") for end in ends):
        what, hint = "a NumPy archive", "it holds arrays, no graph"
    else:
        what, hint = "a zip archive without a model", "unpack it and give what is in it"
    return UnknownFormat(f"{name} is {what}, not a graph", hint=hint)
