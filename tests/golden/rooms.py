"""What each room of a diff makes of two programs: columns, matches, layers, report, merged graph."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
from each_kind import keras_pairs, op_pairs

from graphviz_tb.diff import diff
from graphviz_tb.diff.changes.training import training_of
from graphviz_tb.diff.columns.layers import Layers
from graphviz_tb.diff.result import Changes
from graphviz_tb.errors import TbGraphError


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


def flat(change: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A change, and behind it those in it and behind it."""
    inner = [part for word in ("inside", "consequences") for part in change.pop(word, ())]
    yield change
    for part in inner:
        yield from flat(part)


def layered(layers: Layers) -> Iterator[Any]:
    """The layers, how they are trained, and a number for each column of roles."""
    yield [layers.name(row) for row in np.unique(layers.of_row[layers.of_row >= 0]).tolist()]
    yield training_of(layers)
    roles = (layers.forward, layers.for_gradients, layers.of_row)
    yield [summed(column.astype(np.int64).view(np.uint64)) for column in roles]


def summed(column: np.ndarray) -> int:
    """A number for a column, its order too."""
    return int((column * np.arange(1, len(column) + 1, dtype=np.uint64)).sum(dtype=np.uint64))
