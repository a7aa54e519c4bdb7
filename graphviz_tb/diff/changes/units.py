"""Group added and removed nodes into units, a whole new scope being one unit, and compare the inputs of matched
nodes."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from graphviz_tb.diff.columns.side import GraphColumns
from graphviz_tb.diff.columns.values import Hashes, combine_hashes, run_sums
from graphviz_tb.diff.match.matching import Matching, align_once
from graphviz_tb.model.change import Change, NodeEdits
from graphviz_tb.model.change_content import InputWire, Rewiring, Sides
from graphviz_tb.model.columns import Bools, Ints, exists

UNUSED_LOOP_INPUT = "unused_control_flow_input"
UnitWire = tuple[tuple[int, int], InputWire]  # a matched node, and its input that was added or removed with a unit


@dataclass(slots=True)
class UnmatchedUnit:
    """A scope (`row`) or single node (`row` is -1) without a partner. `links` are the inputs of matched nodes that were
    added or removed with it."""

    name: str
    row: int
    nodes: list[int]
    block: int
    links: list[UnitWire] = field(default_factory=list)


Units = list[UnmatchedUnit]


def units_of(
    side: GraphColumns, partner: Ints, scope_partner: Ints, compared: set[int], apart: Bools, forward: Bools
) -> tuple[Units, Ints]:
    """Return the units of one side, and the unit of each node (-1 for matched ones).

    A scope is a unit if nothing in it has a partner and the scope around it is not a unit. A node with the name of a
    unit's scope belongs to the unit. Only blocks in `compared` are examined. Outside of the model (`forward`), nodes in
    `apart` and other nodes never share a unit.
    """
    scopes = side.scopes
    free = ~exists(partner) & ~is_left_behind(side)
    # A prefix sum of matched scopes.
    matched = np.concatenate(([0], np.cumsum(exists(scope_partner))))
    unmatched, in_model, edits = map(scopes.counts_below, (free, forward, apart & ~forward))
    is_unit = (unmatched == scopes.sizes()) & (matched[scopes.end] == matched[:-1]) & exists(scopes.parent)
    is_unit &= (in_model > 0) | (edits == 0) | (edits == scopes.sizes())
    # Keep the outermost scopes. The content of a scope is the run of rows after it.
    inside = np.zeros(len(scopes) + 1, np.int64)
    np.add.at(inside, np.flatnonzero(is_unit) + 1, 1)
    np.add.at(inside, scopes.end[is_unit], -1)
    tops = np.flatnonzero(is_unit & (np.cumsum(inside)[: len(scopes)] == 0))
    is_compared = np.isin(scopes.block, list(compared))
    unit_of = np.full(len(side), -1, np.int32)
    units: Units = []
    by_name: dict[tuple[int, str], int] = {}
    for row in tops[is_compared[tops]].tolist():
        nodes = scopes.nodes(row)
        unit_of[nodes] = len(units)
        by_name[int(scopes.block[row]), scopes.name[row]] = len(units)
        units.append(UnmatchedUnit(scopes.name[row], row, nodes.tolist(), int(scopes.block[row])))
    for node in np.flatnonzero(free & ~exists(unit_of)).tolist():
        block = int(side.block[node])
        if block not in compared:
            continue
        # In TensorFlow 1, the variable `w` has the name of the scope of its initialiser, `w/…`.
        unit = by_name.get((block, side.graph.name[node]), -1)
        if not exists(unit) or (not forward[node] and apart[node] != apart[units[unit].nodes[0]]):
            unit = len(units)
            units.append(UnmatchedUnit(side.graph.name[node], -1, [], block))
        units[unit].nodes.append(node)
        unit_of[node] = unit
    return units, unit_of


def is_left_behind(side: GraphColumns) -> Bools:
    """Return which nodes are unconnected placeholders that TensorFlow leaves when it freezes a loop."""
    left = np.fromiter((name.startswith(UNUSED_LOOP_INPUT) for name in side.graph.name), bool, len(side))
    left[side.graph.source] = False
    left[side.graph.target] = False
    return left


def nodes_of_unit(m: Matching, change: Change) -> tuple[GraphColumns, tuple[int, ...]]:
    """Return the graph and the nodes of an addition or removal."""
    new = bool(change.edits.added)
    return (m.b if new else m.a), change.edits.unmatched_nodes(new)


def touched_nodes(change: Change) -> tuple[set[int], set[int]]:
    """Return the removed nodes of a change, and the new nodes that it edits."""
    edits = change.edits
    wired = edits.inputs if change.kind in ("rewired", "changed") else ()  # "changed": another constant as input
    return set(edits.removed), {*edits.nodes_of(True), *(node for _, node in wired)}


def shown_ops(side: GraphColumns, nodes: list[int]) -> list[int]:
    """Return the nodes that a picture shows as ops, without constants, weights and summaries; all nodes if no others
    are left."""
    return [node for node in nodes if side.is_drawn_op[node]] or nodes


def count_op_types(side: GraphColumns, nodes: list[int]) -> dict[str, int]:
    """Count how often each op type occurs, the most frequent first."""
    known = side.labels.configurations
    counts = Counter(
        known[node]["class"] if node in known else side.graph.op_types[op]
        for node, op in zip(nodes, side.graph.op[nodes].tolist(), strict=True)
    )
    return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))


def compared_blocks(m: Matching) -> tuple[set[int], set[int]]:
    """Return the blocks that are compared, on either side."""
    return {0, *(mine + 1 for mine in m.functions)}, {0, *(other + 1 for other in m.functions.values())}


# Compare the inputs of matched nodes.

# The source of an input: "new" and its node in the new graph; "old" and its node for one without a partner. The output.
Token = tuple[str, int, str]


@dataclass(frozen=True, slots=True)
class Rewire:
    """A changed input of the matched nodes `old` and `new`: its edges before and after, -1 for none.

    `reordered`: the nodes have the same inputs in another order.
    """

    old: int
    new: int
    slot: int
    before: int
    after: int
    control: bool
    reordered: bool = False


def rewired_nodes(m: Matching) -> tuple[Ints, Ints]:
    """Return the matched nodes whose inputs differ."""
    old, new = m.matched_pairs()
    # Both sides have the ids of the new graph; unmatched old nodes have -2, -3, …
    names_a = np.where(exists(m.to_b), m.to_b.astype(np.int64), -2 - np.arange(len(m.a), dtype=np.int64))
    names_b = np.arange(len(m.b), dtype=np.int64)
    differ = _input_sums(m.a, names_a)[old] != _input_sums(m.b, names_b)[new]
    return old[differ], new[differ]


def _input_sums(side: GraphColumns, names: np.ndarray) -> Hashes:
    """Return for each node a hash of its inputs and their positions."""
    sums = combine_hashes(names[side.graph.source].view(np.uint64), side.edge_hash)
    return run_sums(sums, side.in_start[:-1], side.in_start[1:])


def differing_pairs(m: Matching) -> list[tuple[int, int]]:
    """Return the matched nodes whose op types, attributes or called functions differ."""
    old, new = m.matched_pairs()
    differ = (m.a.node_label[old] != m.b.node_label[new]) & ~(is_left_behind(m.a)[old] & is_left_behind(m.b)[new])
    return list(zip(old[differ].tolist(), new[differ].tolist(), strict=True))


def rewires(m: Matching) -> Iterator[Rewire]:
    """Yield all inputs of matched nodes that differ."""
    for old, new in zip(*(column.tolist() for column in rewired_nodes(m)), strict=True):
        yield from input_differences(m, old, new)


def input_differences(m: Matching, old: int, new: int) -> list[Rewire]:
    """Return the differences between the inputs of two matched nodes, as few as possible. Cached: the matching must be
    complete."""
    found: list[Rewire] | None = m.wires.get((old, new))
    if found is None:
        data_a, control_a = _input_tokens(m, m.a, old, True)
        data_b, control_b = _input_tokens(m, m.b, new, False)
        found = [*_data_wires(m, old, new, data_a, data_b), *_control_wires(old, new, control_a, control_b)]
        m.wires[old, new] = found
    return found


def _input_tokens(
    m: Matching, side: GraphColumns, node: int, old: bool
) -> tuple[list[tuple[Token, int]], list[tuple[Token, int]]]:
    """Return the data inputs, in order, and the control inputs, each with its edge."""
    graph = side.graph
    inputs: tuple[list[tuple[Token, int]], list[tuple[Token, int]]] = ([], [])
    for edge in side.in_edges(node).tolist():
        source, control = int(graph.source[edge]), bool(graph.control[edge])
        partner = int(m.to_b[source]) if old else source
        token = ("new", partner, "" if control else graph.keys[graph.key[edge]])
        if not exists(partner):
            token = ("old", source, token[2])
        inputs[control].append((token, edge))
    return inputs


def _data_wires(
    m: Matching, old: int, new: int, before: list[tuple[Token, int]], after: list[tuple[Token, int]]
) -> list[Rewire]:
    tokens = [token for token, _ in before], [token for token, _ in after]
    # Equal sources: only their positions may differ.
    if tokens[0] == tokens[1]:
        return _wires_by_slot(m, old, new, before, after)
    # Equal counts: by position. An alignment would report a swap as a removal and an addition.
    if len(before) == len(after):
        changed = [slot for slot in range(len(before)) if tokens[0][slot] != tokens[1][slot]]
        same = Counter(tokens[0]) == Counter(tokens[1])
        return [Rewire(old, new, slot, before[slot][1], after[slot][1], False, same) for slot in changed]
    return _aligned_wires(m, old, new, before, after)


def _wires_by_slot(
    m: Matching, old: int, new: int, before: list[tuple[Token, int]], after: list[tuple[Token, int]]
) -> list[Rewire]:
    """Return equal inputs whose slots differ, because an input between them names no node."""
    slots = m.a.graph.slot, m.b.graph.slot
    return [
        Rewire(old, new, int(slots[1][other]), mine, other, False, True)
        for (_, mine), (_, other) in zip(before, after, strict=True)
        if slots[0][mine] != slots[1][other]
    ]


def _aligned_wires(
    m: Matching, old: int, new: int, before: list[tuple[Token, int]], after: list[tuple[Token, int]]
) -> list[Rewire]:
    """Align the inputs of a node that has more or fewer than before; pair the rest between aligned inputs in order."""
    pairs = align_once(m, [token for token, _ in before], [token for token, _ in after])
    if pairs is None:
        m.note("input-limit", "too many inputs came and went to find out which stayed: taken by their place")
    changed, position = [], (0, 0)
    for stop in [*(pairs or ()), (len(before), len(after))]:
        old_wires, new_wires = before[position[0] : stop[0]], after[position[1] : stop[1]]
        for place in range(max(len(old_wires), len(new_wires))):
            lost = old_wires[place][1] if place < len(old_wires) else -1
            gained = new_wires[place][1] if place < len(new_wires) else -1
            slot = place + (position[1] if exists(gained) else position[0])
            changed.append(Rewire(old, new, slot, lost, gained, False))
        position = stop[0] + 1, stop[1] + 1
    return changed


def _control_wires(old: int, new: int, before: list[tuple[Token, int]], after: list[tuple[Token, int]]) -> list[Rewire]:
    """Return the control inputs that only one side has; they have no order."""
    changed = []
    for inputs, others, came in ((before, after, False), (after, before, True)):
        surplus = Counter(token for token, _ in inputs) - Counter(token for token, _ in others)
        for token, edge in inputs:
            if surplus[token] > 0:
                surplus[token] -= 1
                changed.append(Rewire(old, new, -1, -1 if came else edge, edge if came else -1, True))
    return changed


def link_units(m: Matching, old_units: Units, old_of: Ints, new_units: Units, new_of: Ints) -> list[Rewire]:
    """Add to each unit the changed inputs that come from its nodes; return the other changed inputs. An added unit
    takes precedence over a removed one."""
    others = []
    for wire in rewires(m):
        came = int(new_of[m.b.graph.source[wire.after]]) if exists(wire.after) else -1
        went = int(old_of[m.a.graph.source[wire.before]]) if exists(wire.before) else -1
        if exists(came) or exists(went):
            unit = new_units[came] if exists(came) else old_units[went]
            unit.links.append(((wire.old, wire.new), _named_wire(m, wire)))
        else:
            others.append(wire)
    return others


def _named_wire(m: Matching, wire: Rewire, own: bool = False) -> InputWire:
    """Return a rewired input with names; without its node if that is the change's `own` node."""
    node = None if own else Sides(m.a.graph.name[wire.old], m.b.graph.name[wire.new])
    slot = None if wire.control else wire.slot
    return InputWire(slot, source_name(m.a, wire.before), source_name(m.b, wire.after), node)


def sorted_wires(wires: Iterable[InputWire]) -> list[InputWire]:
    """Sort inputs by their texts. Names are cached, since thousands of inputs may have one long name.

    >>> wires = [InputWire(at, "a", None, Sides("x", "x")) for at in (2, 10, 1)]
    >>> [wire.slot for wire in sorted_wires(wires)]
    [1, 10, 2]
    """
    text_of = cache(repr)

    def words(wire: InputWire) -> tuple[str, ...]:
        node = (wire.node.old, wire.node.new) if wire.node else ()
        return tuple(map(text_of, (*node, "control" if wire.slot is None else wire.slot, wire.old, wire.new)))

    return sorted(wires, key=words)


def source_name(side: GraphColumns, edge: int) -> str | None:
    """Return the source of an edge as text, `node` or `node:output` after the first output; None for no edge."""
    if not exists(edge):
        return None
    graph = side.graph
    name, key = graph.name[graph.source[edge]], graph.keys[graph.key[edge]]
    return name if key == "0" or graph.control[edge] else f"{name}:{key}"


def wire_changes(m: Matching, wires: list[Rewire]) -> dict[int, list[Change]]:
    """Return changed inputs by block, one change for each node; nodes with one equal exchange of a source share it."""
    by_node: dict[tuple[int, int], list[Rewire]] = defaultdict(list)
    for wire in wires:
        by_node[wire.old, wire.new].append(wire)
    groups: dict[tuple[int, Any], list[tuple[int, int]]] = defaultdict(list)
    for pair, members in by_node.items():
        wire, block = members[0], int(m.b.block[pair[1]])
        alone = len(members) == 1 and not wire.reordered
        key = (source_name(m.a, wire.before), source_name(m.b, wire.after), wire.control) if alone else pair
        groups[block, key].append(pair)
    blocks: dict[int, list[Change]] = defaultdict(list)
    for key, pairs in groups.items():
        blocks[key[0]].append(_wire_change(m, pairs, by_node))
    return blocks


def _wire_change(m: Matching, pairs: list[tuple[int, int]], by_node: dict[tuple[int, int], list[Rewire]]) -> Change:
    pairs = sorted(pairs, key=lambda pair: (m.b.graph.name[pair[1]], m.a.graph.name[pair[0]]))
    members = by_node[pairs[0]]
    inputs = tuple(_named_wire(m, wire, own=True) for wire in members)
    content = Rewiring(inputs, all(wire.reordered for wire in members))
    first, *also = ((m.a.graph.name[old], m.b.graph.name[new]) for old, new in pairs)
    edits = NodeEdits(inputs=tuple(pairs))
    return Change("rewired", "wiring", *first, len(pairs), content, tuple(also), edits=edits)
