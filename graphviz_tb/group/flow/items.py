"""Children of one group as boxes, with the flow between them, and the boxes off the flow.

Control edges are not flow, nor are storage edges: from a variable's handle or a restored tensor, into an assignment or
a saver. Children without flow move aside; so do, repeatedly, those that only feed storage: initialisers and savers. If
these hold more than 30 % of a level's ops, the level is about storage, and its storage edges are flow.
"""

from __future__ import annotations

import numpy as np

from graphviz_tb.group.flow.box import FlowBox, SymbolTable
from graphviz_tb.group.flow.circles import break_flow_cycles, make_loop_box
from graphviz_tb.group.flow.columns import ChildEdges, Siblings
from graphviz_tb.group.flow.dag import Dag, contract_groups, make_dag
from graphviz_tb.group.flow.frames import loop_closing_edges
from graphviz_tb.group.flow.sorting import FlowSorting, start_sorting
from graphviz_tb.model.columns import Bools
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.hierarchy import SERIES_ROW
from graphviz_tb.ops.roles import GROUP_OPS, VARIABLE_OPS

MAX_STORAGE_SHARE = 0.3  # share of a level's ops that only feeds storage; above, the level is about storage


@dataclass(frozen=True, slots=True, eq=False)
class FlowItems:
    """`dag` has the boxes of the flow; `aside` are the positions of the rest in `boxes`, which are all children;
    `edges` are all data edges between these."""

    dag: Dag
    aside: list[int]
    boxes: list[FlowBox]
    edges: ChildEdges


def find_flow_items(level: Siblings, symbols: SymbolTable) -> FlowItems:
    """Return the boxes of a level: a graph without cycles, and the children off the flow."""
    edges = level.edges
    boxes = make_child_boxes(level, symbols)
    sorting = sort_children(level, boxes, edges.handle | edges.store)
    # e.g. an optimizer or a saver, most of which feeds storage
    if edges.store.any() and sorting.count_ops(sorting.stored) > MAX_STORAGE_SHARE * sorting.count_ops(
        range(len(boxes))
    ):
        sorting = sort_children(level, boxes, edges.handle)
    kept = [child for child in range(len(boxes)) if child not in sorting.away]
    place = {child: spot for spot, child in enumerate(kept)}
    before = [[place[source] for source in sorting.before[child] if source in place] for child in kept]
    rings = [[place[child] for child in ring if child in place] for ring in sorting.rings]
    dag = make_dag([boxes[child] for child in kept], before)
    loops = [(ring, make_loop_box([dag.boxes[child] for child in ring], symbols)) for ring in rings if ring]
    return FlowItems(contract_groups(dag, loops), sorted(sorting.away), boxes, edges)


def sort_children(level: Siblings, boxes: list[FlowBox], storage: Bools) -> FlowSorting:
    """Sort the children into flow and aside, and find the remaining cycles; `storage` edges are not flow."""
    hierarchy, edges = level.hierarchy, level.edges
    ops = [box.op for box in boxes]
    sorting = start_sorting(boxes, edges.source[~storage], edges.target[~storage], [op in VARIABLE_OPS for op in ops])
    sorting.away.update(child for child, op in enumerate(ops) if op in GROUP_OPS)
    sorting.back.extend(loop_closing_edges(ops, sorting.before, sorting.after))
    # No folds exist yet: these are requested series.
    break_flow_cycles(sorting, lambda child: bool(hierarchy.kind[boxes[child].row] == SERIES_ROW))
    sorting.set_storage_aside(edges.source[storage].tolist(), edges.target[edges.store & storage].tolist())
    sorting.set_unconnected_aside()
    return sorting


def make_child_boxes(level: Siblings, symbols: SymbolTable) -> list[FlowBox]:
    """Return children as boxes: equal op types have equal symbols, and so have equal structures."""
    hierarchy, rows = level.hierarchy, np.array(level.rows)
    types, total = hierarchy.graph.op_types, hierarchy.op_prefix_sum
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
                number[op] = symbols.symbol_of("op", types[op])
            boxes.append(FlowBox(label, number[op], size, row, op=types[op]))
        else:
            symbol = symbols.symbol_of("scope", template) if template >= 0 else symbols.symbol_of("row", row)
            boxes.append(FlowBox(label, symbol, size, row, scope=True))
    return boxes
