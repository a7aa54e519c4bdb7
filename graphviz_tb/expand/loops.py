"""Close loops: the results of a While body are its arguments in the next round."""

from __future__ import annotations

from bisect import bisect_right

from graphviz_tb.model.bundles import SingleBundle
from graphviz_tb.model.columns import int32_column
from graphviz_tb.model.facts import Facts
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.metagraph import Metaedge
from graphviz_tb.model.tensors import CarriedTensors
from graphviz_tb.ops.roles import LOOP_OPS


def loop_bodies(hierarchy: Hierarchy) -> dict[int, int]:
    """Return the functions that are bodies of loops: their row, and their index in the library."""
    graph, places = hierarchy.graph, {row: index for index, row in enumerate(hierarchy.function_rows)}
    loops = (row for row in hierarchy.calls if graph.op_types[graph.op[hierarchy.node[row]]] in LOOP_OPS)
    return {body: places[body] for row in loops for attr, body in hierarchy.calls[row] if attr == "body"}


def loop_back_edges(hierarchy: Hierarchy, facts: Facts, function: int, rows: list[int]) -> list[Metaedge]:
    """Return edges from the children that produce the results of a body to those that hold the arguments of the same
    index.

    `rows` are the children of the function's row. These metaedges represent no edge of the graph: nothing counts them.
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
    pairs: dict[tuple[int, int], list[tuple[int, int]]] = {}
    # Result n of the body is argument n of the next round.
    for argument, (node, key) in zip(body.args, body.returns, strict=False):
        ends = holder(node), holder(argument)
        if min(ends) >= 0 and ends[0] != ends[1]:
            pairs.setdefault(ends, []).append((node, graph.keys.index(key)))
    given = [(ends, SingleBundle(CarriedTensors(made, facts.tensor), int32_column([]))) for ends, made in pairs.items()]
    return [Metaedge(*ends, 0, 0, 0, carried, back=True) for ends, carried in given]
