"""Weights that two layers shared and no longer do, or do now."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence

from graphviz_tb.diff.changes.attributes import Difference
from graphviz_tb.diff.changes.layers import Layers
from graphviz_tb.diff.changes.several import edits_of
from graphviz_tb.diff.columns.ids import exists
from graphviz_tb.diff.columns.side import GraphColumns
from graphviz_tb.diff.match.matching import Matching
from graphviz_tb.diff.traced import OWN, SHARED
from graphviz_tb.model.change import Change
from graphviz_tb.ops.roles import CONSTANT_OPS, IDENTITY_OPS, INPUT_OPS, VARIABLE_OPS, VARIABLE_READ_OPS

READING = VARIABLE_READ_OPS | IDENTITY_OPS
WEIGHTS = VARIABLE_OPS | VARIABLE_READ_OPS | CONSTANT_OPS | INPUT_OPS


def unshared(m: Matching, layers: tuple[Layers, Layers], changes: Sequence[Change]) -> Change | None:
    """Only weights came, for ops that used those of another layer, which are there still: one change of the layer."""
    for kind, which, word in (("added", 1, "new"), ("removed", 0, "old")):
        parts = [change for change in changes if change.kind == kind]
        others = [change for change in changes if change.kind not in (kind, "rewired")]
        if all(map(only_reads, parts)) or not all(map(only_reads, others)):
            continue
        if any(not change.detail["op_types"].keys() <= WEIGHTS for change in parts):
            continue
        shared = {name for change in parts for name in lenders(m, layers, change, which)}
        users = sorted({pair for change in parts for pair in change.edits.inputs})
        # The layer that lends its weights may be rewired too; it is not the one that has its own now.
        apart = [pair for pair in users if layers[which].name(layers[which].of(pair[which])) not in shared]
        if users and shared:
            own = [[layers[side].name(layers[side].of(pair[side])) for pair in apart or users] for side in (0, 1)]
            old, new = (names[0] if len(set(names)) == 1 else common_scope(names) or names[0] for names in own)
            lenders_of = common_scope(sorted(shared)) if len(shared) > 1 else min(shared)
            lender = f"shared with {lenders_of}" if apart and lenders_of else "shared"
            detail = {"key": "weights", word: OWN, "old" if which else "new": lender}
            ops = sum(change.ops for change in parts)
            return Change("changed", "op", old, new, ops, detail, edits=edits_of(changes))
    return None


def only_reads(change: Change) -> bool:
    """Whether nothing but reads of variables came, or went: each layer has its own.

    >>> kinds = ({"ReadVariableOp": 2}, {"ReadVariableOp": 1, "VarHandleOp": 1})
    >>> [only_reads(Change("added", "op", None, "a", 2, {"op_types": kind})) for kind in kinds]
    [True, False]
    """
    return change.kind in ("added", "removed") and change.detail["op_types"].keys() <= READING


def common_scope(names: Sequence[str]) -> str:
    """The scope around all of some names, "" for none.

    >>> common_scope(["tower/a", "tower/b/c"]), common_scope(["a", "b"])
    ('tower', '')
    """
    return posixpath.commonpath([f"/{name}" for name in names]).strip("/")


def lenders(m: Matching, layers: tuple[Layers, Layers], change: Change, which: int) -> list[str]:
    """The layers, other than the users' own, whose weights the ops took on the other side."""
    other = layers[1 - which]
    graph, index = other.side.graph, other.side.graph.index[0]
    names = []
    # What the rewired ops took on the side where the weights were shared.
    taken = [(wire["old" if which else "new"] or "").partition(":")[0] for wire in change.detail.get("links", ())]
    for node in [variable(other.side, index[name]) for name in taken if name in index]:
        if exists((m.to_b if which else m.to_a)[node]) and graph.op_types[graph.op[node]] in WEIGHTS:
            names.append(other.name(other.of(node)))
    return names


def variable(side: GraphColumns, node: int) -> int:
    """The variable that a node reads; the node itself where it reads none."""
    graph = side.graph
    first, stop = side.in_start[node : node + 2]
    return int(graph.source[first]) if first < stop and graph.op_types[graph.op[node]] in READING else node


def is_tying(difference: Difference) -> bool:
    """Whether a parameter of PyTorch belongs to another module than the one that uses it, now or before."""
    values = difference.old, difference.new
    return OWN in values and any(isinstance(value, str) and value.startswith(SHARED) for value in values)
