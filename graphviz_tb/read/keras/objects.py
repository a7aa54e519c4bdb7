"""The layers of a model from the objects that hold them, where nothing says how they call each other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graphviz_tb.ops.layers import LAYER_CLASSES

Json = dict[str, Any]


def hung(objects: Mapping[str, Json], root: str, separator: str) -> Json:
    """Before: the JSON of layers by where they hang ("root.block.dense"). After: that of the root as a model's own JSON
    would describe it; what holds other layers is a model of these.

    >>> layers = {each: {"class_name": "", "config": {"name": each}} for each in ("m", "m.a", "m.list.b")}
    >>> found = hung(layers, "m", ".")
    >>> [layer["config"]["name"] for layer in found["config"]["layers"]]
    ['m.a', 'm.list.b']
    """
    holder = Holders(objects, separator)
    inside: dict[str, list[Json]] = {path: [] for path in objects}
    for path, layer in objects.items():
        around = holder.of(path)
        if around:
            inside[around].append(layer)
    for path, layer in objects.items():
        # Also the root without layers: it is a model whatever is known of it.
        if (inside[path] or path == root) and "layers" not in layer["config"] and not own_class(layer):
            layer["config"] = {**layer["config"], "layers": inside[path]}
    return objects[root]


class Holders:
    """Finds the object that holds another, past lists and the like."""

    def __init__(self, objects: Mapping[str, object], separator: str) -> None:
        self.objects, self.separator = objects, separator
        # All that is around a path of thousands of parts is not looked up: only what is as long as an object's path.
        self.lengths = frozenset(map(len, objects))

    def of(self, path: str) -> str:
        """The nearest object around a path; none is the empty string.

        >>> Holders({"m": 1, "m.a": 2}, ".").of("m.a.list.b")
        'm.a'
        """
        cut = path.rfind(self.separator)
        while cut > 0:
            if cut in self.lengths and path[:cut] in self.objects:
                return path[:cut]
            cut = path.rfind(self.separator, 0, cut)
        return ""


def own_class(layer: Json) -> bool:
    """Return whether a layer has a class of Keras itself: objects inside it are not part of the program."""
    kind = layer["class_name"]
    return isinstance(kind, str) and kind in LAYER_CLASSES
