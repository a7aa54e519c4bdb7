"""The children of one group as boxes, with the flow between them, and what stands beside the flow.

No flow are control edges, and edges of storage: from a variable's handle or a restored tensor, into an assignment or a
saver. What has no flow stands aside; so does, again and again, what only feeds storage: initialisers and savers. Where
that is most of a level, it is what the level is about, and what is stored is its flow.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from graphviz_tb.group.flow.box import Box, Symbols
from graphviz_tb.group.flow.circles import break_circles, loop_box
from graphviz_tb.group.flow.dag import Dag, contract, make_dag
from graphviz_tb.group.flow.sorting import Sorting, begin
from graphviz_tb.group.flow.words import DIGITS
from graphviz_tb.model.columns import Bools, Longs
from graphviz_tb.model.hierarchy import Hierarchy, Kind

HANDLES = frozenset(("VarHandleOp", "VariableV2", "Variable", "RestoreV2", "TemporaryVariable", "AutoReloadVariable"))
VARIABLES = frozenset(("VarHandleOp", "VariableV2", "Variable"))
STORES = re.compile(
    r"Assign|AssignAdd|AssignSub|Assign\w*VariableOp|ResourceScatter\w+|Scatter(Add|Sub|Update)|SaveV2"
    r"|MergeV2Checkpoints|VarIsInitializedOp|IsVariableInitialized"
)
STORAGE_MOST = 0.3  # of the ops of a level may be what only feeds storage; else it is what the level is about


@dataclass(frozen=True, slots=True, eq=False)
class Edges:
    """Data edges between children: positions of the two ends, by target and slot; `handle` and `store` where it comes
    from a handle or goes into storage."""

    source: Longs
    target: Longs
    handle: Bools
    store: Bools


@dataclass(frozen=True, slots=True, eq=False)
class Items:
    """`dag` holds what flows; `aside` are positions of what does not in `boxes`, which are all children; `edges` are
    all data edges between these."""

    dag: Dag
    aside: list[int]
    boxes: list[Box]
    edges: Edges


class Files:
    """What is asked of each level, worked out once for a file."""

    def __init__(self, hierarchy: Hierarchy) -> None:
        graph = hierarchy.graph
        self.hierarchy = hierarchy
        self.handle = np.array([op in HANDLES for op in graph.op_types], bool)
        self.variable = np.array([op in VARIABLES for op in graph.op_types], bool)
        self.store = np.array([bool(STORES.fullmatch(op)) for op in graph.op_types], bool)
        self.place = np.full(len(hierarchy), -1, np.int64)

    def children(self, row: int) -> list[int]:
        """The children of a group, by name: the order of the file says nothing."""
        hierarchy = self.hierarchy
        return sorted(hierarchy.children(row).tolist(), key=lambda child: natural(hierarchy.name[child]))

    def edges(self, row: int, children: Sequence[int]) -> Edges:
        """The data edges between children."""
        hierarchy, graph = self.hierarchy, self.hierarchy.graph
        self.place[children] = np.arange(len(children))
        owned = hierarchy.owned(row)
        start, stop = hierarchy.edge_from[owned], hierarchy.edge_to[owned]
        owned = owned[(start >= 0) & (stop >= 0) & (start != stop) & ~graph.control[owned]]
        source, target = self.place[hierarchy.edge_from[owned]], self.place[hierarchy.edge_to[owned]]
        order = np.lexsort((source, graph.slot[owned], target))
        handle, store = self.handle[graph.op[graph.source[owned]]], self.store[graph.op[graph.target[owned]]]
        return Edges(source[order], target[order], handle[order], store[order])


def natural(name: str) -> tuple[str, int, str]:
    """What names are sorted by: `x2` before `x10`.

    >>> sorted(["x10", "x2", "w"], key=natural)
    ['w', 'x2', 'x10']
    """
    return DIGITS.sub("#", name), len(name), name


def find_items(files: Files, row: int, children: list[int], symbols: Symbols) -> Items:
    """The boxes of a level.

    Before: children and edges, with circles. After: a graph without circles, and what stands beside it.
    """
    edges = files.edges(row, children)
    boxes = [leaf(files.hierarchy, child, symbols) for child in children]
    level = sorted_out(files, children, boxes, edges, edges.handle | edges.store)
    if edges.store.any() and level.ops(level.stored) > STORAGE_MOST * level.ops(range(len(boxes))):
        level = sorted_out(files, children, boxes, edges, edges.handle)
    kept = [at for at in range(len(boxes)) if at not in level.away]
    place = {at: spot for spot, at in enumerate(kept)}
    before = [[place[source] for source in level.before[at] if source in place] for at in kept]
    rings = [[place[at] for at in ring if at in place] for ring in level.rings]
    dag = make_dag([boxes[at] for at in kept], before)
    loops = [(ring, loop_box([dag.boxes[at] for at in ring], symbols)) for ring in rings if ring]
    return Items(contract(dag, loops), sorted(level.away), boxes, edges)


def sorted_out(files: Files, children: list[int], boxes: list[Box], edges: Edges, storage: Bools) -> Sorting:
    """What flows, what stands aside, and which circles are left, if `storage` edges are no flow."""
    hierarchy = files.hierarchy
    ops = [int(hierarchy.graph.op[node]) if node >= 0 else -1 for node in hierarchy.node[children].tolist()]
    level = begin(
        boxes, edges.source[~storage], edges.target[~storage], [op >= 0 and bool(files.variable[op]) for op in ops]
    )
    level.away.update(at for at, op in enumerate(ops) if op >= 0 and hierarchy.graph.op_types[op] == "NoOp")
    break_circles(level, {at for at, child in enumerate(children) if hierarchy.kind[child] == Kind.SERIES})
    level.take_storage(edges.source[storage].tolist(), edges.target[edges.store & storage].tolist())
    level.take_loose()
    return level


def leaf(hierarchy: Hierarchy, row: int, symbols: Symbols) -> Box:
    """A child as a box: equal op types are equal, and so are equal structures."""
    node = int(hierarchy.node[row])
    if node >= 0:
        symbol = symbols.of("op", hierarchy.graph.op_types[hierarchy.graph.op[node]])
    elif hierarchy.template[row] >= 0:
        symbol = symbols.of("scope", int(hierarchy.template[row]))
    else:
        symbol = symbols.of("row", row)
    return Box(hierarchy.leaf(row), symbol, hierarchy.ops(row), row, scope=node < 0)
