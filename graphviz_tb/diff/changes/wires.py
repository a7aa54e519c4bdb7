"""Wires that differ: those that came or went with something added or removed belong to it, the others are changes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from functools import cache
from typing import Any

from graphviz_tb.diff.changes.traced_widths import module
from graphviz_tb.diff.changes.units import Unit, UnitWire
from graphviz_tb.diff.changes.wiring import Rewire, rewired, rewires
from graphviz_tb.diff.columns.ids import exists
from graphviz_tb.diff.columns.side import GraphColumns
from graphviz_tb.diff.match.matching import Matching
from graphviz_tb.model.change import Change, NodeEdits
from graphviz_tb.model.columns import Ints
from graphviz_tb.ops.roles import CONSTANT_OPS
from graphviz_tb.ops.signatures import setting_input_name


def unit_links(m: Matching, old_units: list[Unit], old_of: Ints, new_units: list[Unit], new_of: Ints) -> list[Rewire]:
    """Give each unit the wires that came or went with it; return the others.

    A wire from an added node belongs to the added unit; else a wire from a removed node to the removed one.
    """
    others = []
    for old, new in zip(*(column.tolist() for column in rewired(m)), strict=True):
        for wire in rewires(m, old, new):
            came = int(new_of[m.b.graph.source[wire.after]]) if exists(wire.after) else -1
            went = int(old_of[m.a.graph.source[wire.before]]) if exists(wire.before) else -1
            if exists(came):
                new_units[came].links.append(UnitWire((old, new), described(m, wire)))
            elif exists(went):
                old_units[went].links.append(UnitWire((old, new), described(m, wire)))
            else:
                others.append(wire)
    return others


def described(m: Matching, wire: Rewire) -> dict[str, Any]:
    """A rewired input as plain values."""
    node = {"old": m.a.graph.name[wire.old], "new": m.b.graph.name[wire.new]}
    return {
        "node": node,
        "input": "control" if wire.control else wire.slot,
        "old": source_name(m.a, wire.before),
        "new": source_name(m.b, wire.after),
    }


def sorted_wires(wires: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Sort described inputs by their words, without a text for each: thousands may have one long name.

    >>> node = {"old": "x", "new": "x"}
    >>> wires = [{"node": node, "input": at, "old": "a", "new": None} for at in (2, 10, 1)]
    >>> [wire["input"] for wire in sorted_wires(wires)]
    [1, 10, 2]
    """
    said = cache(repr)
    return sorted(
        wires,
        key=lambda wire: tuple(map(said, (*wire["node"].values(), wire["input"], wire["old"], wire["new"]))),
    )


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
    settings, wires = taken_constants(m, wires)
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
        blocks[key[0]].append(_rewired(m, pairs, by_node))
    return blocks


def taken_constants(m: Matching, wires: list[Rewire]) -> tuple[list[Change], list[Rewire]]:
    """Inputs of traces of PyTorch that take another constant, as settings of their op, and the other wires.

    A trace has one node for all uses of a number in a module: which of them an op takes is the number that it is given.
    """
    if not (m.a.graph.is_pytorch and m.b.graph.is_pytorch):
        return [], wires
    groups: dict[tuple[str, str, str], list[Rewire]] = defaultdict(list)
    others = []
    for wire in wires:
        values = constant(m.a, wire.before), constant(m.b, wire.after)
        if None in values or values[0] == values[1]:
            others.append(wire)
            continue
        op = m.b.graph.op_types[m.b.graph.op[wire.new]]
        groups[
            setting_input_name(op, wire.slot) or f"input {wire.slot} of {op}", str(values[0]), str(values[1])
        ].append(wire)
    changes = []
    for (key, old, new), members in groups.items():
        first, *also = dict.fromkeys((module(m.a.graph, wire.old), module(m.b.graph, wire.new)) for wire in members)
        pairs = tuple(dict.fromkeys((wire.old, wire.new) for wire in members))
        detail = {"key": key, "old": old, "new": new}
        edits = NodeEdits(inputs=pairs)
        changes.append(Change("changed", "attribute", *first, len(pairs), detail, tuple(also), edits=edits))
    return changes, others


def constant(side: GraphColumns, edge: int) -> str | None:
    """What a constant of a trace at the begin of an edge is called: its value; None for anything else."""
    if not exists(edge):
        return None
    source = int(side.graph.source[edge])
    is_constant = side.graph.op_types[side.graph.op[source]] in CONSTANT_OPS
    return side.graph.labels.get(source) if is_constant else None


def _rewired(m: Matching, pairs: list[tuple[int, int]], by_node: dict[tuple[int, int], list[Rewire]]) -> Change:
    pairs = sorted(pairs, key=lambda pair: (m.b.graph.name[pair[1]], m.a.graph.name[pair[0]]))
    members = by_node[pairs[0]]
    inputs = [{key: value for key, value in described(m, wire).items() if key != "node"} for wire in members]
    places = [(m.a.graph.name[old], m.b.graph.name[new]) for old, new in pairs]
    detail: dict[str, Any] = {"inputs": inputs}
    if all(wire.reordered for wire in members):
        detail["reordered"] = True
    return Change(
        "rewired", "wiring", *places[0], len(pairs), detail, tuple(places[1:]), edits=NodeEdits(inputs=tuple(pairs))
    )
