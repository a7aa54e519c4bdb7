"""Values from outside a program: lookup tables, and values captured by a traced function.

Neither is a step of the program: they are drawn as marks next to their users, as constants are.
"""

from __future__ import annotations

import re

import numpy as np

from graphviz_tb.interpret.origins import HANDED_IN
from graphviz_tb.model.columns import Bools
from graphviz_tb.model.graph import Graph
from graphviz_tb.ops.roles import TABLES, Role, has_role

UNNAMED = re.compile(r"(.*/)?unknown(_\d+)?", re.DOTALL)  # TensorFlow's default name
ODD = re.compile(r"[^a-z0-9]")  # not used in argument names
TABLE, VALUE = "lookup table", "captured value"


def find_handed(graph: Graph) -> tuple[Bools, dict[int, str]]:
    """Return which nodes bring a table or a captured value to the main graph, and labels for arguments without a
    telling name, in functions too."""
    handed = graph.of_types(HANDED_IN.__contains__)
    kept = graph.of_types(TABLES.__contains__)
    if not handed.any():
        return kept, {}
    lookups = graph.of_types(lambda op: has_role(op, Role.TABLE_USE))
    table = graph.source[lookups[graph.target] & handed[graph.source] & (graph.slot == 0) & ~graph.control].tolist()
    unnamed = [node for node in np.flatnonzero(handed).tolist() if UNNAMED.fullmatch(graph.name[node])]
    # The last label wins: an argument used by a lookup is a table, whatever its name.
    labels = dict.fromkeys(captured(graph), VALUE) | dict.fromkeys(unnamed, VALUE) | dict.fromkeys(table, TABLE)
    # In a function an argument stays a box, since a call leads to it; it only gets a label.
    kept[[node for node in labels if graph.function[node] < 0]] = True
    return kept, labels


def captured(graph: Graph) -> list[int]:
    """Return the arguments of the main graph named after an input of their user: TensorFlow joins "dense/Sub" and its
    "y" to "dense_sub_y"."""
    argument = graph.of_types("_Arg".__eq__)
    argument &= graph.function < 0
    given = np.flatnonzero(argument[graph.source] & ~graph.control)
    pairs = zip(graph.source[given].tolist(), graph.target[given].tolist(), strict=True)
    spoken = {node: plain(graph.name[node]) for node in {*graph.source[given].tolist(), *graph.target[given].tolist()}}
    return [node for node, user in pairs if follows(spoken[node], spoken[user])]


def follows(name: str, first: str) -> bool:
    """Return whether a name is `first`, "_" and more."""
    return name.startswith(first) and name.startswith("_", len(first))


def plain(name: str) -> str:
    """Write a name as arguments are named.

    >>> plain("Dense/Sub")
    'dense_sub'
    """
    return ODD.sub("_", name.lower())
