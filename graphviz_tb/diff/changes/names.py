"""Find renames and moves. Names with one substitution are one rename, those with one pair of scopes are one move."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, product, takewhile
from typing import Any

import numpy as np

from graphviz_tb.diff.changes.units import is_left_behind, touched_nodes
from graphviz_tb.diff.columns.values import COUNTER_AT_END
from graphviz_tb.diff.match.matching import Matching, split_number
from graphviz_tb.limits import MAX_EXCHANGED_LETTERS, Meter
from graphviz_tb.model.change import Change, NamePair, NodeEdits, Severity
from graphviz_tb.model.change_content import Move, Rename, Setting
from graphviz_tb.model.columns import Ints, Longs, distinct_values, exists
from graphviz_tb.model.paths import last_segment
from graphviz_tb.ops.roles import CONSTANT_OPS, INPUT_OPS, Role, has_role


@dataclass(frozen=True, slots=True)
class NameChange:
    """A matched scope or node with another last segment of its name, or in another scope (`moved`); `around` are the
    rows of the old and the new enclosing scope."""

    old: int
    new: int
    scope: bool
    moved: bool
    block: int
    names: tuple[str, str]
    around: tuple[int, int]

    @property
    def leaves(self) -> tuple[str, str]:
        """Return the last segments of the old and of the new name."""
        return last_segment(self.names[0]), last_segment(self.names[1])

    @property
    def counters(self) -> tuple[tuple[str, NameNumbers], tuple[str, NameNumbers]]:
        """Return the last segments as pairs of the name without counters, and the counters."""
        old, new = map(_name_counter, self.leaves)
        return old, new


EditKey = tuple[object, ...]
NamesByEdit = dict[EditKey, list[NameChange]]  # names by the edit that made them: `_key`
NameNumbers = tuple[int, ...]
NumberPairs = dict[str, set[tuple[NameNumbers, NameNumbers]]]  # pairs of old and new numbers by name
COMPARISON_COST = 10_000  # of a pair of groups, in letters of `MAX_EXCHANGED_LETTERS`
NAME_PART = re.compile(r"[A-Za-z]+|[0-9]+|.", re.DOTALL)  # "dense_12" → "dense", "_", "12": words are exchanged whole


def other_names(m: Matching) -> list[NameChange]:
    """Return all scopes and nodes whose names changed, except members of a series that others renumbered."""
    return [renamed for renamed in _all_name_changes(m) if renamed.moved or not _is_shift(m, renamed)]


def _is_shift(m: Matching, renamed: NameChange) -> bool:
    """Return whether a name only has a new number because members of a series were added or removed."""
    return (m.renumbered_scopes if renamed.scope else m.renumbered).get(renamed.old, False)


def _all_name_changes(m: Matching) -> list[NameChange]:
    rows = np.flatnonzero(exists(m.scope_to_b) & exists(m.a.scopes.parent))
    return [*_changed_names(m, True, rows, m.scope_to_b[rows]), *_changed_names(m, False, *m.matched_pairs())]


def _changed_names(m: Matching, scope: bool, old: Ints | Longs, new: Ints) -> Iterator[NameChange]:
    a, b = m.a.scopes, m.b.scopes
    before, after = (a.parent[old], b.parent[new]) if scope else (a.of_node[old], b.of_node[new])
    names, blocks = ((a.name, b.name), b.block) if scope else ((m.a.graph.name, m.b.graph.name), m.b.block)
    # Moved: the enclosing scope is not matched with that of the partner.
    moved = m.scope_to_b[before] != after
    for at in np.flatnonzero(moved).tolist():
        old_scope, new_scope = int(before[at]), int(after[at])
        partner = int(m.scope_to_b[old_scope])
        is_named = (b.name[partner] if exists(partner) else a.name[old_scope]) == b.name[new_scope]
        moved[at] = not (is_named and (scope or a.block[old_scope] == 0 == b.block[new_scope]))
    # If only a scope further out has another name, only that scope is reported.
    if scope:
        differ = (a.leaf_hash[old] != b.leaf_hash[new]) | moved
    else:
        differ = ((a.node_leaf_hash[old] != b.node_leaf_hash[new]) | moved) & ~is_left_behind(m.a)[old]
    for at in np.flatnonzero(differ).tolist():
        one, other = int(old[at]), int(new[at])  # scopes, or nodes
        around = int(before[at]), int(after[at])
        both_names = names[0][one], names[1][other]
        yield NameChange(one, other, scope, bool(moved[at]), int(blocks[other]), both_names, around)


def substitution(old: str, new: str) -> tuple[str, str]:
    """Return the part of a name that was exchanged, in whole words and numbers.

    >>> substitution("dense_1_kernel", "fc_1_kernel"), substitution("layer_3", "layer_4")
    (('dense', 'fc'), ('3', '4'))
    """
    mine, other = without_common_ends(NAME_PART.findall(old), NAME_PART.findall(new))
    return "".join(mine), "".join(other)


def without_common_ends(old: Sequence[str], new: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """Return two sequences without their common start and end.

    >>> without_common_ends(["a", "b", "c", "d"], ["a", "c", "b", "d"])
    (['b', 'c'], ['c', 'b'])
    """
    for _ in range(2):  # the start, then, in reverse, the end
        same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False)))
        old, new = old[same:][::-1], new[same:][::-1]
    return old, new


def name_changes(m: Matching) -> dict[int, list[Change]]:
    """Return the changes of names, by block of the new graph. Another counter in a name is no change."""
    names = other_names(m)
    recounted = are_counted_anew(m, names)
    m.recounted = len(recounted)
    groups: NamesByEdit = defaultdict(list)
    counted = _moved_and_counted(m, names)
    for renamed in names:
        if renamed not in recounted:
            groups[_key(renamed, renamed in counted)].append(renamed)
    by_block: dict[int, list[Change]] = defaultdict(list)
    for key, members in _single_substitution(m, groups).items():
        by_block[members[0].block].append(
            _move_change(m, members) if key[0] == "moved" else _rename_change(m, members, key)
        )
    return by_block


def _single_substitution(m: Matching, groups: NamesByEdit) -> NamesByEdit:
    """Merge groups whose names all differ by one substitution into the largest such group. If there are very many
    groups, only the largest are compared with the others.

    `modelA/w → exp2/modelB/w` and `Adam/update_modelA/w → Adam/update_exp2/modelB/w` are one rename.
    """
    # The largest group first; numbers last, since they join no other group.
    order = sorted(groups, key=lambda key: (key[0] == "number", -_ops(m, groups[key]), str(key)))
    uncounted = {
        key: [tuple(COUNTER_AT_END.sub("", name) for name in renamed.names) for renamed in members]
        for key, members in groups.items()
    }
    merged: NamesByEdit = {}
    joined: set[EditKey] = set()
    work = Meter(MAX_EXCHANGED_LETTERS)
    for place, first in enumerate(order):
        if first in joined:
            continue
        old, new = _exchanged_segments(*uncounted[first][0])
        alike: list[EditKey] = []
        if old and work.left > 0:
            work.take(COMPARISON_COST * (len(order) - place))
            for key in order[place + 1 :]:
                if key in joined or key[0] == "number" or key[1] != first[1]:
                    continue
                for before, after in uncounted[key]:
                    work.take(len(old) * len(before))
                    if old not in before or before.replace(old, new) != after:
                        break
                else:
                    alike.append(key)
        joined.update(alike)
        members = [renamed for key in (first, *alike) for renamed in groups[key]]
        merged[("renamed", first[1], old, new) if alike else first] = members
    return merged


def _exchanged_segments(before: str, after: str) -> tuple[str, str]:
    """Return the segments of a path that were exchanged.

    >>> _exchanged_segments("update_modelA/w", "update_exp2/modelB/w")
    ('update_modelA', 'update_exp2/modelB')
    """
    old, new = without_common_ends(before.split("/"), after.split("/"))
    return "/".join(old), "/".join(new)


def are_counted_anew(m: Matching, names: list[NameChange]) -> set[NameChange]:
    """Return the names that differ only in counters, if the names of their kind in a scope keep their order.

    `conv2d, conv2d_1` and `conv2d_3, conv2d_4` are the same two layers, built later in a process; names that exchange
    their numbers are an edit. Names of captured variables and traced values are counters only.
    """
    groups: dict[tuple[bool, int, str], list[NameChange]] = defaultdict(list)
    recounted: set[NameChange] = set()
    outside = ~m.a.graph.meaning.model()
    for renamed in names:
        (base, _), (new_base, _) = renamed.counters
        counted = not renamed.moved and base == new_base
        # Updates and savers are identified by their variables.
        derived = counted and not renamed.scope and outside[renamed.old]
        if (
            derived
            or _is_generated_name(m, renamed)
            # Arguments of functions are identified by position.
            or (not renamed.scope and not exists(int(m.a.graph.definition[renamed.old])))
            # Constants are identified by their user.
            or (counted and not renamed.scope and m.a.op_type(renamed.old) in CONSTANT_OPS)
        ):
            recounted.add(renamed)
        elif counted:
            groups[renamed.scope, renamed.around[0], base].append(renamed)
    numbers_by_scope: dict[tuple[bool, int], NumberPairs] = {}  # by scope: thousands of groups may be in one
    for (scope, row, word), members in groups.items():
        if (scope, row) not in numbers_by_scope:
            numbers_by_scope[scope, row] = _numbers(m, scope, row)
        if _keep_order(numbers_by_scope[scope, row][word]):
            recounted |= set(members)
    return recounted


def _keep_order(numbers: Iterable[tuple[NameNumbers, NameNumbers]]) -> bool:
    """Return whether the new numbers are in the order of the old ones.

    Names have the number of a layer, that of its call, or both. A single number may be either, so both are tried.

    >>> _keep_order([((), (3,)), ((1,), (4,))]), _keep_order([((1,), (2,)), ((2,), (1,))])
    (True, False)
    >>> _keep_order([((2,), (10, 1)), ((1, 1), (11, 1)), ((2, 2), (12, 1))])
    True
    """
    pairs = list(numbers)
    for calls in product((False, True), repeat=2):
        ordered = sorted(
            tuple(
                (0, *number) if call and len(number) < 2 else number for call, number in zip(calls, pair, strict=True)
            )
            for pair in pairs
        )
        if all(before[1] < after[1] for before, after in pairwise(ordered)):
            return True
    return False


def _moved_and_counted(m: Matching, names: list[NameChange]) -> set[NameChange]:
    """Return the names that moved to another scope and differ only in counters, if names of their kind keep their
    order."""
    groups: dict[tuple[bool, int, int, str], list[NameChange]] = defaultdict(list)
    for renamed in names:
        (base, _), (new_base, _) = renamed.counters
        if renamed.moved and base == new_base:
            groups[renamed.scope, *renamed.around, base].append(renamed)
    found: set[NameChange] = set()
    outside = ~m.a.graph.meaning.model()
    for (scope, *_), members in groups.items():
        if _keep_order((old[1], new[1]) for old, new in (each.counters for each in members)):
            found.update(members)
        elif not scope:
            found.update(each for each in members if outside[each.old])
    return found


def _without_trace_number(name: str) -> str:
    """Return a name without the number that PyTorch's tracer appends.

    >>> _without_trace_number("input.35"), _without_trace_number("35"), _without_trace_number("input.")
    ('input', '', 'input.')
    """
    bare = name.rstrip("0123456789")
    return bare.removesuffix(".") if bare != name else name


def _is_generated_name(m: Matching, renamed: NameChange) -> bool:
    """Return whether both names are numbers, or have a number of PyTorch's tracer: `input.35`."""
    names = renamed.leaves
    if renamed.scope:
        return not renamed.moved and all(name.isdecimal() for name in names)
    op = m.a.op_type(renamed.old)
    # PyTorch's op types have a namespace, "aten::add"; inputs are PyTorch's if their users are.
    of_users = "".join(map(m.a.op_type, m.a.data_users(renamed.old)[:1])) if op in INPUT_OPS else ""
    if "::" in op + of_users or has_role(op, Role.TRACE_VALUE):
        return not renamed.moved and len(set(map(_without_trace_number, names))) == 1
    if op in INPUT_OPS and m.a.graph.meaning.origin[renamed.old] == renamed.old:
        # A name that is a number is that of a captured variable.
        return any(name.isdecimal() for name in names)
    return not renamed.moved and all(name.isdecimal() for name in names)


def _numbers(m: Matching, scope: bool, row: int) -> NumberPairs:
    """Return the old and new counters in a scope, by the name without counters, of members that keep this name."""
    a, b = m.a.scopes, m.b.scopes
    rows = a.children(row) if scope else a.own_nodes(row).tolist()
    leaves, others, partner = (a.leaf, b.leaf, m.scope_to_b) if scope else (a.node_leaf, b.node_leaf, m.to_b)
    numbers: NumberPairs = defaultdict(set)
    for member in rows:
        new = int(partner[member])
        if exists(new):
            mine, other = _name_counter(leaves[member]), _name_counter(others[new])
            if mine[0] == other[0]:
                numbers[mine[0]].add((mine[1], other[1]))
    return numbers


def _name_counter(leaf: str) -> tuple[str, NameNumbers]:
    """Return a name without the counters at its end, and these.

    >>> _name_counter("conv2d_3_1"), _name_counter("conv2d"), _name_counter("layer3")
    (('conv2d', (3, 1)), ('conv2d', ()), ('layer3', ()))
    """
    return COUNTER_AT_END.sub("", leaf), tuple(int(number) for number in COUNTER_AT_END.findall(leaf))


def _key(renamed: NameChange, counted: bool) -> tuple[object, ...]:
    before, after = renamed.leaves
    if renamed.moved:
        same = before == after or counted
        return (
            "moved",
            renamed.block,
            *renamed.around,
            # Children that keep their names are one move; a renamed child is a separate change.
            *(() if same else (before, after)),
        )
    here, there = split_number(before), split_number(after)
    if here and there and here[0] == there[0]:
        return ("number", renamed.block, here[0])
    return ("renamed", renamed.block, *substitution(before, after))


def _ops(m: Matching, members: list[NameChange]) -> int:
    return sum(m.b.scopes.size(renamed.new) if renamed.scope else 1 for renamed in members)


def _edits(members: list[NameChange]) -> NodeEdits:
    return NodeEdits(
        scopes=tuple((renamed.old, renamed.new) for renamed in members if renamed.scope),
        nodes=tuple((renamed.old, renamed.new) for renamed in members if not renamed.scope),
    )


def _places(members: list[NameChange]) -> list[NamePair]:
    """Return the places of renames, by depth, then by name; an op and a scope of one name are one place."""
    places = sorted({renamed.names for renamed in members})
    return sorted(places, key=lambda place: (place[0] or "").count("/"))


def _move_change(m: Matching, members: list[NameChange]) -> Change:
    places = _places(members)
    sides = zip((m.a.scopes, m.b.scopes), members[0].around, strict=True)
    old, new = (scopes.name[row] if exists(scopes.parent[row]) else "" for scopes, row in sides)
    content = Move(old, new, len(places))
    return Change("moved", "rename", *places[0], _ops(m, members), content, tuple(places[1:]), edits=_edits(members))


def _rename_change(m: Matching, members: list[NameChange], key: tuple[object, ...]) -> Change:
    places = _places(members)
    cosmetic = key[0] == "number"
    words: Any = key[2:]
    content = Rename(series="N".join(words[0])) if cosmetic else Rename(*words)
    severity: Severity = "cosmetic" if cosmetic else "rename"
    return Change("renamed", severity, *places[0], _ops(m, members), content, tuple(places[1:]), edits=_edits(members))


def without_counters(name: str) -> str:
    """Return a name without the counters that TensorFlow appends to segments.

    >>> without_counters("m/norm_12/Mul_1"), without_counters("m/conv2d")
    ('m/norm/Mul', 'm/conv2d')
    """
    return "/".join(COUNTER_AT_END.sub("", segment) for segment in name.split("/"))


class ScopeRenames:
    """Renamed scopes, indexed by row. A replacement of a loss or a layer also renames its scope: both are one
    change."""

    def __init__(self, m: Matching, changes: Sequence[Change]) -> None:
        self.m = m
        self.changes = changes
        # (index of the change, old row, new row), by either row.
        self.by_old: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
        self.by_new: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
        self.by_names: dict[tuple[str | None, str | None], Change] = {}
        for place, name in enumerate(changes):
            if isinstance(name.content, Rename) and name.content.series is None:
                for old, new in name.edits.scopes:
                    self.by_old[old].append((place, old, new))
                    self.by_new[new].append((place, old, new))
                    self.by_names.setdefault((m.a.scopes.name[old], m.b.scopes.name[new]), name)
        # The scopes, old and new, that are reported as replacements.
        self.said: set[tuple[int, int]] = set()

    def rename_of_change(self, change: Change) -> Change | None:
        """Return the rename of the scope that a change replaces, if it replaces more than one op."""
        name, setting = self.by_names.get((change.old, change.new)), change.setting
        if not name or change.severity != "op" or change.kind != "changed":
            return None
        if setting and setting.key == "op" and " + " not in f"{setting.old}{setting.new}":  # a single op for one
            return None
        self.said.update(self._renamed_within(name, [(change.old, change.new)]))
        return name

    def _renamed_within(self, name: Change, pairs: Sequence[tuple[str | None, str | None]]) -> set[tuple[int, int]]:
        """Return the renamed scopes in (or equal to) some pairs of scopes."""
        a, b = self.m.a.scopes, self.m.b.scopes
        return {
            (old, new)
            for old, new in name.edits.scopes
            if any(is_within(a.name[old], mine) and is_within(b.name[new], other) for mine, other in pairs)
        }

    def rename_around(self, group: Sequence[Change]) -> Change | None:
        """Return the first rename of a scope that contains most of an edit, and is mostly replaced by it."""
        is_replacing = any(change.kind in ("added", "removed") or change.edits.ops for change in group)
        if not self.by_names or not is_replacing:
            return None
        gone, fresh = (
            np.array(sorted(set().union(*part)), np.int32)
            for part in zip(*(touched_nodes(change) for change in group), strict=True)
        )
        a, b = self.m.a.scopes, self.m.b.scopes
        around = {rename for row in a.scopes_around(a.of_node[gone]).tolist() for rename in self.by_old.get(row, ())}
        around |= {rename for row in b.scopes_around(b.of_node[fresh]).tolist() for rename in self.by_new.get(row, ())}
        for place, old, new in sorted(around):
            if self._is_replaced(old, new, gone, fresh):
                self.said.update(self._renamed_within(self.changes[place], [(a.name[old], b.name[new])]))
                return self.changes[place]
        return None

    def _is_replaced(self, old: int, new: int, gone: Ints, fresh: Ints) -> bool:
        m, a, b = self.m, self.m.a.scopes, self.m.b.scopes
        fresh_inside = fresh[b.is_under(new, fresh)]
        inside = distinct_values(np.concatenate((gone[a.is_under(old, gone)], fresh_inside)))
        if 2 * len(inside) <= len(gone) + len(fresh):
            return False
        partners = m.to_b[a.nodes(old)]
        stayed = int(b.is_under(new, partners[exists(partners)]).sum())
        # Nodes of the scope that stayed and that the edit did not touch.
        origin = m.to_a[fresh_inside]
        kept = stayed - int(a.is_under(old, origin[exists(origin)]).sum())
        return 3 * kept <= 2 * max(a.size(old), b.size(new))


def is_within(name: str, scope: str | None) -> bool:
    """Return whether a name is equal to, or below, a scope."""
    return scope is not None and f"{name}/".startswith(f"{scope}/")


def scope_replacement(name: Change, change: Change, classes: tuple[str, str] | None) -> Change:
    """Return a change and the rename of its scope as a replacement, described by the classes if known, else by the
    differing part of the names."""
    has_names = change.old and change.new and change.old != change.new
    old, new = (change.old, change.new) if has_names or classes else (name.old, name.new)
    part = classes or substitution(*(last_segment(word or "") for word in (old, new)))
    weights = change.setting.weights if change.setting else ()
    content, edits = Setting("op", *part, beside=change.further_settings, weights=weights), name.edits + change.edits
    return Change("changed", "op", old, new, change.ops, content, consequences=change.consequences, edits=edits)
