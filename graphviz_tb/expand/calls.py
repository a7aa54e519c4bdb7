"""Edges of a call go on inside: an input leads to an argument of the function, a result to the call's output."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping

from graphviz_tb.model.columns import Bools, Ints, span
from graphviz_tb.model.graph import Function, Graph
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.wiring import Wiring, wiring


def through_call(
    hierarchy: Hierarchy, key_number: Mapping[str, int], call: int, edges: Ints, slots: Ints, inbound: Bools
) -> list[tuple[int, int, int]]:
    """Follow the edges of a call into its functions; `key_number` is the id of each output key of the graph.

    For each way in: `(position among edges, row inside, slot or output key there)`. Control edges end at the call,
    and so does what leads to a constant that is drawn as a mark.
    """
    graph = hierarchy.graph
    node = int(hierarchy.node[call])
    joined_ends: list[tuple[int, int, int]] = []
    for attr, body in first_of_each(hierarchy.calls[call]):
        # `function_rows` ascends, and function f of the graph has the row `function_rows[f]`.
        function = graph.functions[bisect_left(hierarchy.function_rows, body)]
        joined = joined_to(graph, node, attr, function)
        # Of an edge that leaves the call `slot` is an output key, of one that comes in the position of an input.
        leaving = dict.fromkeys(slots[~inbound & ~graph.control[edges]].tolist())
        ends_of = dict(zip(leaving, joined.results(function, [graph.keys[key] for key in leaving]), strict=True))
        for index, (edge, slot, comes_in) in enumerate(
            zip(edges.tolist(), slots.tolist(), inbound.tolist(), strict=True)
        ):
            # What a call waits for reaches no argument of its body.
            if graph.control[edge]:
                continue
            ends = [(function.args[to], "0") for to in joined.takes(slot)] if comes_in else ends_of[slot]
            for inner, key in ends:
                row = int(hierarchy.row_of_node[inner])
                # The end inside may be left out of the hierarchy (row -1), or be drawn as a mark.
                if row >= 0 and not graph.mark[inner]:
                    joined_ends.append((index, row, key_number[key]))
    return joined_ends


def constants_inside(hierarchy: Hierarchy, call: int) -> list[tuple[int, int]]:
    """The constants that a call is given, and the argument that each of them leads to: `(row of mark, row inside)`."""
    graph, node = hierarchy.graph, int(hierarchy.node[call])
    into = range(*span(graph.target, node, node + 1))
    # From marks: they are no edges between ops, and cross no border.
    given = [edge for edge in into if graph.mark[graph.source[edge]] and not graph.control[edge]]
    if not given:
        return []
    pairs: dict[tuple[int, int], None] = {}
    for attr, body in first_of_each(hierarchy.calls[call]):
        function = graph.functions[bisect_left(hierarchy.function_rows, body)]
        joined = joined_to(graph, node, attr, function)
        for edge in given:
            mark = int(hierarchy.row_of_node[graph.source[edge]])
            ends = [function.args[to] for to in joined.takes(int(graph.slot[edge]))]
            pairs.update(((mark, int(hierarchy.row_of_node[end])), None) for end in ends)
    return [(mark, row) for mark, row in pairs if mark >= 0 and row >= 0]


def first_of_each(bodies: tuple[tuple[str, int], ...]) -> list[tuple[str, int]]:
    """Each function of a call once, though two attributes may name it.

    >>> first_of_each((("then_branch", 7), ("else_branch", 7)))
    [('then_branch', 7)]
    """
    attr_of: dict[int, str] = {}
    for attr, body in bodies:
        # Of a While with one function for both, `body` says how it is wired: `cond` only gives a truth value.
        if body not in attr_of or attr_of[body] == "cond":
            attr_of[body] = attr
    return [(attr, body) for body, attr in attr_of.items()]


def joined_to(graph: Graph, node: int, attr: str, function: Function) -> Wiring:
    """How `node` is joined to a function that it calls."""
    return wiring(graph.op_types[graph.op[node]], graph.node_def(node), attr, len(function.args))
