"""Values from outside a program: lookup tables, and values captured by a traced function.

Neither is a step of the program: they are drawn as marks next to their users, as constants are.
"""

from __future__ import annotations

import re

import numpy as np

from graphviz_tb.interpret.origins import ARGUMENT_OPS
from graphviz_tb.model.columns import Bools
from graphviz_tb.model.graph import Graph
from graphviz_tb.ops.roles import LOOKUP_TABLE_OPS, Role, has_role

UNNAMED_ARGUMENT = re.compile(r"(.*/)?unknown(_\d+)?", re.DOTALL)  # TensorFlow's default name
NON_ARGUMENT_LETTER = re.compile(r"[^a-z0-9]")  # not used in argument names
TABLE_LABEL, CAPTURE_LABEL = "lookup table", "captured value"


def find_outside_values(graph: Graph) -> tuple[Bools, dict[int, str]]:
    """Return which nodes bring a table or a captured value to the main graph, and labels for arguments without a
    telling name, in functions too."""
    handed = graph.nodes_of_types(ARGUMENT_OPS.__contains__)
    kept = graph.nodes_of_types(LOOKUP_TABLE_OPS.__contains__)
    if not handed.any():
        return kept, {}
    lookups = graph.nodes_of_types(lambda op: has_role(op, Role.TABLE_USE))
    table = graph.source[lookups[graph.target] & handed[graph.source] & (graph.slot == 0) & ~graph.control].tolist()
    unnamed = [node for node in np.flatnonzero(handed).tolist() if UNNAMED_ARGUMENT.fullmatch(graph.name[node])]
    # The last label wins: an argument used by a lookup is a table, whatever its name.
    labels = (
        dict.fromkeys(captured_arguments(graph), CAPTURE_LABEL)
        | dict.fromkeys(unnamed, CAPTURE_LABEL)
        | dict.fromkeys(table, TABLE_LABEL)
    )
    # In a function an argument stays a box, since a call leads to it; it only gets a label.
    kept[[node for node in labels if graph.function[node] < 0]] = True
    return kept, labels


def captured_arguments(graph: Graph) -> list[int]:
    """Return the arguments of the main graph named after an input of their user: TensorFlow joins "dense/Sub" and its
    "y" to "dense_sub_y"."""
    argument = graph.nodes_of_types("_Arg".__eq__)
    argument &= graph.function < 0
    given = np.flatnonzero(argument[graph.source] & ~graph.control)
    pairs = zip(graph.source[given].tolist(), graph.target[given].tolist(), strict=True)
    spoken = {
        node: argument_name(graph.name[node]) for node in {*graph.source[given].tolist(), *graph.target[given].tolist()}
    }
    return [node for node, user in pairs if extends_name(spoken[node], spoken[user])]


def extends_name(name: str, first: str) -> bool:
    """Return whether a name is `first`, "_" and more."""
    return name.startswith(first) and name.startswith("_", len(first))


def argument_name(name: str) -> str:
    """Write a name as arguments are named.

    >>> argument_name("Dense/Sub")
    'dense_sub'
    """
    return NON_ARGUMENT_LETTER.sub("_", name.lower())
