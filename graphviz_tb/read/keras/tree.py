"""The layers of a model as a tree, and what each is given: other layers, or what feeds the model around it.

Keras writes this as inbound nodes: Keras 2 as lists of a layer's name, the number of its call and that of its output,
Keras 3 as tensors with such a history.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

SEPARATOR = "/"


@dataclass(eq=False)
class Layer:
    """One layer; a model if it has layers of its own. `feeds` are the calls of it: lists of references."""

    name: str
    json: Mapping[str, Any]
    parent: Layer | None
    children: dict[str, Layer] = field(default_factory=dict)
    order: list[Layer] = field(default_factory=list)
    is_model: bool = False
    before: Layer | None = None  # the layer listed before it
    times: int = 1  # of a model: how often its layers run, for the calls of it and of those around it
    outside: list[Source] | None = None  # of a model that is an input of the one around it: what feeds that
    made_by: dict[int, Source | None] = field(default_factory=dict)  # of a model: what makes the outputs asked so far

    @cached_property
    def path(self) -> str:
        """Its name after those of the models around it."""
        names = []
        layer: Layer | None = self
        while layer is not None:
            names.append(layer.name)
            layer = layer.parent
        return SEPARATOR.join(reversed(names))

    @cached_property
    def calls(self) -> list[list[Reference]] | None:
        """The calls of the layer, each a list of references; None where the JSON does not say (a sequence)."""
        return _inbound(self.json)

    @cached_property
    def places(self) -> dict[str, int]:
        """Of a model: which of its inputs a layer is, by name."""
        names = [name for name, _ in _triples(config_of(self.json).get("input_layers"))]
        return {name: place for place, name in reversed(list(enumerate(names)))}

    @cached_property
    def given(self) -> list[dict[Reference, None]]:
        """Of a model: what its calls give each of its inputs, each reference once."""
        given: list[dict[Reference, None]] = []
        for call in self.calls or ():
            given += ({} for _ in range(len(call) - len(given)))
            for place, reference in enumerate(call):
                given[place][reference] = None
        return given

    @cached_property
    def outputs(self) -> list[Reference]:
        """Of a model: the layers that make its outputs, and which of theirs."""
        return list(_triples(config_of(self.json).get("output_layers")))


Reference = tuple[str, int]  # the name of a layer in the same model, and which of its outputs
Source = tuple[Layer, int]  # a layer, and which of its outputs


def tree(model: Mapping[str, Any]) -> Layer:
    """Before: a model's JSON. After: its layers under it, and theirs under them."""
    root = Layer(name_of(model), model, None, is_model=True)
    root.times = max(1, len(root.calls or ()))
    waiting = [root]
    while waiting:
        layer = waiting.pop()
        before = None
        for json_layer in layers_of(layer.json) or ():
            if not isinstance(json_layer, dict):
                continue
            child = Layer(name_of(json_layer), json_layer, layer, before=before)
            child.is_model = layers_of(json_layer) is not None
            # Of two layers of one name the first is the one that others mean.
            layer.children.setdefault(child.name, child)
            layer.order.append(child)
            before = child
            if child.is_model:
                child.times = layer.times * max(1, len(child.calls or ()))
                waiting.append(child)
    return root


def count_layers(model: Mapping[str, Any]) -> tuple[int, int]:
    """Before: a model's JSON. After: how many layers it lists, those of the models inside it too, and how long their
    paths are together."""
    count = letters = 0
    waiting = [(model, len(name_of(model)))]
    while waiting:
        around, length = waiting.pop()
        layers = [layer for layer in layers_of(around) or () if isinstance(layer, dict)]
        count += len(layers)
        inside = [(layer, length + 1 + len(name_of(layer))) for layer in layers]
        letters += sum(long for _, long in inside)
        waiting += inside
    return count, letters


def models(model: Layer) -> Iterator[Layer]:
    """The model and those inside it, each after the one around it."""
    # Breadth first: the list grows while it is read.
    waiting = [model]
    for layer in waiting:
        yield layer
        waiting += [child for child in layer.order if child.is_model]


def walk(model: Layer) -> Iterator[Layer]:
    """The layers that are no models, in the order they are listed."""
    waiting = [model]
    while waiting:
        layer = waiting.pop()
        if layer.is_model:
            waiting += reversed(layer.order)
        else:
            yield layer


def config_of(json_layer: Mapping[str, Any]) -> Mapping[str, Any]:
    """The configuration of a layer, empty where it has none."""
    config = json_layer.get("config")
    return config if isinstance(config, dict) else {}


def layers_of(json_layer: Mapping[str, Any]) -> list[Any] | None:
    config = json_layer.get("config")
    if isinstance(config, list) and json_layer.get("class_name") == "Sequential":  # Keras 1: the list of layers itself
        return config
    layers = config.get("layers") if isinstance(config, dict) else None
    return layers if isinstance(layers, list) else None


def name_of(json_layer: Mapping[str, Any]) -> str:
    for name in (config_of(json_layer).get("name"), json_layer.get("name")):
        if isinstance(name, str):
            return name
    return str(json_layer.get("class_name", "layer")).lower()


def inputs(layer: Layer) -> list[Layer]:
    """Before: a layer that is no model. After: the layers whose outputs it takes, in order."""
    return [source for call in calls(layer) for source, _ in call]


def calls(layer: Layer) -> list[list[Source]]:
    """Before: a layer that is no model. After: for each call of it what it takes: layers, and which output of each."""
    fed = [[output(*each) for each in call] for call in _feeds(layer)]
    return [[source for source in call if source is not None] for call in fed]


def _feeds(layer: Layer) -> list[list[Source]]:
    """What each call of a layer is given: layers of its own model, or what feeds the model if it is an input of it."""
    parent = layer.parent
    if parent is None:
        return []
    calls = layer.calls
    if calls:
        return [[(parent.children[name], index) for name, index in call if name in parent.children] for call in calls]
    # A sequence: a layer takes what the one before it gives.
    if calls is None and layer.before is not None and not _is_input(layer, parent):
        return [[(layer.before, 0)]]
    return [[each] for each in _from_outside(layer, parent)]


def _from_outside(layer: Layer, model: Layer) -> list[Source]:
    """What feeds an input of a nested model: the same place of each call; each layer once."""
    passed: list[Layer] = []
    # Outwards, model by model, as long as each is an input of the one around it; up to one that was passed before.
    while True:
        place, outer = _place(layer, model), model.parent
        if place is None or outer is None:
            feeds = []
            break
        if model.outside is not None:
            feeds = model.outside
            break
        if model.calls:
            given = model.given[place] if place < len(model.given) else ()
            feeds = [(outer.children[name], index) for name, index in given if name in outer.children]
            break
        if model.calls is None and model.before is not None and not _is_input(model, outer):
            feeds = [(model.before, place)]
            break
        passed.append(model)
        layer, model = model, outer
    for each in passed:
        each.outside = feeds
    return feeds


def _place(layer: Layer, model: Layer) -> int | None:
    """Which input of a model a layer is; None if it is none."""
    if layer.name in model.places:
        return model.places[layer.name]
    return 0 if not model.places and model.order[0] is layer else None


def _is_input(layer: Layer, model: Layer) -> bool:
    return _place(layer, model) is not None


def output(layer: Layer, index: int) -> Source | None:
    """The layer that makes an output of a layer, and which of its own that is: itself, or one inside if it is a
    model."""
    asked: list[Source] = []
    found: Source | None = (layer, index)
    # Inwards, model by model, up to one that was asked before.
    while found is not None and found[0].is_model:
        model, place = found
        # A position that the model does not have is taken for the nearest one.
        place = max(0, min(place, len(model.outputs) - 1))
        if place in model.made_by:
            found = model.made_by[place]
            break
        asked.append((model, place))
        found = _within(model, place)
    for model, place in asked:
        model.made_by[place] = found
    return found


def _within(model: Layer, place: int) -> Source | None:
    """Which layer of a model, a model itself perhaps, makes an output of it."""
    if not model.order:
        return None
    if not model.outputs:
        return model.order[-1], 0
    name, index = model.outputs[place]
    return model.children.get(name, model.order[-1]), index


def _inbound(json_layer: Mapping[str, Any]) -> list[list[Reference]] | None:
    """What the JSON says of the calls of a layer."""
    nodes = json_layer.get("inbound_nodes")
    if not isinstance(nodes, list):
        return None
    return [list(_references(node)) for node in nodes]


def _references(node: Any) -> Iterator[Reference]:
    """Keras 3: tensors with a history anywhere in the arguments; Keras 2: [name, call, output, arguments]."""
    if isinstance(node, dict):
        yield from _histories(node)
    else:
        yield from _triples(node)


def _histories(value: Any) -> Iterator[Reference]:
    waiting = [value]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            history = config_of(value).get("keras_history")
            if isinstance(history, list):
                yield from _triples(history)
            else:
                waiting += reversed(list(value.values()))
        elif isinstance(value, list):
            waiting += reversed(value)


def _triples(value: Any) -> Iterator[Reference]:
    """Every [name, call, output] in nested lists and dicts; a bare name is its first output."""
    waiting = [value]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            yield value, 0
        elif isinstance(value, dict):
            waiting += reversed(list(value.values()))
        elif isinstance(value, list):
            # [name, call, output, arguments]; arguments may hold further tensors.
            if len(value) >= 3 and isinstance(value[0], str) and isinstance(value[2], int):
                yield value[0], value[2]
                waiting += [each for each in value[3:] if isinstance(each, dict)]
            else:
                waiting += reversed(value)
