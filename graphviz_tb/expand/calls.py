"""Follow the edges of a call into its functions: inputs lead to arguments, results to outputs of the call."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from itertools import islice
from operator import itemgetter

import numpy as np

from graphviz_tb.limits import MAX_JOINED_RESULTS
from graphviz_tb.model.columns import Bools, Ints, sorted_value_range
from graphviz_tb.model.graph import Function, Graph
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.wiring import CallWiring, parse_output_number, wiring_of_call


def follow_into_call(
    hierarchy: Hierarchy, key_number: Mapping[str, int], call: int, edges: Ints, slots: Ints, inbound: Bools
) -> list[tuple[int, int, int]]:
    """Follow the edges of a call into its functions; `key_number` is the id of each output key of the graph.

    Each entry is `(position among edges, row inside, slot or output key there)`. Control edges end at the call, and so
    do edges to a constant that is drawn as a mark.
    """
    graph = hierarchy.graph
    node = int(hierarchy.node[call])
    data = ~graph.control[edges]
    # `slot` is an output key for an edge that leaves the call, and an input position for one that enters. Control
    # edges into the call reach no argument.
    into, out = positions_by_slot(slots, inbound & data), positions_by_slot(slots, ~inbound & data)
    leaving = sorted((parse_output_number(graph.keys[key].rpartition(":")[2]), key) for key in out)
    joined_ends: list[tuple[int, int, int]] = []
    room: int = MAX_JOINED_RESULTS
    for attr, body in distinct_bodies(hierarchy.calls[call]):
        # `function_rows` ascends, and function f of the graph has the row `function_rows[f]`.
        function = graph.functions[bisect_left(hierarchy.function_rows, body)]
        joined = call_wiring(graph, node, attr, function)
        ends = [
            (index, function.args[to], "0")
            for slot, to in joined.input_argument_pairs()
            for index in into.get(slot, ())
        ]
        keys = reachable_output_keys(joined, function, leaving)
        made = zip(keys, joined.result_sources(function, [graph.keys[key] for key in keys]), strict=True)
        results = ((index, *end) for key, given in made for index in out[key] for end in given)
        given = list(islice(results, room))
        room -= len(given)
        for index, inner, key in sorted([*ends, *given], key=itemgetter(0)):
            row = int(hierarchy.row_of_node[inner])
            # The end inside may be left out of the hierarchy (row -1), or be drawn as a mark.
            if row >= 0 and not graph.mark[inner]:
                joined_ends.append((index, row, key_number[key]))
    return joined_ends


def positions_by_slot(slots: Ints, chosen: Bools) -> dict[int, list[int]]:
    """Return the chosen positions by slot: a function looks up its own arguments only, not all inputs."""
    positions: dict[int, list[int]] = {}
    for index in np.flatnonzero(chosen).tolist():
        positions.setdefault(int(slots[index]), []).append(index)
    return positions


def reachable_output_keys(joined: CallWiring, function: Function, leaving: list[tuple[int, int]]) -> list[int]:
    """Return the keys of those outputs (number, key), sorted by number, that results of a function can lead to."""
    if joined.gives == "each" and not joined.named:
        leaving = leaving[: bisect_left(leaving, (len(function.returns),))]
    return [key for _, key in leaving]


def constants_into_call(hierarchy: Hierarchy, call: int, body: int | None = None) -> list[tuple[int, int]]:
    """Return the constants passed to a call, each with the argument it leads to in one or all of its functions: `(row
    of mark, row inside)`."""
    graph, node = hierarchy.graph, int(hierarchy.node[call])
    into = slice(*sorted_value_range(graph.target, node, node + 1))
    # Edges from marks are not in `edge_order` and cross no border.
    from_marks = (graph.mark[graph.source[into]] != 0) & ~graph.control[into]
    slots = positions_by_slot(graph.slot[into], from_marks)
    if not slots:
        return []
    marks = hierarchy.row_of_node[graph.source[into]].tolist()
    pairs: dict[tuple[int, int], None] = {}
    bodies = [(attr, row) for attr, row in distinct_bodies(hierarchy.calls[call]) if body in (None, row)]
    for attr, row in bodies:
        function = graph.functions[bisect_left(hierarchy.function_rows, row)]
        for slot, to in call_wiring(graph, node, attr, function).input_argument_pairs():
            end = int(hierarchy.row_of_node[function.args[to]])
            pairs.update(((marks[index], end), None) for index in slots.get(slot, ()))
    return [(mark, end) for mark, end in pairs if mark >= 0 and end >= 0]


def distinct_bodies(bodies: tuple[tuple[str, int], ...]) -> list[tuple[str, int]]:
    """Return each function of a call once, though two attributes may name it.

    >>> distinct_bodies((("then_branch", 7), ("else_branch", 7)))
    [('then_branch', 7)]
    """
    attr_of: dict[int, str] = {}
    for attr, body in bodies:
        # A While may use one function for both: `body` then defines the wiring.
        if body not in attr_of or attr_of[body] == "cond":
            attr_of[body] = attr
    return [(attr, body) for body, attr in attr_of.items()]


def call_wiring(graph: Graph, node: int, attr: str, function: Function) -> CallWiring:
    """Return how `node` is wired to a function that it calls."""
    return wiring_of_call(graph.op_types[graph.op[node]], graph.node_def(node), attr, len(function.args))
