"""What is known of each layer of a model: class, configuration, shapes, parameters; models hold the sum of theirs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import prod
from typing import Any

from graphviz_tb.model.costs import MOST
from graphviz_tb.model.layers import Layer
from graphviz_tb.model.tensors import MOST_OUTPUTS, Shape, shape_word
from graphviz_tb.read.keras.parameters import parameter_count
from graphviz_tb.read.keras.possible import possible_shape, shallow, sound
from graphviz_tb.read.keras.shapes import output_shapes, shape_in
from graphviz_tb.read.keras.telling import telling
from graphviz_tb.read.keras.tree import Layer as Box
from graphviz_tb.read.keras.tree import config_of

PARTS = frozenset({"layers", "input_layers", "output_layers"})  # of a model: the graph itself
KEPT, HELD = "kept", "held"  # beside the keys of Keras: the shapes of weights, the attribute that holds the layer
MOST_CLAIMED = 200_000  # outputs, all together, that consumers speak of by their numbers
MOST_SHAPES = 3  # of weights on a second line; more are counted
Source = tuple["Box", int]  # a layer that is no model, and which of its outputs
Shapes = dict["Box", list[Shape]]


def layer_facts(layers: list[Box], models: list[Box], sources: Callable[[Box], list[list[Source]]]) -> dict[Box, Layer]:
    """Before: layers and models of one tree (inner models after those around them), and what each call of a layer
    takes. After: the facts of each.

    Shapes go from layer to layer; what a consumer states of what it takes goes before the rule of the class.
    """
    stated = dict(said(layers, sources))
    shapes: Shapes = {}
    for layer in inputs_first(layers, sources):
        takes = taken(layer, sources(layer), shapes)
        computed = output_shapes(class_of(layer.json), config_of(layer.json), takes)
        known = stated.get(layer, {})
        shapes[layer] = [possible_shape(known.get(output, computed[output] if output < len(computed) else None))
                         # As many outputs as the rule gives, and more where a consumer takes one beyond.
                         for output in range(max([len(computed), *(output + 1 for output in known)]))]  # fmt: skip
    facts = {}
    for layer in layers:
        calls = sources(layer)
        facts[layer] = one_layer(layer, taken(layer, calls, shapes), shapes[layer], len(calls))
    # Inner models first: a model's parameters are the sum of those of its parts.
    for model in reversed(models):
        facts[model] = of_model(model, facts)
    return facts


def one_layer(layer: Box, takes: list[Shape], outputs: list[Shape], calls: int) -> Layer:
    """The facts of a layer that is no model, which is called so many times."""
    kind, config = class_of(layer.json), config_of(layer.json)
    # [3] of four dimensions is -1, the default, and not worth a word.
    words = telling(kind, {**config, "axis": -1} if last_axis(config.get("axis"), takes) else config)
    if calls > 1:
        words = " · ".join(filter(None, (words, f"{calls} calls")))
    weights = list(kept(layer))
    words = " · ".join(filter(None, (held(layer), words or in_words(weights))))
    count = bounded(sum(map(prod, weights)) if weights else parameter_count(kind, config, takes))
    around = layer.parent.times if layer.parent is not None else 1
    return Layer(name_of_class(layer.json), shallow(config), words, tuple(outputs), count,
                 takes=tuple(takes) if sound(config) else (), calls=max(1, calls) * around)  # fmt: skip


def bounded(count: int | None) -> int | None:
    """A number of parameters, unknown where no machine could hold as many."""
    return None if count is not None and count > MOST else count


def kept(layer: Box) -> Iterator[tuple[int, ...]]:
    """The shapes of a layer's weights, where the source says them."""
    stored = layer.json.get(KEPT)
    for sizes in stored if isinstance(stored, list) else ():
        shape = shape_in(sizes)
        if shape is not None and None not in shape:
            yield tuple(dim or 0 for dim in shape)


def held(layer: Box) -> str:
    """The attribute that holds a layer, where the source says it and the layer has another name."""
    attribute = layer.json.get(HELD)
    return f"self.{attribute}" if isinstance(attribute, str) else ""


def in_words(weights: Sequence[tuple[int, ...]]) -> str:
    """What is kept, for a layer of which nothing else is known.

    >>> in_words([(24, 48), (48,)]), in_words([(4,), (4,), (4,), (4,)]), in_words([])
    ('24×48 · 48', '4 weights', '')
    """
    if len(weights) > MOST_SHAPES:
        return f"{len(weights)} weights"
    return " · ".join(shape_word(shape or (1,)) for shape in weights)


def last_axis(axis: Any, takes: list[Shape]) -> bool:
    """Whether an axis is the last one, however it is counted: [3] of an image."""
    shape = takes[0] if takes else None
    return shape is not None and axis in (len(shape) - 1, [len(shape) - 1])


def of_model(model: Box, facts: Mapping[Box, Layer]) -> Layer:
    """A model's parameters are those of its layers; its own configuration is said without them."""
    counts = [facts[child].parameters for child in model.order]
    total = bounded(None if None in counts else sum(count or 0 for count in counts) + sum(map(prod, kept(model))))
    config = shallow({key: value for key, value in config_of(model.json).items() if key not in PARTS})
    results = tuple(model.children[name].path for name, _ in model.outputs if name in model.children)
    parts = len(model.order)
    words = " · ".join(filter(None, (held(model), f"{parts} layers")))
    return Layer(name_of_class(model.json), config, words, (), total, parts, results)


def class_of(json: Mapping[str, Any]) -> str:
    return str(json.get("class_name", ""))


def name_of_class(json: Mapping[str, Any]) -> str:
    """The class; a custom one by the name it was registered under, without the package."""
    registered = json.get("registered_name")
    name = registered if isinstance(registered, str) and registered else class_of(json)
    return name.rpartition(">")[2]


# shapes


def said(layers: list[Box], sources: Callable[[Box], list[list[Source]]]) -> Iterator[tuple[Box, dict[int, Shape]]]:
    """The shapes that consumers state of a layer's outputs (Keras 3 writes them beside each tensor)."""
    shapes: dict[Box, dict[int, Shape]] = {}
    room = MOST_CLAIMED
    for layer in layers:
        calls = layer.json.get("inbound_nodes")
        for call, takes in zip(calls if isinstance(calls, list) else (), sources(layer), strict=False):
            stated = list(tensor_shapes(call))
            # Where some of the tensors are constants, which belongs to which is not known.
            if len(stated) == len(takes):
                for (source, output), shape in zip(takes, stated, strict=True):
                    if shape is not None and output < min(MOST_OUTPUTS, room):
                        # The outputs before it are listed, too.
                        room -= output
                        shapes.setdefault(source, {}).setdefault(output, shape)
    yield from shapes.items()


def tensor_shapes(value: Any) -> Iterator[Shape]:
    """The shapes of the tensors in the arguments of a call, in order."""
    waiting = [value]
    # A stack, filled from the end: tensors come in the order in which they are written.
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            if value.get("class_name") == "__keras_tensor__":
                yield shape_in(config_of(value).get("shape"))
            else:
                waiting += reversed(list(value.values()))
        elif isinstance(value, list):
            waiting += reversed(value)


def inputs_first(layers: list[Box], sources: Callable[[Box], list[list[Source]]]) -> Iterator[Box]:
    """The layers, each after those that feed it; what goes round in a circle is cut somewhere."""
    done: set[Box] = set()
    for layer in layers:
        waiting = [layer]
        entered: set[Box] = set()
        while waiting:
            top = waiting[-1]
            if top in done:
                waiting.pop()
            elif top in entered:
                # Seen a second time: all that feeds it is done, but for what leads back to it.
                done.add(waiting.pop())
                yield top
            else:
                entered.add(top)
                feeds = [source for call in sources(top) for source, _ in call]
                waiting += [source for source in feeds if source not in done and source not in entered]


def taken(layer: Box, calls: list[list[Source]], shapes: Shapes) -> list[Shape]:
    """The shapes of what the first call of a layer takes; where that is unknown, what its JSON says it was built
    with."""
    for call in calls[:1]:
        known = [
            shapes[source][output] if 0 <= output < len(shapes.get(source, ())) else None for source, output in call
        ]
        # An input whose shape is unknown may be known from what the layer was built with.
        return known if known != [None] else list(built(layer)) or known
    return list(built(layer))


def built(layer: Box) -> Iterator[Shape]:
    """The input shape that a layer, or the sequence that it begins, was built with."""
    config = config_of(layer.json)
    built_with = layer.json.get("build_config")
    around = config_of(layer.parent.json) if layer.parent is not None else {}
    for stated in (
        config.get("batch_input_shape"),
        built_with.get("input_shape") if isinstance(built_with, dict) else None,
        around.get("build_input_shape"),
    ):
        if (shape := shape_in(stated)) is not None:
            yield shape
            return
