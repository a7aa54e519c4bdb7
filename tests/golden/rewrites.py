"""What somebody may edit in a program, drawn by a seed: one layer, their order, how they are trained."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from training_layers import HALF, Layer, Program
from trainings import ACTS, KINDS, LOSSES, SLOTS, program, written

Rewrite = Callable[[Program, random.Random], Program]


def at_layer(*kinds: str, **changed: Callable[[Layer], Any]) -> Rewrite:
    """An edit of one layer, of some kinds, where there are some."""

    def rewrite(made: Program, luck: random.Random) -> Program:
        place = luck.choice(
            [place for place, layer in enumerate(made.layers) if layer.kind in kinds] or range(len(made.layers))
        )
        layer = made.layers[place]
        values = {word: change(layer) for word, change in changed.items()}
        return with_layers(made, made.layers[:place], (replace(layer, **values),), made.layers[place + 1 :])

    return rewrite


def of_program(**changed: Callable[[Program, random.Random], Any]) -> Rewrite:
    """An edit of all."""
    return lambda made, luck: replace(made, **{word: change(made, luck) for word, change in changed.items()})


def with_layers(made: Program, *parts: tuple[Layer, ...]) -> Program:
    """A program with other layers."""
    return replace(made, layers=tuple(layer for part in parts for layer in part))


def inserted(made: Program, luck: random.Random) -> Program:
    """A layer more."""
    place = luck.randrange(len(made.layers) + 1)
    return with_layers(made, made.layers[:place], (Layer(luck.choice(KINDS)),), made.layers[place:])


def removed(made: Program, luck: random.Random) -> Program:
    """A layer less."""
    place = luck.randrange(len(made.layers))
    return with_layers(made, made.layers[:place], made.layers[place + 1 :]) if len(made.layers) > 1 else made


def swapped(made: Program, luck: random.Random) -> Program:
    """Two layers in another order."""
    place = luck.randrange(len(made.layers))
    return with_layers(made, made.layers[:place], made.layers[place : place + 2][::-1], made.layers[place + 2 :])


def exchanged(made: Program, luck: random.Random) -> Program:
    """A layer of another kind in the place of one."""
    place = luck.randrange(len(made.layers))
    return with_layers(made, made.layers[:place], (Layer(luck.choice(KINDS)),), made.layers[place + 1 :])


def deepened(made: Program, luck: random.Random) -> Program:
    """Some layers once more behind themselves."""
    place = luck.randrange(len(made.layers))
    return with_layers(made, made.layers[: place + 2], made.layers[place : place + 2], made.layers[place + 2 :])


def other(words: Any, known: str) -> str:
    """The next of some words."""
    listed = list(words)
    return str(listed[(listed.index(known) + 1) % len(listed)])


def lent(made: Program, luck: random.Random) -> Program:
    """A layer takes the weights of one of its kind, or its own again."""
    places = [(place, first) for place, layer in enumerate(made.layers) for first in range(place)
              if made.layers[first] == replace(layer, lender=-1)]  # fmt: skip
    if not places:
        place = luck.randrange(len(made.layers))
        twin = replace(made.layers[place], lender=place)
        return with_layers(made, made.layers[: place + 1], (twin,), made.layers[place + 1 :])
    place, first = luck.choice(places)
    lender = first if made.layers[place].lender < 0 else -1
    return with_layers(
        made, made.layers[:place], (replace(made.layers[place], lender=lender),), made.layers[place + 1 :]
    )


SIZED = ("dense", "conv", "embedding", "attention", "lstm")
REWRITES: dict[str, Rewrite] = {
    "units": at_layer(*SIZED, size=lambda layer: layer.size * 2),
    "kernel": at_layer("conv", "embedding", "attention", "up", "call", "legacy", kernel=lambda layer: layer.kernel + 1),
    "stride": at_layer("conv", stride=lambda layer: layer.stride + 1),
    "dilation": at_layer("conv", dilation=lambda layer: 3 - layer.dilation),
    "groups": at_layer("conv", groups=lambda layer: 5 - layer.groups),
    "rate": at_layer("dropout", "norm", "layer_norm", rate=lambda layer: layer.rate * 3),
    "momentum": at_layer("norm", momentum=lambda layer: layer.momentum - 0.2),
    "activation": at_layer("act", "call", "residual", word=lambda layer: other(ACTS, layer.word)),
    "name": at_layer(name=lambda layer: f"{layer.kind}_features"),
    "inserted": inserted,
    "removed": removed,
    "swapped": swapped,
    "exchanged": exchanged,
    "deepened": deepened,
    "lent": lent,
    "scope": of_program(scope=lambda made, _: f"other/{made.scope}"),
    "optimizer": of_program(optimizer=lambda made, _: other(SLOTS, made.optimizer)),
    "beta": of_program(beta=lambda made, _: made.beta - 0.1),
    "frozen": of_program(frozen=lambda made, luck: frozenset(luck.choices(range(len(made.layers)), k=2))),
    "half": of_program(dtype=lambda made, _: HALF),
    "batch": of_program(batch=lambda made, _: 4),
    "width": of_program(width=lambda made, _: made.width * 2),
    "loss": of_program(loss=lambda made, _: other(LOSSES, made.loss)),
    "counted": of_program(counted=lambda made, _: made.counted + 2),
    "outputs": of_program(outputs=lambda made, _: 2, traced=lambda made, _: True),
    "control": of_program(control=lambda made, _: not made.control),
    "untrained": of_program(optimizer=lambda made, _: ""),
}
# What a program has where an edit is about it.
GIVEN = {"stride": "conv", "dilation": "conv", "groups": "conv", "rate": "dropout", "momentum": "norm",
         "activation": "act", "kernel": "embedding", "units": "dense"}  # fmt: skip
TRAINED = ("momentum", "optimizer", "beta", "frozen", "loss", "control", "untrained")


def fit(made: Program, word: str, luck: random.Random) -> Program:
    """A program in which there is something to edit."""
    if word in TRAINED and made.form == "frozen":
        made = replace(made, form="resource")
    if word not in GIVEN:
        return made
    place = luck.randrange(len(made.layers) + 1)
    return with_layers(made, made.layers[:place], (Layer(GIVEN[word]),), made.layers[place:])


def pair(name: str) -> tuple[Any, Any]:
    """A program and what was made of it, the same for the same name: `kernel half 3` has these two edits, seed 3."""
    luck = random.Random(name)
    old, words = program(luck), name.split()[:-1]
    if luck.random() < 0.3:
        old = lent(old, luck)
    for word in words:
        old = fit(old, word, luck)
    new = old
    for word in words:
        new = REWRITES[word](new, luck)
    return first_otherwise(written(old), written(new), luck)


def first_otherwise(old: Any, new: Any, luck: random.Random) -> tuple[Any, Any]:
    """Both graphs, some node of either first that is another on the other side, or an input of one: where numbers begin
    at 0, a node that is no mere input has it."""
    known = [{node.SerializeToString(deterministic=True) for node in graph.node} for graph in (old, new)]
    for graph, others in ((old, known[1]), (new, known[0])):
        fresh = [node for node in graph.node if node.SerializeToString(deterministic=True) not in others]
        names = sorted({node.name for node in fresh} | {name.lstrip("^") for node in fresh for name in node.input})
        first = luck.choice(names or [graph.node[0].name])
        nodes = sorted(graph.node, key=lambda node: node.name != first)
        copies = type(graph)(node=nodes)
        del graph.node[:]
        graph.node.extend(copies.node)
    return old, new
