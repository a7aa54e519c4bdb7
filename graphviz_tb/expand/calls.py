"""Follow the edges of a call into its functions: from its inputs to arguments, from its outputs to results."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from itertools import islice
from operator import itemgetter

import numpy as np

from graphviz_tb.limits import MAX_JOINED_RESULTS
from graphviz_tb.model.columns import Bools, Ints, int32_column, sorted_value_range
from graphviz_tb.model.facts import Facts
from graphviz_tb.model.graph import CallWiring, Function, Graph, parse_output_number, wiring_of_call
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.metagraph import Metaedge, SingleBundle
from graphviz_tb.model.tensors import CarriedTensors
from graphviz_tb.ops.roles import LOOP_OPS

# Close loops: the results of a While body are its arguments in the next round.


def loop_bodies(hierarchy: Hierarchy) -> dict[int, int]:
    """Return the functions that are bodies of loops: their row, and their index in the library."""
    graph, places = hierarchy.graph, {row: index for index, row in enumerate(hierarchy.function_rows)}
    loops = (row for row in hierarchy.calls if graph.op_types[graph.op[hierarchy.node[row]]] in LOOP_OPS)
    return {body: places[body] for row in loops for attr, body in hierarchy.calls[row] if attr == "body"}


def loop_back_edges(hierarchy: Hierarchy, facts: Facts, function: int, rows: list[int]) -> list[Metaedge]:
    """Return edges from the children that produce the results of a body to the children with the arguments of the same
    index.

    `rows` are the children of the function's row. These metaedges represent no edge of the graph, so their counts are
    0.
    """
    graph, order = hierarchy.graph, sorted(range(len(rows)), key=rows.__getitem__)
    # First rows of the children, ascending, for a bisection.
    starts = [rows[index] for index in order]

    def holder(node: int) -> int:
        if node < 0 or graph.mark[node]:
            return -1
        row = int(hierarchy.row_of_node[node])
        index = bisect_right(starts, row) - 1
        return order[index] if index >= 0 and row < hierarchy.end[starts[index]] else -1

    body = graph.functions[function]
    results: dict[tuple[int, int], list[tuple[int, int]]] = {}
    # Result n of the body is argument n of the next round.
    for argument, (node, key) in zip(body.args, body.returns, strict=False):
        ends = holder(node), holder(argument)
        if min(ends) >= 0 and ends[0] != ends[1]:
            results.setdefault(ends, []).append((node, graph.keys.index(key)))
    bundles = [(ends, SingleBundle(CarriedTensors(outs, facts), int32_column([]))) for ends, outs in results.items()]
    return [Metaedge(*ends, 0, 0, 0, bundle, back=True) for ends, bundle in bundles]


def follow_into_call(
    hierarchy: Hierarchy, key_number: Mapping[str, int], call: int, edges: Ints, slots: Ints, inbound: Bools
) -> list[tuple[int, int, int]]:
    """Return the inner ends of the edges of a call as (position in `edges`, row inside, slot or output key there).

    `key_number` is the id of each output key of the graph. Control edges end at the call, and so do edges to a constant
    that is drawn as a mark.
    """
    graph = hierarchy.graph
    node = int(hierarchy.node[call])
    data = ~graph.control[edges]
    # A slot is an output key for an edge that leaves the call, and an input position for an edge that enters it.
    into, out = _positions_by_slot(slots, inbound & data), _positions_by_slot(slots, ~inbound & data)
    leaving = sorted((parse_output_number(graph.keys[key].rpartition(":")[2]), key) for key in out)
    joined_ends: list[tuple[int, int, int]] = []
    results_left: int = MAX_JOINED_RESULTS
    for attr, body in _distinct_bodies(hierarchy.calls[call]):
        # `function_rows` ascends, and function f of the graph has the row `function_rows[f]`.
        function = graph.functions[bisect_left(hierarchy.function_rows, body)]
        wiring = _call_wiring(graph, node, attr, function)
        ends = [
            (index, function.args[to], "0")
            for slot, to in wiring.input_argument_pairs()
            for index in into.get(slot, ())
        ]
        keys = _reachable_output_keys(wiring, function, leaving)
        sources = zip(keys, wiring.result_sources(function, [graph.keys[key] for key in keys]), strict=True)
        results = list(islice(((index, *end) for key, at in sources for index in out[key] for end in at), results_left))
        results_left -= len(results)
        for index, inner, key in sorted([*ends, *results], key=itemgetter(0)):
            row = int(hierarchy.row_of_node[inner])
            # The end inside may be missing from the hierarchy (row -1), or be drawn as a mark.
            if row >= 0 and not graph.mark[inner]:
                joined_ends.append((index, row, key_number[key]))
    return joined_ends


def _positions_by_slot(slots: Ints, chosen: Bools) -> dict[int, list[int]]:
    positions: dict[int, list[int]] = {}
    for index in np.flatnonzero(chosen).tolist():
        positions.setdefault(int(slots[index]), []).append(index)
    return positions


def _reachable_output_keys(joined: CallWiring, function: Function, leaving: list[tuple[int, int]]) -> list[int]:
    """Return the keys of the outputs to which results of a function can lead; `leaving` has (number, key), sorted."""
    if joined.outputs_of_result == "each" and not joined.named:
        leaving = leaving[: bisect_left(leaving, (len(function.returns),))]
    return [key for _, key in leaving]


def constants_into_call(hierarchy: Hierarchy, call: int, body: int | None = None) -> list[tuple[int, int]]:
    """Return the constants among the inputs of a call with their arguments, in one or all of its functions: (row of the
    mark, row inside)."""
    graph, node = hierarchy.graph, int(hierarchy.node[call])
    into = slice(*sorted_value_range(graph.target, node, node + 1))
    # Edges from marks are not in `edge_order` and cross no border.
    from_marks = (graph.mark[graph.source[into]] != 0) & ~graph.control[into]
    slots = _positions_by_slot(graph.slot[into], from_marks)
    if not slots:
        return []
    marks = hierarchy.row_of_node[graph.source[into]].tolist()
    pairs: dict[tuple[int, int], None] = {}
    bodies = [(attr, row) for attr, row in _distinct_bodies(hierarchy.calls[call]) if body in (None, row)]
    for attr, row in bodies:
        function = graph.functions[bisect_left(hierarchy.function_rows, row)]
        for slot, to in _call_wiring(graph, node, attr, function).input_argument_pairs():
            end = int(hierarchy.row_of_node[function.args[to]])
            pairs.update(((marks[index], end), None) for index in slots.get(slot, ()))
    return [(mark, end) for mark, end in pairs if mark >= 0 and end >= 0]


def _distinct_bodies(bodies: tuple[tuple[str, int], ...]) -> list[tuple[str, int]]:
    """Return each function of a call once, even if two attributes name it.

    >>> _distinct_bodies((("then_branch", 7), ("else_branch", 7)))
    [('then_branch', 7)]
    """
    attr_of: dict[int, str] = {}
    for attr, body in bodies:
        # A While may use one function for both: `body` then defines the wiring.
        if body not in attr_of or attr_of[body] == "cond":
            attr_of[body] = attr
    return [(attr, body) for body, attr in attr_of.items()]


def _call_wiring(graph: Graph, node: int, attr: str, function: Function) -> CallWiring:
    return wiring_of_call(graph.op_types[graph.op[node]], graph.node_def(node), attr, len(function.args))
