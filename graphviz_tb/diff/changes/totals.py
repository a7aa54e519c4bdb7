"""A total that differs although every pair of nodes is equal."""

from __future__ import annotations

import numpy as np

from graphviz_tb.diff.changes.numbers import NodeQuantities
from graphviz_tb.diff.match.matching import Matching
from graphviz_tb.model.change import Change, Edits
from graphviz_tb.model.columns import Longs

TOLD = ("parameters", "flops", "ops")  # the first that differs is reported, with the others as its numbers


def other_totals(m: Matching, numbers: NodeQuantities) -> tuple[Change, ...]:
    """The change that says which total is another, and at which nodes; none where all are equal or unknown."""
    for word in TOLD:
        old, new = numbers.whole[word]
        if old is None or new is None or old == new:
            continue
        before, after = numbers.known[word]
        mine, others = m.together()
        differ = np.flatnonzero(before[mine] != after[others])
        if word == "flops" and not from_shapes(m, differ, np.minimum(before[mine], after[others])):
            continue
        pairs = list(zip(mine[differ].tolist(), others[differ].tolist(), strict=True))
        places = sorted((m.a.graph.name[a], m.b.graph.name[b]) for a, b in pairs) or [("", "")]
        edits = Edits(attributes=tuple((a, b, word) for a, b in pairs))
        detail = {"key": word, "old": old, "new": new}
        return (Change("changed", "attribute", *places[0], len(pairs), detail, tuple(places[1:]), edits=edits),)
    return ()


def from_shapes(m: Matching, differ: Longs, least: Longs) -> bool:
    """Whether operations are others because declared shapes are: known at each of the nodes, on both sides. Without
    that it is the order of inference, or that only one file declares shapes; neither is an edit."""
    mine, others = m.together()
    declared = m.a.labels.shapes[mine] != m.b.labels.shapes[others]
    return bool(declared.any() and len(differ) and (least[differ] != 0).all())
