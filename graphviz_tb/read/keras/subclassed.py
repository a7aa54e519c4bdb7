"""The layers of a model whose JSON has no list of them: a subclassed one.

nested    layers that its configuration carries, as those of models that wrap others do
kept      the layers that its archive keeps weights for, in the objects that hold them
hung      both as one tree; nothing says how they call each other
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
ANY = "Layer"  # the class of what only its weights are known of
COUNTER = re.compile(r"_[0-9]+$")


def completed(model: Mapping[str, Any], weights: Mapping[str, Kept]) -> Json:
    """Before: the JSON of a model without layers, and what its archive keeps. After: the same with all layers that are
    known, unconnected; without the key `layers` where none is."""
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
    """The serialized layers anywhere in a configuration, outermost ones only, in its order."""
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
    """Whether an object of a configuration is a layer; initialisers and types have no such options.

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
    """One object as a layer of a model's JSON: as the configuration describes it, else by its name."""
    around, _, last = path.rpartition("/")
    # "layers/dense_1": a list is not an object, and the name in it is not an attribute.
    listed = around != "" and around not in holders.objects  # Keras names what is in a list by its class
    held = {} if listed or last == kept_object.name else {HELD: last}
    # A configured layer counts only for an object of the model itself: deeper ones may have its name by chance.
    if kept_object.name in configured and not holders.of(path):
        return {**alone(configured[kept_object.name]), **held}
    kind = CLASSES.get(COUNTER.sub("", last)) if listed else None
    config = {"name": kept_object.name}
    return {
        **alone({"class_name": kind or CLASSES.get(COUNTER.sub("", kept_object.name), ANY), "config": config}),
        **held,
    }


def alone(layer: Json) -> Json:
    """A layer of which nobody knows what it is called with."""
    return {**layer, "config": dict(layer["config"]), "inbound_nodes": []}


def give(objects: dict[str, Json], weights: Mapping[str, Kept]) -> None:
    """The shapes that are kept, to the layers that show them: those inside a class of Keras's own to that."""
    holders = Holders(objects, "/")
    # Of each object the outermost layer of a class of Keras's own, it or one around it: what that holds is not shown.
    outermost: dict[str, str] = {}
    for path in sorted(objects, key=len):  # what is around comes first
        around = outermost.get(holders.of(path))
        outermost[path] = around or (path if own_class(objects[path]) else "")
    for path, kept_object in weights.items():
        owner = f"{ROOT}/{path}" if path else ROOT
        objects[outermost[owner] or owner].setdefault(KEPT, []).extend(map(list, kept_object.shapes))


CLASSES = {snake(kind): kind for kind in (*LAYER_CLASSES, "Sequential", "Functional")}
