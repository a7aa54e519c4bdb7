"""Masks, positions and shapes: index arithmetic of one consumer, or shared by several, becomes one box.

Index ops with the same set of users outside the index arithmetic are grouped. Such a group is convex: every op on a
path between two of its members has the same users.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Set

from graphviz_tb.algorithms.output_dtypes import all_dtypes
from graphviz_tb.algorithms.topological import topological
from graphviz_tb.group.flow.box import FEWEST_OPS, FlowBox, SymbolNumbers, group
from graphviz_tb.group.flow.dag import Dag, contract, part
from graphviz_tb.group.flow.order import order_of
from graphviz_tb.group.flow.tokens import tokens
from graphviz_tb.model.dtypes import INDEXING
from graphviz_tb.model.hierarchy import Hierarchy, How
from graphviz_tb.ops.outputs import gives_truth
from graphviz_tb.ops.roles import RANGES, SELECTS, SIZES

ROOM = 8  # boxes; a smaller level is readable as it is
MANY = 64  # per box


def fold_indexes(dag: Dag, rows: Set[int], hierarchy: Hierarchy, symbols: SymbolNumbers) -> Dag:
    """Fold index arithmetic (`rows`) with the same users on the level, direct or through other such rows, to one
    box."""
    if len(dag) <= ROOM or not rows:
        return dag
    by_users: dict[frozenset[int], list[int]] = defaultdict(list)
    for box, users in enumerate(users_of(dag, [box.row in rows for box in dag.boxes])):
        if users:
            by_users[users].append(box)
    groups = []
    for members in by_users.values():
        boxes = [dag.boxes[member] for member in members]
        if len(boxes) > 1 and sum(box.ops for box in boxes) >= FEWEST_OPS:
            inner = part(dag, members)
            symbol = symbols.of("index", *tokens(inner, order_of(inner), symbols))
            groups.append((members, group(How.INDEX, boxes, symbol, name_of(boxes, hierarchy))))
    return contract(dag, groups)


def users_of(dag: Dag, inside: list[bool]) -> list[frozenset[int]]:
    """Return for each inside box the outside boxes that use it, directly or through inside ones; nothing beyond a
    limit.

    Before: no cycles. After: a path between boxes with the same users only passes boxes with these users.
    """
    nobody: frozenset[int] = frozenset()
    users, crowded = [nobody] * len(dag), [False] * len(dag)
    order = topological(dag.after)
    for box in reversed(order):
        if inside[box]:
            found = {target for target in dag.after[box] if not inside[target]}
            through = [target for target in dag.after[box] if inside[target]]
            found.update(*(users[target] for target in through))
            crowded[box] = len(found) > MANY or any(crowded[target] for target in through)
            users[box] = nobody if crowded[box] else frozenset(found)
    for box in order:
        if inside[box] and not users[box] and not crowded[box]:  # an end, unused on the level
            others = {users[source] if inside[source] else nobody for source in dag.before[box]}
            users[box] = others.pop() if len(others) == 1 else nobody
    return users


def name_of(boxes: list[FlowBox], hierarchy: Hierarchy) -> str:
    """Name index arithmetic by its ops.

    Booleans are a mask, unless they only select integers; ranges give positions, sizes a shape, anything else indices.
    """
    graph = hierarchy.graph
    nodes = [node for box in boxes for node in hierarchy.node[box.row : hierarchy.end[box.row]].tolist() if node >= 0]
    types = {graph.op_types[op] for op in graph.op[nodes].tolist()}
    chosen = [node for node in nodes if graph.op_types[graph.op[node]] in SELECTS]
    if any(map(gives_truth, types)) and not any(chooses_whole(hierarchy, node) for node in chosen):
        return "mask"
    if not RANGES.isdisjoint(types):
        return "positions"
    return "indices" if SIZES.isdisjoint(types) else "shape"


def chooses_whole(hierarchy: Hierarchy, node: int) -> bool:
    """Return whether an op selects between integers."""
    definition = hierarchy.graph.node_def(node)
    return definition is None or INDEXING.issuperset(all_dtypes(definition))
