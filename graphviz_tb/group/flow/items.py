"""Children of one group as boxes, with the flow between them, and the boxes off the flow.

Control edges are not flow, nor are storage edges: from a variable's handle or a restored tensor, into an assignment or
a saver. Children without flow move aside; so do, repeatedly, those that only feed storage: initialisers and savers. If
these hold more than 30 % of a level's ops, the level is about storage, and its storage edges are flow.
"""

from __future__ import annotations

import numpy as np

from graphviz_tb.group.flow.box import FlowBox, SymbolNumbers
from graphviz_tb.group.flow.circles import break_circles, loop_box
from graphviz_tb.group.flow.columns import ChildEdges, Siblings
from graphviz_tb.group.flow.dag import Dag, contract, make_dag
from graphviz_tb.group.flow.frames import ways_back
from graphviz_tb.group.flow.sorting import Sorting, begin
from graphviz_tb.model.columns import Bools
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.hierarchy import SERIES
from graphviz_tb.ops.roles import GROUPS, VARIABLES

STORAGE_MOST = 0.3  # share of a level's ops that only feeds storage; above, the level is about storage


@dataclass(frozen=True, slots=True, eq=False)
class Items:
    """`dag` has the boxes of the flow; `aside` are the positions of the rest in `boxes`, which are all children;
    `edges` are all data edges between these."""

    dag: Dag
    aside: list[int]
    boxes: list[FlowBox]
    edges: ChildEdges


def find_items(level: Siblings, symbols: SymbolNumbers) -> Items:
    """Return the boxes of a level: a graph without cycles, and the children off the flow."""
    edges = level.edges
    boxes = boxes_of(level, symbols)
    sorting = sorted_out(level, boxes, edges.handle | edges.store)
    # e.g. an optimizer or a saver, most of which feeds storage
    if edges.store.any() and sorting.ops(sorting.stored) > STORAGE_MOST * sorting.ops(range(len(boxes))):
        sorting = sorted_out(level, boxes, edges.handle)
    kept = [child for child in range(len(boxes)) if child not in sorting.away]
    place = {child: spot for spot, child in enumerate(kept)}
    before = [[place[source] for source in sorting.before[child] if source in place] for child in kept]
    rings = [[place[child] for child in ring if child in place] for ring in sorting.rings]
    dag = make_dag([boxes[child] for child in kept], before)
    loops = [(ring, loop_box([dag.boxes[child] for child in ring], symbols)) for ring in rings if ring]
    return Items(contract(dag, loops), sorted(sorting.away), boxes, edges)


def sorted_out(level: Siblings, boxes: list[FlowBox], storage: Bools) -> Sorting:
    """Sort the children into flow and aside, and find the remaining cycles; `storage` edges are not flow."""
    hierarchy, edges = level.hierarchy, level.edges
    ops = [box.op for box in boxes]
    sorting = begin(boxes, edges.source[~storage], edges.target[~storage], [op in VARIABLES for op in ops])
    sorting.away.update(child for child, op in enumerate(ops) if op in GROUPS)
    sorting.back.extend(ways_back(ops, sorting.before, sorting.after))
    # No folds exist yet: these are requested series.
    break_circles(sorting, lambda child: bool(hierarchy.kind[boxes[child].row] == SERIES))
    sorting.take_storage(edges.source[storage].tolist(), edges.target[edges.store & storage].tolist())
    sorting.take_loose()
    return sorting


def boxes_of(level: Siblings, symbols: SymbolNumbers) -> list[FlowBox]:
    """Return children as boxes: equal op types have equal symbols, and so have equal structures."""
    hierarchy, rows = level.hierarchy, np.array(level.rows)
    types, total = hierarchy.graph.op_types, hierarchy.op_total
    ops = (total[hierarchy.end[rows]] - total[rows]).tolist()
    node = hierarchy.node[rows]
    op_ids = np.where(node >= 0, hierarchy.graph.op[node], -1).tolist()
    boxes = []
    number: dict[int, int] = {}  # by op type
    for label, row, op, template, size in zip(
        level.labels, level.rows, op_ids, hierarchy.template[rows].tolist(), ops, strict=True
    ):
        if op >= 0:
            if op not in number:
                number[op] = symbols.of("op", types[op])
            boxes.append(FlowBox(label, number[op], size, row, op=types[op]))
        else:
            symbol = symbols.of("scope", template) if template >= 0 else symbols.of("row", row)
            boxes.append(FlowBox(label, symbol, size, row, scope=True))
    return boxes
