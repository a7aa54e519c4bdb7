"""The layers of a model from the objects that hold them, where nothing says how they call each other."""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import Any

from graphviz_tb.read.keras.parameters import COUNTS
from graphviz_tb.read.keras.shapes import RULES

Json = dict[str, Any]


def hung(objects: Mapping[str, Json], root: str, separator: str) -> Json:
    """Before: the JSON of layers by where they hang ("root.block.dense"). After: that of the root as a model's own JSON
    would describe it; what holds other layers is a model of these.

    >>> layers = {each: {"class_name": "", "config": {"name": each}} for each in ("m", "m.a", "m.list.b")}
    >>> found = hung(layers, "m", ".")
    >>> [layer["config"]["name"] for layer in found["config"]["layers"]]
    ['m.a', 'm.list.b']
    """
    inside: dict[str, list[Json]] = {path: [] for path in objects}
    for path, layer in objects.items():
        around = holder(path, objects, separator)
        if around:
            inside[around].append(layer)
    for path, layer in objects.items():
        # Also the root without layers: it is a model whatever is known of it.
        if (inside[path] or path == root) and "layers" not in layer["config"] and not own_class(layer):
            layer["config"] = {**layer["config"], "layers": inside[path]}
    return objects[root]


def holder(path: str, objects: Container[str], separator: str) -> str:
    """The nearest object around another, past lists and the like; none is the empty string."""
    around = path.rpartition(separator)[0]
    while around and around not in objects:
        around = around.rpartition(separator)[0]
    return around


def own_class(layer: Json) -> bool:
    """Whether a layer is of a class of Keras itself: what it holds is no part of the program."""
    return layer["class_name"] in RULES or layer["class_name"] in COUNTS
