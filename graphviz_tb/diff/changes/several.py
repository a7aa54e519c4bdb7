"""Several changes at once: put together, their edits, their places, their common words."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TypeVar

from graphviz_tb.diff.changes.names import without_counters
from graphviz_tb.diff.columns.wording import fingerprint
from graphviz_tb.model.change import Change, NodeEdits, concat_node_edits
from graphviz_tb.model.paths import last_segment

T = TypeVar("T")


def without(items: Iterable[T], others: Iterable[T]) -> list[T]:
    """The items but for some of them: these very objects, as to compare each with each takes minutes.

    >>> without(["a", "b"], ["b"])
    ['a']
    """
    left_out = set(map(id, others))
    return [item for item in items if id(item) not in left_out]


def edits_of(changes: Iterable[Change]) -> NodeEdits:
    """The edits of all."""
    return concat_node_edits(change.edits for change in changes)


def places_of(changes: Iterable[Change], first: Change) -> tuple[tuple[str | None, str | None], ...]:
    """Where else, each place once."""
    places = [place for change in changes for place in ((change.old, change.new), *change.also)]
    return tuple(place for place in dict.fromkeys(places) if place != (first.old, first.new))


def wording(change: Change) -> str:
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
