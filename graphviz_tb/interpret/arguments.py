"""Marks and labels for what enters a program or loop: tables, captured values, carried values."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from graphviz_tb.interpret.weights import ARGUMENT_OPS
from graphviz_tb.model.columns import Bools, sorted_value_range
from graphviz_tb.model.graph import Graph
from graphviz_tb.model.paths import last_segment
from graphviz_tb.ops.roles import LOOKUP_TABLE_OPS, LOOP_OPS, Role, has_role

# Values from outside a program: lookup tables, and values captured by a traced function.
#
# Neither is a step of the program: they are drawn as marks next to their users, as constants are.

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
        dict.fromkeys(_captured_arguments(graph), CAPTURE_LABEL)
        | dict.fromkeys(unnamed, CAPTURE_LABEL)
        | dict.fromkeys(table, TABLE_LABEL)
    )
    # In a function an argument stays a box, since a call leads to it; it only gets a label.
    kept[[node for node in labels if graph.function[node] < 0]] = True
    return kept, labels


def _captured_arguments(graph: Graph) -> list[int]:
    """Return the arguments of the main graph named after an input of their user: TensorFlow joins "dense/Sub" and its
    "y" to "dense_sub_y"."""
    argument = graph.nodes_of_types("_Arg".__eq__)
    argument &= graph.function < 0
    given = np.flatnonzero(argument[graph.source] & ~graph.control)
    pairs = zip(graph.source[given].tolist(), graph.target[given].tolist(), strict=True)
    spoken = {
        node: _argument_name(graph.name[node])
        for node in {*graph.source[given].tolist(), *graph.target[given].tolist()}
    }
    return [node for node, user in pairs if _extends_name(spoken[node], spoken[user])]


def _extends_name(name: str, first: str) -> bool:
    """Return whether a name is `first`, "_" and more."""
    return name.startswith(first) and name.startswith("_", len(first))


def _argument_name(name: str) -> str:
    """Write a name as arguments are named.

    >>> _argument_name("Dense/Sub")
    'dense_sub'
    """
    return NON_ARGUMENT_LETTER.sub("_", name.lower())


# Labels of loop arguments: name a carried value after its initial value, as TensorFlow only names its position.
#
# first_token ─▶ While     in the body: while_placeholder_1   drawn as: first_token

# python/ops/while_v2.py of TensorFlow
LOOP_PLACEHOLDER = re.compile(r"(.*_)?(placeholder|loop_counter|maximum_iterations)(_\d+)?", re.DOTALL)


def label_loop_arguments(graph: Graph) -> dict[int, str]:
    """Return labels for arguments of loop conditions and bodies whose names only state their position."""
    labels: dict[int, str] = {}
    for call in graph.calls:
        if graph.op_types[graph.op[call.node]] in LOOP_OPS:
            arguments = graph.functions[call.function].args
            given = ((slot, source) for slot, source in _data_inputs_by_slot(graph, call.node) if slot < len(arguments))
            # A function may serve several loops: the first call decides.
            for slot, source in given:
                if LOOP_PLACEHOLDER.fullmatch(graph.name[arguments[slot]]) and last_segment(graph.name[source]):
                    labels.setdefault(arguments[slot], last_segment(graph.name[source]))
    return labels


def _data_inputs_by_slot(graph: Graph, node: int) -> Iterator[tuple[int, int]]:
    first, stop = sorted_value_range(graph.target, node, node + 1)
    edges = np.arange(first, stop)[~graph.control[first:stop]]
    return zip(graph.slot[edges].tolist(), graph.source[edges].tolist(), strict=True)
