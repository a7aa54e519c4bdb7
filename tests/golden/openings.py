"""Which groups are opened of models that are drawn by a seed, and what names and patterns find in them."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
from families import grown
from forests import forest
from networks import network
from plants import plant

import graphviz_tb
from graphviz_tb.api.pipeline import Model
from graphviz_tb.errors import RequestError
from graphviz_tb.model.hierarchy import SERIES_ROW
from graphviz_tb.model.paths import path_address
from graphviz_tb.open.groups import open_groups
from graphviz_tb.open.repeats import _unrolled_layers, quiet_rows
from graphviz_tb.options import PictureOptions
from graphviz_tb.proto import GraphDef
from graphviz_tb.search.names import RowFinder, _with_program_names
from graphviz_tb.words.view import NodeLabels

LIMITS = (3, 9, 30)


def model_of(name: str) -> Model:
    """A model by the name of what draws it and its number."""
    kind = name.split()[0]
    graph = {"network": network, "forest": forest}.get(kind)
    return graphviz_tb.load(GraphDef(**plant(name)) if graph is None else GraphDef(node=graph(name)))


def first_opened(name: str) -> Iterator[Any]:
    """What the first picture opens, and what is no part of the model."""
    model = model_of(name)
    yield opened(model, PictureOptions())
    yield np.flatnonzero(quiet_rows(model.hierarchy)).tolist()


def growing(name: str) -> Iterator[Any]:
    """What the first picture opens of one member of a family."""
    model = graphviz_tb.load(GraphDef(**grown(name)))
    found, _ = open_groups(model.hierarchy, model.metagraph, PictureOptions(), model.names)
    yield from (path_address(model.hierarchy, path) for path in found)
    quiet = np.flatnonzero(quiet_rows(model.hierarchy)).tolist()
    stacks = np.flatnonzero(model.hierarchy.kind == SERIES_ROW).tolist()
    yield quiet, sorted(_unrolled_layers(model.hierarchy, stacks))


def opened_as_asked(name: str) -> Iterator[Any]:
    """What is opened where little, much and single groups are asked for, and what is said of it."""
    model = model_of(name)
    for limit in LIMITS:
        yield limit, opened(model, PictureOptions(open_all=True, max_open=limit))
        yield limit, opened(model, PictureOptions(depth=2, max_open=limit))
        yield limit, opened(model, PictureOptions(open=("*", "**"), max_open=limit))


def opened(model: Model, options: PictureOptions) -> list[Any]:
    """The addresses of the open groups, and the notices."""
    found, notices = open_groups(model.hierarchy, model.metagraph, options, model.names)
    return [[path_address(model.hierarchy, path) for path in found], [(each.message, each.where) for each in notices]]


def sought(name: str) -> Iterator[Any]:
    """What patterns made of addresses find, and what is said where that is nothing."""
    model, luck = model_of(name), random.Random(name)
    found, _ = open_groups(model.hierarchy, model.metagraph, PictureOptions(open_all=True, max_open=60), model.names)
    addresses = [path_address(model.hierarchy, path) for path in found][1:]
    names = RowFinder(model.hierarchy)
    for text in [luck.choice(addresses) for _ in range(8)] if addresses else ():
        for pattern in patterns(text, luck):
            try:
                yield pattern, [path_address(model.hierarchy, path) for path in names.find_paths(pattern)][:9]
            except RequestError as error:
                yield pattern, str(error)


def patterns(text: str, luck: random.Random) -> Iterator[str]:
    """An address, and others like it: with wild cards, cut, with a letter too many."""
    at = luck.randrange(len(text))
    yield text
    yield f"{text[:at]}*{text[at + luck.randrange(1, 5) :]}"
    yield f"{text[:at]}?{text[at + 1 :]}"
    yield f"{text[:at]}**"
    yield text[: at + 1]
    yield f"{text[:at]}z{text[at:]}"
    yield f"**{text[at:]}"
    yield f"{text}::*"
    inside = luck.choice(("**", "cond", "body", "body/*", "c*", "*/*", "body/part?", "part0"))
    yield f"{text.partition('::')[0]}::{inside}"


def named(model: Model) -> Iterator[Any]:
    """What rows are called that have a label, by a picture and by the program; what these names find."""
    hierarchy = model.hierarchy
    in_program, labels = _with_program_names(hierarchy), NodeLabels(hierarchy, lambda path: None)
    yield [(row, labels.short_label((row,))) for row in sorted(hierarchy.labels)]
    names = in_program.name if in_program else hierarchy.name
    yield [(row, name) for row, name in enumerate(names) if name != hierarchy.name[row]]
    for row in sorted(hierarchy.labels):
        yield names[row], [list(path) for path in model.names.find_paths(names[row])]
