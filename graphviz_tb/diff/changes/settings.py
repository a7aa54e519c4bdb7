"""Constants that are settings: attributes of the op that uses them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from graphviz_tb.diff.changes.divided import DIVISIONS, division
from graphviz_tb.diff.changes.layers import INNER, Layers
from graphviz_tb.diff.changes.names import COUNTED
from graphviz_tb.diff.changes.weights import Atom
from graphviz_tb.diff.changes.witnesses import Witnesses
from graphviz_tb.diff.columns.ids import exists
from graphviz_tb.diff.match.matching import Matching
from graphviz_tb.model.change import Change, NodeEdits
from graphviz_tb.ops.roles import SIZE_ARITHMETIC_OPS
from graphviz_tb.ops.signatures import is_size_input

UNITS = "units"
# What a constant at this input of such an op is called in programs: scope, op type, input, op that uses the result.
TERMS = (
    (re.compile(r"dropout"), "GreaterEqual", 1, re.compile(""), "rate"),
    (re.compile(r"dropout"), "Mul", 1, re.compile(""), "scale"),
    (re.compile(r"norm", re.IGNORECASE), "AddV2", 1, re.compile(""), "epsilon"),
    (re.compile(r""), "AddV2", 1, re.compile("R?[Ss]qrt$"), "epsilon"),
    (re.compile(r"norm|bn(?:_|/|$)", re.IGNORECASE), "Mul", 1, re.compile(r"AddV2|^Assign"), "momentum"),
    (re.compile(r"adam|lamb|lion", re.IGNORECASE), "Pow", 0, re.compile(""), "beta"),
    # What a dense layer of more than two dimensions reshapes its product to: all before it, and its own width.
    (re.compile(r"/Tensordot/"), "ConcatV2", 1, re.compile("^Reshape$"), UNITS),
)
CUTS = frozenset({"StridedSlice"})
WORDS = frozenset(word for *_, word in TERMS)


def is_whole(value: Any) -> bool:
    """Whether a setting is one whole number, or a list of these."""
    numbers = value if isinstance(value, list) else [value]
    return all(isinstance(number, int) and not isinstance(number, bool) for number in numbers)


def setting_changes(
    m: Matching, layers: tuple[Layers, Layers], atoms: Sequence[Atom], witnesses: Witnesses
) -> list[tuple[int, Change, bool]]:
    """One change for each (input, old, new) in each layer, and in all that is derived: its block, the change, and
    whether it may only follow from another one."""
    groups: dict[tuple[object, ...], list[tuple[Atom, int, int, bool]]] = defaultdict(list)
    for atom in atoms:
        user, slot = used(layers[1], atom[1])
        word = term(m, atom[1], user, slot)
        if layers[1].forward[user] and (divided := division(layers[1], user, atom[2].old, atom[2].new)):
            word, before, after = divided
            atom = atom[0], atom[1], replace(atom[2], old=before, new=after)
        op = m.b.graph.op_types[m.b.graph.op[user]]
        whole = is_whole(atom[2].old) and is_whole(atom[2].new)
        # What is cut out of a list of whole numbers is a size: TensorFlow wrote a constant for a shape that it knows.
        shape = op in CUTS and not slot and isinstance(atom[2].old, list)
        size = word != UNITS and (is_size_input(op, slot) or (whole and (op in SIZE_ARITHMETIC_OPS or shape)))
        values = repr((atom[2].old, atom[2].new))
        layer = layers[1].of(user) if layers[1].forward[user] else None
        if layer is None:
            size = witnesses.value_follows(*atom)
        elif word in DIVISIONS:
            size = False
        elif size:
            size = witnesses.size_follows(*atom, (used(layers[0], atom[0])[0], user))
        key = (int(m.b.block[atom[1]]), COUNTED.sub("", word), values, layer, size)
        groups[key].append((atom, user, slot, size))
    return [
        (int(m.b.block[members[0][0][1]]), _change(layers, str(key[1]), members), all(size for *_, size in members))
        for key, members in groups.items()
    ]


def _change(layers: tuple[Layers, Layers], word: str, members: list[tuple[Atom, int, int, bool]]) -> Change:
    first = members[0][0][2]
    name = place_name if word in WORDS | DIVISIONS else op_name
    places = sorted(
        {(name(layers[0], used(layers[0], old)[0]), name(layers[1], user)) for (old, _, _), user, *_ in members}
    )
    old, new = (alone(value) if word == UNITS else value for value in (first.old, first.new))
    detail: dict[str, Any] = {"key": word, "old": old, "new": new, "constant": True}
    edits = NodeEdits(attributes=tuple((old, new, "value") for (old, new, _), *_ in members))
    return Change("changed", "attribute", *places[0], len(members), detail, tuple(places[1:]), edits=edits)


def alone(value: Any) -> Any:
    """The one element of a list of one, as text, as the shapes of weights have it; anything else as it is."""
    return str(value[0]) if isinstance(value, list) and len(value) == 1 else value


def op_name(layers: Layers, node: int) -> str:
    """The name of an op."""
    return layers.side.graph.name[node]


def place_name(layers: Layers, node: int) -> str:
    """The name of the scope in which a program would set what an op takes: around the ops, and around the scope that
    TensorFlow opened for them in it. `drop/stateless_dropout/GreaterEqual` is set at `drop`."""
    scopes = layers.side.scopes
    row, layer = int(scopes.of_node[node]), layers.of(node)
    if not exists(layer):
        return op_name(layers, node)
    return scopes.name[int(scopes.parent[row]) if row != layer and INNER.match(scopes.leaf[row]) else row]


def used(layers: Layers, node: int) -> tuple[int, int]:
    """The op that a constant is an input of, and which input: of the model rather than derived, the first by name."""
    graph = layers.side.graph
    edges = layers.side.out_edges(node)
    edges = edges[~graph.control[edges]]

    def rank(edge: int) -> tuple[bool, str, int]:
        user = graph.target[edge]
        return not layers.forward[user], graph.name[user], int(graph.slot[edge])

    first = min(edges.tolist(), key=rank, default=None)
    return (node, -1) if first is None else (int(graph.target[first]), int(graph.slot[first]))


def term(m: Matching, new: int, user: int, slot: int) -> str:
    """Return the name of a setting: the program's word where known, else the last segment of the constant's name."""
    graph = m.b.graph
    name, op = graph.name[user], graph.op_types[graph.op[user]]
    for scope, kind, place, then, word in TERMS:
        if op == kind and slot == place and scope.search(name):
            # What uses the result: an addition of a constant below a root is an epsilon.
            behind = (graph.op_types[number] for number in graph.op[graph.target[m.b.out_edges(user)]].tolist())
            if any(map(then.search, behind)):
                return word
    return m.b.scopes.node_leaf[new]
