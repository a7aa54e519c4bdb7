"""Weights of layers whose parameters no rule counts, as those of the program's own classes: the file says how many."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from graphviz_tb.read.keras.between import class_of
from graphviz_tb.read.keras.objects import Holders
from graphviz_tb.read.keras.tree import LayerNode, snake
from graphviz_tb.read.keras.weights_file import StoredWeights

StoredShapes = Mapping[LayerNode, list[tuple[int, ...]]]


def stored_shapes(layers: Iterable[LayerNode], weights: StoredWeights) -> StoredShapes:
    """Before: layers of one model, and what its archive keeps. After: the shapes of what each of them keeps, in itself
    and in what it holds; a layer that the archive does not name is not among them.

    Keras files a layer under the model that holds it, by its class and number, and Keras 3 writes its name beside its
    variables: `layers/functional_1/layers/scale` is the layer "gamma" of the model "inner".
    """
    holders = Holders(weights, "/")
    by_name = {(holders.of(path), kept.name): path for path, kept in weights.items()}
    filed: dict[LayerNode, str] = {}
    for parent in dict.fromkeys(around for layer in layers for around in (layer, *around_of(layer))):
        if parent.parent is not None and parent not in filed:
            filed |= numbered(parent.parent.order)
    places = {path: layer for layer in layers if (path := place_of(layer, by_name, filed, weights))}
    shapes: dict[LayerNode, list[tuple[int, ...]]] = {layer: [] for layer in places.values()}
    # The layer around each object, those around it first.
    owner: dict[str, str] = {}
    for path in sorted(weights, key=len):
        owner[path] = owner.get(holders.of(path), "") or (path if path in places else "")
    for path, kept in weights.items():
        if owner[path]:
            shapes[places[owner[path]]] += kept.shapes
    return shapes


def place_of(
    layer: LayerNode, by_name: Mapping[tuple[str, str], str], filed: Mapping[LayerNode, str], weights: StoredWeights
) -> str:
    """Where the archive keeps a layer; "" where it does not name it or one of the models around it."""
    place = ""
    for each in (*reversed(around_of(layer)), layer):
        path = f"{place}/layers/{filed[each]}".removeprefix("/")
        # Without a name beside its variables an object is called by the end of its path.
        unnamed = path in weights and weights[path].name == filed[each]
        place = by_name.get((place, each.name), path if unnamed else "")
        if not place:
            return ""
    return place


def around_of(layer: LayerNode) -> list[LayerNode]:
    """The models around a layer but the outermost, from within."""
    around = []
    parent = layer.parent
    while parent is not None and parent.parent is not None:
        around.append(parent)
        parent = parent.parent
    return around


def numbered(layers: Iterable[LayerNode]) -> dict[LayerNode, str]:
    """What Keras files the layers of one model under: their class, with a number from the second on."""
    counts: Counter[str] = Counter()
    names = {}
    for layer in layers:
        kind = snake(class_of(layer.json).rpartition(">")[2])
        names[layer] = f"{kind}_{counts[kind]}" if counts[kind] else kind
        counts[kind] += 1
    return names
