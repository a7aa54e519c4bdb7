"""Edges of a call go on inside: input i ends at an argument of the function, output k starts at a result."""

from __future__ import annotations

from graphviz_tb.model.columns import Bools, Ints
from graphviz_tb.model.graph import Function
from graphviz_tb.model.hierarchy import Hierarchy

# Inputs that the op keeps for itself before those it hands to its functions.
OWN_INPUTS = {"If": 1, "StatelessIf": 1, "_If": 1, "Case": 1, "StatelessCase": 1}
# Ops that hand every input to their functions, in order.
ALL_INPUTS = frozenset(
    (
        *("PartitionedCall", "StatefulPartitionedCall", "While", "StatelessWhile", "_While"),
        *("SymbolicGradient", "RemoteCall", "TPUPartitionedCall", "XlaLaunch"),
    )
)


def through_call(
    hierarchy: Hierarchy, call: int, edges: Ints, slots: Ints, inbound: Bools
) -> list[tuple[int, int, int]]:
    """Follow the edges of a call into its functions.

    For each way in: `(position among edges, row inside, slot or output key there)`. Control edges end at the call.
    """
    graph = hierarchy.graph
    node = int(hierarchy.node[call])
    op = graph.op_types[graph.op[node]]
    found: list[tuple[int, int, int]] = []
    for body in dict.fromkeys(row for _, row in hierarchy.calls[call]):
        function = graph.functions[hierarchy.function_rows.index(body)]
        direct = op in ALL_INPUTS or op == function.name
        shift = OWN_INPUTS.get(op, 0)
        if not direct and not shift:  # datasets and the like: captured inputs are the last arguments
            shift = int(((graph.target == node) & ~graph.control).sum()) - len(function.args)
        for at, (edge, slot, comes_in) in enumerate(
            zip(edges.tolist(), slots.tolist(), inbound.tolist(), strict=True)
        ):
            if graph.control[edge]:
                continue
            end = argument(function, slot - shift) if comes_in else result(function, graph.keys[slot])
            if end is not None and (row := int(hierarchy.row_of_node[end[0]])) >= 0:
                found.append((at, row, graph.keys.index(end[1]) if end[1] in graph.keys else 0))
    return found


def argument(function: Function, index: int) -> tuple[int, str] | None:
    """The node of an argument."""
    return (function.args[index], "0") if 0 <= index < len(function.args) else None


def result(function: Function, key: str) -> tuple[int, str] | None:
    """The node and output that make the result which output `key` of the call gives.

    >>> f = Function("f", 0, (1,), ("x",), ((5, "0"), (7, "z:0")), ("a", "b"))
    >>> result(f, "1"), result(f, "output:1"), result(f, "b:0"), result(f, "9")
    ((7, 'z:0'), (7, 'z:0'), (7, 'z:0'), None)
    """
    name, _, number = key.rpartition(":")
    index = function.result_names.index(name) if name in function.result_names else int(number)
    if index >= len(function.returns) or function.returns[index][0] < 0:
        return None
    return function.returns[index]
