"""A comparison as a value: changes that can be counted and filtered; `report/` and `picture/` show it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import NoneType
from typing import Any, Self

from graphviz_tb.diff.ledger import Balance, balance
from graphviz_tb.diff.source import MatchedGraphs, entries_by_place, entries_old_to_new
from graphviz_tb.errors import require_type
from graphviz_tb.model.change import (
    CHANGE_KINDS,
    CHANGE_QUANTITIES,
    SEVERITIES,
    Change,
    ChangeKind,
    ValuePair,
    sort_by_severity,
    value_pairs_to_json,
)
from graphviz_tb.model.notice import Notice


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
        """Whether nothing changed that counts."""
        return not self.items

    @property
    def kinds(self) -> dict[ChangeKind, int]:
        """How many changes of each kind."""
        counts = Counter(change.kind for change in self.items)
        return {kind: counts[kind] for kind in CHANGE_KINDS if kind in counts}

    @property
    def numbers(self) -> dict[str, ValuePair]:
        """Before and after, of the whole: `ops`, `parameters`, `flops`; None where a number is not known."""
        return self.source.numbers.whole if self.source is not None else dict.fromkeys(CHANGE_QUANTITIES, (None, None))

    @property
    def at_least(self) -> frozenset[str]:
        """Which of the numbers are more than is counted: some ops have no known shape, or no rule."""
        old, new = self.bounds()
        return old | new

    def bounds(self, change: Change | None = None) -> tuple[frozenset[str], frozenset[str]]:
        """Which of the numbers, of the whole or of a change, are more than is counted: in the old, in the new graph."""
        if self.source is None:
            return frozenset(), frozenset()
        return self.source.numbers.bounds(None if self.found == 1 else change)

    def numbers_of(self, change: Change) -> dict[str, ValuePair]:
        """Before and after, of the layers that a change and its consequences concern: the quantities that differ."""
        require_type("change", change, Change)
        return self.source.numbers.of(change, self.found == 1) if self.source is not None else {}

    def layers_of(self, change: Change) -> dict[str, list[dict[str, str]]]:
        """The layers that a change is about, with their classes: `{"old": [{"name", "class"}], "new": [...]}`."""
        require_type("change", change, Change)
        return self.source.layers_of(change) if self.source is not None else {"old": [], "new": []}

    @property
    def ledger(self) -> tuple[list[dict[str, Any]], Balance | None]:
        """Every atomic difference as plain values, and which change owns it."""
        if self.source is None:
            return [], None
        entries = entries_old_to_new(self.source)
        return entries_by_place(self.source, entries), balance(entries, self.items)

    @property
    def summary(self) -> dict[str, Any]:
        """Counts: by kind, by severity, of matched nodes, of what was ignored; the numbers of either side."""
        return {
            "changes": len(self.items),
            "kinds": self.kinds,
            "severities": {
                word: count for word in SEVERITIES if (count := sum(change.severity == word for change in self.items))
            },
            **value_pairs_to_json(self.numbers),
            **({"at_least": sorted(self.at_least)} if self.at_least else {}),
            "matched": self.matched,
            "renumbered": self.renumbered,
            "ignored": dict(self.ignored),
            "left_out": list(self.left_out),
        }

    def filter(self, kind: str | None = None, severity: str | None = None, under: str | None = None) -> Self:
        """Only changes of a kind, of a severity, at or below a name."""
        for what, value in (("kind", kind), ("severity", severity), ("under", under)):
            require_type(what, value, str, NoneType)
        kept = [
            change
            for change in self.items
            if (kind is None or change.kind == kind)
            and (severity is None or change.severity == severity)
            and (under is None or any(_below(name, under) for name in (change.old, change.new)))
        ]
        return replace(self, items=tuple(kept))

    def inverted(self) -> Self:
        """The changes from the new graph to the old one."""
        source = self.source.inverted() if self.source is not None else None
        items = (change.inverse() for change in self.items)
        return replace(
            self,
            items=sort_by_severity(items) if source is None else source.in_order(items),
            old_name=self.new_name,
            new_name=self.old_name,
            source=source,
        )

    def matches(self) -> Iterator[tuple[str, str, str]]:
        """Every matched node: its old name, its new name, and why."""
        return self.source.matches() if self.source is not None else iter(())


def _below(name: str | None, scope: str) -> bool:
    return name is not None and (name == scope or name.startswith(scope.rstrip("/") + "/"))
