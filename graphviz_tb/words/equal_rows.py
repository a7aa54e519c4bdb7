"""Find rows that have the same words because members of a stack are equal, so that words are computed once.

    stack ─┬─ member 1: conv1, conv2, add      described
           ├─ member 2: conv1, conv2, add      each row as the row at its place in member 1
           └─ member 3: conv1, conv2           described

Words depend on the tree of groups below a row, on the steps of its ops and the links between them (its block), and on
the sizes of its weights and who else uses them. Members that are equal in all of these have equal words at all places.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphviz_tb.model.columns import distinct_values
from graphviz_tb.model.hierarchy import LAYER_ORIGIN, Hierarchy
from graphviz_tb.words.parameters import ParameterCounts
from graphviz_tb.words.row_blocks import RowBlocks

CONSTANT_KINDS = frozenset({"attention", "scores", "scan"})  # steps whose words also depend on constants


class EqualRows:
    """Finds rows with the same words."""

    def __init__(self, hierarchy: Hierarchy, parameters: ParameterCounts, blocks: RowBlocks) -> None:
        self.hierarchy, self.parameters, self.blocks = hierarchy, parameters, blocks
        self._first: dict[Hashable, int] = {}
        self._known: dict[int, int] = {}  # by member

    def first_equal(self, row: int) -> int:
        """Return the row at the same place in the first equal member of a stack, which has the same words; the row
        itself if there is none."""
        hierarchy, inner = self.hierarchy, row
        around: list[int] = []
        while inner > 0:
            if (outer := hierarchy.parent.item(inner)) in hierarchy.stacks:
                around.append(inner)
            inner = outer
        for member in reversed(around):  # outermost first: nothing inside an equal member need be compared
            if member not in self._known:
                self._known[member] = self._first.setdefault(self._structure(member), member)
            if self._known[member] != member:
                return row - member + self._known[member]
        return row

    def _structure(self, member: int) -> Hashable:
        """Return everything on which the words for the rows of a member depend; the member itself if its words depend
        on other rows, too."""
        hierarchy, graph, stop = self.hierarchy, self.hierarchy.graph, self.hierarchy.end.item(member)
        is_self_contained = stop > member + 1 and not graph.layers and not self.blocks.call_count(member)
        if not is_self_contained or (nodes := self.blocks.nodes_below(member)) is None:
            return member
        block = self.blocks.block_of(nodes)  # one for equal steps with equal links, and kept
        if len(block.steps) < 2 or any(step.kind in CONSTANT_KINDS or step.word == "softmax" for step in block.steps):
            return member
        rows = slice(member, stop)
        row_nodes, how = hierarchy.node[rows], hierarchy.how[rows]
        labels = [hierarchy.display_label(member + offset) for offset in np.flatnonzero(how == LAYER_ORIGIN).tolist()]
        types = [graph.op_types[op].rpartition("::")[2] for op in distinct_values(graph.op[nodes]).tolist()]
        is_named_by_type = [label.startswith(op) for label in labels for op in types]  # asked of layers of unknown size
        columns: list[NDArray[Any]] = [hierarchy.template[rows], hierarchy.kind[rows], how, hierarchy.connected[rows]]
        columns += [hierarchy.end[rows] - member, graph.op[row_nodes]]
        columns += [np.searchsorted(nodes, row_nodes), np.isin(row_nodes, nodes)]
        weights = self.parameters.weights_below(member, set(nodes.tolist()))
        return id(block), weights, *is_named_by_type, *[column.tobytes() for column in columns]
