"""Rows of computation with the weights of a model: they are its flow, whatever hangs on them."""

from __future__ import annotations

import numpy as np

from graphviz_tb.graphs.rows import count_ops_below, training_rows
from graphviz_tb.model.columns import Bools
from graphviz_tb.model.graph import Graph
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.ops.roles import BATCH_PRODUCT_OPS, CONVOLUTION_OPS, MATRIX_PRODUCT_OPS

SHARE = 0.1  # of the layers that the level's largest part has: with fewer, a part is a measure or a helper


def computes(graph: Graph) -> Bools:
    """Ops of the forward pass that multiply with weights or convolve."""
    flow, origin = graph.meaning.flow(), graph.meaning.origin
    multiplies = graph.nodes_of_types(
        lambda op: op in CONVOLUTION_OPS or op in MATRIX_PRODUCT_OPS or op in BATCH_PRODUCT_OPS
    )
    weighed = np.zeros(len(graph), bool)
    weighed[graph.target[(origin[graph.source] >= 0) & ~graph.control]] = True
    found: Bools = multiplies & weighed & ~flow.behind & ~flow.between
    return found


def computing_rows(hierarchy: Hierarchy) -> Bools:
    """For each row whether it is a group of layers of the model: much of what its level multiplies with weights,
    through calls too, and no training."""
    products = computes(hierarchy.graph)
    none = np.zeros(len(hierarchy), bool)
    if not products.any():
        return none
    count = count_ops_below(hierarchy, products)
    for row in sorted(hierarchy.calls, reverse=True):
        count[row] += sum(int(count[body]) for body in {body for _, body in hierarchy.calls[row]})
    most = np.zeros(len(hierarchy), np.int64)
    np.maximum.at(most, hierarchy.parent[1:], count[1:])
    quiet, _ = training_rows(hierarchy)
    opens = hierarchy.end - np.arange(len(hierarchy)) > 1
    opens[list(hierarchy.calls)] = True
    found: Bools = opens & ~quiet & (count > 0) & (count >= SHARE * most[hierarchy.parent])
    return found
