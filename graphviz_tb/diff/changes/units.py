"""Added and removed nodes as units: a whole new scope is one, however many nodes it has."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from graphviz_tb.diff.changes.wiring import Rewire, input_differences, rewired_nodes
from graphviz_tb.diff.columns.side import GraphColumns
from graphviz_tb.diff.match.matching import Matching
from graphviz_tb.diff.traced import traced_module
from graphviz_tb.model.change import Change, NodeEdits
from graphviz_tb.model.change_content import InputWire, Rewiring, Setting, Sides
from graphviz_tb.model.columns import Bools, Ints, Longs, exists
from graphviz_tb.ops.roles import CONSTANT_OPS
from graphviz_tb.ops.signatures import setting_input_name

LEFT_BEHIND = "unused_control_flow_input"


@dataclass(frozen=True, slots=True)
class UnitWire:
    """A wire of a matched node that came or went with a unit: the node, and the wire."""

    pair: tuple[int, int]
    wire: InputWire


@dataclass(slots=True)
class UnmatchedUnit:
    """A scope or a node of one side without a partner: `row` (-1 for a single node), `nodes`, its name, and the wires
    of matched nodes that came or went with it."""

    name: str
    row: int
    nodes: list[int]
    block: int
    links: list[UnitWire] = field(default_factory=list)


Units = list[UnmatchedUnit]


def units_of(
    side: GraphColumns, partner: Ints, scope_partner: Ints, compared: set[int], apart: Bools, forward: Bools
) -> tuple[Units, Ints]:
    """Return the units of one side, and for each node its unit (-1 for matched ones).

    A scope is a unit when none of its nodes and no scope in it has a partner, and the scope around it is none. A node
    that has the name of such a scope belongs to it. Only blocks in `compared` are looked at. Outside of the model
    (`forward`) nodes in `apart` and others are no unit.
    """
    scopes = side.scopes
    free = ~exists(partner) & ~is_left_behind(side)
    # Prefix sums: free nodes under each scope, and (`taken`) matched scopes under it, itself counted.
    start = np.concatenate(([0], np.cumsum(free[scopes.node_order])))
    left = start[scopes.node_start[scopes.end]] - start[scopes.node_start[:-1]]
    taken = np.concatenate(([0], np.cumsum(exists(scope_partner))))
    whole = (left == scopes.sizes()) & (taken[scopes.end] == taken[:-1]) & exists(scopes.parent)
    own, edits = (_nodes_under(side, which) for which in (forward, apart & ~forward))
    whole &= (own > 0) | (edits == 0) | (edits == scopes.sizes())
    # The outermost only: what is in them belongs to them. What is in a scope is a run of rows behind it.
    inside = np.zeros(len(scopes) + 1, np.int64)
    np.add.at(inside, np.flatnonzero(whole) + 1, 1)
    np.add.at(inside, scopes.end[whole], -1)
    tops = np.flatnonzero(whole & (np.cumsum(inside)[: len(scopes)] == 0))
    held = np.isin(scopes.block, list(compared))
    unit_of = np.full(len(side), -1, np.int32)
    units: Units = []
    by_name: dict[tuple[int, str], int] = {}
    for row in tops[held[tops]].tolist():
        nodes = scopes.nodes(row)
        unit_of[nodes] = len(units)
        by_name[int(scopes.block[row]), scopes.name[row]] = len(units)
        units.append(UnmatchedUnit(scopes.name[row], row, nodes.tolist(), int(scopes.block[row])))
    for node in np.flatnonzero(free & ~exists(unit_of)).tolist():
        block = int(side.block[node])
        if block not in compared:
            continue
        # TensorFlow 1 names the variable `w` like the scope of its initialiser, `w/…`.
        unit = by_name.get((block, side.graph.name[node]), -1)
        if not exists(unit) or (not forward[node] and apart[node] != apart[units[unit].nodes[0]]):
            unit = len(units)
            units.append(UnmatchedUnit(side.graph.name[node], -1, [], block))
        units[unit].nodes.append(node)
        unit_of[node] = unit
    return units, unit_of


def _nodes_under(side: GraphColumns, which: Bools) -> Longs:
    """Count how many of some nodes are under each scope."""
    scopes = side.scopes
    start = np.concatenate(([0], np.cumsum(which[scopes.node_order])))
    counts: Longs = start[scopes.node_start[scopes.end]] - start[scopes.node_start[:-1]]
    return counts


def is_left_behind(side: GraphColumns) -> Bools:
    """Placeholders that TensorFlow left when it froze a loop: nothing is joined to them."""
    left = np.fromiter((name.startswith(LEFT_BEHIND) for name in side.graph.name), bool, len(side))
    left[side.graph.source] = False
    left[side.graph.target] = False
    return left


def shown_ops(side: GraphColumns, nodes: list[int]) -> list[int]:
    """Return the nodes that a picture shows as ops: no constants, weights or summaries, unless there is nothing
    else."""
    return [node for node in nodes if side.is_drawn_op[node]] or nodes


def count_op_types(side: GraphColumns, nodes: list[int]) -> dict[str, int]:
    """Count how often each op type occurs, the most frequent first."""
    known = side.labels.configurations
    counts = Counter(
        known[node]["class"] if node in known else side.graph.op_types[op]
        for node, op in zip(nodes, side.graph.op[nodes].tolist(), strict=True)
    )
    return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))


def group_mirrors(units: Units, forward: Bools, apart: Bools) -> list[Units]:
    """Units, each with those that mirror it: `gradients/encoder/layer_3` goes with `encoder/layer_3`, unless one is of
    the model (`forward`) and the other derived, or one is an edit and the other follows (`apart`).

    Before: any order. After: the first of each list has the shortest name; the others are scopes whose name ends in
    its whole name (as `Adam/update_encoder/layer_3` and `gradients/encoder/layer_3/add_grad` do).
    """
    by_end: dict[tuple[int, bool, bool, str], Units] = {}
    lengths = {len(unit.name) for unit in units}
    groups = []
    # The shortest name first: what mirrors it ends in it, and comes later.
    for unit in sorted(units, key=lambda unit: (unit.name.count("/"), len(unit.name), unit.name)):
        kind = unit.block, bool(forward[unit.nodes].any()), bool(apart[unit.nodes].any())
        main = next((by_end[*kind, end] for end in _name_endings(unit.name, lengths) if (*kind, end) in by_end), None)
        if main is not None and exists(unit.row):
            main.append(unit)
        else:
            groups.append([unit])
            by_end.setdefault((*kind, unit.name), groups[-1])
    return groups


def _name_endings(name: str, lengths: Container[int]) -> Iterator[str]:
    """Yield the ends of a name, the longest first: from each `/` or `_` on, with and without `_grad`; only those of
    some lengths, since all ends of a deep name take its length squared.

    >>> list(_name_endings("gradients/a/b_grad", range(1, 9)))
    ['a/b', 'a/b_grad']
    """
    first = name.removesuffix("_grad")
    # Only ends of two segments and more: `dense` alone would mirror any layer of that name.
    for cut in range(1, name.rfind("/") + 1):
        if name[cut - 1] in "/_":
            yield from (word[cut:] for word in dict.fromkeys((first, name)) if len(word) - cut in lengths)


def compared_blocks(m: Matching) -> tuple[set[int], set[int]]:
    """Return the blocks that are compared, on either side."""
    return {0, *(mine + 1 for mine in m.functions)}, {0, *(other + 1 for other in m.functions.values())}


# Wires that differ: those that came or went with something added or removed belong to it, the others are changes.


def link_units(m: Matching, old_units: Units, old_of: Ints, new_units: Units, new_of: Ints) -> list[Rewire]:
    """Give each unit the wires that came or went with it; return the others.

    A wire from an added node belongs to the added unit; else a wire from a removed node to the removed one.
    """
    others = []
    for old, new in zip(*(column.tolist() for column in rewired_nodes(m)), strict=True):
        for wire in input_differences(m, old, new):
            came = int(new_of[m.b.graph.source[wire.after]]) if exists(wire.after) else -1
            went = int(old_of[m.a.graph.source[wire.before]]) if exists(wire.before) else -1
            if exists(came):
                new_units[came].links.append(UnitWire((old, new), _named_wire(m, wire)))
            elif exists(went):
                old_units[went].links.append(UnitWire((old, new), _named_wire(m, wire)))
            else:
                others.append(wire)
    return others


def _named_wire(m: Matching, wire: Rewire, own: bool = False) -> InputWire:
    """Return a rewired input by names: of the change's `own` node, or with the node that takes it."""
    node = None if own else Sides(m.a.graph.name[wire.old], m.b.graph.name[wire.new])
    slot = None if wire.control else wire.slot
    return InputWire(slot, source_name(m.a, wire.before), source_name(m.b, wire.after), node)


def sorted_wires(wires: Iterable[InputWire]) -> list[InputWire]:
    """Sort inputs by their words, without a text for each: thousands may have one long name.

    >>> wires = [InputWire(at, "a", None, Sides("x", "x")) for at in (2, 10, 1)]
    >>> [wire.slot for wire in sorted_wires(wires)]
    [1, 10, 2]
    """
    said = cache(repr)

    def words(wire: InputWire) -> tuple[str, ...]:
        node = (wire.node.old, wire.node.new) if wire.node else ()
        return tuple(map(said, (*node, "control" if wire.slot is None else wire.slot, wire.old, wire.new)))

    return sorted(wires, key=words)


def source_name(side: GraphColumns, edge: int) -> str | None:
    """Return the source of an edge: the node, and its output where it is not the first; None for no edge."""
    if not exists(edge):
        return None
    graph = side.graph
    name, key = graph.name[graph.source[edge]], graph.keys[graph.key[edge]]
    return name if key == "0" or graph.control[edge] else f"{name}:{key}"


def wire_changes(m: Matching, wires: list[Rewire]) -> dict[int, list[Change]]:
    """Changes of wires by block: one a node; nodes that exchanged the same source for the same one are one change."""
    by_node: dict[tuple[int, int], list[Rewire]] = defaultdict(list)
    settings, wires = _taken_constants(m, wires)
    for wire in wires:
        by_node[wire.old, wire.new].append(wire)
    groups: dict[tuple[int, Any], list[tuple[int, int]]] = defaultdict(list)
    for pair, members in by_node.items():
        wire, block = members[0], int(m.b.block[pair[1]])
        # Only a single exchange can be the same at another node; several inputs are a change of that node.
        alone = len(members) == 1 and not wire.reordered
        key = (source_name(m.a, wire.before), source_name(m.b, wire.after), wire.control) if alone else pair
        groups[block, key].append(pair)
    blocks: dict[int, list[Change]] = defaultdict(list)
    for change in settings:
        blocks[0].append(change)
    for key, pairs in groups.items():
        blocks[key[0]].append(_wire_change(m, pairs, by_node))
    return blocks


def _taken_constants(m: Matching, wires: list[Rewire]) -> tuple[list[Change], list[Rewire]]:
    """Inputs of traces of PyTorch that take another constant, as settings of their op, and the other wires.

    A trace has one node for all uses of a number in a module: which of them an op takes is the number that it is given.
    """
    if not (m.a.graph.has_module_scopes and m.b.graph.has_module_scopes):
        return [], wires
    groups: dict[tuple[str, str, str], list[Rewire]] = defaultdict(list)
    others = []
    for wire in wires:
        values = _constant_value(m.a, wire.before), _constant_value(m.b, wire.after)
        if None in values or values[0] == values[1]:
            others.append(wire)
            continue
        op = m.b.graph.op_types[m.b.graph.op[wire.new]]
        groups[
            setting_input_name(op, wire.slot) or f"input {wire.slot} of {op}", str(values[0]), str(values[1])
        ].append(wire)
    changes = []
    for (key, old, new), members in groups.items():
        first, *also = dict.fromkeys(
            (traced_module(m.a.graph, wire.old), traced_module(m.b.graph, wire.new)) for wire in members
        )
        pairs = tuple(dict.fromkeys((wire.old, wire.new) for wire in members))
        content, edits = Setting(key, old, new), NodeEdits(inputs=pairs)
        changes.append(Change("changed", "attribute", *first, len(pairs), content, tuple(also), edits=edits))
    return changes, others


def _constant_value(side: GraphColumns, edge: int) -> str | None:
    """Return the name of a constant of a trace at the begin of an edge: its value; None for anything else."""
    if not exists(edge):
        return None
    source = int(side.graph.source[edge])
    is_constant = side.graph.op_types[side.graph.op[source]] in CONSTANT_OPS
    return side.graph.labels.get(source) if is_constant else None


def _wire_change(m: Matching, pairs: list[tuple[int, int]], by_node: dict[tuple[int, int], list[Rewire]]) -> Change:
    pairs = sorted(pairs, key=lambda pair: (m.b.graph.name[pair[1]], m.a.graph.name[pair[0]]))
    members = by_node[pairs[0]]
    inputs = tuple(_named_wire(m, wire, own=True) for wire in members)
    content = Rewiring(inputs, all(wire.reordered for wire in members))
    first, *also = ((m.a.graph.name[old], m.b.graph.name[new]) for old, new in pairs)
    edits = NodeEdits(inputs=tuple(pairs))
    return Change("rewired", "wiring", *first, len(pairs), content, tuple(also), edits=edits)
