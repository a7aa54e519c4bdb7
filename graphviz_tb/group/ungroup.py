"""Series that a user does not want are opened."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from graphviz_tb.errors import UnknownNode
from graphviz_tb.group.insert import NewGroup, insert
from graphviz_tb.group.short_names import ShortLabels
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.hierarchy import Hierarchy, RowKind
from graphviz_tb.model.paths import joined_address, meant
from graphviz_tb.options import GroupOptions


@dataclass(frozen=True, slots=True)
class Regrouping:
    """A raw hierarchy and the groups that are put into it."""

    raw: Hierarchy
    groups: Sequence[NewGroup]
    options: GroupOptions

    def without(self, names: Sequence[str]) -> Hierarchy:
        """The hierarchy without the series of some names, and without those that `options.ungroup` names."""
        kept = without_ungrouped(
            self.raw, self.groups, (*self.options.ungroup, *(joined_address([name]) for name in names))
        )
        built = insert(self.raw, kept, last=self.options.tensorboard)
        return built if self.options.tensorboard else replace(built, short=ShortLabels(built))

    def names(self) -> set[str]:
        """The names that mean one series each."""
        counts = Counter(group.name for group in self.groups if group.kind == RowKind.SERIES)
        return {name for name, count in counts.items() if count == 1}


def without_ungrouped(hierarchy: Hierarchy, groups: Sequence[NewGroup], names: Sequence[str]) -> list[NewGroup]:
    """The new groups without the series that `--ungroup NAME` means: named itself, or one of its members.

    Before: inner groups come before those around them. After: the same; members of an opened series are members of
    the group around it.
    """
    if not names:
        return list(groups)
    # Backwards, so that of several series of one name the first counts.
    series = {group.name: index for index, group in reversed(list(enumerate(groups))) if group.kind == RowKind.SERIES}
    stop: set[int] = set()
    for name in names:
        named = next((series[each] for each in meant(name) if each in series), None)
        stop.add(of_member(hierarchy, groups, name) if named is None else named)
    renumbered: dict[int, int] = {}
    kept: list[NewGroup] = []
    for index, group in enumerate(groups):
        members = expanded(groups, group.members, stop)
        if index not in stop:
            # Members that are new groups come earlier, so that their new numbers are known.
            renumbered[-1 - index] = -1 - len(kept)
            kept.append(replace(group, members=tuple(renumbered.get(member, member) for member in members)))
    return kept


def expanded(groups: Sequence[NewGroup], members: Sequence[int], stop: set[int]) -> list[int]:
    """Members, those of opened series in their place."""
    rows: list[int] = []
    todo = list(reversed(members))
    while todo:
        member = todo.pop()
        if -1 - member in stop:
            todo.extend(reversed(groups[-1 - member].members))
        else:
            rows.append(member)
    return rows


def of_member(hierarchy: Hierarchy, groups: Sequence[NewGroup], name: str) -> int:
    """Which series has a member of this name."""
    series = [index for index, group in enumerate(groups) if group.kind == RowKind.SERIES]
    names = [*hierarchy.name, *(group.name for group in reversed(groups))]  # -1 - i is the name of new group i
    for each in meant(name):
        for index in series:
            if any(names[member] == each for member in groups[index].members):
                return index
    raise UnknownNode.among(name, [joined_address([groups[index].name]) for index in series], "series")
