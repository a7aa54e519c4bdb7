"""Colour by op type: the most frequent types take the first hues."""

from __future__ import annotations

import numpy as np

from graphviz_tb.color.shares import CategoryColouring, category_colouring
from graphviz_tb.model.facts import Facts
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.theme import Theme


def op_type_colouring(hierarchy: Hierarchy, theme: Theme, facts: Facts) -> CategoryColouring:
    """Make the colouring "op-type"."""
    graph = hierarchy.graph
    nodes = hierarchy.node[hierarchy.is_ordinary_op]
    counts = np.bincount(graph.op[nodes], minlength=len(graph.op_types))
    # Equal counts by name: the order in the file would change colours when nodes are reordered.
    order = sorted(range(len(counts)), key=lambda index: (-int(counts[index]), graph.op_types[index]))
    place = np.zeros(len(counts), np.int32)
    place[order] = np.arange(len(order))
    names = [graph.op_types[index] or "(no type)" for index in order]
    return category_colouring(hierarchy, theme, ("op-type", "Op type"), place[graph.op], names, "(no type)")
