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
from graphviz_tb.model.loaded import Entry
from graphviz_tb.options import ReadOptions
from graphviz_tb.read.holding import Content, Holding, SourceItem
from graphviz_tb.read.keras.objects import Json, hung
from graphviz_tb.read.keras_model import conceptual_graph
from graphviz_tb.read.limits import check_json, nested_too_deep
from graphviz_tb.read.opened import Opened, open_path
from graphviz_tb.read.wire import BYTES, CutError, pieces

FILE = "keras_metadata.pb"
NODES = 1  # field of SavedMetadata in TensorFlow's keras/protobuf/saved_metadata.proto
PATH, SORT, METADATA = 3, 4, 5  # fields of its SavedObject
LAYERS = "_tf_keras_"
METRIC = "_tf_keras_metric"
WRAPPED = ("__tuple__", "TensorShape")
ROOT = "root"


def read_metadata(opened: Opened, options: ReadOptions) -> Holding:
    """Read the conceptual graph of a `keras_metadata.pb`."""
    data = opened.data()
    content = content_of(data, opened)
    return Holding((SourceItem(Entry("conceptual", bytes=len(data), format="Keras metadata"), lambda: content),))


def beside(model: Path | None, options: ReadOptions) -> tuple[SourceItem, ...]:
    """Return the metadata file next to the file of a SavedModel as an item; nothing if there is none."""
    path = model.with_name(FILE) if model is not None else None
    if path is None or not path.is_file():
        return ()

    def load() -> Content:
        with open_path(path, options) as opened:
            return content_of(opened.data(), opened)

    return (SourceItem(Entry("conceptual", bytes=path.stat().st_size, format="Keras metadata"), load),)


def content_of(data: bytes, opened: Opened) -> Content:
    """Return the conceptual graph that the records in `data` describe. Raises NoGraph without a root."""
    on_disk = opened.on_disk(data)
    if on_disk is not None:
        check_json(data, on_disk, opened.name)
    objects = records(data, opened.name)
    if ROOT not in objects:
        raise NoGraph(f"{opened.name} describes no model", hint="give the folder of the SavedModel")
    return conceptual_graph(json.dumps(model_of(objects)).encode(), opened.name, on_disk=on_disk)


def records(data: bytes, name: str) -> dict[str, Json]:
    """Return the JSON of each layer and model by object path. Raises MalformedProto."""
    json_of: dict[str, Json] = {}
    try:
        for record in pieces(data):
            if record.number == NODES and record.wire == BYTES:
                fields = {
                    piece.number: data[piece.first : piece.last] for piece in pieces(data, record.first, record.last)
                }
                sort = fields.get(SORT, b"").decode("utf-8", "replace")
                # Metrics are listed among the layers.
                if sort.startswith(LAYERS) and sort != METRIC:
                    json_of[fields.get(PATH, b"").decode("utf-8", "replace")] = parsed(fields.get(METADATA, b""))
    except CutError as cut:
        raise MalformedProto(f"{name}: not a whole SavedMetadata: it is cut short", offset=cut.offset) from None
    return json_of


def parsed(text: bytes) -> Json:
    """Parse the JSON of one record; {} if it is damaged."""
    try:
        decoded = text.decode()
        value = {} if nested_too_deep(decoded) else json.loads(decoded, object_hook=as_lists)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def as_lists(value: Json) -> Any:
    """Return wrapped tuples and shapes as plain lists, as in the JSON of a model."""
    return value["items"] if value.get("class_name") in WRAPPED and "items" in value else value


def model_of(objects: Mapping[str, Json]) -> Json:
    """Return the JSON of the model that the records describe."""
    return hung({path: as_layer(path, json) for path, json in objects.items()}, ROOT, ".")


def as_layer(path: str, record: Json) -> Json:
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
