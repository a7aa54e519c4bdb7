"""Constants go with the op that uses them: TensorFlow counts their names (`Const_3`), so that names say nothing."""

from __future__ import annotations

import numpy as np

from graphviz_tb.diff.columns.ids import exists
from graphviz_tb.diff.columns.side import GraphColumns
from graphviz_tb.diff.match.found import Apart, Findings, Reason, nodes
from graphviz_tb.diff.match.matching import Matching


def constants(m: Matching) -> Findings:
    """Match constants that have one user each by their users, whatever was matched before.

    Before: most ops are matched. After: a constant is matched with the one at the same input of its user's partner.
    """
    there = single_uses(m.b)
    pairs = []
    for (user, slot), node in single_uses(m.a).items():
        other = there.get((int(m.to_b[user]), slot), -1)
        if exists(other) and int(m.to_b[node]) != other:
            pairs.append((node, other))
    before = m.to_a[[other for _, other in pairs]]
    # Both ends are freed first: a constant may hold the partner that its user says is another's.
    yield Apart(np.array([*(node for node, _ in pairs), *before[exists(before)].tolist()], np.int32))
    yield nodes(pairs, Reason.SPREAD)


def single_uses(side: GraphColumns) -> dict[tuple[int, int], int]:
    """The constants that feed one input alone, by the user and the place of the input."""
    graph = side.graph
    data = np.flatnonzero(~graph.control & side.constants()[graph.source])
    once = np.bincount(graph.source[data], minlength=len(side))[graph.source[data]] == 1
    edges = data[once]
    keys = zip(graph.target[edges].tolist(), graph.slot[edges].tolist(), strict=True)
    return dict(zip(keys, graph.source[edges].tolist(), strict=True))
