"""Weight shapes that a `.keras` archive has for layers whose parameters no rule counts, such as custom classes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from graphviz_tb.read.keras.between import class_name_of
from graphviz_tb.read.keras.objects import HolderIndex
from graphviz_tb.read.keras.tree import LayerNode, snake_case
from graphviz_tb.read.keras.weights_file import StoredWeights

StoredShapes = Mapping[LayerNode, list[tuple[int, ...]]]


def stored_weight_shapes(layers: Iterable[LayerNode], weights: StoredWeights) -> StoredShapes:
    """Return the shapes of the weights of each layer and of the objects inside it; only layers that the archive names.

    Keras files a layer under the model that holds it, by its class and number, and Keras 3 writes its name next to its
    variables: `layers/functional_1/layers/scale` is the layer "gamma" of the model "inner".
    """
    holders = HolderIndex(weights, "/")
    by_name = {(holders.nearest_holder(path), kept.name): path for path, kept in weights.items()}
    filed: dict[LayerNode, str] = {}
    for parent in dict.fromkeys(around for layer in layers for around in (layer, *inner_models_around(layer))):
        if parent.parent is not None and parent not in filed:
            filed |= numbered_names(parent.parent.order)
    places = {path: layer for layer in layers if (path := archive_path(layer, by_name, filed, weights))}
    shapes: dict[LayerNode, list[tuple[int, ...]]] = {layer: [] for layer in places.values()}
    # The layer around each object; sorted so that outer objects are done first.
    owner: dict[str, str] = {}
    for path in sorted(weights, key=len):
        owner[path] = owner.get(holders.nearest_holder(path), "") or (path if path in places else "")
    for path, kept in weights.items():
        if owner[path]:
            shapes[places[owner[path]]] += kept.shapes
    return shapes


def archive_path(
    layer: LayerNode, by_name: Mapping[tuple[str, str], str], filed: Mapping[LayerNode, str], weights: StoredWeights
) -> str:
    """Return the path of a layer in the archive; "" if the layer or a model around it is not named there."""
    place = ""
    for each in (*reversed(inner_models_around(layer)), layer):
        path = f"{place}/layers/{filed[each]}".removeprefix("/")
        # An object without a stored name is called by the last part of its path.
        unnamed = path in weights and weights[path].name == filed[each]
        place = by_name.get((place, each.name), path if unnamed else "")
        if not place:
            return ""
    return place


def inner_models_around(layer: LayerNode) -> list[LayerNode]:
    """Return the models around a layer except the outermost, innermost first."""
    around = []
    parent = layer.parent
    while parent is not None and parent.parent is not None:
        around.append(parent)
        parent = parent.parent
    return around


def numbered_names(layers: Iterable[LayerNode]) -> dict[LayerNode, str]:
    """Return the names under which Keras files the layers of a model: the class, numbered from the second on."""
    counts: Counter[str] = Counter()
    names = {}
    for layer in layers:
        kind = snake_case(class_name_of(layer.json).rpartition(">")[2])
        names[layer] = f"{kind}_{counts[kind]}" if counts[kind] else kind
        counts[kind] += 1
    return names
