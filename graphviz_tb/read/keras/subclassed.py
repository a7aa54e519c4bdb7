"""The layers of a subclassed model, whose JSON has no list of them.

They are collected from the configuration (a model that wraps models carries their layers) and from the weights in the
archive, and nested by the objects that hold them. Nothing says how they call each other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from graphviz_tb.ops.layers import LAYER_CLASSES
from graphviz_tb.read.keras.facts import ATTRIBUTE_KEY, WEIGHT_SHAPES_KEY
from graphviz_tb.read.keras.objects import HolderIndex, LayerJson, has_keras_class, nest_layers
from graphviz_tb.read.keras.tree import snake_case
from graphviz_tb.read.keras.weights_file import StoredObject

SUBCLASSED_ROOT = "root"
ANY_LAYER_CLASS = "Layer"  # the class of an object known only by its weights
NAME_COUNTER = re.compile(r"_[0-9]+$")


def complete_model(model: Mapping[str, Any], weights: Mapping[str, StoredObject]) -> LayerJson:
    """Return the JSON of a model with all layers known from its configuration and weights, unconnected; without the key
    `layers` if none are known."""
    config = model.get("config")
    config = config if isinstance(config, dict) else {}
    configured = {layer["config"]["name"]: layer for layer in nested_layers(config)}
    objects = {SUBCLASSED_ROOT: {**model, "config": config}}
    holders = HolderIndex(weights, "/")
    objects |= {
        f"{SUBCLASSED_ROOT}/{path}": layer_of_stored_object(path, kept_object, holders, configured)
        for path, kept_object in weights.items()
        if path
    }
    called = {layer["config"]["name"] for layer in objects.values() if isinstance(layer["config"].get("name"), str)}
    objects |= {
        f"{SUBCLASSED_ROOT}/{name}": without_calls(layer) for name, layer in configured.items() if name not in called
    }
    if len(objects) == 1:
        return dict(model)
    assign_weight_shapes(objects, weights)
    return nest_layers(objects, SUBCLASSED_ROOT, "/")


def nested_layers(config: Mapping[str, Any]) -> Iterator[LayerJson]:
    """Yield the outermost serialized layers anywhere in a configuration, in its order."""
    waiting: list[Any] = [config]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict) and is_serialized_layer(value):
            yield value
        elif isinstance(value, dict):
            waiting += reversed(list(value.values()))
        elif isinstance(value, list):
            waiting += reversed(value)


def is_serialized_layer(value: LayerJson) -> bool:
    """Return whether an object of a configuration is a layer; initialisers and dtypes have no such options.

    >>> is_serialized_layer({"class_name": "Dense", "config": {"name": "d", "trainable": True}})
    True
    >>> is_serialized_layer({"class_name": "DTypePolicy", "config": {"name": "float32"}})
    False
    """
    config = value.get("config")
    if "class_name" not in value or not isinstance(config, dict) or not isinstance(config.get("name"), str):
        return False
    return "trainable" in config or "layers" in config or "build_config" in value


def layer_of_stored_object(
    path: str, kept_object: StoredObject, holders: HolderIndex, configured: Mapping[str, LayerJson]
) -> LayerJson:
    """Describe a stored object as a layer of a model's JSON: by the configuration if it has the layer, else by name."""
    around, _, last = path.rpartition("/")
    # "layers/dense_1": a list is not an object, and the name in it is not an attribute.
    listed = around != "" and around not in holders.objects  # Keras names objects in a list by class
    held = {} if listed or last == kept_object.name else {ATTRIBUTE_KEY: last}
    # A configured layer matches only a direct object of the model: deeper ones may share its name by chance.
    if kept_object.name in configured and not holders.nearest_holder(path):
        return {**without_calls(configured[kept_object.name]), **held}
    kind = CLASS_OF_NAME.get(NAME_COUNTER.sub("", last)) if listed else None
    config = {"name": kept_object.name}
    return {
        **without_calls(
            {
                "class_name": kind or CLASS_OF_NAME.get(NAME_COUNTER.sub("", kept_object.name), ANY_LAYER_CLASS),
                "config": config,
            }
        ),
        **held,
    }


def without_calls(layer: LayerJson) -> LayerJson:
    """Copy a layer's JSON without calls, as its inputs are unknown."""
    return {**layer, "config": dict(layer["config"]), "inbound_nodes": []}


def assign_weight_shapes(objects: dict[str, LayerJson], weights: Mapping[str, StoredObject]) -> None:
    """Add stored weight shapes to the layers that show them; those inside a Keras layer count for that layer."""
    holders = HolderIndex(objects, "/")
    # For each object the outermost Keras layer at or around it, whose content is not shown.
    outermost: dict[str, str] = {}
    for path in sorted(objects, key=len):  # outer objects first
        around = outermost.get(holders.nearest_holder(path))
        outermost[path] = around or (path if has_keras_class(objects[path]) else "")
    for path, kept_object in weights.items():
        owner = f"{SUBCLASSED_ROOT}/{path}" if path else SUBCLASSED_ROOT
        objects[outermost[owner] or owner].setdefault(WEIGHT_SHAPES_KEY, []).extend(map(list, kept_object.shapes))


CLASS_OF_NAME = {snake_case(kind): kind for kind in (*LAYER_CLASSES, "Sequential", "Functional")}
