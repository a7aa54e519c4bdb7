"""Rebuild a hierarchy with some series ungrouped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from graphviz_tb.errors import UnknownNode
from graphviz_tb.fold.labels import ShortLabels
from graphviz_tb.fold.table import NewGroup, insert_groups
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.hierarchy import Hierarchy, RowKind
from graphviz_tb.model.paths import join_address, possible_node_names
from graphviz_tb.options import GroupOptions


@dataclass(frozen=True, slots=True)
class Regrouping:
    """A raw hierarchy and the groups to insert into it."""

    raw: Hierarchy
    groups: Sequence[NewGroup]
    options: GroupOptions

    def without_series(self, names: Sequence[str]) -> Hierarchy:
        """Return the hierarchy without the series in `names` and in `options.ungroup`."""
        kept = _remove_ungrouped_series(
            self.raw, self.groups, (*self.options.ungroup, *(join_address([name]) for name in names))
        )
        built = insert_groups(self.raw, kept, last=self.options.tensorboard)
        return built if self.options.tensorboard else replace(built, short=ShortLabels(built))

    def series_names(self) -> set[str]:
        """Return the names that identify exactly one series."""
        counts = Counter(group.name for group in self.groups if group.kind == RowKind.SERIES)
        return {name for name, count in counts.items() if count == 1}


def _remove_ungrouped_series(hierarchy: Hierarchy, groups: Sequence[NewGroup], names: Sequence[str]) -> list[NewGroup]:
    """Remove the series that `--ungroup NAME` names, by its own name or that of a member.

    Before: inner groups come before the groups around them, and stay so. After: members of a removed series are members
    of the group around it.
    """
    if not names:
        return list(groups)
    # Backwards, so that the first of several series with one name wins.
    series = {group.name: index for index, group in reversed(list(enumerate(groups))) if group.kind == RowKind.SERIES}
    stop: set[int] = set()
    for name in names:
        named = next((series[each] for each in possible_node_names(name) if each in series), None)
        stop.add(_find_series_of_member(hierarchy, groups, name) if named is None else named)
    renumbered: dict[int, int] = {}
    kept: list[NewGroup] = []
    for index, group in enumerate(groups):
        members = _expand_members(groups, group.members, stop)
        if index not in stop:
            # Members that are new groups come earlier: their new numbers are known.
            renumbered[-1 - index] = -1 - len(kept)
            kept.append(replace(group, members=tuple(renumbered.get(member, member) for member in members)))
    return kept


def _expand_members(groups: Sequence[NewGroup], members: Sequence[int], stop: set[int]) -> list[int]:
    """Replace removed series in `members` by their members."""
    rows: list[int] = []
    todo = list(reversed(members))
    while todo:
        member = todo.pop()
        if -1 - member in stop:
            todo.extend(reversed(groups[-1 - member].members))
        else:
            rows.append(member)
    return rows


def _find_series_of_member(hierarchy: Hierarchy, groups: Sequence[NewGroup], name: str) -> int:
    """Return the index of the series with a member of this name."""
    series = [index for index, group in enumerate(groups) if group.kind == RowKind.SERIES]
    names = [*hierarchy.name, *(group.name for group in reversed(groups))]  # -1 - i is the name of new group i
    for each in possible_node_names(name):
        for index in series:
            if any(names[member] == each for member in groups[index].members):
                return index
    raise UnknownNode.among(name, [join_address([groups[index].name]) for index in series], "series")
