"""From matches to changes, step by step.

names         renamed, moved                      one change for each substitution, for each way
nodes         op types, attributes                one change for each (key, old, new)
units         added, removed                      one change for each whole scope, mirrors folded
wires         rewired                             those that came or went with a unit belong to it
functions     function-changed                    what changed in a body is inside
interface     signature-changed, versions
"""

from __future__ import annotations

import json
from collections import defaultdict

import numpy as np

from graphviz_tb.diff.changes.attributes import Difference, differences
from graphviz_tb.diff.changes.interface import function_signatures, versions
from graphviz_tb.diff.changes.names import name_changes
from graphviz_tb.diff.changes.units import Unit, compared_blocks, mirrors, op_types, units_of
from graphviz_tb.diff.changes.wires import unit_links, wire_changes
from graphviz_tb.diff.columns.labels import CLASSES_OF_NODES
from graphviz_tb.diff.columns.values import base_name
from graphviz_tb.diff.match.matching import Matching
from graphviz_tb.diff.options import DiffOptions
from graphviz_tb.model.change import SEVERITIES, Change, Edits, Kind, Place, Severity, in_order

PLACEHOLDERS = frozenset({"Placeholder", "PlaceholderV2", "PlaceholderWithDefault", "_Arg", "input_arg"})
COSMETIC = frozenset({"_output_shapes", "_input_shapes", "_class", "device"})

ByBlock = dict[int, list[Change]]


def compare(m: Matching, options: DiffOptions) -> tuple[Change, ...]:
    """All changes, the gravest first."""
    blocks: ByBlock = defaultdict(list)
    collect(blocks, name_changes(m))
    collect(blocks, node_changes(m, options))
    old_units, old_of = units_of(m.a, m.to_b, m.scope_to_b, compared_blocks(m)[0])
    new_units, new_of = units_of(m.b, m.to_a, m.scope_to_a, compared_blocks(m)[1])
    wires = unit_links(m, old_units, old_of, new_units, new_of)
    collect(blocks, wire_changes(m, wires))
    collect(blocks, unit_changes(m, old_units, new_units))
    collect(blocks, function_signatures(m))
    main = blocks.pop(0, [])
    return in_order([*main, *function_changes(m, blocks), *whole_functions(m), *versions(m, options)])


def collect(blocks: ByBlock, found: ByBlock) -> None:
    """Add changes to those of their block (of the new graph)."""
    for block, changes in found.items():
        blocks[block].extend(changes)


def node_changes(m: Matching, options: DiffOptions) -> ByBlock:
    """What matched nodes are now; the same difference at many nodes is one change."""
    old, new = m.together()
    differ = m.a.node_label[old] != m.b.node_label[new]
    groups: dict[tuple[int, str], list[tuple[int, int, Difference]]] = defaultdict(list)
    for mine, other in zip(old[differ].tolist(), new[differ].tolist(), strict=True):
        found = list(differences(m, mine, other, options))
        if any(one.key == "op" for one in found):
            found = [one for one in found if one.key == "op"]
        for one in found:
            told = json.dumps([one.key, one.old, one.new], sort_keys=True, default=str)
            groups[int(m.b.block[other]), told].append((mine, other, one))
    blocks: ByBlock = defaultdict(list)
    for (block, _), members in groups.items():
        blocks[block].append(_changed(m, members))
    return blocks


def _changed(m: Matching, members: list[tuple[int, int, Difference]]) -> Change:
    first = members[0][2]
    places = sorted({(m.a.graph.name[old], m.b.graph.name[new]) for old, new, _ in members})
    attributes = sorted({one.attribute for *_, one in members if one.attribute})
    detail = {"key": first.key, "old": first.old, "new": first.new}
    if attributes and attributes != [first.key]:
        detail["attributes"] = attributes
    pairs = tuple(dict.fromkeys((old, new) for old, new, _ in members))
    edits = (
        Edits(ops=pairs)
        if first.key == "op"
        else Edits(attributes=tuple((old, new, one.attribute or one.key) for old, new, one in members))
    )
    severity = severity_of(m, first, [new for _, new in pairs])
    return Change("changed", severity, *places[0], len(pairs), detail, tuple(places[1:]), edits=edits)


def severity_of(m: Matching, difference: Difference, nodes: list[int]) -> Severity:
    """How grave a difference of nodes is."""
    if difference.key in COSMETIC:
        return "attribute" if difference.key == "device" else "cosmetic"
    types = {m.b.graph.op_types[op] for op in m.b.graph.op[nodes].tolist()}
    if types & PLACEHOLDERS and difference.key in ("dtype", "shape"):
        return "signature"
    return "op" if difference.key == "op" else "attribute"


def unit_changes(m: Matching, old_units: list[Unit], new_units: list[Unit]) -> ByBlock:
    """What was added and removed."""
    back = {other + 1: mine + 1 for mine, other in m.functions.items()}
    forth = {mine: other for other, mine in back.items()}
    blocks: ByBlock = defaultdict(list)
    for new, units in ((False, old_units), (True, new_units)):
        for group in mirrors(units):
            block = group[0].block
            blocks[block if new or not block else forth[block]].append(_unit(m, group, new))
    return blocks


def _unit(m: Matching, group: list[Unit], new: bool) -> Change:
    side = m.b if new else m.a
    first = group[0]
    nodes = [node for unit in group for node in unit.nodes]
    detail: dict[str, object] = {"scope": first.row >= 0, "op_types": op_types(side, nodes)}
    links = [link.told for unit in group for link in unit.links]  # type: ignore[attr-defined]
    if links:
        detail["links"] = links
    equals = m.equals.get(("new" if new else "old", True, first.row), 0) if first.row >= 0 else 0
    if equals:
        detail["equal"] = equals
    inputs = tuple(dict.fromkeys(link.pair for unit in group for link in unit.links))  # type: ignore[attr-defined]
    edits = Edits(added=tuple(nodes), inputs=inputs) if new else Edits(removed=tuple(nodes), inputs=inputs)
    names: list[Place] = [(None, unit.name) if new else (unit.name, None) for unit in group]
    signature = first.row < 0 and detail["op_types"].keys() & PLACEHOLDERS  # type: ignore[attr-defined]
    kind: Kind = "added" if new else "removed"
    old_name, new_name = names[0]
    severity: Severity = "signature" if signature else "op"
    return Change(kind, severity, old_name, new_name, len(nodes), detail, tuple(names[1:]), edits=edits)


def function_changes(m: Matching, blocks: ByBlock) -> list[Change]:
    """One change for each function whose body changed; functions that changed alike are one."""
    groups: dict[str, list[tuple[int, tuple[Change, ...]]]] = defaultdict(list)
    back = {other: mine for mine, other in m.functions.items()}
    for block, changes in sorted(blocks.items()):
        if changes:
            inside = in_order(changes)
            told = json.dumps([one.to_json() for one in inside], sort_keys=True, default=str)
            groups[told].append((block - 1, inside))
    found = []
    for members in groups.values():
        inside = members[0][1]
        places = [(m.a.graph.functions[back[other]].name, m.b.graph.functions[other].name) for other, _ in members]
        severity = min((one.severity for one in inside), key=SEVERITIES.index)
        edits = Edits()
        for _, alike in members:
            for one in alike:
                edits = edits + one.edits
        base = base_name(places[0][1])
        ops = sum(one.ops for one in inside) * len(members)
        found.append(
            Change("function-changed", severity, *places[0], ops, {"function": base}, tuple(places[1:]), inside, edits)
        )
    return found


def whole_functions(m: Matching) -> list[Change]:
    """Functions that came or went."""
    taken = set(m.functions.values())
    told = []
    for new, side, kept in ((False, m.a, set(m.functions)), (True, m.b, taken)):
        for index, function in enumerate(side.graph.functions):
            if index in kept:
                continue
            nodes = np.flatnonzero(side.block == index + 1).tolist()
            detail = {"scope": True, "function": base_name(function.name), "op_types": op_types(side, nodes)}
            edits = Edits(added_functions=(index,)) if new else Edits(removed_functions=(index,))
            kind: Kind = "added" if new else "removed"
            old_name, new_name = (None, function.name) if new else (function.name, None)
            told.append(Change(kind, "op", old_name, new_name, len(nodes), detail, edits=edits))
    return told


def ignored(m: Matching, options: DiffOptions) -> dict[str, int]:
    """How many matched nodes differ in classes that do not count."""
    old, new = m.together()
    told = {}
    for word in CLASSES_OF_NODES:
        if not getattr(options, word):
            count = int((getattr(m.a.labels, word)[old] != getattr(m.b.labels, word)[new]).sum())
            if count:
                told[word] = count
    if not options.versions and versions(m, DiffOptions(versions=True)):
        told["versions"] = 1
    return told
