"""Merge the same edit at several places into one change; what differs between places becomes separate changes."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from heapq import heapify, heappop, heappush
from typing import Any, TypeVar

from graphviz_tb.diff.changes.attributes import computes_only_sizes, differences_once
from graphviz_tb.diff.changes.names import without_counters
from graphviz_tb.diff.changes.units import nodes_of_unit
from graphviz_tb.diff.columns.labels import CALLS_KEY, own_settings
from graphviz_tb.diff.columns.layers import QUIET_OPS, Layers
from graphviz_tb.diff.columns.side import GraphColumns
from graphviz_tb.diff.columns.values import fingerprint
from graphviz_tb.diff.match.matching import Matching
from graphviz_tb.limits import MAX_COSTED_NODES
from graphviz_tb.model.change import SEVERITIES, Change, NamePair, NodeEdits, concat_node_edits, sort_by_severity
from graphviz_tb.model.change_content import LayerExpression, Rewiring, Setting, SettingPart, Sides, Unit
from graphviz_tb.model.paths import last_segment
from graphviz_tb.ops.signatures import is_size_input
from graphviz_tb.options import DiffOptions

T = TypeVar("T")


def without_objects(items: Iterable[T], others: Iterable[T]) -> list[T]:
    """Return the items except some objects, compared by identity: comparing values would take minutes.

    >>> without_objects(["a", "b"], ["b"])
    ['a']
    """
    left_out = set(map(id, others))
    return [item for item in items if id(item) not in left_out]


def edits_of_changes(changes: Iterable[Change]) -> NodeEdits:
    return concat_node_edits(change.edits for change in changes)


def other_places(changes: Iterable[Change], first: Change) -> tuple[tuple[str | None, str | None], ...]:
    places = [place for change in changes for place in change.places]
    return tuple(place for place in dict.fromkeys(places) if place != (first.old, first.new))


def unite_changes(first: Change, members: Iterable[Change], **fields: Any) -> Change:
    """Return the first of some changes with the ops, edits and consequences of all, and with `fields` replaced."""
    members = list(members)
    behind = sort_by_severity(inner for member in members for inner in member.consequences)
    ops, edits = sum(member.ops for member in members), edits_of_changes(members)
    return replace(first, **{"ops": ops, "edits": edits, "consequences": behind, **fields})


def change_wording(change: Change) -> str:
    """Return a text that is equal for the same edit at two places: its old and new values without the place.

    Additions, or removals, are equal if their last segments and contents are equal.
    """
    content = change.content
    if isinstance(content, Setting):
        at_place = [[part.key, part.old, part.new] for part in _parts_beside(content) if part.name == change.new]
        beside = at_place if content.weights else []
        words = ["changed", change.severity, content.key, content.old, content.new, *beside]
        return json.dumps(words, default=str)
    if change.inside:  # without the name of the function, in which a number counts its calls
        return json.dumps([change.kind, change.severity, *map(change_wording, change.inside)])
    if isinstance(content, Unit) and not content.reads:
        parts = [without_counters(last_segment(name)) for name in content.parts or (change.name,)]
        return json.dumps([change.kind, change.severity, content.scope, content.op_types, parts])
    if isinstance(content, Rewiring) and content.order:
        return json.dumps([change.kind, content.order.old, content.order.new])
    if isinstance(content, Rewiring) and not any(wire.node for wire in content.inputs):
        # The last segments of both ends, if they differ.
        names = [[without_counters(last_segment(wire.source(now))) for now in (False, True)] for wire in content.inputs]
        wires = [(wire.slot, old, new) for wire, (old, new) in zip(content.inputs, names, strict=True)]
        if wires and all(old and new and old != new for _, old, new in wires):
            return json.dumps([change.kind, without_counters(last_segment(change.name)), content.reordered, wires])
    return fingerprint([change.kind, change.severity, change.old, change.new, change.to_json()])


MIN_ALIKE_PLACES = 3  # fewer added or removed members of a series, or equal layers, are reported one by one


def merge_at_places(m: Matching, causes: Sequence[Change]) -> list[Change]:
    """Merge changes that are the same edit at several places."""
    apart = [part for members in group_by_wording(sort_by_severity(causes)) for part in _split_differences(m, members)]
    groups = group_by_wording(sort_by_severity(apart))
    merged = []
    for members in _join_alike_layers(m, groups):
        are_numbered = members[0].unit is not None and len({last_segment(change.name) for change in members}) > 1
        stay_apart = len(members) < MIN_ALIKE_PLACES and are_numbered and not _layer_calls(members[0])
        merged += members if stay_apart else [merge_changes(members)]
    return merged


def group_by_wording(changes: Iterable[Change]) -> list[list[Change]]:
    """Group changes with equal wording, in the order of the first of each."""
    groups: dict[str, list[Change]] = defaultdict(list)
    for change in changes:
        groups[change_wording(change)].append(change)
    return list(groups.values())


def _split_differences(m: Matching, members: Sequence[Change]) -> list[Change]:
    """Split the members of a group: each keeps its first difference and those that all members share; others become
    separate changes, unless they follow from the first, as sizes do."""
    settings = [member.setting for member in members]
    parts = [{_part_wording(part): part for part in _parts_beside(setting)} if setting else {} for setting in settings]
    common = frozenset(parts[0]).intersection(*parts[1:])
    found: list[Change] = []
    for member, parts_of_member in zip(members, parts, strict=True):
        rest = [_part_change(m, member, part) for word, part in parts_of_member.items() if word not in common]
        rest = [change for change in rest if change.ops and not computes_only_sizes(m, change)]
        found += [_without_parts(member, rest), *rest]
    return found


def _parts_beside(setting: Setting) -> list[SettingPart]:
    """Return the further differences of an edit, without those of the shapes of its weights."""
    return [part for part in setting.beside if Sides(part.old, part.new) not in setting.weights]


def setting_part(change: Change) -> SettingPart:
    """Return the setting of a change as a part of an edit."""
    setting = change.setting
    assert setting is not None
    return SettingPart(change.name, setting.key, setting.old, setting.new)


def _part_wording(part: SettingPart) -> str:
    """Return a text that is equal for equal differences, wherever they are."""
    return fingerprint([part.key, part.old, part.new])


def _part_change(m: Matching, member: Change, part: SettingPart) -> Change:
    """Return a secondary difference as a change: an op type at its op, an attribute at the place of `member`. It has 0
    ops if it edits nothing."""
    content = Setting(part.key, part.old, part.new)
    if part.key != "op":
        attributes = tuple(each for each in member.edits.attributes if each[2] == part.key)
        place = member.old, member.new
        if not attributes and (
            attributes := tuple(each for each in member.edits.attributes if _is_constant_edit(m, each, part))
        ):
            old, new, _ = attributes[0]
            place = _user_name(m.a, old), _user_name(m.b, new)
            content = replace(content, constant=True)
        return Change("changed", "attribute", *place, len(attributes), content, edits=NodeEdits(attributes=attributes))
    main = (member.setting.old, member.setting.new) if member.setting else None
    types = part.old, part.new
    ops = tuple(pair for pair in member.edits.ops if (m.a.op_type(pair[0]), m.b.op_type(pair[1])) == types != main)
    names: list[NamePair] = [(m.a.graph.name[old], m.b.graph.name[new]) for old, new in ops]
    place, *also = names or [(member.old, member.new)]
    return Change("changed", "op", *place, len(ops), content, tuple(also), edits=NodeEdits(ops=ops))


def _is_constant_edit(m: Matching, edit: tuple[int, int, str], part: SettingPart) -> bool:
    """Return whether an edit is of the constant that a secondary difference describes, and the constant is no size,
    which may follow from earlier layers."""
    old, new, key = edit
    graph, edges = m.b.graph, m.b.out_edges(new).tolist()
    is_size = any(is_size_input(m.b.op_type(int(graph.target[edge])), int(graph.slot[edge])) for edge in edges)
    if key != "value" or is_size:
        return False
    found = differences_once(m, old, new, DiffOptions())
    return any((each.key, each.old, each.new) == ("value", part.old, part.new) for each in found)


def _user_name(side: GraphColumns, constant: int) -> str:
    return side.graph.name[next(iter(side.data_users(constant)), constant)]


def _without_parts(member: Change, rest: Sequence[Change]) -> Change:
    """Return a change without some of its secondary differences."""
    if not rest or member.setting is None:
        return member
    split = {_part_wording(setting_part(change)) for change in rest}
    beside = tuple(part for part in member.further_settings if _part_wording(part) not in split)
    edits = edits_of_changes(rest)
    split_edits = {*edits.ops, *edits.attributes}
    ops = tuple(each for each in member.edits.ops if each not in split_edits)
    attributes = tuple(each for each in member.edits.attributes if each not in split_edits)
    kept = replace(member.edits, ops=ops, attributes=attributes)
    return replace(member, content=replace(member.setting, beside=beside), edits=kept)


def _join_alike_layers(m: Matching, groups: Sequence[list[Change]]) -> list[list[Change]]:
    """Merge groups that add or remove equal layers at `MIN_ALIKE_PLACES` or more places, whatever their names."""
    alike: dict[str, list[list[Change]]] = defaultdict(list)
    for number, members in enumerate(groups):
        alike[_layer_wording(m, members[0]) or str(number)].append(members)
    found: list[list[Change]] = []
    for several in alike.values():
        together = [change for members in several for change in members]
        enough = len(together) >= MIN_ALIKE_PLACES or all(map(_layer_calls, together))
        found += [together] if enough else several
    return found


def _layer_wording(m: Matching, change: Change) -> str:
    """Return a text for an added or removed layer or chain of layers that does not depend on names; "" for any other
    change. A single Keras layer is identified by its configuration, anything else by its op types."""
    side, nodes = nodes_of_unit(m, change)
    unit = change.unit
    if unit is None or unit.function is not None or unit.reads or unit.equal:
        return ""
    settings = side.labels.configurations.get(nodes[0]) if len(nodes) == 1 else None
    if settings is None:
        several = len(unit.parts)
        form: list[Any] = [change.kind, change.severity, unit.scope, dict(unit.op_types), several]
        # Sizes in a chain may follow from those around it, so they do not count.
        form += [] if several else [list(map(str, unit.layers))]
        return fingerprint(form) if unit.scope or several > 1 else ""
    plain = {key: value for key, value in own_settings(settings).items() if key != CALLS_KEY}
    return fingerprint([change.kind, change.severity, plain])


def _layer_calls(change: Change) -> tuple[LayerExpression, ...]:
    """Return the known layers that a change adds or removes."""
    return change.unit.layers if change.unit else ()


def _shared_calls(calls: Sequence[Sequence[LayerExpression]]) -> tuple[LayerExpression, ...]:
    """Return the calls of layers at several places as one, with "…" for arguments that differ.

    >>> conv = [LayerExpression("Conv2D", (width, "1×1")) for width in ("64", "96")]
    >>> list(map(str, _shared_calls([[conv[0], LayerExpression("Multiply")], [conv[1], LayerExpression("Multiply")]])))
    ['Conv2D(…, 1×1)', 'Multiply']
    """
    if any(len(other) != len(calls[0]) for other in calls):
        return tuple(calls[0])
    shared = []
    for alike in zip(*calls, strict=True):
        # Without arguments if their numbers differ.
        is_one_form = len({(call.name, call.count, len(call.arguments)) for call in alike}) == 1
        columns = zip(*(call.arguments for call in alike), strict=True) if is_one_form else ()
        arguments = tuple(same[0] if len(set(same)) == 1 else "…" for same in columns)
        shared.append(replace(alike[0], arguments=arguments))
    return tuple(shared)


def merge_changes(members: Sequence[Change]) -> Change:
    """Return one change for equal edits at several places."""
    first = members[0]
    content = first.content
    places = [place for member in members for place in member.places]
    also = (list(dict.fromkeys(places)) if isinstance(content, Setting) else places)[1:]
    if isinstance(content, Unit):
        types = {op: count * len(members) for op, count in content.op_types.items()}
        calls = _shared_calls(list(map(_layer_calls, members)))
        content = replace(content, op_types=types, layers=calls)
    elif isinstance(content, Rewiring) and content.order and len(members) > 1:
        orders = [member.rewiring.order for member in members if member.rewiring]
        blocks = sum((order and order.blocks) or 1 for order in orders)
        content = replace(content, order=replace(content.order, blocks=blocks))
    elif isinstance(content, Setting) and content.key == "op":
        # The sizes of the weights of a replaced layer may differ from place to place.
        weights = (pair for member in members if member.setting for pair in member.setting.weights)
        content = replace(content, weights=tuple(dict.fromkeys(weights)))
    return unite_changes(first, members, content=content, also=tuple(also))


def sort_parts_by_flow(side: GraphColumns, parts: list[Change]) -> list[Change]:
    """Sort the parts of a chain by data flow, then by name; parts with only constants and reads come last."""
    # The part of each node; for each part, unsorted parts that feed it (`ahead`), and parts that it feeds (`behind`).
    owner = {node: number for number, part in enumerate(parts) for node in (*part.edits.added, *part.edits.removed)}
    ahead: list[set[int]] = [set() for _ in parts]
    behind: list[set[int]] = [set() for _ in parts]
    for node, number in owner.items():
        for source in side.sources(node):
            if owner.get(source, number) != number:
                ahead[number].add(owner[source])
                behind[owner[source]].add(number)
    ranks = [(is_quiet_part(side, part), part.name, number) for number, part in enumerate(parts)]
    ready = [rank for rank in ranks if not ahead[rank[-1]]]
    heapify(ready)
    ordered: dict[int, bool] = {}  # part → whether it is quiet
    # In a cycle no part is ready: continue with the first remaining part by name.
    for fallback in (*sorted(ranks), None):
        while ready:
            quiet, _, number = heappop(ready)
            if number in ordered:
                continue
            ordered[number] = quiet
            for follower in behind[number]:
                ahead[follower].discard(number)
                if not ahead[follower]:
                    heappush(ready, ranks[follower])
        if fallback is not None:
            ready.append(fallback)
    return [parts[number] for number in sorted(ordered, key=ordered.__getitem__)]


def is_quiet_part(side: GraphColumns, change: Change) -> bool:
    """Return whether a change only adds or removes quiet ops, such as constants and reads."""
    nodes = (*change.edits.added, *change.edits.removed)
    return all(side.op_type(node) in QUIET_OPS for node in nodes)


def sort_by_flow(layers: tuple[Layers, Layers], changes: Iterable[Change]) -> tuple[Change, ...]:
    """Sort changes by severity, then the model first, then by data flow, then by name. Very large graphs are sorted by
    name only. `layers` are those of the old and of the new graph."""
    ordered = sort_by_severity(changes)
    if len(ordered) < 2 or any(len(side.side) > MAX_COSTED_NODES for side in layers):
        return ordered
    old, new = layers
    # Removals are sorted by their position in the old graph.
    ranks = [
        (
            SEVERITIES.index(change.severity),
            *min(_first_place(new, _edited_nodes(change)), _first_place(old, change.edits.removed)),
        )
        for change in ordered
    ]
    return tuple(ordered[number] for number in sorted(range(len(ordered)), key=ranks.__getitem__))


def _edited_nodes(change: Change) -> Sequence[int]:
    edits = change.edits
    pairs = (*edits.ops, *edits.inputs) if not edits.added else ()
    return [*edits.added, *(new for _, new in pairs), *(new for _, new, _ in edits.attributes)]


def _first_place(layers: Layers, nodes: Iterable[int]) -> tuple[bool, float]:
    """Return whether no node is in the model, and the least depth of the nodes that are. An op that only provides a
    value has the depth of its first user."""
    used = [layers.first_user(node) for node in nodes]
    places = [layers.depth[node] for node in used if layers.forward[node]]
    # Unused constants have depth 0 and do not count.
    return not places, min(filter(None, places), default=0.0)
