"""Changes between two graphs.

kind       added removed renamed moved changed rewired function-changed signature-changed
severity   signature > op > attribute > wiring > rename > cosmetic
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field, fields, replace
from itertools import chain, groupby
from typing import Any, Literal

from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.json_values import finite

ChangeKind = Literal[
    "added", "removed", "renamed", "moved", "changed", "rewired", "function-changed", "signature-changed"
]
INVERSE: dict[ChangeKind, ChangeKind] = {"added": "removed", "removed": "added"}
Severity = Literal["signature", "op", "attribute", "wiring", "rename", "cosmetic"]

KINDS: tuple[ChangeKind, ...] = (
    "signature-changed", "removed", "added", "changed", "function-changed", "rewired", "moved", "renamed",
)  # fmt: skip
SEVERITIES: tuple[Severity, ...] = ("signature", "op", "attribute", "wiring", "rename", "cosmetic")
QUANTITIES = ("ops", "parameters", "flops")
ValuePair = tuple[int | None, int | None]  # a quantity before and after; None where it is not known
NamePair = tuple[str | None, str | None]  # the name in the old graph, the name in the new one


@dataclass(frozen=True, slots=True)
class Edits:
    """A change node by node, enough to make the new graph from the old one.

    Ids of nodes and rows of scopes, (old, new) where both exist: `added` new nodes, `removed` old nodes, `scopes` and
    `nodes` that have another name, `ops` whose type changed, `attributes` with their key, `inputs` that are wired
    anew; `functions` (indices) whose signature changed, `added_functions`, `removed_functions`; `versions` whether
    the versions of the graph changed.
    """

    added: tuple[int, ...] = ()
    removed: tuple[int, ...] = ()
    scopes: tuple[tuple[int, int], ...] = ()
    nodes: tuple[tuple[int, int], ...] = ()
    ops: tuple[tuple[int, int], ...] = ()
    attributes: tuple[tuple[int, int, str], ...] = ()
    inputs: tuple[tuple[int, int], ...] = ()
    functions: tuple[tuple[int, int], ...] = ()
    added_functions: tuple[int, ...] = ()
    removed_functions: tuple[int, ...] = ()
    versions: bool = False

    def __add__(self, other: Edits) -> Edits:
        return united((self, other))

    def inverted(self) -> Edits:
        """The edits that lead back."""

        def back(pairs: tuple[tuple[int, int], ...]) -> tuple[tuple[int, int], ...]:
            return tuple((new, old) for old, new in pairs)

        return Edits(
            self.removed, self.added, back(self.scopes), back(self.nodes), back(self.ops),
            tuple((new, old, key) for old, new, key in self.attributes), back(self.inputs), back(self.functions),
            self.removed_functions, self.added_functions, self.versions,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Change:
    """One change.

    `old` and `new` are names (None where it is on one side only), `ops` how many nodes it concerns, `detail` plain
    values by kind (docs/diff.md), `also` other places where the same happened, `inside` what changed in a function,
    `consequences` what only follows from it: shapes of weights behind it, gradients, updates, saving.
    """

    kind: ChangeKind
    severity: Severity
    old: str | None
    new: str | None
    ops: int
    detail: Mapping[str, Any] = field(default_factory=dict, hash=False)
    also: tuple[NamePair, ...] = ()
    inside: tuple[Change, ...] = ()
    consequences: tuple[Change, ...] = ()
    edits: Edits = field(default_factory=Edits, compare=False, repr=False)

    @property
    def name(self) -> str:
        """The place of the change: the new name, or the old one of a removed node."""
        return self.new if self.new is not None else self.old or ""

    def all_edits(self) -> Edits:
        """Its own edits and those of its consequences."""
        return united([self.edits, *(change.all_edits() for change in self.consequences)])

    @property
    def places(self) -> int:
        """At how many places."""
        return 1 + len(self.also)

    def inverted(self) -> Change:
        """Return the change seen from the other side: old and new exchanged."""
        return replace(
            self,
            kind=INVERSE.get(self.kind, self.kind),
            old=self.new,
            new=self.old,
            detail=swapped(self.detail),
            also=tuple((new, old) for old, new in self.also),
            inside=by_severity(change.inverted() for change in self.inside),
            consequences=by_severity(change.inverted() for change in self.consequences),
            edits=self.edits.inverted(),
        )

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        entry: dict[str, Any] = {
            "kind": self.kind,
            "severity": self.severity,
            "old": self.old,
            "new": self.new,
            "ops": self.ops,
            "detail": finite(dict(self.detail)),
            "also": [{"old": old, "new": new} for old, new in self.also],
        }
        if self.inside:
            entry["inside"] = [change.to_json() for change in self.inside]
        if self.consequences:
            entry["consequences"] = [change.to_json() for change in self.consequences]
        return entry


def united(edits: Iterable[Edits]) -> Edits:
    """All edits of several; one by one they would be copied again with each.

    >>> united([Edits(added=(3,)), Edits(added=(5,))]).added
    (3, 5)
    """
    parts = list(edits)
    names = [field.name for field in fields(Edits) if field.name != "versions"]  # all others are tuples
    merged = {name: tuple(chain.from_iterable(getattr(part, name) for part in parts)) for name in names}
    return Edits(**merged, versions=any(part.versions for part in parts))


def swapped(value: Any) -> Any:
    """Plain values with "old" and "new" exchanged, at any depth.

    >>> swapped({"key": "T", "old": 1, "new": 2})
    {'key': 'T', 'old': 2, 'new': 1}
    """
    if isinstance(value, Mapping):
        turn = {"old": "new", "new": "old"}
        return {key: swapped(value.get(turn.get(key, key))) for key in value}
    if isinstance(value, (list, tuple)):
        return [swapped(part) for part in value]
    return value


def by_severity(changes: Iterable[Change]) -> tuple[Change, ...]:
    """Sort changes by severity, the most severe first; among equals by kind, name and then every other field."""

    def place(change: Change) -> tuple[int, int, str, str]:
        return SEVERITIES.index(change.severity), KINDS.index(change.kind), change.name, change.old or ""

    def said(change: Change) -> str:
        return str(sorted(change.detail.items(), key=lambda pair: pair[0]))

    ordered: list[Change] = []
    for _, alike in groupby(sorted(changes, key=place), place):
        one, *others = alike
        ordered += sorted((one, *others), key=said) if others else [one]
    return tuple(ordered)


def as_dicts(numbers: Mapping[str, ValuePair]) -> dict[str, dict[str, int | None]]:
    """Numbers as plain values.

    >>> as_dicts({"ops": (3, 4)})
    {'ops': {'old': 3, 'new': 4}}
    """
    return {word: {"old": old, "new": new} for word, (old, new) in numbers.items()}
