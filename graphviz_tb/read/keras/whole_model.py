"""HDF5 files with a whole Keras model, as `model.save("model.h5")` writes them.

The model's JSON is an attribute of the root. Weights are filed under their layer in the outermost model, by the name of
the variable: `model_weights/inner/gamma/alpha:0` belongs to the layer "gamma" in the model "inner". The scopes around
the layer may precede it: `model_weights/dense/sequential/dense/kernel`.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable
from contextlib import ExitStack, suppress
from pathlib import Path

from graphviz_tb.errors import UnknownFormat
from graphviz_tb.limits import MAX_CONFIG_BYTES
from graphviz_tb.model.loaded import SourceEntry
from graphviz_tb.options import ReadOptions
from graphviz_tb.read.holding import SourceContents, SourceItem
from graphviz_tb.read.keras.weights_file import (
    INSTALL_H5PY,
    StoredItem,
    StoredObject,
    StoredWeights,
    UnreadWeights,
    has_h5py,
    read_hdf5,
)
from graphviz_tb.read.keras_model import conceptual_graph
from graphviz_tb.read.limits import check_json_memory
from graphviz_tb.read.opened import OpenedSource, too_large_error

OTHER_FORMATS_HINT = "save the model in the .keras format, as a SavedModel, or write model.to_json() to a file"
WEIGHTS_GROUP = "model_weights/"
MAX_VARIABLE_SCOPES = 32  # scopes of a variable that are distinguished: layers are never nested deeper


def read_hdf5_model(opened: OpenedSource, options: ReadOptions) -> SourceContents:
    """Return the conceptual graph of the Keras model in an HDF5 file; of weights only shapes are read."""
    if not has_h5py():
        raise UnknownFormat(
            f"{opened.name} is an HDF5 file, which is read with h5py", hint=f"{INSTALL_H5PY}, or {OTHER_FORMATS_HINT}"
        )
    with ExitStack() as closing:
        path = opened.path
        if path is None:
            path = Path(closing.enter_context(tempfile.TemporaryDirectory()), "model.h5")
            path.write_bytes(opened.data())
        size = path.stat().st_size
        if size > opened.limit:
            raise too_large_error(opened.name, opened.limit)
        try:
            file = read_hdf5(path, 0, size)
        except UnreadWeights as error:
            text = f"{opened.name} is an HDF5 file, and its weights could not be read: {error}"
            raise UnknownFormat(text, hint="copy or download it once more") from None
    config = file["model_config"]
    if config is None:
        raise UnknownFormat(
            f"{opened.name} is an HDF5 file without a Keras model: weights only?", hint=OTHER_FORMATS_HINT
        )
    compiled = file["training_config"] or "null"
    if len(config) + len(compiled) > MAX_CONFIG_BYTES:
        raise too_large_error(f"the JSON in {opened.name}", MAX_CONFIG_BYTES)
    on_disk = size if opened.bounded else None
    if on_disk is not None:  # before any of it is parsed
        check_json_memory(f"{config}{compiled}".encode(), on_disk, opened.name)
    data = f'{{"model_config": {config}, "training_config": {valid_json_or_null(compiled)}}}'.encode()
    # Weights are filed on demand, for layers whose parameters no rule counts.
    content = conceptual_graph(data, opened.name, lambda: file_by_layer(file["items"], outermost_name(config)), on_disk)
    entry = SourceEntry("conceptual", bytes=len(data), format="Keras HDF5 file")
    return SourceContents((SourceItem(entry, lambda: content),), what=opened.name)


def valid_json_or_null(text: str) -> str:
    """Return a text if it is JSON, else "null": a model is drawn even if its compile settings are damaged."""
    with suppress(ValueError, RecursionError):
        json.loads(text)
        return text
    return "null"


def outermost_name(config: str) -> str:
    """Return the name of the outermost model; "" if its JSON states none."""
    with suppress(ValueError, RecursionError, KeyError, TypeError):
        return str(json.loads(config)["config"]["name"])
    return ""


def file_by_layer(items: Iterable[StoredItem], root: str = "") -> StoredWeights:
    """File the shapes of variables by layer, as a `.keras` archive does; `root` is the model's name.

    >>> found = file_by_layer(
    ...     [("model_weights/in/gamma/a:0", [3], None), ("model_weights/d/m/d/kernel", [2, 4], None)], "m"
    ... )
    >>> {path: kept.shapes for path, kept in found.items()}
    {'layers/in': [], 'layers/in/layers/gamma': [(3,)], 'layers/d': [(2, 4)]}
    """
    layers: dict[str, StoredObject] = {}
    for path, shape, _ in items:
        if shape is None or not path.startswith(WEIGHTS_GROUP):
            continue
        layer, *scopes = path.removeprefix(WEIGHTS_GROUP).split("/")[:-1] or [""]
        # Names of variables begin with model and layer, or the layer only, or neither.
        around = next((begin for begin in ([root, layer], [layer]) if scopes[: len(begin)] == begin), [])
        place = f"layers/{layer}"
        layers.setdefault(place, StoredObject(layer))
        for name in scopes[len(around) :][:MAX_VARIABLE_SCOPES]:
            place = f"{place}/layers/{name}"
            layers.setdefault(place, StoredObject(name))
        layers[place].shapes.append(tuple(shape))
    return layers
