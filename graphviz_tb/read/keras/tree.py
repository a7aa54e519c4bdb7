"""The layers of a model as a tree. Each has a unique name among its siblings, even if the JSON states none."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple

from graphviz_tb.model.tensors import Shape
from graphviz_tb.read.keras.references import CallArgument, Reference, inbound_calls, listed_references

PATH_SEPARATOR = "/"
TIME_DISTRIBUTED = "TimeDistributed"  # the class that runs a layer or model on each step of a sequence


@dataclass(eq=False)
class LayerNode:
    """One layer; a model if it has layers, or is a wrapper around a model."""

    name: str
    json: Mapping[str, Any]
    parent: LayerNode | None
    children: dict[str, LayerNode] = field(default_factory=dict)
    order: list[LayerNode] = field(default_factory=list)
    is_model: bool = False
    before: LayerNode | None = None  # the layer listed before it
    runs: int = 1  # how often it runs, over its calls and those of the models around it
    wrappers: tuple[LayerNode, ...] = ()  # wrappers around it that run it on each step, outermost first
    outside: list[LayerOutput] | None = None  # cache of a model that is an input of the one around it: its feeds
    made_by: dict[int, LayerOutput | None] = field(default_factory=dict)  # cache of a model: makers of outputs

    @cached_property
    def path(self) -> str:
        """Name of the layer after those of the models around it."""
        names = []
        layer: LayerNode | None = self
        while layer is not None:
            names.append(layer.name)
            layer = layer.parent
        return PATH_SEPARATOR.join(reversed(names))

    @cached_property
    def calls(self) -> list[list[Reference]] | None:
        """Calls of the layer, each a list of references; None if the JSON does not list them (a sequence)."""
        return inbound_calls(self.json)

    @property
    def calls_in_model(self) -> int:
        """Number of calls of the layer in its own model, at least 1."""
        return max(1, len(self.calls or ()))

    @cached_property
    def input_places(self) -> dict[str, int]:
        """Position of each input of a model, by name."""
        names = [each.name for each in listed_references(layer_config(self.json).get("input_layers"))]
        return {name: place for place, name in reversed(list(enumerate(names)))}

    @cached_property
    def references_by_input(self) -> list[dict[Reference, None]]:
        """References that the calls of a model pass to each of its inputs, each once."""
        given: list[dict[Reference, None]] = []
        for call in self.calls or ():
            given += ({} for _ in range(len(call) - len(given)))
            for place, reference in enumerate(call):
                given[place][reference] = None
        return given

    @cached_property
    def output_references(self) -> list[Reference]:
        """References to the outputs of a model."""
        return list(listed_references(layer_config(self.json).get("output_layers")))

    @cached_property
    def _last_calls(self) -> dict[str, int]:
        """Highest call number of each layer of a model in any reference."""
        last: dict[str, int] = {}
        spoken = (each for child in self.order for call in child.calls or () for each in call)
        for reference in chain(self.output_references, spoken):
            last[reference.name] = max(last.get(reference.name, 0), reference.call)
        return last

    def resolve_reference(self, reference: Reference) -> LayerOutput | None:
        """Resolve a reference in this model; None if it has no such layer."""
        layer = self.children.get(reference.name)
        if layer is None:
            return None
        # Keras counts the calls of a functional model from 1, those of a layer from 0.
        first = max(0, self._last_calls.get(reference.name, 0) + 1 - layer.calls_in_model)
        return LayerOutput(layer, min(max(0, reference.call - first), layer.calls_in_model - 1), *reference[2:])


class LayerOutput(NamedTuple):
    """An output of a call of a layer, the argument that takes it, and its stated shape. Calls are counted through all
    runs of the models between that layer and the one that takes it."""

    layer: LayerNode
    call: int = 0
    output: int = 0
    argument: CallArgument = 0
    stated: Shape = None


def build_layer_tree(model: Mapping[str, Any], opened: bool = True) -> LayerNode:
    """Return the tree of layers of a model's JSON; the layers of a model in a wrapper are included if `opened`."""
    root = LayerNode(layer_name(model), model, None, is_model=True)
    root.runs = root.calls_in_model
    waiting = [root]
    while waiting:
        layer = waiting.pop()
        wrappers = (*layer.wrappers, layer) if is_model_wrapper(layer.json) else layer.wrappers
        before = None
        listed = [each for each in nested_layer_list(layer.json) or () if isinstance(each, dict)]
        for json_layer, name in zip(listed, unique_layer_names(listed), strict=True):
            child = LayerNode(name, json_layer, layer, before=before, wrappers=wrappers)
            child.is_model = nested_layer_list(json_layer) is not None and (opened or not is_model_wrapper(json_layer))
            child.runs = layer.runs * child.calls_in_model
            layer.children.setdefault(stated_name(json_layer) or name, child)
            layer.order.append(child)
            before = child
            if child.is_model:
                waiting.append(child)
    return root


def unique_layer_names(listed: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield a unique name for each layer of a list; an unnamed one is called by its class and numbered, as in Keras.

    >>> list(unique_layer_names([{"class_name": "MyBlock"}, {"class_name": "MyBlock"}, {"name": "my_block_1"}]))
    ['my_block', 'my_block_2', 'my_block_1']
    """
    given = {stated_name(each) for each in listed}
    taken: set[str] = set()
    counts: Counter[str] = Counter()
    for json_layer in listed:
        own = stated_name(json_layer)
        name = base = own or layer_name(json_layer)
        # A second layer of one name is numbered too: references mean the first.
        while name in taken or (own is None and name in given):
            counts[base] += 1
            name = f"{base}_{counts[base]}"
        taken.add(name)
        yield name


def count_layers(model: Mapping[str, Any]) -> tuple[int, int]:
    """Return the number of layers that a model's JSON lists at any depth, and the total length of their paths."""
    count = letters = 0
    waiting = [(model, len(layer_name(model)))]
    while waiting:
        around, length = waiting.pop()
        layers = [layer for layer in nested_layer_list(around) or () if isinstance(layer, dict)]
        count += len(layers)
        inside = [(layer, length + 1 + len(layer_name(layer))) for layer in layers]
        letters += sum(long for _, long in inside)
        waiting += inside
    return count, letters


def walk_models(model: LayerNode) -> Iterator[LayerNode]:
    """Yield the model and those inside it, each after the one around it."""
    # Breadth first: the list grows during the loop.
    waiting = [model]
    for layer in waiting:
        yield layer
        waiting += [child for child in layer.order if child.is_model]


def walk_layers(model: LayerNode) -> Iterator[LayerNode]:
    """Yield the layers that are not models, in the order of the file."""
    waiting = [model]
    while waiting:
        layer = waiting.pop()
        if layer.is_model:
            waiting += reversed(layer.order)
        else:
            yield layer


def layer_config(json_layer: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the configuration of a layer, empty if it has none."""
    config = json_layer.get("config")
    return config if isinstance(config, dict) else {}


def nested_layer_list(json_layer: Mapping[str, Any]) -> list[Any] | None:
    """Return the layers that a model lists, or the model in a wrapper; None for any other layer."""
    config = json_layer.get("config")
    if isinstance(config, list) and json_layer.get("class_name") == "Sequential":  # Keras 1: the list of layers itself
        return config
    if is_model_wrapper(json_layer):
        return [layer_config(json_layer)["layer"]]
    layers = config.get("layers") if isinstance(config, dict) else None
    return layers if isinstance(layers, list) else None


def is_model_wrapper(json_layer: Mapping[str, Any]) -> bool:
    """Return whether a layer runs a model, or a wrapper around one, on each step."""
    while json_layer.get("class_name") == TIME_DISTRIBUTED:
        inner = layer_config(json_layer).get("layer")
        if not isinstance(inner, dict):
            return False
        if isinstance(layer_config(inner).get("layers"), list) or isinstance(inner.get("config"), list):
            return True
        json_layer = inner
    return False


def stated_name(json_layer: Mapping[str, Any]) -> str | None:
    """Return the name that the JSON gives a layer, in its configuration or next to it; None for none."""
    for name in (layer_config(json_layer).get("name"), json_layer.get("name")):
        if isinstance(name, str):
            return name
    return None


def layer_name(json_layer: Mapping[str, Any]) -> str:
    """Return the name of a layer, or the one that Keras would give it."""
    name = stated_name(json_layer)
    return snake_case(str(json_layer.get("class_name", "layer")).rpartition(">")[2]) if name is None else name


def snake_case(kind: str) -> str:
    """Return the name that Keras derives from a class.

    >>> snake_case("MultiHeadAttention"), snake_case("Conv2D"), snake_case("GlobalAveragePooling1D"), snake_case("LSTM")
    ('multi_head_attention', 'conv2d', 'global_average_pooling1d', 'lstm')
    """
    # "MultiHeadAttention": first before words, then before any capital that follows a small letter.
    once = re.sub(r"(.)([A-Z][a-z]+)", r"\1_\2", kind)
    return re.sub(r"([a-z])([A-Z])", r"\1_\2", once).lower()
