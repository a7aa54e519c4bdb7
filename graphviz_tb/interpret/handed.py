"""Values from outside of a program: lookup tables, and values that a traced function captured.

Neither is a step of the program: they are marks beside the ops that use them, as constants are.
"""

from __future__ import annotations

import re

import numpy as np

from graphviz_tb.interpret.origins import HANDED_IN
from graphviz_tb.model.columns import Bools
from graphviz_tb.model.graph import Graph
from graphviz_tb.ops.roles import TABLES, Role, has_role

UNNAMED = re.compile(r"(.*/)?unknown(_\d+)?", re.DOTALL)  # TensorFlow's word for it
ODD = re.compile(r"[^a-z0-9]")  # what the name of an argument has none of
TABLE, VALUE = "lookup table", "captured value"


def find_handed(graph: Graph) -> tuple[Bools, dict[int, str]]:
    """Before: a flat graph. After: which nodes bring a table or a captured value to the main graph, and what to call
    arguments, there and in functions, whose names are no help."""
    handed = graph.of_types(HANDED_IN.__contains__)
    kept = graph.of_types(TABLES.__contains__)
    if not handed.any():
        return kept, {}
    lookups = graph.of_types(lambda op: has_role(op, Role.TABLE_USE))
    table = graph.source[lookups[graph.target] & handed[graph.source] & (graph.slot == 0) & ~graph.control].tolist()
    unnamed = [node for node in np.flatnonzero(handed).tolist() if UNNAMED.fullmatch(graph.name[node])]
    # Of several words the last counts: an argument that a lookup takes is a table, whatever its name.
    labels = dict.fromkeys(captured(graph), VALUE) | dict.fromkeys(unnamed, VALUE) | dict.fromkeys(table, TABLE)
    # In a function an argument stays a box, for a call leads to it; it only gets its label.
    kept[[node for node in labels if graph.function[node] < 0]] = True
    return kept, labels


def captured(graph: Graph) -> list[int]:
    """Arguments of the main graph that are named by an input of the op that uses them, in TensorFlow's way of making
    one name of two: "dense/Sub" and its "y" are "dense_sub_y"."""
    argument = graph.of_types("_Arg".__eq__)
    argument &= graph.function < 0
    given = np.flatnonzero(argument[graph.source] & ~graph.control)
    pairs = zip(graph.source[given].tolist(), graph.target[given].tolist(), strict=True)
    spoken = {node: plain(graph.name[node]) for node in {*graph.source[given].tolist(), *graph.target[given].tolist()}}
    return [node for node, user in pairs if follows(spoken[node], spoken[user])]


def follows(name: str, first: str) -> bool:
    """Whether a name is another, `_` and more."""
    return name.startswith(first) and name.startswith("_", len(first))


def plain(name: str) -> str:
    """A name as arguments have it.

    >>> plain("Dense/Sub")
    'dense_sub'
    """
    return ODD.sub("_", name.lower())
