"""Report the same edit at several places as one change; what differs at some of the places stays a separate change."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from graphviz_tb.diff.changes.names import without_counters
from graphviz_tb.diff.columns.labels import CALLS_KEY, own_settings
from graphviz_tb.diff.columns.values import fingerprint
from graphviz_tb.diff.match.matching import Matching
from graphviz_tb.model.change import Change, NodeEdits, concat_node_edits, sort_by_severity
from graphviz_tb.model.paths import last_segment

# Several changes at once: put together, their edits, their places, their common words.

T = TypeVar("T")


def without_objects(items: Iterable[T], others: Iterable[T]) -> list[T]:
    """Return the items but for some of them: these very objects, as to compare each with each takes minutes.

    >>> without_objects(["a", "b"], ["b"])
    ['a']
    """
    left_out = set(map(id, others))
    return [item for item in items if id(item) not in left_out]


def edits_of_changes(changes: Iterable[Change]) -> NodeEdits:
    """Return the edits of all."""
    return concat_node_edits(change.edits for change in changes)


def other_places(changes: Iterable[Change], first: Change) -> tuple[tuple[str | None, str | None], ...]:
    """Where else, each place once."""
    places = [place for change in changes for place in ((change.old, change.new), *change.also)]
    return tuple(place for place in dict.fromkeys(places) if place != (first.old, first.new))


def change_wording(change: Change) -> str:
    """Return a text that is equal for two changes that are one edit at two places: old and new state, but no place.

    Something that came, or went, at two places is one where it is called the same there and holds the same.
    """
    detail = change.detail
    if change.kind == "changed":
        own = [[part["key"], part["old"], part["new"]] for part in detail.get("with", ()) if part["name"] == change.new]
        beside = own if "weights" in detail else []
        return json.dumps(
            ["changed", change.severity, detail["key"], detail["old"], detail["new"], *beside], default=str
        )
    if change.kind in ("added", "removed") and "op_types" in detail and not detail.get("reads"):
        parts = [without_counters(last_segment(name)) for name in detail.get("parts", (change.name,))]
        return json.dumps([change.kind, change.severity, detail["scope"], detail["op_types"], parts])
    if detail.get("order"):
        return json.dumps([change.kind, *(detail["order"][word] for word in ("old", "new"))])
    return fingerprint([change.kind, change.severity, change.old, change.new, change.to_json()])


MIN_ALIKE_PLACES = (
    3  # numbered members of one series, or layers alike, that came or went: fewer are reported one by one
)


def merge_at_places(m: Matching, causes: Sequence[Change]) -> list[Change]:
    """Return the same edit at several places as one change."""
    apart = [part for members in group_by_wording(sort_by_severity(causes)) for part in _split_differences(members)]
    groups = group_by_wording(sort_by_severity(apart))
    merged = []
    for members in _join_alike_layers(m, groups):
        apart_still = len(members) < MIN_ALIKE_PLACES and _are_numbered(members) and "layers" not in members[0].detail
        merged += members if apart_still else [merge_changes(members)]
    return merged


def group_by_wording(changes: Iterable[Change]) -> list[list[Change]]:
    """Changes that read alike, in the order of the first of each."""
    groups: dict[str, list[Change]] = defaultdict(list)
    for change in changes:
        groups[change_wording(change)].append(change)
    return list(groups.values())


def _split_differences(members: Sequence[Change]) -> list[Change]:
    """Split the members of a group: each keeps its first difference and those that all members share, and the others
    become separate changes. A difference that follows from the first one edits no attribute and stays with it."""
    parts = [{_part_wording(part): part for part in member.detail.get("with", ())} for member in members]
    common = frozenset(parts[0]).intersection(*parts[1:])
    found: list[Change] = []
    for member, own in zip(members, parts, strict=True):
        edited = {which for *_, which in member.edits.attributes}
        rest = [part for word, part in own.items() if word not in common and part["key"] in edited]
        found += [_without_parts(member, rest), *(_part_change(member, part) for part in rest)] if rest else [member]
    return found


def _part_wording(part: dict[str, Any]) -> str:
    """Return a text that is equal for equal differences, wherever they are."""
    return fingerprint([part["key"], part["old"], part["new"]])


def _without_parts(member: Change, parts: Sequence[dict[str, Any]]) -> Change:
    """Return a change without some of the differences beside the first."""
    gone = {part["key"] for part in parts}
    left = [part for part in member.detail["with"] if part["key"] not in gone]
    detail = {
        **{key: value for key, value in member.detail.items() if key != "with"},
        **({"with": left} if left else {}),
    }
    attributes = tuple(each for each in member.edits.attributes if each[2] not in gone)
    return replace(member, detail=detail, edits=replace(member.edits, attributes=attributes))


def _part_change(member: Change, part: dict[str, Any]) -> Change:
    """Return a difference beside the first as a change."""
    attributes = tuple(each for each in member.edits.attributes if each[2] == part["key"])
    detail = {key: part[key] for key in ("key", "old", "new")}
    edits = NodeEdits(attributes=attributes)
    return Change("changed", "attribute", member.old, member.new, len(attributes), detail, edits=edits)


def _join_alike_layers(m: Matching, groups: Sequence[list[Change]]) -> list[list[Change]]:
    """Groups with layers that came, or went, alike at `MIN_ALIKE_PLACES` places put together, whatever their names."""
    alike: dict[str, list[list[Change]]] = defaultdict(list)
    for number, members in enumerate(groups):
        alike[_layer_wording(m, members[0]) or str(number)].append(members)
    found: list[list[Change]] = []
    for several in alike.values():
        together = [change for members in several for change in members]
        enough = len(together) >= MIN_ALIKE_PLACES or all(change.detail.get("layers") for change in together)
        found += [together] if enough else several
    return found


def _layer_wording(m: Matching, change: Change) -> str:
    """Return a text for a layer, or a chain of layers, that came or went, equal but for names; "" for any other change.
    A single Keras layer is identified by its configuration, anything else by the types of its ops."""
    side, nodes = (m.b, change.edits.added) if change.kind == "added" else (m.a, change.edits.removed)
    detail = change.detail
    if change.kind not in ("added", "removed") or "function" in detail or detail.get("reads") or detail.get("equal"):
        return ""
    settings = side.labels.configurations.get(nodes[0]) if len(nodes) == 1 else None
    if settings is None:
        several = len(detail.get("parts", ()))
        form = [change.kind, change.severity, detail["scope"], detail["op_types"], several]
        # Of a chain the sizes may follow from those of its places, a layer alone has its own.
        form += [] if several else [detail.get("layers")]
        return fingerprint(form) if detail["scope"] or several > 1 else ""
    plain = {key: value for key, value in own_settings(settings).items() if key != CALLS_KEY}
    return fingerprint([change.kind, change.severity, plain])


def _are_numbered(members: Sequence[Change]) -> bool:
    """Return whether things that came or went have one name but for their numbers."""
    return "op_types" in members[0].detail and len({last_segment(change.name) for change in members}) > 1


def _shared_calls(calls: Sequence[Sequence[str]]) -> list[str]:
    """Return how layers are called at all of several places: arguments that differ are left open.

    >>> _shared_calls([["Conv2D(64, 1×1, relu)", "Multiply"], ["Conv2D(96, 1×1, relu)", "Multiply"]])
    ['Conv2D(…, 1×1, relu)', 'Multiply']
    """
    first = list(calls[0])
    if any(len(other) != len(first) for other in calls):
        return first
    return [words[0] if len(set(words)) == 1 else _call_with_gaps(words) for words in zip(*calls, strict=True)]


def _call_with_gaps(calls: Sequence[str]) -> str:
    """Return the call that several are, with "…" for each part that differs."""
    parts = [call.replace("(", "(, ").removesuffix(")").split(", ") for call in calls]
    if len({part[0] for part in parts}) > 1 or len({len(part) for part in parts}) > 1:
        return parts[0][0].removesuffix("(")
    listed = [same[0] if len(set(same)) == 1 else "…" for same in zip(*(part[1:] for part in parts), strict=True)]
    return f"{parts[0][0]}{', '.join(listed)})"


def merge_changes(members: Sequence[Change]) -> Change:
    """Return one change for all."""
    first = members[0]
    # Without the first place, which the change itself names.
    also = [place for member in members for place in ((member.old, member.new), *member.also)][1:]
    detail = dict(first.detail)
    if "op_types" in detail:
        detail["op_types"] = {op: count * len(members) for op, count in detail["op_types"].items()}
    if "layers" in detail:
        detail["layers"] = _shared_calls([member.detail.get("layers", ()) for member in members])
    if "order" in detail and len(members) > 1:
        blocks = sum(member.detail["order"].get("blocks", 1) for member in members)
        detail["order"] = {**detail["order"], "blocks": blocks}
    behind = sort_by_severity(inner for member in members for inner in member.consequences)
    ops = sum(member.ops for member in members)
    return replace(
        first, detail=detail, also=tuple(also), ops=ops, edits=edits_of_changes(members), consequences=behind
    )
