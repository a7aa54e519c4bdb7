"""Facts about each layer of a model: class, configuration, shapes, parameters. A model sums those of its layers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import prod
from types import MappingProxyType
from typing import Any

from graphviz_tb.limits import MAX_QUANTITY, MAX_SHOWN_WEIGHT_SHAPES
from graphviz_tb.model.layers import Layer, LayerCall, is_custom_class
from graphviz_tb.model.tensors import Shape, shape_text
from graphviz_tb.read.keras.arguments import call_arguments
from graphviz_tb.read.keras.between import LayerInputs, LayerOutputs, LayerShapes, class_name_of
from graphviz_tb.read.keras.parameters import non_trainable_count, parameter_count
from graphviz_tb.read.keras.possible import hash_deep_values, is_plausible_config
from graphviz_tb.read.keras.shapes import shape_from_json
from graphviz_tb.read.keras.telling import layer_config_words
from graphviz_tb.read.keras.tree import LayerNode as Box
from graphviz_tb.read.keras.tree import is_model_wrapper, layer_config

NO_STORED_SHAPES: Mapping[Box, Sequence[tuple[int, ...]]] = MappingProxyType({})
GRAPH_KEYS = frozenset({"layers", "layer", "input_layers", "output_layers"})  # keys of a model that describe its graph
SHARED_OBJECT_KEY = "shared_object_id"
# keys that we add to those of Keras: shapes of weights, attribute that holds the layer
WEIGHT_SHAPES_KEY, ATTRIBUTE_KEY = "kept", "held"


def layer_facts(
    layers: list[Box],
    models: list[Box],
    takes: LayerInputs,
    stored: Mapping[Box, Sequence[tuple[int, ...]]] = NO_STORED_SHAPES,
) -> tuple[dict[Box, Layer], LayerOutputs]:
    """Return the facts of each layer and model, and the numbering of outputs.

    `models` lists inner models after those around them; `stored` are weight shapes that an archive has."""
    between = LayerShapes(layers, takes)
    outputs = LayerOutputs(layers, between)
    facts = {
        layer: single_layer_facts(layer, between, tuple(outputs.shapes_with_steps(layer)), stored.get(layer))
        for layer in layers
    }
    # A layer in two models or wrappers has its weights once. Keras 2 numbers such an object at its second place.
    known: set[tuple[str, str]] = set()
    for layer in layers:
        wrapped = layer_config(layer.json).get("layer")
        own = wrapped if isinstance(wrapped, dict) else layer.json
        called = class_name_of(own), str(layer_config(own).get("name"))
        if own.get(SHARED_OBJECT_KEY) is not None and called in known and facts[layer].parameters:
            facts[layer] = replace(facts[layer], parameters=0, non_trainable=0)
        known.add(called)
    # Inner models first: a model sums the parameters of its parts.
    for model in reversed(models):
        facts[model] = model_facts(model, facts, between)
    return facts, outputs


def single_layer_facts(
    layer: Box,
    between: LayerShapes,
    outputs: tuple[Shape, ...],
    stored: Sequence[tuple[int, ...]] | None = None,
) -> Layer:
    """Return the facts of a layer that is not a model."""
    kind, config = class_name_of(layer.json), layer_config(layer.json)
    given = [between.operand_shapes(layer, call) for call in between.inputs_of_calls(layer)]
    # [3] of four dimensions is the default -1: not worth showing.
    words = layer_config_words(kind, {**config, "axis": -1} if is_last_axis(config.get("axis"), given[0]) else config)
    called = len(between.takes[layer])
    if called > 1:
        words = " · ".join(filter(None, (words, f"{called} calls")))
    weights = list(weight_shapes(layer) if stored is None else stored)
    words = " · ".join(filter(None, (holder_words(layer), words or weight_shape_words(weights))))
    custom = is_custom_class(layer.json)
    # A custom class may have the name of a Keras class: the rule of that class does not apply.
    counted = None if custom else parameter_count(kind, config, given[0])
    count = plausible_count(sum(map(prod, weights)) if weights or stored is not None else counted)
    # The trainable part of a custom class is known only if it is not trainable at all.
    fixed = count if not count or config.get("trainable", True) is False else None
    kept_only = fixed if custom or count != counted else non_trainable_count(kind, config, given[0], count)
    made = zip(given, between.gives[layer], strict=True)
    calls = tuple(LayerCall(tuple(takes), tuple(gives)) for takes, gives in made) if is_plausible_config(config) else ()
    return Layer(displayed_class(layer.json), hash_deep_values(config), words, outputs, count, kept_only,
                 calls=calls, times=between.run_count(layer), arguments=tuple(call_arguments(layer.json)),
                 custom=custom)  # fmt: skip


def plausible_count(count: int | None) -> int | None:
    """Return a parameter count, None if no machine could hold as many."""
    return None if count is not None and count > MAX_QUANTITY else count


def weight_shapes(layer: Box) -> Iterator[tuple[int, ...]]:
    """Yield the shapes of a layer's weights, if the source states them."""
    stored = layer.json.get(WEIGHT_SHAPES_KEY)
    for sizes in stored if isinstance(stored, list) else ():
        shape = shape_from_json(sizes)
        if shape is not None and None not in shape:
            yield tuple(dim or 0 for dim in shape)


def holder_words(layer: Box) -> str:
    """Return the attribute that holds a layer ("self.x"), if it differs from the layer's name; else ""."""
    attribute = layer.json.get(ATTRIBUTE_KEY)
    return f"self.{attribute}" if isinstance(attribute, str) else ""


def weight_shape_words(weights: Sequence[tuple[int, ...]]) -> str:
    """Describe a layer by the shapes of its weights, if nothing else is known.

    >>> weight_shape_words([(24, 48), (48,)]), weight_shape_words([(4,), (4,), (4,), (4,)]), weight_shape_words([])
    ('24×48 · 48', '4 weights', '')
    """
    if len(weights) > MAX_SHOWN_WEIGHT_SHAPES:
        return f"{len(weights)} weights"
    return " · ".join(shape_text(shape or (1,)) for shape in weights)


def is_last_axis(axis: Any, takes: list[Shape]) -> bool:
    """Return whether an axis is the last one, counted from the front."""
    shape = takes[0] if takes else None
    return shape is not None and axis in (len(shape) - 1, [len(shape) - 1])


def model_facts(model: Box, facts: Mapping[Box, Layer], between: LayerShapes) -> Layer:
    """Return the facts of a model: parameters summed over its layers, configuration without the layers."""
    counts = [facts[child].parameters for child in model.order]
    total = plausible_count(
        None if None in counts else sum(count or 0 for count in counts) + sum(map(prod, weight_shapes(model)))
    )
    fixed = [facts[child].non_trainable for child in model.order]
    not_trained = plausible_count(None if None in fixed else sum(count or 0 for count in fixed))
    config = hash_deep_values({key: value for key, value in layer_config(model.json).items() if key not in GRAPH_KEYS})
    results = tuple(model.children[each.name].path for each in model.output_references if each.name in model.children)
    parts = len(model.order)
    words = " · ".join(filter(None, (holder_words(model), step_words(model, between) or f"{parts} layers")))
    arguments = tuple(call_arguments(model.json))
    return Layer(
        displayed_class(model.json), config, words, (), total, not_trained, parts, results, arguments=arguments
    )


def step_words(model: Box, between: LayerShapes) -> str:
    """Describe how often a wrapper runs its layer; "" for other models."""
    if not is_model_wrapper(model.json):
        return ""
    steps = between.step_count(model)
    return "each step" if steps is None else f"{steps} steps"


def displayed_class(json: Mapping[str, Any]) -> str:
    """Return the class name; for a custom class its registered name without the package."""
    registered = json.get("registered_name")
    name = registered if isinstance(registered, str) and registered else class_name_of(json)
    return name.rpartition(">")[2]
