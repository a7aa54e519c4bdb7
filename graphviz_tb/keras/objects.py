"""Find the layers of a subclassed model, whose JSON does not list them.

They are collected from the configuration (a model may contain the configurations of others) and from the weights in the
archive, and nested by the objects that contain them. Their calls are unknown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from graphviz_tb.keras.calls import class_name_of
from graphviz_tb.keras.layers import ATTRIBUTE_KEY, WEIGHT_SHAPES_KEY
from graphviz_tb.keras.tree import LayerNode, snake_case
from graphviz_tb.keras.weights import StoredObject, StoredWeights
from graphviz_tb.model.paths import without_counter
from graphviz_tb.ops.layers import LAYER_CLASSES

LayerJson = dict[str, Any]


def nest_layers(objects: Mapping[str, LayerJson], root: str, separator: str) -> LayerJson:
    """Nest layers by their object paths ("root.block.dense") and return the JSON of the root. An object that contains
    layers becomes a model.

    >>> layers = {name: {"class_name": "", "config": {"name": name}} for name in ("m", "m.a", "m.list.b")}
    >>> found = nest_layers(layers, "m", ".")
    >>> [layer["config"]["name"] for layer in found["config"]["layers"]]
    ['m.a', 'm.list.b']
    """
    holder = HolderIndex(objects, separator)
    children: dict[str, list[LayerJson]] = {path: [] for path in objects}
    for path, layer in objects.items():
        model = holder.nearest_holder(path)
        if model:
            children[model].append(layer)
    for path, layer in objects.items():
        # The root is a model even without layers.
        if (children[path] or path == root) and "layers" not in layer["config"] and not _has_keras_class(layer):
            layer["config"] = {**layer["config"], "layers": children[path]}
    return objects[root]


class HolderIndex:
    """An index of objects by path, to find the nearest object around a path, skipping lists."""

    def __init__(self, objects: Mapping[str, object], separator: str) -> None:
        self.objects, self.separator = objects, separator
        # Only prefixes of these lengths are looked up, since a path may have thousands of parts.
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


def _has_keras_class(layer: LayerJson) -> bool:
    """Return whether a layer has a class of Keras, whose inner objects are not shown."""
    kind = layer["class_name"]
    return isinstance(kind, str) and kind in LAYER_CLASSES


SUBCLASSED_ROOT = "root"
OWN_WEIGHTS_NAME = "own_weights"
ANY_LAYER_CLASS = "Layer"  # for an object known only by its weights


def complete_model(model: Mapping[str, Any], weights: Mapping[str, StoredObject]) -> LayerJson:
    """Return the JSON of a model with all layers in its configuration and weights, without calls; unchanged if there
    are none."""
    config = model.get("config")
    config = config if isinstance(config, dict) else {}
    configured = {layer["config"]["name"]: layer for layer in _nested_layers(config)}
    objects = {SUBCLASSED_ROOT: {**model, "config": config}}
    holders = HolderIndex(weights, "/")
    objects |= {
        f"{SUBCLASSED_ROOT}/{path}": _layer_of_stored_object(path, stored, holders, configured)
        for path, stored in weights.items()
        if path
    }
    called = {layer["config"]["name"] for layer in objects.values() if isinstance(layer["config"].get("name"), str)}
    objects |= {
        f"{SUBCLASSED_ROOT}/{name}": _without_calls(layer) for name, layer in configured.items() if name not in called
    }
    if len(objects) == 1:
        return dict(model)
    _assign_weight_shapes(objects, weights)
    objects |= dict(_own_weights_of_models(objects))
    return nest_layers(objects, SUBCLASSED_ROOT, "/")


def _own_weights_of_models(objects: Mapping[str, LayerJson]) -> Iterator[tuple[str, LayerJson]]:
    """Yield a layer for the weights that a model, or a block that becomes a model, has next to its layers."""
    holders = HolderIndex(objects, "/")
    around = {holders.nearest_holder(path) for path in objects} - {""}
    for path, layer in objects.items():
        if path in around and not _has_keras_class(layer) and layer.get(WEIGHT_SHAPES_KEY):
            shapes = layer.pop(WEIGHT_SHAPES_KEY)
            own = {"class_name": ANY_LAYER_CLASS, "config": {"name": OWN_WEIGHTS_NAME}, "inbound_nodes": []}
            yield f"{path}/{OWN_WEIGHTS_NAME}", {**own, WEIGHT_SHAPES_KEY: shapes}


def _nested_layers(config: Mapping[str, Any]) -> Iterator[LayerJson]:
    """Yield the outermost serialized layers anywhere in a configuration, in its order."""
    waiting: list[Any] = [config]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict) and _is_serialized_layer(value):
            yield value
        elif isinstance(value, dict):
            waiting += reversed(list(value.values()))
        elif isinstance(value, list):
            waiting += reversed(value)


def _is_serialized_layer(value: LayerJson) -> bool:
    """Return whether an object of a configuration is a layer; initialisers and dtypes have no such options.

    >>> _is_serialized_layer({"class_name": "Dense", "config": {"name": "d", "trainable": True}})
    True
    >>> _is_serialized_layer({"class_name": "DTypePolicy", "config": {"name": "float32"}})
    False
    """
    config = value.get("config")
    if "class_name" not in value or not isinstance(config, dict) or not isinstance(config.get("name"), str):
        return False
    return "trainable" in config or "layers" in config or "build_config" in value


def _layer_of_stored_object(
    path: str, kept_object: StoredObject, holders: HolderIndex, configured: Mapping[str, LayerJson]
) -> LayerJson:
    """Return a stored object as a layer of a model's JSON: by its configuration if known, else by its name."""
    around, _, last = path.rpartition("/")
    # In "layers/dense_1", `layers` is a list and no object, so the last name is no attribute.
    listed = around != "" and around not in holders.objects  # Keras names objects in a list by class
    attribute = {} if listed or last == kept_object.name else {ATTRIBUTE_KEY: last}
    # A configured layer matches only a direct object of the model: deeper objects may have its name by chance.
    if kept_object.name in configured and not holders.nearest_holder(path):
        return {**_without_calls(configured[kept_object.name]), **attribute}
    kind = CLASS_OF_NAME.get(without_counter(last)) if listed else None
    kind = kind or CLASS_OF_NAME.get(without_counter(kept_object.name), ANY_LAYER_CLASS)
    return {"class_name": kind, "config": {"name": kept_object.name}, "inbound_nodes": [], **attribute}


def _without_calls(layer: LayerJson) -> LayerJson:
    """Return a copy of a layer's JSON without calls."""
    return {**layer, "config": dict(layer["config"]), "inbound_nodes": []}


def _assign_weight_shapes(objects: dict[str, LayerJson], weights: Mapping[str, StoredObject]) -> None:
    """Add stored weight shapes to the layers that show them: objects inside a Keras layer count for that layer."""
    holders = HolderIndex(objects, "/")
    # For each object, the outermost Keras layer that it is or is in; "" for none.
    outermost: dict[str, str] = {}
    for path in sorted(objects, key=len):  # outer objects first
        around = outermost.get(holders.nearest_holder(path))
        outermost[path] = around or (path if _has_keras_class(objects[path]) else "")
    for path, kept_object in weights.items():
        owner = f"{SUBCLASSED_ROOT}/{path}" if path else SUBCLASSED_ROOT
        objects[outermost[owner] or owner].setdefault(WEIGHT_SHAPES_KEY, []).extend(map(list, kept_object.shapes))


CLASS_OF_NAME = {snake_case(kind): kind for kind in (*LAYER_CLASSES, "Sequential", "Functional")}


# Weight shapes in a `.keras` archive, for layers whose parameters no rule counts, such as custom classes.

StoredShapes = Mapping[LayerNode, list[tuple[int, ...]]]


def stored_weight_shapes(layers: Iterable[LayerNode], weights: StoredWeights) -> StoredShapes:
    """Return the shapes of the weights of each layer, and of the objects inside it, for layers in the archive.

    The path of a layer has the class and number of each model and layer; Keras 3 writes the name next to the variables:
    `layers/functional_1/layers/scale` is the layer "gamma" of the model "inner".
    """
    holders = HolderIndex(weights, "/")
    by_name = {(holders.nearest_holder(path), stored.name): path for path, stored in weights.items()}
    filed: dict[LayerNode, str] = {}
    for parent in dict.fromkeys(around for layer in layers for around in (layer, *_inner_models_around(layer))):
        if parent.parent is not None and parent not in filed:
            filed |= _numbered_names(parent.parent.order)
    layer_at = {path: layer for layer in layers if (path := _archive_path(layer, by_name, filed, weights))}
    shapes: dict[LayerNode, list[tuple[int, ...]]] = {layer: [] for layer in layer_at.values()}
    # The layer around each object, outer objects first.
    owner: dict[str, str] = {}
    for path in sorted(weights, key=len):
        owner[path] = owner.get(holders.nearest_holder(path), "") or (path if path in layer_at else "")
    for path, stored in weights.items():
        if owner[path]:
            shapes[layer_at[owner[path]]] += stored.shapes
    return shapes


def _archive_path(
    layer: LayerNode, by_name: Mapping[tuple[str, str], str], filed: Mapping[LayerNode, str], weights: StoredWeights
) -> str:
    """Return the path of a layer in the archive; "" if the layer or a model around it is not named there."""
    place = ""
    for node in (*reversed(_inner_models_around(layer)), layer):
        path = f"{place}/layers/{filed[node]}".removeprefix("/")
        # An object without a stored name has the last part of its path as name.
        unnamed = path in weights and weights[path].name == filed[node]
        place = by_name.get((place, node.name), path if unnamed else "")
        if not place:
            return ""
    return place


def _inner_models_around(layer: LayerNode) -> list[LayerNode]:
    """Return the models around a layer except the outermost, innermost first."""
    around = []
    parent = layer.parent
    while parent is not None and parent.parent is not None:
        around.append(parent)
        parent = parent.parent
    return around


def _numbered_names(layers: Iterable[LayerNode]) -> dict[LayerNode, str]:
    """Return the names of a model's layers in an archive: the class, numbered from the second on."""
    counts: Counter[str] = Counter()
    names = {}
    for layer in layers:
        kind = snake_case(class_name_of(layer.json).rpartition(">")[2])
        names[layer] = f"{kind}_{counts[kind]}" if counts[kind] else kind
        counts[kind] += 1
    return names
