"""The layers of a subclassed model, whose JSON has no list of them.

They are collected from the configuration (a model that wraps models carries their layers) and from the weights in the
archive, and nested by the objects that hold them. Nothing says how they call each other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from graphviz_tb.ops.layers import LAYER_CLASSES
from graphviz_tb.read.keras.facts import HELD, KEPT
from graphviz_tb.read.keras.objects import Holders, Json, hung, own_class
from graphviz_tb.read.keras.tree import snake
from graphviz_tb.read.keras.weights_file import Kept

ROOT = "root"
ANY = "Layer"  # the class of an object known only by its weights
COUNTER = re.compile(r"_[0-9]+$")


def completed(model: Mapping[str, Any], weights: Mapping[str, Kept]) -> Json:
    """Return the JSON of a model with all layers known from its configuration and weights, unconnected; without the key
    `layers` if none are known."""
    config = model.get("config")
    config = config if isinstance(config, dict) else {}
    configured = {layer["config"]["name"]: layer for layer in nested(config)}
    objects = {ROOT: {**model, "config": config}}
    holders = Holders(weights, "/")
    objects |= {
        f"{ROOT}/{path}": as_layer(path, kept_object, holders, configured)
        for path, kept_object in weights.items()
        if path
    }
    called = {layer["config"]["name"] for layer in objects.values() if isinstance(layer["config"].get("name"), str)}
    objects |= {f"{ROOT}/{name}": alone(layer) for name, layer in configured.items() if name not in called}
    if len(objects) == 1:
        return dict(model)
    give(objects, weights)
    return hung(objects, ROOT, "/")


def nested(config: Mapping[str, Any]) -> Iterator[Json]:
    """Yield the outermost serialized layers anywhere in a configuration, in its order."""
    waiting: list[Any] = [config]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict) and is_layer(value):
            yield value
        elif isinstance(value, dict):
            waiting += reversed(list(value.values()))
        elif isinstance(value, list):
            waiting += reversed(value)


def is_layer(value: Json) -> bool:
    """Return whether an object of a configuration is a layer; initialisers and dtypes have no such options.

    >>> is_layer({"class_name": "Dense", "config": {"name": "d", "trainable": True}})
    True
    >>> is_layer({"class_name": "DTypePolicy", "config": {"name": "float32"}})
    False
    """
    config = value.get("config")
    if "class_name" not in value or not isinstance(config, dict) or not isinstance(config.get("name"), str):
        return False
    return "trainable" in config or "layers" in config or "build_config" in value


def as_layer(path: str, kept_object: Kept, holders: Holders, configured: Mapping[str, Json]) -> Json:
    """Describe a stored object as a layer of a model's JSON: by the configuration if it has the layer, else by name."""
    around, _, last = path.rpartition("/")
    # "layers/dense_1": a list is not an object, and the name in it is not an attribute.
    listed = around != "" and around not in holders.objects  # Keras names objects in a list by class
    held = {} if listed or last == kept_object.name else {HELD: last}
    # A configured layer matches only a direct object of the model: deeper ones may share its name by chance.
    if kept_object.name in configured and not holders.of(path):
        return {**alone(configured[kept_object.name]), **held}
    kind = CLASSES.get(COUNTER.sub("", last)) if listed else None
    config = {"name": kept_object.name}
    return {
        **alone({"class_name": kind or CLASSES.get(COUNTER.sub("", kept_object.name), ANY), "config": config}),
        **held,
    }


def alone(layer: Json) -> Json:
    """Copy a layer's JSON without calls, as its inputs are unknown."""
    return {**layer, "config": dict(layer["config"]), "inbound_nodes": []}


def give(objects: dict[str, Json], weights: Mapping[str, Kept]) -> None:
    """Add stored weight shapes to the layers that show them; those inside a Keras layer count for that layer."""
    holders = Holders(objects, "/")
    # For each object the outermost Keras layer at or around it, whose content is not shown.
    outermost: dict[str, str] = {}
    for path in sorted(objects, key=len):  # outer objects first
        around = outermost.get(holders.of(path))
        outermost[path] = around or (path if own_class(objects[path]) else "")
    for path, kept_object in weights.items():
        owner = f"{ROOT}/{path}" if path else ROOT
        objects[outermost[owner] or owner].setdefault(KEPT, []).extend(map(list, kept_object.shapes))


CLASSES = {snake(kind): kind for kind in (*LAYER_CLASSES, "Sequential", "Functional")}
