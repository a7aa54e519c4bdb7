"""A total that differs although every pair of nodes is equal."""

from __future__ import annotations

import numpy as np

from graphviz_tb.diff.changes.numbers import NodeQuantities
from graphviz_tb.diff.match.matching import Matching
from graphviz_tb.model.change import Change, NodeEdits
from graphviz_tb.model.columns import Longs

TOTALS = ("parameters", "flops", "ops")  # the first that differs is reported; its numbers are all of them


def other_totals(m: Matching, numbers: NodeQuantities) -> tuple[Change, ...]:
    """The change that says which total is another, and at which nodes; none where all are equal or unknown."""
    for word in TOTALS:
        old, new = numbers.whole[word]
        if old is None or new is None or old == new:
            continue
        before, after = numbers.known[word]
        mine, others = m.together()
        differ = np.flatnonzero(before[mine] != after[others])
        known = np.minimum(before[mine], after[others])[differ] != 0
        # What is not known on one side is no edit: the shape of a variable that only one file declares.
        if word == "parameters" and len(differ) and not known.any():
            continue
        if word == "flops" and not (known.all() and from_shapes(m, differ)):
            continue
        pairs = list(zip(mine[differ].tolist(), others[differ].tolist(), strict=True))
        places = sorted((m.a.graph.name[a], m.b.graph.name[b]) for a, b in pairs) or [("", "")]
        edits = NodeEdits(attributes=tuple((a, b, word) for a, b in pairs))
        detail = {"key": word, "old": old, "new": new}
        return (Change("changed", "attribute", *places[0], len(pairs), detail, tuple(places[1:]), edits=edits),)
    return ()


def from_shapes(m: Matching, differ: Longs) -> bool:
    """Whether operations are others because declared shapes are. Without that it is the order of inference, or that
    only one file declares shapes; neither is an edit."""
    mine, others = m.together()
    declared = m.a.labels.shapes[mine] != m.b.labels.shapes[others]
    return bool(declared.any() and len(differ))
