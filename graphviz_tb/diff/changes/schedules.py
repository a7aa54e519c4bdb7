"""What updates of variables take that comes from no gradient: schedules of a rate, decays, averages.

Neither the model nor its gradients lead to it, so that it follows from no edit of the model.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from graphviz_tb.diff.changes.edits import chains
from graphviz_tb.diff.changes.items import Item, touched
from graphviz_tb.diff.changes.layers import Layers
from graphviz_tb.diff.changes.parts import QUIET
from graphviz_tb.diff.match.matching import Matching
from graphviz_tb.graphs.traversal import weak_components
from graphviz_tb.model.change import Change
from graphviz_tb.ops.roles import Role, has_role


def schedules(m: Matching, layers: tuple[Layers, Layers], items: Sequence[Item]) -> list[list[Item]]:
    """The chains of ops that came, or went, and that updates which stayed take without a gradient before them."""
    free = [item for item in items if not item.forward and is_free(layers, item)]
    groups = [[free[number] for number in group] for group in weak_components(len(free), chains(m, free))]
    return [group for group in groups if any(is_loud(item.change) for item in group) and is_shared(layers, group)]


def is_free(layers: tuple[Layers, Layers], item: Item) -> bool:
    """Whether ops came or went in a graph that trains, and none of them comes from gradients."""
    if item.change.kind not in ("added", "removed") or "function" in item.change.detail:
        return False
    if any(has_role(op, Role.ASSIGN, Role.UPDATE) for op in item.change.detail["op_types"]):
        return False
    sides = zip(layers, touched(item.change), strict=True)
    flows = [(side.side.graph.meaning.flow(), list(nodes)) for side, nodes in sides]
    return all(flow.gradient.any() and not flow.behind[nodes].any() for flow, nodes in flows)


def is_loud(change: Change) -> bool:
    """Whether ops came, or went, that compute something."""
    return change.kind in ("added", "removed") and not change.detail["op_types"].keys() <= QUIET


def is_shared(layers: tuple[Layers, Layers], group: Sequence[Item]) -> bool:
    """Whether several ops that stayed and come from gradients take it, all in the place of the same thing: what is done
    for each variable follows from the variable."""
    behind = layers[1].side.graph.meaning.flow().behind
    users = {new for item in group for _, new in item.change.edits.inputs}
    which = {item.change.kind == "added" for item in group}
    wires = [wire for item in group for wire in item.change.detail.get("links", ())]
    ends = {wire["old" if True in which else "new"] for wire in wires}
    return len(which) == len(ends) == 1 and int(np.count_nonzero(behind[sorted(users)])) > 1
