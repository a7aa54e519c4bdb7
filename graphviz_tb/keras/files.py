"""Read Keras models from HDF5 files, and from `keras_metadata.pb` next to a SavedModel."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

from graphviz_tb.errors import MalformedProto, NoGraph, UnknownFormat
from graphviz_tb.formats.contents import GraphContent, SourceContents, SourceItem
from graphviz_tb.formats.protobuf import BYTES_TYPE, CutError, wire_fields
from graphviz_tb.keras.model import conceptual_graph
from graphviz_tb.keras.objects import LayerJson, nest_layers
from graphviz_tb.keras.weights import (
    INSTALL_H5PY,
    StoredItem,
    StoredObject,
    StoredWeights,
    UnreadWeights,
    has_h5py,
    read_hdf5,
)
from graphviz_tb.limits import MAX_CONFIG_BYTES
from graphviz_tb.model.sources import SourceEntry
from graphviz_tb.options import ReadOptions
from graphviz_tb.sources.bounds import check_json_memory, is_nested_too_deep
from graphviz_tb.sources.streams import OpenedSource, open_path, too_large_error

# HDF5 files with a whole Keras model, as `model.save("model.h5")` writes them.
#
# The model's JSON is an attribute of the root. Weights are under the layer of the outermost model, by the name of the
# variable: `model_weights/inner/gamma/alpha:0` belongs to the layer "gamma" in the model "inner". The name may begin
# with the scopes around the layer: `model_weights/dense/sequential/dense/kernel`.

OTHER_FORMATS_HINT = "save the model in the .keras format, as a SavedModel, or write model.to_json() to a file"
WEIGHTS_GROUP = "model_weights/"
MAX_VARIABLE_SCOPES = 32  # scopes of a variable beyond these are ignored


def read_hdf5_model(opened: OpenedSource, options: ReadOptions) -> SourceContents:
    """Return the conceptual graph of the Keras model in an HDF5 file. Only shapes of weights are read."""
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
            raise UnknownFormat(text, hint="copy or download it again") from None
    config = file["model_config"]
    if config is None:
        raise UnknownFormat(
            f"{opened.name} is an HDF5 file without a Keras model: weights only?", hint=OTHER_FORMATS_HINT
        )
    compiled = file["training_config"] or "null"
    if len(config) + len(compiled) > MAX_CONFIG_BYTES:
        raise too_large_error(f"the JSON in {opened.name}", MAX_CONFIG_BYTES)
    on_disk = size if opened.bounded else None
    if on_disk is not None:  # before parsing
        check_json_memory(f"{config}{compiled}".encode(), on_disk, opened.name)
    data = f'{{"model_config": {config}, "training_config": {_valid_json_or_null(compiled)}}}'.encode()
    # Weights are read on demand, for layers whose parameters no rule counts.
    content = conceptual_graph(
        data, opened.name, lambda: _file_by_layer(file["items"], _outermost_name(config)), on_disk
    )
    entry = SourceEntry("conceptual", bytes=len(data), format="Keras HDF5 file")
    return SourceContents((SourceItem(entry, lambda: content),), what=opened.name)


def _valid_json_or_null(text: str) -> str:
    """Return a text if it is JSON, else "null": damaged compile settings are ignored."""
    with suppress(ValueError, RecursionError):
        json.loads(text)
        return text
    return "null"


def _outermost_name(config: str) -> str:
    """Return the name of the outermost model; "" if its JSON states none."""
    with suppress(ValueError, RecursionError, KeyError, TypeError):
        return str(json.loads(config)["config"]["name"])
    return ""


def _file_by_layer(items: Iterable[StoredItem], root: str = "") -> StoredWeights:
    """Return the shapes of variables by layer, as in a `.keras` archive; `root` is the model's name.

    >>> found = _file_by_layer(
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
        # Names of variables begin with model and layer, with the layer, or with neither.
        prefix = next((start for start in ([root, layer], [layer]) if scopes[: len(start)] == start), [])
        object_path = f"layers/{layer}"
        layers.setdefault(object_path, StoredObject(layer))
        for name in scopes[len(prefix) :][:MAX_VARIABLE_SCOPES]:
            object_path = f"{object_path}/layers/{name}"
            layers.setdefault(object_path, StoredObject(name))
        layers[object_path].shapes.append(tuple(shape))
    return layers


# `keras_metadata.pb`, which Keras 2 writes next to a SavedModel, with a record for each layer.
#
# A record has the path of an object ("root.block.dense"), its kind, and JSON with class and configuration. A model
# whose configuration lists its layers is read like its JSON. Layers of other models are nested by the objects that
# contain them, without edges, since their calls are unknown.

KERAS_METADATA_FILE = "keras_metadata.pb"
SAVED_NODES_FIELD = 1  # field of SavedMetadata in TensorFlow's keras/protobuf/saved_metadata.proto
NODE_PATH_FIELD, IDENTIFIER_FIELD, METADATA_FIELD = 3, 4, 5  # fields of its SavedObject
LAYER_IDENTIFIER = "_tf_keras_"
METRIC_IDENTIFIER = "_tf_keras_metric"
WRAPPED_LISTS = ("__tuple__", "TensorShape")
METADATA_ROOT = "root"


def read_keras_metadata(opened: OpenedSource, options: ReadOptions) -> SourceContents:
    """Read the conceptual graph of a `keras_metadata.pb`."""
    data = opened.data()
    content = _metadata_content(data, opened)
    return SourceContents(
        (SourceItem(SourceEntry("conceptual", bytes=len(data), format="Keras metadata"), lambda: content),)
    )


def metadata_next_to(model: Path | None, options: ReadOptions) -> tuple[SourceItem, ...]:
    """Return the metadata file next to the file of a SavedModel as an item; nothing if there is none."""
    path = model.with_name(KERAS_METADATA_FILE) if model is not None else None
    if path is None or not path.is_file():
        return ()

    def load() -> GraphContent:
        with open_path(path, options) as opened:
            return _metadata_content(opened.data(), opened)

    return (SourceItem(SourceEntry("conceptual", bytes=path.stat().st_size, format="Keras metadata"), load),)


def _metadata_content(data: bytes, opened: OpenedSource) -> GraphContent:
    """Return the conceptual graph that the records in `data` describe. Raises NoGraph without a root."""
    on_disk = opened.size_on_disk(data)
    if on_disk is not None:
        check_json_memory(data, on_disk, opened.name)
    objects = _layer_records(data, opened.name)
    if METADATA_ROOT not in objects:
        raise NoGraph(f"{opened.name} describes no model", hint="give the folder of the SavedModel")
    return conceptual_graph(json.dumps(_model_of_records(objects)).encode(), opened.name, on_disk=on_disk)


def _layer_records(data: bytes, name: str) -> dict[str, LayerJson]:
    """Return the JSON of each layer and model by object path. Raises MalformedProto."""
    json_of: dict[str, LayerJson] = {}
    try:
        for record in wire_fields(data):
            if record.number == SAVED_NODES_FIELD and record.wire == BYTES_TYPE:
                fields = {
                    piece.number: data[piece.first : piece.last]
                    for piece in wire_fields(data, record.first, record.last)
                }
                kind = fields.get(IDENTIFIER_FIELD, b"").decode("utf-8", "replace")
                # Metrics are listed among the layers.
                if kind.startswith(LAYER_IDENTIFIER) and kind != METRIC_IDENTIFIER:
                    json_of[fields.get(NODE_PATH_FIELD, b"").decode("utf-8", "replace")] = _parse_record(
                        fields.get(METADATA_FIELD, b"")
                    )
    except CutError as cut:
        raise MalformedProto(f"{name}: not a whole SavedMetadata: it is cut short", offset=cut.offset) from None
    return json_of


def _parse_record(text: bytes) -> LayerJson:
    try:
        decoded = text.decode()
        value = {} if is_nested_too_deep(decoded) else json.loads(decoded, object_hook=_unwrap_list)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _unwrap_list(value: LayerJson) -> Any:
    """Return wrapped tuples and shapes as plain lists, as in the JSON of a model."""
    return value["items"] if value.get("class_name") in WRAPPED_LISTS and "items" in value else value


def _model_of_records(objects: Mapping[str, LayerJson]) -> LayerJson:
    return nest_layers({path: _layer_of_record(path, json) for path, json in objects.items()}, METADATA_ROOT, ".")


def _layer_of_record(path: str, record: LayerJson) -> LayerJson:
    """Convert a record to a layer of a model's JSON, without calls, as its inputs are unknown."""
    config = record.get("config")
    config = dict(config) if isinstance(config, dict) else {}
    config.setdefault("name", record.get("name") or path.rpartition(".")[2])
    return {
        "class_name": str(record.get("class_name", "")),
        "config": config,
        "build_config": {"input_shape": record.get("build_input_shape")},
        "inbound_nodes": [],
    }
