"""Facts about each layer of a model: class, configuration, shapes, parameters. A model sums those of its layers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import prod
from types import MappingProxyType
from typing import Any

from graphviz_tb.limits import MOST_OF_QUANTITY, SHAPES_TOLD
from graphviz_tb.model.layers import Layer, LayerCall, is_custom
from graphviz_tb.model.tensors import Shape, shape_word
from graphviz_tb.read.keras.arguments import call_arguments
from graphviz_tb.read.keras.between import LayerOutputs, LayerShapes, Takes, class_of
from graphviz_tb.read.keras.parameters import non_trainable_count, parameter_count
from graphviz_tb.read.keras.possible import shallow, sound
from graphviz_tb.read.keras.shapes import shape_in
from graphviz_tb.read.keras.telling import telling
from graphviz_tb.read.keras.tree import LayerNode as Box
from graphviz_tb.read.keras.tree import config_of, is_wrapper

NOTHING: Mapping[Box, Sequence[tuple[int, ...]]] = MappingProxyType({})
PARTS = frozenset({"layers", "layer", "input_layers", "output_layers"})  # keys of a model that describe its graph
SHARED = "shared_object_id"
KEPT, HELD = "kept", "held"  # keys that we add to those of Keras: shapes of weights, attribute that holds the layer


def layer_facts(
    layers: list[Box], models: list[Box], takes: Takes, stored: Mapping[Box, Sequence[tuple[int, ...]]] = NOTHING
) -> tuple[dict[Box, Layer], LayerOutputs]:
    """Return the facts of each layer and model, and the numbering of outputs.

    `models` lists inner models after those around them; `stored` are weight shapes that an archive has."""
    between = LayerShapes(layers, takes)
    outputs = LayerOutputs(layers, between)
    facts = {layer: one_layer(layer, between, tuple(outputs.shapes(layer)), stored.get(layer)) for layer in layers}
    # A layer in two models or wrappers has its weights once. Keras 2 numbers such an object at its second place.
    known: set[tuple[str, str]] = set()
    for layer in layers:
        wrapped = config_of(layer.json).get("layer")
        own = wrapped if isinstance(wrapped, dict) else layer.json
        called = class_of(own), str(config_of(own).get("name"))
        if own.get(SHARED) is not None and called in known and facts[layer].parameters:
            facts[layer] = replace(facts[layer], parameters=0, non_trainable=0)
        known.add(called)
    # Inner models first: a model sums the parameters of its parts.
    for model in reversed(models):
        facts[model] = of_model(model, facts, between)
    return facts, outputs


def one_layer(
    layer: Box,
    between: LayerShapes,
    outputs: tuple[Shape, ...],
    stored: Sequence[tuple[int, ...]] | None = None,
) -> Layer:
    """Return the facts of a layer that is not a model."""
    kind, config = class_of(layer.json), config_of(layer.json)
    given = [between.taken(layer, call) for call in between.calls(layer)]
    # [3] of four dimensions is the default -1: not worth showing.
    words = telling(kind, {**config, "axis": -1} if last_axis(config.get("axis"), given[0]) else config)
    called = len(between.takes[layer])
    if called > 1:
        words = " · ".join(filter(None, (words, f"{called} calls")))
    weights = list(kept(layer) if stored is None else stored)
    words = " · ".join(filter(None, (held(layer), words or in_words(weights))))
    custom = is_custom(layer.json)
    # A custom class may have the name of a Keras class: the rule of that class does not apply.
    counted = None if custom else parameter_count(kind, config, given[0])
    count = bounded(sum(map(prod, weights)) if weights or stored is not None else counted)
    # The trainable part of a custom class is known only if it is not trainable at all.
    fixed = count if not count or config.get("trainable", True) is False else None
    kept_only = fixed if custom or count != counted else non_trainable_count(kind, config, given[0], count)
    made = zip(given, between.gives[layer], strict=True)
    calls = tuple(LayerCall(tuple(takes), tuple(gives)) for takes, gives in made) if sound(config) else ()
    return Layer(name_of_class(layer.json), shallow(config), words, outputs, count, kept_only,
                 calls=calls, times=between.times(layer), arguments=tuple(call_arguments(layer.json)),
                 custom=custom)  # fmt: skip


def bounded(count: int | None) -> int | None:
    """Return a parameter count, None if no machine could hold as many."""
    return None if count is not None and count > MOST_OF_QUANTITY else count


def kept(layer: Box) -> Iterator[tuple[int, ...]]:
    """Yield the shapes of a layer's weights, if the source states them."""
    stored = layer.json.get(KEPT)
    for sizes in stored if isinstance(stored, list) else ():
        shape = shape_in(sizes)
        if shape is not None and None not in shape:
            yield tuple(dim or 0 for dim in shape)


def held(layer: Box) -> str:
    """Return the attribute that holds a layer ("self.x"), if it differs from the layer's name; else ""."""
    attribute = layer.json.get(HELD)
    return f"self.{attribute}" if isinstance(attribute, str) else ""


def in_words(weights: Sequence[tuple[int, ...]]) -> str:
    """Describe a layer by the shapes of its weights, if nothing else is known.

    >>> in_words([(24, 48), (48,)]), in_words([(4,), (4,), (4,), (4,)]), in_words([])
    ('24×48 · 48', '4 weights', '')
    """
    if len(weights) > SHAPES_TOLD:
        return f"{len(weights)} weights"
    return " · ".join(shape_word(shape or (1,)) for shape in weights)


def last_axis(axis: Any, takes: list[Shape]) -> bool:
    """Return whether an axis is the last one, counted from the front."""
    shape = takes[0] if takes else None
    return shape is not None and axis in (len(shape) - 1, [len(shape) - 1])


def of_model(model: Box, facts: Mapping[Box, Layer], between: LayerShapes) -> Layer:
    """Return the facts of a model: parameters summed over its layers, configuration without the layers."""
    counts = [facts[child].parameters for child in model.order]
    total = bounded(None if None in counts else sum(count or 0 for count in counts) + sum(map(prod, kept(model))))
    fixed = [facts[child].non_trainable for child in model.order]
    not_trained = bounded(None if None in fixed else sum(count or 0 for count in fixed))
    config = shallow({key: value for key, value in config_of(model.json).items() if key not in PARTS})
    results = tuple(model.children[each.name].path for each in model.outputs if each.name in model.children)
    parts = len(model.order)
    words = " · ".join(filter(None, (held(model), in_steps(model, between) or f"{parts} layers")))
    arguments = tuple(call_arguments(model.json))
    return Layer(name_of_class(model.json), config, words, (), total, not_trained, parts, results, arguments=arguments)


def in_steps(model: Box, between: LayerShapes) -> str:
    """Describe how often a wrapper runs its layer; "" for other models."""
    if not is_wrapper(model.json):
        return ""
    steps = between.steps_of(model)
    return "each step" if steps is None else f"{steps} steps"


def name_of_class(json: Mapping[str, Any]) -> str:
    """Return the class name; for a custom class its registered name without the package."""
    registered = json.get("registered_name")
    name = registered if isinstance(registered, str) and registered else class_of(json)
    return name.rpartition(">")[2]
