"""Weights of layers whose class is the program's own: nothing but the archive says how many they have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from graphviz_tb.ops.layers import layer_row
from graphviz_tb.read.keras.between import class_of
from graphviz_tb.read.keras.facts import is_custom
from graphviz_tb.read.keras.objects import Holders
from graphviz_tb.read.keras.tree import LayerNode
from graphviz_tb.read.keras.weights_file import StoredWeights

StoredShapes = Mapping[LayerNode, list[tuple[int, ...]]]


def uncounted(layers: Iterable[LayerNode]) -> list[LayerNode]:
    """The layers whose parameters no rule counts."""
    return [layer for layer in layers if is_custom(layer.json) or not layer_row(class_of(layer.json)).parameters]


def stored_shapes(layers: Iterable[LayerNode], weights: StoredWeights) -> StoredShapes:
    """Before: layers of one model, and what its archive keeps. After: the shapes of what each of them keeps, in itself
    and in what it holds; a layer that the archive does not name is not among them.

    Keras files a layer under the model that holds it, by its class, and writes its name beside its variables:
    `layers/functional_1/layers/scale` is the layer "gamma" of the model "inner".
    """
    holders = Holders(weights, "/")
    by_name = {(holders.of(path), kept.name): path for path, kept in weights.items()}
    places = {path: layer for layer in layers if (path := place_of(layer, by_name))}
    shapes: dict[LayerNode, list[tuple[int, ...]]] = {layer: [] for layer in places.values()}
    # The layer around each object, those around it first.
    owner: dict[str, str] = {}
    for path in sorted(weights, key=len):
        owner[path] = owner.get(holders.of(path), "") or (path if path in places else "")
    for path, kept in weights.items():
        if owner[path]:
            shapes[places[owner[path]]] += kept.shapes
    return shapes


def place_of(layer: LayerNode, by_name: Mapping[tuple[str, str], str]) -> str:
    """Where the archive keeps a layer; "" where it does not name it or one of the models around it."""
    around = []
    parent = layer.parent
    while parent is not None and parent.parent is not None:
        around.append(parent.name)
        parent = parent.parent
    place = ""
    for name in (*reversed(around), layer.name):
        place = by_name.get((place, name), "")
        if not place:
            return ""
    return place
