"""Masks, positions and shapes: what works them out for one consumer, or for several that share it, is one box."""

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

ROOM = 8  # boxes of a level that a reader takes in as they are
MANY = 64  # users of a box


def fold_indexes(dag: Dag, rows: Set[int], hierarchy: Hierarchy, symbols: SymbolNumbers) -> Dag:
    """Before: `rows` do nothing but index arithmetic. After: those that the same boxes of the level use, directly or
    through others of them, are one box beside these."""
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
    """For each box inside those outside that use it, directly or through others inside; nothing for what many use.

    Before: no cycle. After: no way leads out of boxes with the same users and back: what is on it has these too.
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
        if inside[box] and not users[box] and not crowded[box]:  # an end that nothing on the level uses
            others = {users[source] if inside[source] else nobody for source in dag.before[box]}
            users[box] = others.pop() if len(others) == 1 else nobody
    return users


def name_of(boxes: list[FlowBox], hierarchy: Hierarchy) -> str:
    """What index arithmetic works out, by its ops.

    Truth values are a mask, unless they only choose between whole numbers; what counts gives positions, what reckons
    with sizes a shape, anything else indices.
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
    """Whether an op chooses between whole numbers."""
    definition = hierarchy.graph.node_def(node)
    return definition is None or INDEXING.issuperset(all_dtypes(definition))
