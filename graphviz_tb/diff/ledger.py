"""The ledger of a diff: every atomic difference of two matched graphs.

The ledger is built from the matching alone. Each entry is claimed by a change (it is part of the edit) or explained by
one (it is a consequence). Entries without an owner become changes themselves, so that no edit is hidden.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from graphviz_tb.diff.changes.attributes import SHAPE, differences_once
from graphviz_tb.diff.changes.compare import whole_function_changes
from graphviz_tb.diff.changes.names import are_counted_anew, other_names
from graphviz_tb.diff.changes.units import (
    compared_blocks,
    differing_pairs,
    is_left_behind,
    rewires,
    source_name,
)
from graphviz_tb.diff.columns.side import GraphColumns
from graphviz_tb.diff.match.matching import Matching
from graphviz_tb.model.change import Change, NodeEdits, sort_by_severity
from graphviz_tb.model.change_content import InputWire, Rename, Rewiring, Setting, Unit
from graphviz_tb.model.columns import exists
from graphviz_tb.options import DiffOptions

EXISTENCE_ASPECT, OP, ATTRIBUTE, INPUT, CONTROL, NAME, SCOPE, FUNCTION = (
    "existence", "op", "attribute", "input", "control", "name", "scope", "function",
)  # fmt: skip
Claim = tuple[Any, ...]  # the key by which edits of a change are compared with entries: aspect, old, new, attribute


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """One atomic difference: its aspect; the old and new node, scope or function (-1 for none); `key`, the attribute or
    the position of the input; and the values before and after."""

    aspect: str
    old: int
    new: int
    key: str
    before: Any
    after: Any

    def inverse(self) -> LedgerEntry:
        """Return the entry seen from the other side."""
        return LedgerEntry(self.aspect, self.new, self.old, self.key, self.after, self.before)


def build_ledger(m: Matching, options: DiffOptions) -> tuple[LedgerEntry, ...]:
    """Return all differences that count, aspect by aspect."""
    return (*_existences(m), *_values(m, options), *_wires(m), *_names(m), *_functions(m))


def _existences(m: Matching) -> Iterator[LedgerEntry]:
    blocks = compared_blocks(m)
    for new, side, partner in ((False, m.a, m.to_b), (True, m.b, m.to_a)):
        left = is_left_behind(side)
        for node in (~exists(partner) & ~left).nonzero()[0].tolist():
            if int(side.block[node]) in blocks[new]:
                word = side.op_type(node)
                yield LedgerEntry(
                    EXISTENCE_ASPECT, *((-1, node) if new else (node, -1)), "", *((None, word) if new else (word, None))
                )


def _values(m: Matching, options: DiffOptions) -> Iterator[LedgerEntry]:
    for mine, other in differing_pairs(m):
        for each in differences_once(m, mine, other, options):
            aspect = OP if each.key == "op" else ATTRIBUTE
            yield LedgerEntry(aspect, mine, other, each.attribute or each.key, each.old, each.new)


def _wires(m: Matching) -> Iterator[LedgerEntry]:
    for wire in rewires(m):
        ends = source_name(m.a, wire.before), source_name(m.b, wire.after)
        key = "" if wire.control else str(wire.slot)
        yield LedgerEntry(CONTROL if wire.control else INPUT, wire.old, wire.new, key, *ends)


def _names(m: Matching) -> Iterator[LedgerEntry]:
    names = other_names(m)
    anew = are_counted_anew(m, names)
    for each in names:
        if each not in anew:
            aspect = SCOPE if each.scope else NAME
            yield LedgerEntry(aspect, each.old, each.new, "", *each.names)


def _functions(m: Matching) -> Iterator[LedgerEntry]:
    for change in whole_function_changes(m):
        for function in change.edits.removed_functions:
            yield LedgerEntry(FUNCTION, function, -1, "", change.old, None)
        for function in change.edits.added_functions:
            yield LedgerEntry(FUNCTION, -1, function, "", None, change.new)


def _claims_of_edits(edits: NodeEdits) -> Iterator[Claim]:
    """Yield the claims of some edits, as `balance_ledger` writes those of entries."""
    yield from ((EXISTENCE_ASPECT, -1, node) for node in edits.added)
    yield from ((EXISTENCE_ASPECT, node, -1) for node in edits.removed)
    yield from ((OP, *pair) for pair in edits.ops)
    yield from ((ATTRIBUTE, *which) for which in edits.attributes)
    yield from ((INPUT, *pair) for pair in edits.inputs)
    yield from ((SCOPE, *pair) for pair in edits.scopes)
    yield from ((NAME, *pair) for pair in edits.nodes)
    yield from ((FUNCTION, -1, function) for function in edits.added_functions)
    yield from ((FUNCTION, function, -1) for function in edits.removed_functions)


@dataclass(frozen=True, slots=True)
class Balance:
    """Owners of ledger entries: by change, `claimed` lists the entries that it consists of and `explained` the entries
    that follow from it; `open_entries` have no owner."""

    claimed: tuple[tuple[int, ...], ...]
    explained: tuple[tuple[int, ...], ...]
    open_entries: tuple[int, ...]


def balance_ledger(entries: Sequence[LedgerEntry], changes: Sequence[Change]) -> Balance:
    """Give each entry to the first change that claims it, else to the first one from which it follows."""
    # The first change that claims an entry: by its edit, by a value that it names, by a consequence.
    main: dict[Claim, int] = {}
    named: dict[Claim, int] = {}
    following: dict[Claim, int] = {}
    named_values: dict[int, frozenset[str]] = {}
    for number, change in enumerate(changes):
        exchanged = set(change.edits.ops) if change.key == "op" else None
        # The values that the change names besides those of its main setting.
        values = [(part.old, part.new) for part in change.further_settings]
        values += [(pair.old, pair.new) for pair in (change.setting.weights if change.setting else ())]
        named_values[number] = frozenset(map(repr, values))
        claim: Claim
        for claim in _claims_of_edits(change.edits):
            # For nodes that keep their op, an exchange of ops claims only the attributes that it names.
            is_main = exchanged is None or claim[0] != ATTRIBUTE or (claim[1], claim[2]) in exchanged
            (main if is_main else named).setdefault(claim, number)
        for consequence in change.consequences:
            for claim in _claims_of_edits(consequence.all_edits()):
                following.setdefault(claim, number)
    claimed: dict[int, list[int]] = defaultdict(list)
    explained: dict[int, list[int]] = defaultdict(list)
    unclaimed = []
    for place, entry in enumerate(entries):
        claim = (INPUT if entry.aspect == CONTROL else entry.aspect, entry.old, entry.new)
        claim = (*claim, entry.key) if entry.aspect == ATTRIBUTE else claim
        if claim in named and claim not in main and repr((entry.before, entry.after)) in named_values[named[claim]]:
            claimed[named[claim]].append(place)
            continue
        # A replaced op brings its attributes.
        for owners, found in ((main, claimed), (following, explained)):
            owner = owners.get(claim, owners.get((OP, entry.old, entry.new)) if entry.aspect == ATTRIBUTE else None)
            if owner is not None:
                found[owner].append(place)
                break
        else:
            unclaimed.append(place)
    numbers = range(len(changes))
    return Balance(
        tuple(tuple(claimed[number]) for number in numbers),
        tuple(tuple(explained[number]) for number in numbers),
        tuple(unclaimed),
    )


def add_open_changes(m: Matching, changes: Sequence[Change], options: DiffOptions) -> tuple[Change, ...]:
    """Return the changes, with one more for each entry without an owner; entries of equal aspect and values share a
    change."""
    entries = build_ledger(m, options)
    left = [entries[place] for place in balance_ledger(entries, changes).open_entries]
    groups: dict[str, list[LedgerEntry]] = defaultdict(list)
    # The shape of a variable and the recorded shapes of its reads are one difference, named after the variable.
    for entry in sorted(left, key=lambda entry: entry.key == SHAPE):
        key = "shape" if entry.key == SHAPE else entry.key
        groups[repr((entry.aspect, key, entry.before, entry.after))].append(entry)
    return (
        sort_by_severity([*changes, *(_plain_change(m, members) for members in groups.values())])
        if left
        else tuple(changes)
    )


def _plain_change(m: Matching, members: Sequence[LedgerEntry]) -> Change:
    """Make one change of entries of equal aspect and values."""
    first = members[0]
    names = [
        (name_of_entry(m.a, entry.aspect, entry.old), name_of_entry(m.b, entry.aspect, entry.new)) for entry in members
    ]
    places = list(dict.fromkeys(names))
    also, ops = tuple(places[1:]), len(places)
    pairs = tuple((entry.old, entry.new) for entry in members)
    if first.aspect in (EXISTENCE_ASPECT, FUNCTION):
        nodes = tuple(entry.new if exists(entry.new) else entry.old for entry in members)
        kind, word = ("added", first.after) if exists(first.new) else ("removed", first.before)
        content = Unit(op_types={str(word): len(members)})
        named = f"{kind}_functions" if first.aspect == FUNCTION else kind
        return Change(kind, "op", *places[0], ops, content, also, edits=NodeEdits(**{named: nodes}))  # type: ignore[arg-type]
    if first.aspect in (INPUT, CONTROL):
        wire = InputWire(None if first.aspect == CONTROL else int(first.key), first.before, first.after)
        return Change("rewired", "wiring", *places[0], ops, Rewiring((wire,)), also, edits=NodeEdits(inputs=pairs))
    if first.aspect in (NAME, SCOPE):
        edits = NodeEdits(scopes=pairs) if first.aspect == SCOPE else NodeEdits(nodes=pairs)
        return Change("renamed", "rename", *places[0], ops, Rename(first.before, first.after), also, edits=edits)
    word = "op" if first.aspect == OP else "shape" if first.key == SHAPE else first.key
    setting = Setting(word, first.before, first.after)
    if first.aspect == OP:
        return Change("changed", "op", *places[0], ops, setting, also, edits=NodeEdits(ops=pairs))
    edits = NodeEdits(attributes=tuple((entry.old, entry.new, entry.key) for entry in members))
    return Change("changed", "attribute", *places[0], ops, setting, also, edits=edits)


def name_of_entry(side: GraphColumns, aspect: str, number: int) -> str | None:
    if not exists(number):
        return None
    if aspect == FUNCTION:
        return str(side.graph.functions[number].name)
    return str(side.scopes.name[number] if aspect == SCOPE else side.graph.name[number])
