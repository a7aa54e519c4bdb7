"""`keras_metadata.pb`, which Keras 2 writes next to a SavedModel, with a record for each layer.

A record has the path of an object ("root.block.dense"), its sort, and JSON with class and configuration. A model whose
configuration lists its layers is read like its JSON; other models show their layers nested by the objects that hold
them, unconnected, as nothing says which layer calls which.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from graphviz_tb.errors import MalformedProto, NoGraph
from graphviz_tb.model.loaded import SourceEntry
from graphviz_tb.options import ReadOptions
from graphviz_tb.read.holding import GraphContent, SourceContents, SourceItem
from graphviz_tb.read.keras.objects import LayerJson, nest_layers
from graphviz_tb.read.keras_model import conceptual_graph
from graphviz_tb.read.limits import check_json_memory, is_nested_too_deep
from graphviz_tb.read.opened import OpenedSource, open_path
from graphviz_tb.read.wire import BYTES_TYPE, CutError, wire_fields

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
    content = metadata_content(data, opened)
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
            return metadata_content(opened.data(), opened)

    return (SourceItem(SourceEntry("conceptual", bytes=path.stat().st_size, format="Keras metadata"), load),)


def metadata_content(data: bytes, opened: OpenedSource) -> GraphContent:
    """Return the conceptual graph that the records in `data` describe. Raises NoGraph without a root."""
    on_disk = opened.size_on_disk(data)
    if on_disk is not None:
        check_json_memory(data, on_disk, opened.name)
    objects = layer_records(data, opened.name)
    if METADATA_ROOT not in objects:
        raise NoGraph(f"{opened.name} describes no model", hint="give the folder of the SavedModel")
    return conceptual_graph(json.dumps(model_of_records(objects)).encode(), opened.name, on_disk=on_disk)


def layer_records(data: bytes, name: str) -> dict[str, LayerJson]:
    """Return the JSON of each layer and model by object path. Raises MalformedProto."""
    json_of: dict[str, LayerJson] = {}
    try:
        for record in wire_fields(data):
            if record.number == SAVED_NODES_FIELD and record.wire == BYTES_TYPE:
                fields = {
                    piece.number: data[piece.first : piece.last]
                    for piece in wire_fields(data, record.first, record.last)
                }
                sort = fields.get(IDENTIFIER_FIELD, b"").decode("utf-8", "replace")
                # Metrics are listed among the layers.
                if sort.startswith(LAYER_IDENTIFIER) and sort != METRIC_IDENTIFIER:
                    json_of[fields.get(NODE_PATH_FIELD, b"").decode("utf-8", "replace")] = parse_record(
                        fields.get(METADATA_FIELD, b"")
                    )
    except CutError as cut:
        raise MalformedProto(f"{name}: not a whole SavedMetadata: it is cut short", offset=cut.offset) from None
    return json_of


def parse_record(text: bytes) -> LayerJson:
    """Parse the JSON of one record; {} if it is damaged."""
    try:
        decoded = text.decode()
        value = {} if is_nested_too_deep(decoded) else json.loads(decoded, object_hook=unwrap_list)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def unwrap_list(value: LayerJson) -> Any:
    """Return wrapped tuples and shapes as plain lists, as in the JSON of a model."""
    return value["items"] if value.get("class_name") in WRAPPED_LISTS and "items" in value else value


def model_of_records(objects: Mapping[str, LayerJson]) -> LayerJson:
    """Return the JSON of the model that the records describe."""
    return nest_layers({path: layer_of_record(path, json) for path, json in objects.items()}, METADATA_ROOT, ".")


def layer_of_record(path: str, record: LayerJson) -> LayerJson:
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
