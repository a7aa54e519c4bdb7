"""What each room of a diff makes of two programs: columns, matches, layers, report, merged graph."""

from __future__ import annotations

import json
import zlib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any

import numpy as np
from each_kind import keras_pairs, op_pairs
from rewrites import REWRITES, pair

from graphviz_tb.diff import diff
from graphviz_tb.diff.changes.layers import Layers
from graphviz_tb.diff.changes.training import training
from graphviz_tb.diff.columns.side import GraphColumns
from graphviz_tb.diff.match.found import Reason
from graphviz_tb.diff.match.matching import Matching
from graphviz_tb.diff.picture.merge import Where, merge_graphs
from graphviz_tb.diff.result import Changes
from graphviz_tb.errors import TbGraphError
from graphviz_tb.model.change import Change

SEEDS = 4  # programs for each rewrite
DRAWN = 5  # every fifth pair is drawn, which takes the longest
LISTED = 3  # places where the same became of many

ROOMS = [f"{word} {seed}" for word in REWRITES for seed in range(SEEDS)]
ROOMS += [f"{word} {other} {seed}" for seed, word in enumerate(REWRITES) for other in list(REWRITES)[seed % 3 :: 9]]


def roomed(name: str) -> Iterator[Any]:
    """What each room makes of a program and what was made of it."""
    changes = diff(*pair(name), include=("all",) if name.endswith(("1", "5")) else ())
    yield from told(changes)
    yield from map(edited, changes)
    assert changes.source is not None
    yield from matched(changes.source.matching)
    old, new = (list(layered(layers)) for layers in changes.source.layers)
    yield from (*old, *(line for line in new if line not in old))
    yield from merged(changes)
    if ROOMS.index(name) % DRAWN == 0:
        yield from drawn(changes)
    if ROOMS.index(name) % DRAWN == 1:
        yield from merged(changes.inverted())
        yield from changes.inverted().explain("markdown").splitlines()


def of_each_op(kind: str) -> Iterator[Any]:
    """The changes of each edit of a graph with ops of a type, and the part that they have in it."""
    for number, pair_of_graphs in enumerate(op_pairs(kind)):
        changes = diff(*pair_of_graphs)
        yield from told(changes)
        assert changes.source is not None
        if number == 0:
            yield from layered(changes.source.layers[0])


def of_keras(name: str) -> Iterator[Any]:
    """The changes of each edit of a Keras model."""
    for old, new in keras_pairs(name):
        try:
            changes = diff(old, new)
        except TbGraphError as error:
            yield str(error)
        else:
            yield from told(changes)


def told(changes: Changes) -> Iterator[Any]:
    """The report, and each change with its details."""
    yield from (line.rstrip() for line in changes.explain().splitlines() if line)
    yield from (inner for change in json.loads(changes.explain("json"))["changes"] for inner in flat(change))


def edited(change: Change) -> dict[str, Any]:
    """The edits of a change, of each kind how many, and the first."""
    edits = change.all_edits()
    parts = {field.name: getattr(edits, field.name) for field in fields(edits)}
    return {word: (len(part), part[:LISTED]) if word != "versions" else part for word, part in parts.items() if part}


def flat(change: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A change, and behind it those in it and behind it."""
    inner = [part for word in ("inside", "consequences") for part in change.pop(word, ())]
    yield change
    for part in inner:
        yield from flat(part)


def matched(m: Matching) -> Iterator[Any]:
    """Every node and scope that is not matched with that of its name, and why; what is known of the series."""
    names = (m.a.graph.name, m.b.graph.name), (m.a.scopes.name, m.b.scopes.name)
    for (mine, others), to_b, reasons in zip(names, (m.to_b, m.scope_to_b), (m.reason, m.scope_reason), strict=True):
        for old, (new, reason) in enumerate(zip(to_b.tolist(), reasons.tolist(), strict=True)):
            other = others[new] if new >= 0 else None
            if reason != Reason.NAME or other != mine[old]:
                yield mine[old], other, reason
    yield m.functions, m.renumbered, m.renumbered_scopes, m.recounted
    yield m.equals, m.shifts, m.caused, sorted(m.decided), m.notices


def layered(layers: Layers) -> Iterator[Any]:
    """The layers, how they are trained, and a number for each column of roles."""
    yield [layers.name(row) for row in np.unique(layers.of_row[layers.of_row >= 0]).tolist()]
    yield training(layers)
    roles = (layers.forward, layers.for_gradients, layers.of_row)
    yield [summed(column.astype(np.int64).view(np.uint64)) for column in roles]


def columns(side: GraphColumns) -> Iterator[np.ndarray]:
    """The columns of hashes of one side."""
    labels = side.labels
    yield from (labels.op, labels.core, labels.shapes, labels.colocation, labels.constants, labels.devices, labels.own)
    yield from (side.node_label, side.edge_hash, side.around(2), side.around(1, "in"), side.exact, side.structural)
    yield from (side.scopes.path, side.scopes.node_path, np.array([side.whole()], np.uint64))


def summed(column: np.ndarray) -> int:
    """A number for a column, its order too."""
    return int((column * np.arange(1, len(column) + 1, dtype=np.uint64)).sum(dtype=np.uint64))


def merged(changes: Changes) -> Iterator[Any]:
    """What became of the nodes and scopes of both graphs in one."""
    both = merge_graphs(changes)
    for part in (both.signs, both.lines, both.scopes, both.beside, both.layers):
        yield by_value(part)
    yield [both.lost, both.gained, both.settings], both.shown[:LISTED]
    wired = [(node.name, node.op, *node.input) for node in both.graph_def.node]
    yield len(wired), zlib.crc32(repr(wired).encode())


def by_value(words: Mapping[Where, Any]) -> list[Any]:
    """Each value, how many places have it, and the first of them."""
    places: dict[str, list[Where]] = defaultdict(list)
    for place, value in words.items():
        places[str(value)].append(place)
    return [(value, len(listed), listed[:LISTED]) for value, listed in places.items()]


def drawn(changes: Changes) -> Iterator[Any]:
    """A number for each column; the signs, the tints and the legend of the picture, and which groups are open."""
    assert changes.source is not None
    for layers in changes.source.layers:
        yield [f"{summed(column) >> 32:x}" for column in columns(layers.side)]
    picture = changes.picture()
    yield from zip((box.address for box in picture.scene.boxes), picture.paint.boxes, strict=True)
    yield picture.paint.tints, picture.paint.legend, picture.caption.facts, map(str, picture.notices)
    yield from changes.explain("text", None, colour=True).splitlines()
