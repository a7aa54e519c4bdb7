"""All changes between two graphs as a value, to be counted and filtered; `report/` and `picture/` show it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import takewhile
from types import NoneType
from typing import Any, Self

import numpy as np

from graphviz_tb.diff.changes.names import is_within
from graphviz_tb.diff.changes.numbers import NodeQuantities
from graphviz_tb.diff.changes.places import sort_by_flow
from graphviz_tb.diff.changes.units import Rewire, input_differences
from graphviz_tb.diff.ledger import FUNCTION, SCOPE, Balance, LedgerEntry, balance_ledger, build_ledger, name_of_entry
from graphviz_tb.diff.match.matching import REASON_WORDS, Matching, Reason
from graphviz_tb.errors import require_type
from graphviz_tb.limits import MAX_COMPARED_SOURCES
from graphviz_tb.model.change import (
    CHANGE_KINDS,
    CHANGE_QUANTITIES,
    SEVERITIES,
    Change,
    ChangeKind,
    NamePair,
    ValuePair,
    sort_by_severity,
    value_pairs_to_json,
)
from graphviz_tb.model.columns import Ints, exists
from graphviz_tb.model.costs import LOWER_BOUND, UPPER_BOUND
from graphviz_tb.model.formatting import replace_non_finite
from graphviz_tb.model.graph import Graph
from graphviz_tb.model.notice import Notice
from graphviz_tb.options import DiffOptions
from graphviz_tb.words.attributes import source_of_definition


class MatchedGraphs:
    """Two graphs and their matching, always seen from old to new; `turned` if the matching runs from new to old.

    `to_new[node]` is the partner of an old node or -1, `scope_to_new` the same for scopes, and `functions` maps old
    functions to new ones.
    """

    def __init__(self, matching: Matching, options: DiffOptions, turned: bool = False) -> None:
        self.matching, self.options, self.turned = matching, options, turned
        m, known = matching, matching.functions
        sides = (m.a, m.to_b, m.scope_to_b), (m.b, m.to_a, m.scope_to_a)
        before, after = sides[::-1] if turned else sides
        self.old_side, self.to_new, self.scope_to_new = before
        self.new_side, self.to_old, self.scope_to_old = after
        self.functions = {other: mine for mine, other in known.items()} if turned else known
        self.layers = matching.layers[::-1] if turned else matching.layers

    @property
    def old(self) -> Graph:
        """Return the old graph."""
        return self.old_side.graph

    @property
    def new(self) -> Graph:
        """Return the new graph."""
        return self.new_side.graph

    @cached_property
    def numbers(self) -> NodeQuantities:
        """Return the costs of the ops of both graphs."""
        return NodeQuantities(*self.layers, self.to_new, self.to_old)

    def in_order(self, changes: Iterable[Change]) -> tuple[Change, ...]:
        """Changes by severity, then from the inputs to the results."""
        return sort_by_flow(self.layers, changes)

    def layers_of(self, change: Change) -> dict[str, list[dict[str, str]]]:
        """Return the names and classes of the layers that a change concerns, and of their partners, by side."""
        edits, (before, after) = change.edits, self.layers
        wired = edits.inputs if not (edits.added or edits.removed) else ()
        old = {before.layer_of_node(node) for node in (*edits.nodes_of(False), *(pair[0] for pair in wired))}
        new = {after.layer_of_node(node) for node in (*edits.nodes_of(True), *(pair[1] for pair in wired))}
        old |= _name_partners(new, self.to_old, self.scope_to_old)
        new |= _name_partners(old, self.to_new, self.scope_to_new)
        return {"old": before.names_and_classes(old), "new": after.names_and_classes(new)}

    def program_lines(self, change: Change) -> NamePair:
        """Return the program lines behind a change, in the old and in the new graph; None if a file has none."""
        edits = change.edits
        if edits.added or edits.removed:
            return _common_line(self.old, edits.removed), _common_line(self.new, edits.added)
        old, new = (edits.nodes_of(new) or [pair[new] for pair in edits.inputs] for new in (False, True))
        return _common_line(self.old, old), _common_line(self.new, new)

    def inverse(self) -> MatchedGraphs:
        """Return the graphs with old and new exchanged."""
        return MatchedGraphs(self.matching, self.options, not self.turned)

    def rewires(self, old: int, new: int) -> list[Rewire]:
        """Return how the inputs of two matched nodes differ."""
        if not self.turned:
            return input_differences(self.matching, old, new)
        wires = input_differences(self.matching, new, old)
        return [replace(wire, old=old, new=new, before=wire.after, after=wire.before) for wire in wires]

    def pairs(self) -> Iterator[tuple[int, int]]:
        """Return the matched nodes, old and new."""
        mine, others = (column.tolist() for column in self.matching.matched_pairs())
        return zip(*((others, mine) if self.turned else (mine, others)), strict=True)

    def matches(self) -> Iterator[tuple[str, str, str]]:
        """Yield every matched node: its old name, its new name, and why."""
        reasons = self.matching.reason
        for old, new in self.pairs():
            why = REASON_WORDS[Reason(int(reasons[new if self.turned else old]))]
            yield self.old.name[old], self.new.name[new], why


def _common_line(graph: Graph, nodes: Sequence[int]) -> str | None:
    """Return the innermost program line that all of the nodes come from; without a common line, that of the first node.

    If the nodes have no lines, as weights do not, the lines of their users count. None if these have no lines either.
    """
    stacks = _source_stacks(graph, nodes)
    if not stacks and nodes:
        stacks = _source_stacks(graph, graph.target[np.isin(graph.source, nodes)].tolist())
    common = [lines[0] for lines in takewhile(lambda lines: len({*lines}) == 1, zip(*stacks, strict=False))]
    return (common or stacks[0])[-1] if stacks else None


def _source_stacks(graph: Graph, nodes: Sequence[int]) -> list[list[str]]:
    """Return the program lines of each node that has any."""
    definitions = map(graph.node_def, nodes[:MAX_COMPARED_SOURCES])
    return [lines for each in definitions if each is not None and (lines := source_of_definition(each))]


def _name_partners(layers: Collection[int], nodes: Ints, scopes: Ints) -> set[int]:
    """Return the partners of layers; a layer is a scope's row, or -1 - node."""
    found = {int(scopes[layer]) for layer in layers if exists(layer) and exists(scopes[layer])}
    return found | {-1 - int(nodes[-1 - layer]) for layer in layers if not exists(layer) and exists(nodes[-1 - layer])}


def _entries_old_to_new(source: MatchedGraphs) -> tuple[LedgerEntry, ...]:
    """Return the ledger of two matched graphs, from old to new."""
    entries = build_ledger(source.matching, source.options)
    return tuple(entry.inverse() for entry in entries) if source.turned else entries


def _entries_by_place(source: MatchedGraphs, entries: Sequence[LedgerEntry]) -> list[dict[str, Any]]:
    """Return entries as plain values, grouped by node, scope or function: each name, which may be long, is once."""
    sides = source.old_side, source.new_side
    places: dict[tuple[str, int, int], list[dict[str, Any]]] = {}
    for number, entry in enumerate(entries):
        what = entry.aspect if entry.aspect in (SCOPE, FUNCTION) else "node"
        said = {"before": replace_non_finite(entry.before), "after": replace_non_finite(entry.after)}
        detail = {"id": number, "aspect": entry.aspect, "key": entry.key, **said}
        places.setdefault((what, entry.old, entry.new), []).append(detail)
    return [
        {
            "at": what,
            "old": name_of_entry(sides[0], what, old),
            "new": name_of_entry(sides[1], what, new),
            "entries": members,
        }
        for (what, old, new), members in places.items()
    ]


@dataclass(frozen=True, eq=False)
class Comparison:
    """All changes between two graphs, in order.

    `old_name`, `new_name`: the names of the two sources. `matched`: how many nodes have a partner. `ignored`: how many
    differences there are of each class that the caller left out. `renumbered`: how many nodes and scopes differ only in
    a number, because members of their series were added or removed. `left_out`: differences that the form of both files
    cannot show. `notices`: bounds that were hit. `source`: the two graphs and their matching. `found`: the number of
    changes before filtering. `inputs`: the sources that were read.
    """

    items: tuple[Change, ...]
    old_name: str = "old"
    new_name: str = "new"
    matched: int = 0
    ignored: Mapping[str, int] = field(default_factory=dict)
    renumbered: int = 0
    left_out: tuple[str, ...] = ()
    notices: tuple[Notice, ...] = ()
    source: MatchedGraphs | None = field(default=None, repr=False)
    found: int = 0
    inputs: tuple[Any, ...] = field(default=(), repr=False)

    def __iter__(self) -> Iterator[Change]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    def __bool__(self) -> bool:
        return bool(self.items)

    def __getitem__(self, index: int) -> Change:
        return self.items[index]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Comparison) and self.items == other.items

    def __hash__(self) -> int:
        return hash(self.items)

    @property
    def same(self) -> bool:
        """Return whether there is no change that counts."""
        return not self.items

    @property
    def kinds(self) -> dict[ChangeKind, int]:
        """Count how many changes of each kind."""
        counts = Counter(change.kind for change in self.items)
        return {kind: counts[kind] for kind in CHANGE_KINDS if kind in counts}

    @property
    def numbers(self) -> dict[str, ValuePair]:
        """Return `ops`, `parameters` and `flops` of both graphs, old and new; None if a number is unknown."""
        return (
            self.source.numbers.graph_totals
            if self.source is not None
            else dict.fromkeys(CHANGE_QUANTITIES, (None, None))
        )

    @property
    def at_least(self) -> frozenset[str]:
        """Return which of the numbers are lower bounds, because some ops have no known shape or no rule."""
        return _bounded_words(self.bounds(), LOWER_BOUND)

    @property
    def at_most(self) -> frozenset[str]:
        """Return which of the numbers are upper bounds, because all branches are counted."""
        return _bounded_words(self.bounds(), UPPER_BOUND)

    def bounds(self, change: Change | None = None) -> tuple[Mapping[str, int], Mapping[str, int]]:
        """Return which numbers of a change, or of the whole graph, are bounds in the old and in the new graph, as
        indexes into `BOUND_WORDS`."""
        if self.source is None:
            return {}, {}
        return self.source.numbers.bounds(None if self.found == 1 else change)

    def bounds_to_json(self, change: Change | None = None) -> dict[str, list[str]]:
        """Return the numbers that are bounds on either side under `at_least` and `at_most`, without empty lists."""
        said = self.numbers if change is None else self.numbers_of(change)
        bounds = [{word: kind for word, kind in side.items() if word in said} for side in self.bounds(change)]
        words = {"at_least": _bounded_words(bounds, LOWER_BOUND), "at_most": _bounded_words(bounds, UPPER_BOUND)}
        return {word: sorted(named) for word, named in words.items() if named}

    def numbers_of(self, change: Change) -> dict[str, ValuePair]:
        """Return the quantities that differ, old and new, in the layers that a change and its consequences concern."""
        require_type("change", change, Change)
        return self.source.numbers.quantities_of(change, self.found == 1) if self.source is not None else {}

    def layers_of(self, change: Change) -> dict[str, list[dict[str, str]]]:
        """Return the layers that a change is about, with their classes: `{"old": [{"name", "class"}], "new":
        [...]}`."""
        require_type("change", change, Change)
        return self.source.layers_of(change) if self.source is not None else {"old": [], "new": []}

    def program_lines(self, change: Change) -> NamePair:
        """Return the program line behind a change, `model.py:41 x = self.attn(x)`, in the old and in the new graph;
        None if a file has none."""
        require_type("change", change, Change)
        return self.source.program_lines(change) if self.source is not None else (None, None)

    @property
    def ledger(self) -> tuple[list[dict[str, Any]], Balance | None]:
        """Return every atomic difference as plain values, and the balance that assigns them to changes."""
        if self.source is None:
            return [], None
        entries = _entries_old_to_new(self.source)
        return _entries_by_place(self.source, entries), balance_ledger(entries, self.items)

    @property
    def summary(self) -> dict[str, Any]:
        """Return counts: by kind, by severity, of matched nodes, of ignored differences; and the totals of both
        sides."""
        return {
            "changes": len(self.items),
            "kinds": self.kinds,
            "severities": {
                word: count for word in SEVERITIES if (count := sum(change.severity == word for change in self.items))
            },
            **value_pairs_to_json(self.numbers),
            **self.bounds_to_json(),
            "matched": self.matched,
            "renumbered": self.renumbered,
            "ignored": dict(self.ignored),
            "left_out": list(self.left_out),
        }

    def filter(self, kind: str | None = None, severity: str | None = None, under: str | None = None) -> Self:
        """Return only the changes of a kind, of a severity, at or below a name."""
        for what, value in (("kind", kind), ("severity", severity), ("under", under)):
            require_type(what, value, str, NoneType)
        kept = [
            change
            for change in self.items
            if (kind is None or change.kind == kind)
            and (severity is None or change.severity == severity)
            and (under is None or any(is_within(name or "", under.rstrip("/")) for name in (change.old, change.new)))
        ]
        return replace(self, items=tuple(kept))

    def inverse(self) -> Self:
        """Return the changes from the new graph to the old one."""
        source = self.source.inverse() if self.source is not None else None
        items = (change.inverse() for change in self.items)
        return replace(
            self,
            items=sort_by_severity(items) if source is None else source.in_order(items),
            old_name=self.new_name,
            new_name=self.old_name,
            source=source,
        )

    def matches(self) -> Iterator[tuple[str, str, str]]:
        """Return every matched node: its old name, its new name, and why."""
        return self.source.matches() if self.source is not None else iter(())


def _bounded_words(bounds: Iterable[Mapping[str, int]], kind: int) -> frozenset[str]:
    """Return the quantities that are a bound of this kind on at least one side."""
    return frozenset(word for side in bounds for word, index in side.items() if index & kind)
