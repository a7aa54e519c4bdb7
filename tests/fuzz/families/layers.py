"""Families of Keras models of the layers there are, with keys that they know and values that they do not.

References are written as Keras 2 does, in lists, and as Keras 3 does, in tensors with a history.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from random import Random
from typing import Any

from graphviz_tb.ops.layers import LAYER_CLASSES
from tests.fuzz.families.grown_json import LIES, models, spots
from tests.fuzz.families.names import run_of

NUMBERS = (
    *(0, 1, 2, 3, 64, -1, True, 0.5, -0.0, 1e308, float("inf"), float("nan"), 2**31, 2**53, 2**63, -(2**63)),
    *(10**12, 10**30, 10**300, [2, 2], [0, 0], [-1], [1e9], [[3]], [None, 8], [1] * 300, [2**62] * 4),
)
OUTPUTS = (0, 0, 0, 0, 1, 2, -1, True, 1.5, None, "0", [0], 2**31, 10**12, 10**30, -(2**63))
INSIDE = ("layer", "cell", "cells", "forward_layer", "backward_layer")  # keys of wrappers
Model = dict[str, Any]


@cache
def vocabulary() -> dict[str, tuple[Any, ...]]:
    """Every key of a layer's configuration in the fixtures, with the short values that it has there."""
    found: dict[str, dict[str, Any]] = {key: {} for key in INSIDE}
    for text in models():
        for holder, key in spots(json.loads(text)):
            if key == "config" and isinstance(holder[key], dict):
                for name, value in holder[key].items():
                    if len(written := json.dumps(value)) < 200:
                        found.setdefault(name, {})[written] = value
    return {name: tuple(values.values()) for name, values in sorted(found.items())}


def classes() -> list[str]:
    """The classes of layers of which anything is known, and one of which nothing is."""
    return sorted({*LAYER_CLASSES, "RNN", "StackedRNNCells", "Lambda", "Mine>X"})


def value(key: str, random: Random, deepest: int) -> Any:
    """Of a key: what it has somewhere, a number, a layer, or nothing of the kind."""
    way = random.random()
    if way < 0.4 and vocabulary()[key]:
        return random.choice(vocabulary()[key])
    if way < 0.8:
        return random.choice(NUMBERS)
    if key in INSIDE and deepest:
        return layer("inside", random, deepest - 1)
    return random.choice(LIES)


def layer(name: str, random: Random, deepest: int = 3) -> Model:
    """A layer of some class, with some of all keys."""
    keys = random.sample(list(vocabulary()), random.choice((0, 3, 9, 30)))
    config = {key: value(key, random, deepest) for key in keys}
    kind = random.choice(classes())
    if kind in ("Bidirectional", "TimeDistributed", "RNN") and deepest:
        config["cell" if kind == "RNN" else "layer"] = layer("inside", random, deepest - 1)
    for key in ("units", "filters", "kernel_size", "input_dim", "output_dim", "num_heads", "key_dim"):
        if random.random() < 0.4:
            config.setdefault(key, random.choice((3, [3, 3], *NUMBERS)))
    return {"class_name": kind, "name": name, "config": {**config, "name": name}}


def called(taken: list[tuple[Any, Any]], version: int) -> Any:
    """One call with outputs of layers, each by name and number, as a version of Keras writes it."""
    if version == 2:
        return [[name, 0, output, {}] for name, output in taken]
    tensors = [
        {"class_name": "__keras_tensor__", "config": {"shape": [None, 8], "keras_history": [name, 0, output]}}
        for name, output in taken
    ]
    return {"args": tensors[:1] if len(tensors) == 1 else [tensors], "kwargs": {}}


def functional(name: str, layers: list[Any], outputs: list[Any]) -> Model:
    """A model of layers, the first of which is its input."""
    inputs = [[layers[0]["name"], 0, 0]] if layers else []
    config = {"name": name, "layers": layers, "input_layers": inputs, "output_layers": outputs}
    return {"class_name": "Functional", "name": name, "config": config, "inbound_nodes": []}


def images(random: Random) -> Model:
    """An input."""
    shape = random.choice(([None, 8], [None, 8, 8, 3], [None, 5, 8], *NUMBERS))
    key = random.choice(("batch_shape", "batch_input_shape"))
    return {"class_name": "InputLayer", "name": "i", "config": {"name": "i", key: shape}, "inbound_nodes": []}


def written(model: Model) -> tuple[str, bytes]:
    return "json", json.dumps(model).encode()


def known_layers(random: Random) -> tuple[str, bytes]:
    """Layers of every class, which take outputs of each other that are there or not, in calls of either version."""
    return written(of_layers(random))


def of_layers(random: Random) -> Model:
    """A model of such layers: a sequence, or with calls."""
    names = [random.choice((f"l{at}", f"dense_{at}", f"l{at % 3}", run_of(random))) for at in range(20)]
    made = [images(random)]
    for name in names[: random.choice((1, 4, 20))]:
        inside = layer(name, random)
        before = [each["name"] for each in made]
        calls: Any = [called([(random.choice(before), random.choice(OUTPUTS)) for _ in range(random.choice((1, 1, 2)))],
                             random.choice((2, 3))) for _ in range(random.choice((0, 1, 1, 2)))]  # fmt: skip
        made.append({**inside, "inbound_nodes": calls if random.random() < 0.95 else random.choice(LIES)})
    if random.random() < 0.2:
        return {"class_name": "Sequential", "config": {"name": "m", "layers": made}}
    return functional("m", made, [[made[-1]["name"], 0, random.choice(OUTPUTS)]])


def wrapped_layers(random: Random) -> tuple[str, bytes]:
    """Wrappers in wrappers, many deep, around a layer that gives its states."""
    units = random.choice((3, 3, *NUMBERS))
    inside: Model = {
        "class_name": random.choice(("LSTM", "GRU", "RNN", "Dense", "ConvLSTM2D")),
        "config": {"units": units, "return_sequences": True, "return_state": True, "cell": layer("c", random, 0)},
    }
    several = random.choice((["Bidirectional"], ["TimeDistributed"], ["Bidirectional", "TimeDistributed", "RNN"]))
    for _ in range(random.choice((2, 20, 60, 150))):
        kind = random.choice(several)
        config = {"cell" if kind == "RNN" else "layer": inside, "merge_mode": random.choice(("concat", "sum", None))}
        inside = {"class_name": kind, "config": config}
    inside = {**inside, "name": "x", "inbound_nodes": [called([("i", 0)], random.choice((2, 3)))]}
    user = {**layer("u", random), "inbound_nodes": [called([("x", at) for at in range(random.choice((1, 9)))], 2)]}
    return written(functional("m", [images(random), inside, user], [["u", 0, 0]]))


def models_in_models(random: Random) -> tuple[str, bytes]:
    """Models in each other, and very many references to the outermost; layers on each level refer to the next."""
    levels, references = random.choice(((150, 1000), (30, 10_000), (3, 10_000), (90, 90)))
    outputs, version = random.choice((1, 1, 3)), random.choice((2, 3))
    inside: Model = {"class_name": "Dense", "name": "d", "config": {"name": "d", "units": 2}, "inbound_nodes": []}
    for level in range(levels):
        name = random.choice(("n", f"n{level}"))
        calls = [called(list(_shared(inside["name"], outputs, random)), version)] * random.choice((1, 1, 2))
        beside = {**layer("b", random, 0), "inbound_nodes": calls}
        ends = [[random.choice((inside["name"], "b")), 0, random.randrange(outputs)] for _ in range(outputs)]
        inside = functional(name, [images(random), inside, beside], ends)
        inside["inbound_nodes"] = [called([("i", 0)], version)] * random.choice((1, 1, 3))
    user = {"class_name": "Add", "name": "u", "config": {"name": "u"}}
    user["inbound_nodes"] = [called([(inside["name"], at % outputs) for at in range(references)], version)]
    return written(functional("m", [images(random), inside, user], [["u", 0, 0]]))


def _shared(name: str, outputs: int, random: Random) -> Iterator[tuple[str, int]]:
    """Outputs of one layer, some of them twice."""
    for output in range(outputs):
        yield from [(name, output)] * random.choice((1, 1, 2))


FAMILIES = {family.__name__: family for family in (known_layers, wrapped_layers, models_in_models)}
