"""A scope in the place of another one: a loss, a kind of layer. Its new name says what it is."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from graphviz_tb.diff.changes.items import Item, touched
from graphviz_tb.diff.changes.names import substitution
from graphviz_tb.diff.columns.ids import exists
from graphviz_tb.diff.match.matching import Matching
from graphviz_tb.model.change import Change
from graphviz_tb.model.columns import Ints
from graphviz_tb.model.paths import last_segment


class Renames:
    """The scopes that have another name, filed by their rows: an edit is compared only with those around it."""

    def __init__(self, m: Matching, changes: Sequence[Change]) -> None:
        self.m = m
        self.changes = changes
        # (place of the change, old row, new row), by either row.
        self.by_old: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
        self.by_new: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
        self.by_names: dict[tuple[str | None, str | None], Change] = {}
        for place, name in enumerate(changes):
            if "part" in name.detail:
                for old, new in name.edits.scopes:
                    self.by_old[old].append((place, old, new))
                    self.by_new[new].append((place, old, new))
                    self.by_names.setdefault((m.a.scopes.name[old], m.b.scopes.name[new]), name)
        # The scopes, old and new, of which a change says that one is in the place of the other.
        self.said: set[tuple[int, int]] = set()
        # How many nodes are in both of two scopes.
        self.stayed: dict[tuple[int, int], int] = {}

    def named(self, change: Change) -> Change | None:
        """The rename that says what a layer is now of which many ops are others."""
        name = self.by_names.get((change.old, change.new))
        if not name or change.severity != "op" or change.kind != "changed" or is_plain(change):
            return None
        self.said.update(self._around(name, [(change.old, change.new)]))
        return name

    def _around(self, name: Change, pairs: Sequence[tuple[str | None, str | None]]) -> set[tuple[int, int]]:
        """Of the scopes with another name those that are, or are in, some pairs of scopes."""
        a, b = self.m.a.scopes, self.m.b.scopes
        return {
            (old, new)
            for old, new in name.edits.scopes
            if any(is_in(a.name[old], mine) and is_in(b.name[new], other) for mine, other in pairs)
        }

    def all_said(self, name: Change) -> bool:
        """Whether everything that has another name is in the place of something else."""
        return not name.edits.nodes and self.said.issuperset(name.edits.scopes)

    def replaced(self, group: Sequence[Item]) -> Change | None:
        """The first rename of a scope that an edit is mostly in, and of which it leaves at most two thirds."""
        came_or_went = any(item.change.kind in ("added", "removed") or item.change.edits.ops for item in group)
        if not self.by_names or not came_or_went:
            return None
        gone, fresh = (
            np.array(sorted(set().union(*part)), np.int32)
            for part in zip(*(touched(item.change) for item in group), strict=True)
        )
        a, b = self.m.a.scopes, self.m.b.scopes
        around = {rename for row in a.around(a.of_node[gone]).tolist() for rename in self.by_old.get(row, ())}
        around |= {rename for row in b.around(b.of_node[fresh]).tolist() for rename in self.by_new.get(row, ())}
        for place, old, new in sorted(around):
            if self._is_replaced(old, new, gone, fresh):
                self.said.update(self._around(self.changes[place], [(a.name[old], b.name[new])]))
                return self.changes[place]
        return None

    def _is_replaced(self, old: int, new: int, gone: Ints, fresh: Ints) -> bool:
        m, a, b = self.m, self.m.a.scopes, self.m.b.scopes
        fresh_inside = fresh[b.is_under(new, fresh)]
        inside = np.union1d(gone[a.is_under(old, gone)], fresh_inside)
        if 2 * len(inside) <= len(gone) + len(fresh):
            return False
        if (old, new) not in self.stayed:
            self.stayed[old, new] = self._both(old, new)
        # Nodes of the scope that are in both and that this edit did not touch.
        origin = m.to_a[fresh_inside]
        kept = self.stayed[old, new] - int(a.is_under(old, origin[exists(origin)]).sum())
        return 3 * kept <= 2 * max(a.size(old), b.size(new))

    def _both(self, old: int, new: int) -> int:
        """How many nodes of an old scope are in a new one."""
        partners = self.m.to_b[self.m.a.scopes.nodes(old)]
        return int(self.m.b.scopes.is_under(new, partners[exists(partners)]).sum())


def is_in(name: str, scope: str | None) -> bool:
    """Whether a scope is another one, or in it."""
    return scope is not None and f"{name}/".startswith(f"{scope}/")


def is_plain(change: Change) -> bool:
    """Whether one op is in the place of another one."""
    return change.detail["key"] == "op" and " + " not in f"{change.detail['old']}{change.detail['new']}"


def replaced(name: Change, change: Change, classes: tuple[str, str] | None) -> Change:
    """A scope in the place of another one: a loss, a kind of layer; by their classes where these are known, else by
    what is another in their names."""
    own = change.old and change.new and change.old != change.new
    old, new = (change.old, change.new) if own else (name.old, name.new)
    part = classes or substitution(*(last_segment(word or "") for word in (old, new)))
    detail: dict[str, Any] = {"key": "op", "old": part[0], "new": part[1]}
    if change.detail.get("with"):
        detail["with"] = change.detail["with"]
    edits = name.edits + change.edits
    return Change("changed", "op", old, new, change.ops, detail, consequences=change.consequences, edits=edits)
