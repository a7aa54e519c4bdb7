"""Ops of custom gradients: program code that computes gradients outside any gradient scope.

`tf.custom_gradient` recomputes parts of the model, waiting for the incoming gradient by a control edge:

x ─▶ swish ─▶ …                  gradient ─▶ ×, by data
└──▶ Sigmoid ─▶ … ─▶ ×           gradient ┄▶ Sigmoid, by control
"""

from __future__ import annotations

import re

import numpy as np

from graphviz_tb.algorithms.reached import reachable_mask
from graphviz_tb.model.columns import Bools, key_starts
from graphviz_tb.model.graph import Graph

# Ops whose control edges only order side effects and say nothing about gradients.
ORDER_DEPENDENT_OP = re.compile(
    r"NoOp|Assign.*|(Resource)?(Sparse)?Apply.*|(Resource)?Scatter.*|.*ReadVariableOp|.*Random.*|Enter|Exit|Merge|Switch|"
    r"NextIteration|LoopCond|Stack(Push|Pop)?(V2)?|(Stateful|Stateless)?PartitionedCall|.*While|.*If|.*Case|.*Queue.*|"
    r"Iterator.*|Print.*|Assert|.*Lookup.*|.*Summary(V2)?"
)


def find_custom_gradient_ops(graph: Graph, behind: Bools, feeding: Bools) -> Bools:
    """Return the ops computed only when a gradient comes in: what waits for one, its successors, and what in the same
    scope only they and gradients use.

    Before: `behind` are the nodes computed from gradients, `feeding` those that feed them.
    """
    ordered = np.array([bool(ORDER_DEPENDENT_OP.fullmatch(op)) for op in graph.op_types] or [False])[graph.op]
    # Control edges from nodes behind gradients to nodes that only feed them (see the drawing above).
    waits = graph.control & behind[graph.source] & ~ordered[graph.source]
    waits &= feeding[graph.target] & ~behind[graph.target] & ~ordered[graph.target]
    late = np.zeros(len(graph), bool)
    late[graph.target[waits]] = True
    if not late.any():
        return late
    data = ~graph.control
    late = reachable_mask(late, graph.source[data], graph.target[data])
    scope = graph.node_scopes.number
    scopes = np.zeros(len(graph.node_scopes.names), bool)
    scopes[scope[late & ~behind]] = True
    return late | nodes_used_only_by(graph, late | behind, feeding & scopes[scope])


def nodes_used_only_by(graph: Graph, users: Bools, asked: Bools) -> Bools:
    """Return which of the nodes in `asked` are used by nothing but `users`, directly or through such nodes."""
    found = np.zeros(len(graph), bool)
    data = ~graph.control
    left = np.bincount(graph.source[data & ~users[graph.target]], minlength=len(graph))  # edges to non-users
    given = np.bincount(graph.source[data], minlength=len(graph))
    # Edges are filed by target: the inputs of node v are inputs[start[v]:start[v + 1]].
    inputs = graph.source[data]
    start = key_starts(graph.target[data], len(graph))
    todo = np.flatnonzero((left == 0) & (given > 0) & asked & ~users).tolist()
    while todo:
        node = todo.pop()
        found[node] = True
        for source in inputs[start[node] : start[node + 1]].tolist():
            left[source] -= 1
            if not left[source] and asked[source] and not users[source]:
                todo.append(source)
    return found
