"""Nest the layers of a model by the objects that hold them, if the file does not say how layers call each other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graphviz_tb.ops.layers import LAYER_CLASSES

LayerJson = dict[str, Any]


def nest_layers(objects: Mapping[str, LayerJson], root: str, separator: str) -> LayerJson:
    """Nest layers, given by object path ("root.block.dense"), and return the JSON of the root; an object that holds
    layers becomes a model of them.

    >>> layers = {each: {"class_name": "", "config": {"name": each}} for each in ("m", "m.a", "m.list.b")}
    >>> found = nest_layers(layers, "m", ".")
    >>> [layer["config"]["name"] for layer in found["config"]["layers"]]
    ['m.a', 'm.list.b']
    """
    holder = HolderIndex(objects, separator)
    inside: dict[str, list[LayerJson]] = {path: [] for path in objects}
    for path, layer in objects.items():
        around = holder.nearest_holder(path)
        if around:
            inside[around].append(layer)
    for path, layer in objects.items():
        # The root is a model even without layers.
        if (inside[path] or path == root) and "layers" not in layer["config"] and not has_keras_class(layer):
            layer["config"] = {**layer["config"], "layers": inside[path]}
    return objects[root]


class HolderIndex:
    """Index of objects by path: finds the nearest object around a path, skipping lists."""

    def __init__(self, objects: Mapping[str, object], separator: str) -> None:
        self.objects, self.separator = objects, separator
        # Only prefixes as long as some object's path are looked up: a path may have thousands of parts.
        self.lengths = frozenset(map(len, objects))

    def nearest_holder(self, path: str) -> str:
        """Return the nearest object around a path; "" if there is none.

        >>> HolderIndex({"m": 1, "m.a": 2}, ".").nearest_holder("m.a.list.b")
        'm.a'
        """
        cut = path.rfind(self.separator)
        while cut > 0:
            if cut in self.lengths and path[:cut] in self.objects:
                return path[:cut]
            cut = path.rfind(self.separator, 0, cut)
        return ""


def has_keras_class(layer: LayerJson) -> bool:
    """Return whether a layer has a class of Keras itself, whose inner objects are not the program's."""
    kind = layer["class_name"]
    return isinstance(kind, str) and kind in LAYER_CLASSES
