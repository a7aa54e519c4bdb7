"""Weight shapes that a `.keras` archive has for layers whose parameters no rule counts, such as custom classes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from graphviz_tb.read.keras.between import class_of
from graphviz_tb.read.keras.objects import Holders
from graphviz_tb.read.keras.tree import LayerNode, snake
from graphviz_tb.read.keras.weights_file import StoredWeights

StoredShapes = Mapping[LayerNode, list[tuple[int, ...]]]


def stored_shapes(layers: Iterable[LayerNode], weights: StoredWeights) -> StoredShapes:
    """Return the shapes of the weights of each layer and of the objects inside it; only layers that the archive names.

    Keras files a layer under the model that holds it, by its class and number, and Keras 3 writes its name next to its
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
    # The layer around each object; sorted so that outer objects are done first.
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
    """Return the path of a layer in the archive; "" if the layer or a model around it is not named there."""
    place = ""
    for each in (*reversed(around_of(layer)), layer):
        path = f"{place}/layers/{filed[each]}".removeprefix("/")
        # An object without a stored name is called by the last part of its path.
        unnamed = path in weights and weights[path].name == filed[each]
        place = by_name.get((place, each.name), path if unnamed else "")
        if not place:
            return ""
    return place


def around_of(layer: LayerNode) -> list[LayerNode]:
    """Return the models around a layer except the outermost, innermost first."""
    around = []
    parent = layer.parent
    while parent is not None and parent.parent is not None:
        around.append(parent)
        parent = parent.parent
    return around


def numbered(layers: Iterable[LayerNode]) -> dict[LayerNode, str]:
    """Return the names under which Keras files the layers of a model: the class, numbered from the second on."""
    counts: Counter[str] = Counter()
    names = {}
    for layer in layers:
        kind = snake(class_of(layer.json).rpartition(">")[2])
        names[layer] = f"{kind}_{counts[kind]}" if counts[kind] else kind
        counts[kind] += 1
    return names
