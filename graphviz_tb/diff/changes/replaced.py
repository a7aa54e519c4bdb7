"""A scope in the place of another one: a loss, a kind of layer. Its new name says what it is."""

from __future__ import annotations

from collections.abc import Sequence

from graphviz_tb.diff.changes.items import Item, touched
from graphviz_tb.diff.changes.names import substitution
from graphviz_tb.diff.match.matching import Matching
from graphviz_tb.model.change import Change
from graphviz_tb.model.paths import last_segment


def names_edit(m: Matching, name: Change, change: Change) -> bool:
    """Whether many ops of a layer are others and so is its name: that says what it is now."""
    if change.severity != "op" or change.kind != "changed" or is_plain(change) or "part" not in name.detail:
        return False
    renamed = {(m.a.scopes.name[old], m.b.scopes.name[new]) for old, new in name.edits.scopes}
    return (change.old, change.new) in renamed


def is_plain(change: Change) -> bool:
    """Whether one op is in the place of another one."""
    return change.detail["key"] == "op" and " + " not in f"{change.detail['old']}{change.detail['new']}"


def is_replaced(m: Matching, name: Change, group: Sequence[Item]) -> bool:
    """Whether an edit is mostly in one scope that has another name too, and leaves at most two thirds of it."""
    if "part" not in name.detail or not name.edits.scopes:
        return False  # before the nodes of the group are counted: this is asked for every name and every edit
    gone, fresh = (set().union(*part) for part in zip(*(touched(item.change) for item in group), strict=True))
    for before, row in name.edits.scopes:
        old, new = set(m.a.scopes.nodes(before).tolist()), set(m.b.scopes.nodes(row).tolist())
        # Nodes of the scope that are in both and that this edit did not touch.
        kept = sum(int(m.to_b[node]) in new - fresh for node in old)
        if 3 * kept <= 2 * max(len(old), len(new)) and 2 * len((gone & old) | (fresh & new)) > len(gone) + len(fresh):
            return True
    return False


def replaced(name: Change, change: Change) -> Change:
    """A scope in the place of another one: a loss, a kind of layer."""
    own = change.old and change.new and change.old != change.new
    old, new = (change.old, change.new) if own else (name.old, name.new)
    part = substitution(*(last_segment(word or "") for word in (old, new)))
    detail = {"key": "op", "old": part[0], "new": part[1]}
    edits = name.edits + change.edits
    return Change("changed", "op", old, new, change.ops, detail, consequences=change.consequences, edits=edits)
