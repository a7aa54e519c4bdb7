"""Mean and variance of Keras's Normalization layer, which no graph has as variables.

Once adapted, Keras passes them to the graph as constants (`finalize_state` in keras/src/layers/preprocessing/
normalization.py), broadcast to the rank of the input: y = (x - mean) / max(√variance, ε).
"""

from __future__ import annotations

import numpy as np

from graphviz_tb.model.columns import Ints
from graphviz_tb.model.graph import Graph

NORMALIZATION_OPS = ("Sub", "Sqrt", "Maximum", "RealDiv")


def find_normalization_constants(graph: Graph, constant: Ints) -> dict[int, str]:
    """Return the roles of the constants that normalise an input.

    `constant` is the constant whose value each node has, -1 for none.
    """
    if not set(NORMALIZATION_OPS) <= set(graph.op_types):
        return {}
    kind = np.array([NORMALIZATION_OPS.index(op) if op in NORMALIZATION_OPS else -1 for op in graph.op_types])[graph.op]
    kind, constant = np.append(kind, -1), np.append(constant, -1)  # entry of node -1
    into = np.flatnonzero((kind[graph.target] >= 0) & ~graph.control)
    ends = zip(graph.target[into].tolist(), graph.slot[into].tolist(), graph.source[into].tolist(), strict=True)
    # (op, slot) ─▶ input node
    given = {(target, slot): source for target, slot, source in ends}

    def input_of_type(node: int, slot: int, op: str) -> int:
        source = given.get((node, slot), -1)
        return source if kind[source] == NORMALIZATION_OPS.index(op) else -1

    words: dict[int, str] = {}
    # x ─▶ Sub ─────────────────────▶ RealDiv        mean: input 1 of Sub, variance: input 0 of Sqrt
    #                    Sqrt ─▶ Maximum ─┘
    for ratio in np.flatnonzero(kind == NORMALIZATION_OPS.index("RealDiv")).tolist():
        centred = input_of_type(ratio, 0, "Sub")
        root = input_of_type(input_of_type(ratio, 1, "Maximum"), 0, "Sqrt")
        mean, variance = (int(constant[given.get(key, -1)]) for key in ((centred, 1), (root, 0)))
        if min(mean, variance) >= 0:
            words |= {mean: "mean", variance: "variance"}
    return words
