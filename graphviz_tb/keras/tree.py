"""Build the tree of a model's layers, and read references to layers in its JSON."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple

from graphviz_tb.keras.output_shapes import shape_from_json
from graphviz_tb.model.tensors import Shape

# References in the JSON of a Keras model: a layer, the number of its call, and of the output of that call.
#
# Keras 2 writes lists `[layer, call, output]`, followed by the keyword arguments; Keras 3 writes the arguments of each
# call, in which each tensor has such a list as its `keras_history`.

KERAS_3_CALL_KEYS = frozenset(("args", "kwargs"))
CallArgument = int | str  # of a call: its position, or its name


class Reference(NamedTuple):
    """An output of a call of a layer in the same model, the argument that it is passed as, and its stated shape."""

    name: str
    call: int = 0
    output: int = 0
    argument: CallArgument = 0
    stated: Shape = None


def inbound_calls(json_layer: Mapping[str, Any]) -> list[list[Reference]] | None:
    """Return the calls of a layer, each a list of references; None if the JSON does not list them (a sequence)."""
    nodes = json_layer.get("inbound_nodes")
    if not isinstance(nodes, list):
        return None
    return [list(_call_references(node)) for node in nodes]


def _listed_references(value: Any) -> Iterator[Reference]:
    """Yield the inputs or outputs that a model lists: `[name, call, output]` in nested lists and dicts, or names."""
    yield from _keras_2_references(value, bare=True)


def _call_references(node: Any) -> Iterator[Reference]:
    # Keras 2 writes a dict for a call with a dict of tensors.
    if not isinstance(node, dict) or not KERAS_3_CALL_KEYS & node.keys():
        yield from _keras_2_references(node, bare=not isinstance(node, dict))
        return
    args, kwargs = (node.get(key) for key in ("args", "kwargs"))
    for position, value in enumerate(args if isinstance(args, list) else ()):
        yield from _keras_3_references(value, position)
    for name, value in kwargs.items() if isinstance(kwargs, dict) else ():
        yield from _keras_3_references(value, name)


def _keras_3_references(value: Any, argument: CallArgument) -> Iterator[Reference]:
    """Yield the tensors in one argument of a Keras 3 call, in the order in which Keras flattens it."""
    waiting = [value]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            tensor = value["config"] if isinstance(value.get("config"), dict) else {}
            history = tensor.get("keras_history")
            if isinstance(history, list):
                shape = shape_from_json(tensor.get("shape"))
                yield from (reference._replace(stated=shape) for reference in _keras_2_references(history, argument))
            else:
                waiting += _values_by_key(value)
        elif isinstance(value, list):
            waiting += reversed(value)


def _keras_2_references(value: Any, argument: CallArgument = 0, bare: bool = False) -> Iterator[Reference]:
    """Yield every [name, call, output] in nested lists and dicts; if `bare`, a name is the first output of a layer."""
    waiting: list[tuple[Any, CallArgument]] = [(value, argument)]
    while waiting:
        value, argument = waiting.pop()
        if isinstance(value, str) and bare and argument == 0:
            yield Reference(value)
        elif isinstance(value, dict):
            waiting += [(part, argument) for part in _values_by_key(value)]
        elif isinstance(value, list):
            if is_keras_2_reference(value):
                yield Reference(value[0], value[1] if isinstance(value[1], int) else 0, value[2], argument)
                # Keras 2: keyword arguments of the call, which may contain tensors too.
                keywords = [pair for more in value[3:] if isinstance(more, dict) for pair in more.items()]
                waiting += [(each, name) for name, each in reversed(keywords)]
            else:
                waiting += [(part, argument) for part in reversed(value)]


def is_keras_2_reference(value: Any) -> bool:
    """Return whether a list is [name, call, output], with or without keyword arguments after it."""
    return len(value) >= 3 and isinstance(value[0], str) and isinstance(value[2], int)


def _values_by_key(value: Mapping[str, Any]) -> list[Any]:
    """Return the values of a dict by descending key, for a stack: Keras flattens dicts in the order of keys."""
    return [value[key] for key in sorted(value, reverse=True)]


# The layers of a model as a tree. Each has a unique name among its siblings, even if the JSON states none.

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
    feeds: list[LayerOutput] | None = None  # a cache of `calls._inputs_from_outside`
    resolved: dict[int, LayerOutput | None] = field(default_factory=dict)  # a cache of `calls._resolve_output`

    @cached_property
    def path(self) -> str:
        """Return the names of the models around the layer, and its name."""
        names = []
        layer: LayerNode | None = self
        while layer is not None:
            names.append(layer.name)
            layer = layer.parent
        return PATH_SEPARATOR.join(reversed(names))

    @cached_property
    def calls(self) -> list[list[Reference]] | None:
        """Return the calls of the layer, each a list of references; None if the JSON does not list them (a
        sequence)."""
        return inbound_calls(self.json)

    @property
    def calls_in_model(self) -> int:
        """Return the number of calls of the layer in its model, at least 1."""
        return max(1, len(self.calls or ()))

    @cached_property
    def input_places(self) -> dict[str, int]:
        """Return the position of each input of a model, by name."""
        names = [reference.name for reference in _listed_references(layer_config(self.json).get("input_layers"))]
        return {name: place for place, name in reversed(list(enumerate(names)))}

    @cached_property
    def references_by_input(self) -> list[dict[Reference, None]]:
        """Return the references that the calls of a model pass to each of its inputs, without duplicates."""
        references: list[dict[Reference, None]] = []
        for call in self.calls or ():
            references += ({} for _ in range(len(call) - len(references)))
            for place, reference in enumerate(call):
                references[place][reference] = None
        return references

    @cached_property
    def output_references(self) -> list[Reference]:
        return list(_listed_references(layer_config(self.json).get("output_layers")))

    @cached_property
    def _last_calls(self) -> dict[str, int]:
        """Return the highest call number of each layer of a model in any reference."""
        last: dict[str, int] = {}
        references = (each for child in self.order for call in child.calls or () for each in call)
        for reference in chain(self.output_references, references):
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
    """An output of a call of a layer, the argument that it is passed as, and its stated shape. Calls are counted
    through all runs of the models between that layer and its user."""

    layer: LayerNode
    call: int = 0
    output: int = 0
    argument: CallArgument = 0
    stated: Shape = None


def build_layer_tree(model: Mapping[str, Any], opened: bool = True) -> LayerNode:
    """Return the tree of layers of a model's JSON; with the layers of models in wrappers if `opened`."""
    root = LayerNode(layer_name(model), model, None, is_model=True)
    root.runs = root.calls_in_model
    waiting = [root]
    while waiting:
        layer = waiting.pop()
        wrappers = (*layer.wrappers, layer) if is_model_wrapper(layer.json) else layer.wrappers
        before = None
        listed = [
            listed_layer for listed_layer in nested_layer_list(layer.json) or () if isinstance(listed_layer, dict)
        ]
        for json_layer, name in zip(listed, _unique_layer_names(listed), strict=True):
            child = LayerNode(name, json_layer, layer, before=before, wrappers=wrappers)
            child.is_model = nested_layer_list(json_layer) is not None and (opened or not is_model_wrapper(json_layer))
            child.runs = layer.runs * child.calls_in_model
            layer.children.setdefault(_stated_name(json_layer) or name, child)
            layer.order.append(child)
            before = child
            if child.is_model:
                waiting.append(child)
    return root


def _unique_layer_names(listed: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield a unique name for each layer of a list; an unnamed layer has its class and a number as name, as in Keras.

    >>> list(_unique_layer_names([{"class_name": "MyBlock"}, {"class_name": "MyBlock"}, {"name": "my_block_1"}]))
    ['my_block', 'my_block_2', 'my_block_1']
    """
    all_stated = {_stated_name(layer) for layer in listed}
    taken: set[str] = set()
    counts: Counter[str] = Counter()
    for json_layer in listed:
        stated = _stated_name(json_layer)
        name = base = stated or layer_name(json_layer)
        # A second layer of one name is numbered too: references mean the first.
        while name in taken or (stated is None and name in all_stated):
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
    """Yield the model and all models inside it, breadth first."""
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
    """Return the layers that a model lists, or the layer of a wrapper around a model; None for any other layer."""
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


def _stated_name(json_layer: Mapping[str, Any]) -> str | None:
    """Return the name of a layer in its configuration or next to it; None if there is none."""
    for name in (layer_config(json_layer).get("name"), json_layer.get("name")):
        if isinstance(name, str):
            return name
    return None


def layer_name(json_layer: Mapping[str, Any]) -> str:
    """Return the name of a layer, or Keras's default name."""
    name = _stated_name(json_layer)
    return snake_case(str(json_layer.get("class_name", "layer")).rpartition(">")[2]) if name is None else name


def snake_case(kind: str) -> str:
    """Return the name that Keras derives from a class.

    >>> snake_case("MultiHeadAttention"), snake_case("Conv2D"), snake_case("GlobalAveragePooling1D"), snake_case("LSTM")
    ('multi_head_attention', 'conv2d', 'global_average_pooling1d', 'lstm')
    """
    # Underscores before words, then before any capital after a small letter, as in Keras.
    once = re.sub(r"(.)([A-Z][a-z]+)", r"\1_\2", kind)
    return re.sub(r"([a-z])([A-Z])", r"\1_\2", once).lower()
