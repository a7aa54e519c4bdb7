"""Masks, positions and shapes: index arithmetic of one consumer, or shared by several, becomes one box.

Index ops with the same set of users outside the index arithmetic are grouped. Such a group is convex: every op on a
path between two of its members has the same users.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Set

from graphviz_tb.algorithms.output_dtypes import all_output_dtypes
from graphviz_tb.algorithms.topological import topological_order
from graphviz_tb.group.flow.box import MIN_STACK_OPS, FlowBox, SymbolTable, make_group
from graphviz_tb.group.flow.dag import Dag, contract_groups, sub_dag
from graphviz_tb.group.flow.order import compute_flow_order
from graphviz_tb.group.flow.tokens import box_tokens
from graphviz_tb.model.dtypes import INDEX_DTYPES
from graphviz_tb.model.hierarchy import GroupOrigin, Hierarchy
from graphviz_tb.ops.outputs import gives_bool
from graphviz_tb.ops.roles import RANGE_OPS, SELECT_OPS, SIZE_OPS

MAX_PLAIN_LEVEL = 8  # boxes; a smaller level is readable as it is
MAX_INDEX_USERS = 64  # per box


def fold_index_arithmetic(dag: Dag, rows: Set[int], hierarchy: Hierarchy, symbols: SymbolTable) -> Dag:
    """Fold index arithmetic (`rows`) with the same users on the level, direct or through other such rows, to one
    box."""
    if len(dag) <= MAX_PLAIN_LEVEL or not rows:
        return dag
    by_users: dict[frozenset[int], list[int]] = defaultdict(list)
    for box, users in enumerate(outside_users(dag, [box.row in rows for box in dag.boxes])):
        if users:
            by_users[users].append(box)
    groups = []
    for members in by_users.values():
        boxes = [dag.boxes[member] for member in members]
        if len(boxes) > 1 and sum(box.ops for box in boxes) >= MIN_STACK_OPS:
            inner = sub_dag(dag, members)
            symbol = symbols.symbol_of("index", *box_tokens(inner, compute_flow_order(inner), symbols))
            groups.append((members, make_group(GroupOrigin.INDEX, boxes, symbol, index_group_name(boxes, hierarchy))))
    return contract_groups(dag, groups)


def outside_users(dag: Dag, inside: list[bool]) -> list[frozenset[int]]:
    """Return for each inside box the outside boxes that use it, directly or through inside ones; nothing beyond a
    limit.

    Before: no cycles. After: a path between boxes with the same users only passes boxes with these users.
    """
    nobody: frozenset[int] = frozenset()
    users, crowded = [nobody] * len(dag), [False] * len(dag)
    order = topological_order(dag.after)
    for box in reversed(order):
        if inside[box]:
            found = {target for target in dag.after[box] if not inside[target]}
            through = [target for target in dag.after[box] if inside[target]]
            found.update(*(users[target] for target in through))
            crowded[box] = len(found) > MAX_INDEX_USERS or any(crowded[target] for target in through)
            users[box] = nobody if crowded[box] else frozenset(found)
    for box in order:
        if inside[box] and not users[box] and not crowded[box]:  # an end, unused on the level
            others = {users[source] if inside[source] else nobody for source in dag.before[box]}
            users[box] = others.pop() if len(others) == 1 else nobody
    return users


def index_group_name(boxes: list[FlowBox], hierarchy: Hierarchy) -> str:
    """Name index arithmetic by its ops.

    Booleans are a mask, unless they only select integers; ranges give positions, sizes a shape, anything else indices.
    """
    graph = hierarchy.graph
    nodes = [node for box in boxes for node in hierarchy.node[box.row : hierarchy.end[box.row]].tolist() if node >= 0]
    types = {graph.op_types[op] for op in graph.op[nodes].tolist()}
    chosen = [node for node in nodes if graph.op_types[graph.op[node]] in SELECT_OPS]
    if any(map(gives_bool, types)) and not any(selects_integers(hierarchy, node) for node in chosen):
        return "mask"
    if not RANGE_OPS.isdisjoint(types):
        return "positions"
    return "indices" if SIZE_OPS.isdisjoint(types) else "shape"


def selects_integers(hierarchy: Hierarchy, node: int) -> bool:
    """Return whether an op selects between integers."""
    definition = hierarchy.graph.node_def(node)
    return definition is None or INDEX_DTYPES.issuperset(all_output_dtypes(definition))
