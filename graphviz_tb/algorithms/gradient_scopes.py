"""The scopes that `tf.gradients` and `GradientTape` write into, and the ops they say gradients are taken of."""

from __future__ import annotations

import re

import numpy as np

from graphviz_tb.model.hierarchy import SCOPE, Hierarchy

GRADIENTS = re.compile(r"gradients(_\d+)?|gradient_tape(_\d+)?")
GRADIENT_OF = "_grad"  # `gradients/dense/MatMul_grad` is where the gradients of `dense/MatMul` are worked out


def gradient_scopes(hierarchy: Hierarchy) -> list[int]:
    """The outermost scopes of gradients."""
    scopes: list[int] = []
    behind = 0
    for row in np.flatnonzero(hierarchy.kind == SCOPE).tolist():
        # Rows are in preorder: what comes before `behind` lies in the scope that was found last.
        if row >= behind and "gradient" in hierarchy.name[row] and GRADIENTS.fullmatch(hierarchy.leaf(row)):
            scopes.append(row)
            behind = int(hierarchy.end[row])
    return scopes


def differentiated(hierarchy: Hierarchy) -> list[int]:
    """The ops of the main graph that have a scope of gradients.

    A loss is among them though nothing may need its value: the gradient of a sum is known without it.
    """
    index = hierarchy.graph.index[0]
    found: list[int] = []
    for head in gradient_scopes(hierarchy):
        around = len(hierarchy.name[head]) + 1
        scopes = head + np.flatnonzero(hierarchy.kind[head : hierarchy.end[head]] == SCOPE)
        for row in scopes[1:].tolist():  # without the scope of gradients itself
            name = hierarchy.name[row]
            if name.endswith(GRADIENT_OF):
                node = index.get(name[around : -len(GRADIENT_OF)], -1)
                if node >= 0:
                    found.append(int(hierarchy.row_of_node[node]))
    return [row for row in found if row >= 0]
