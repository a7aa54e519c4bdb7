"""Constants that are settings: attributes of the op that uses them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from graphviz_tb.diff.changes.weights import Atom
from graphviz_tb.diff.match.matching import Matching
from graphviz_tb.model.change import Change, Edits

# What a constant at this input of such an op is called in programs: scope, op type, input.
TERMS = (
    (re.compile(r"dropout"), "GreaterEqual", 1, "rate"),
    (re.compile(r"dropout"), "Mul", 1, "scale"),
    (re.compile(r"batch_?norm|moments|bn|norm", re.IGNORECASE), "AddV2", 1, "epsilon"),
)
# Ops that compute with sizes, where they take a whole number.
COUNTING = frozenset({"Pack", "Max", "Maximum", "Minimum", "Range", "Less", "Mul", "Prod", "Sub", "AddV2", "FloorDiv"})
# Inputs that are sizes: they follow where a layer before them has another size.
SIZES = frozenset({("Reshape", 1), ("Fill", 0), ("BroadcastTo", 1), ("Tile", 1), ("Slice", 2), ("RandomUniform", 0),
                   ("StatelessRandomUniformV2", 0), ("TensorListReserve", 0), ("TensorListFromTensor", 1),
                   ("TensorListStack", 1), ("ResizeBilinear", 1), ("ResizeNearestNeighbor", 1)})  # fmt: skip


def is_whole(value: Any) -> bool:
    """Whether a setting is one whole number."""
    return isinstance(value, int) and not isinstance(value, bool)


def setting_changes(m: Matching, atoms: Sequence[Atom]) -> list[tuple[int, Change, bool]]:
    """One change for each (input, old, new): its block, the change, and whether it may only follow from another one."""
    groups: dict[tuple[int, str, str], list[tuple[Atom, int, int, bool]]] = defaultdict(list)
    for atom in atoms:
        user, slot = used(m, atom[1])
        word = term(m, atom[1], user, slot)
        op = m.b.graph.op_types[m.b.graph.op[user]]
        size = (op, slot) in SIZES or (op in COUNTING and is_whole(atom[2].old) and is_whole(atom[2].new))
        groups[int(m.b.block[atom[1]]), word, repr((atom[2].old, atom[2].new))].append((atom, user, slot, size))
    return [
        (block, _change(m, word, members), all(size for *_, size in members))
        for (block, word, _), members in groups.items()
    ]


def _change(m: Matching, word: str, members: list[tuple[Atom, int, int, bool]]) -> Change:
    first = members[0][0][2]
    places = sorted({(_user_name(m, old), m.b.graph.name[user]) for (old, _, _), user, *_ in members})
    detail: dict[str, Any] = {"key": word, "old": first.old, "new": first.new, "constant": True}
    edits = Edits(attributes=tuple((old, new, "value") for (old, new, _), *_ in members))
    return Change("changed", "attribute", *places[0], len(members), detail, tuple(places[1:]), edits=edits)


def _user_name(m: Matching, old: int) -> str:
    edges = m.a.out_edges(old)
    edges = edges[~m.a.graph.control[edges]]
    users = [m.a.graph.name[node] for node in m.a.graph.target[edges].tolist()]
    return min(users, default=m.a.graph.name[old])


def used(m: Matching, new: int) -> tuple[int, int]:
    """The op that a constant is an input of (the first by name), and which input."""
    graph = m.b.graph
    edges = m.b.out_edges(new)
    edges = edges[~graph.control[edges]]
    if not len(edges):
        return new, -1
    first = min(edges.tolist(), key=lambda edge: (graph.name[graph.target[edge]], int(graph.slot[edge])))
    return int(graph.target[first]), int(graph.slot[first])


def term(m: Matching, new: int, user: int, slot: int) -> str:
    """What a setting is called: the program's word where there is one, else the last segment of the constant's name."""
    name, op = m.b.graph.name[user], m.b.graph.op_types[m.b.graph.op[user]]
    for scope, kind, place, word in TERMS:
        if op == kind and slot == place and scope.search(name):
            return word
    return m.b.scopes.node_leaf[new]
