"""Changes between two graphs.

kind       added removed renamed moved changed rewired function-changed signature-changed
severity   signature > op > attribute > wiring > rename > cosmetic
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, fields, replace
from itertools import chain, groupby
from typing import Any, Literal

from graphviz_tb.model.change_content import (
    ChangeContent,
    FunctionBody,
    InputWire,
    Ports,
    Rewiring,
    Setting,
    SettingPart,
    SignaturePort,
    Unit,
    exchange_sides,
)
from graphviz_tb.model.formatting import replace_non_finite
from graphviz_tb.model.frozen import dataclass

ChangeKind = Literal[
    "added", "removed", "renamed", "moved", "changed", "rewired", "function-changed", "signature-changed"
]
INVERSE_CHANGE_KINDS: dict[ChangeKind, ChangeKind] = {"added": "removed", "removed": "added"}
Severity = Literal["signature", "op", "attribute", "wiring", "rename", "cosmetic"]

CHANGE_KINDS: tuple[ChangeKind, ...] = (
    "signature-changed", "removed", "added", "changed", "function-changed", "rewired", "moved", "renamed",
)  # fmt: skip
SEVERITIES: tuple[Severity, ...] = ("signature", "op", "attribute", "wiring", "rename", "cosmetic")
CHANGE_QUANTITIES = ("ops", "parameters", "flops")
ValuePair = tuple[int | None, int | None]  # a quantity before and after; None where it is not known
NamePair = tuple[str | None, str | None]  # the name in the old graph, the name in the new one


@dataclass(frozen=True, slots=True)
class NodeEdits:
    """Node-level edits, enough to make the new graph from the old one.

    Node ids and scope rows; pairs are (old, new). `added` are new nodes, `removed` old nodes, `scopes` and `nodes`
    those that were renamed, `ops` nodes whose type changed, `attributes` changed attributes with their key, `inputs`
    rewired nodes; `functions` are indices of functions with a changed signature, `added_functions` and
    `removed_functions` indices too; `versions` is true if the versions of the graph changed.
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

    def __add__(self, other: NodeEdits) -> NodeEdits:
        return concat_node_edits((self, other))

    def unmatched_nodes(self, new: bool) -> tuple[int, ...]:
        """Return the nodes of the new or the old graph that are missing from the other."""
        return self.added if new else self.removed

    def nodes_of(self, new: bool) -> list[int]:
        """Return the nodes of the new or the old graph that were added or removed, or whose op or attributes
        changed."""
        pairs = (*self.ops, *((old, other) for old, other, _ in self.attributes))
        return [*self.unmatched_nodes(new), *(pair[new] for pair in pairs)]

    def inverse(self) -> NodeEdits:
        """Return the edits that turn the new graph into the old one."""

        def back(pairs: tuple[tuple[int, int], ...]) -> tuple[tuple[int, int], ...]:
            return tuple((new, old) for old, new in pairs)

        return NodeEdits(
            self.removed, self.added, back(self.scopes), back(self.nodes), back(self.ops),
            tuple((new, old, key) for old, new, key in self.attributes), back(self.inputs), back(self.functions),
            self.removed_functions, self.added_functions, self.versions,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Change:
    """One change.

    `old` and `new` are names (None if it exists on one side only), `ops` the number of nodes concerned, `content` its
    details, `also` further places with an equal change, `inside` the changes in a function, `consequences` changes that
    only follow from this one: shapes of later weights, gradients, updates, saving.
    """

    kind: ChangeKind
    severity: Severity
    old: str | None
    new: str | None
    ops: int
    content: ChangeContent = field(hash=False)
    also: tuple[NamePair, ...] = ()
    inside: tuple[Change, ...] = ()
    consequences: tuple[Change, ...] = ()
    edits: NodeEdits = field(default_factory=NodeEdits, compare=False, repr=False)

    @property
    def name(self) -> str:
        """The place of the change: the new name, or the old name of a removed node."""
        return self.new if self.new is not None else self.old or ""

    @property
    def detail(self) -> Mapping[str, Any]:
        """The content as plain values (docs/diff.md)."""
        return self.content.to_json()

    @property
    def setting(self) -> Setting | None:
        """The content of a changed op or setting, None for any other change."""
        return self.content if isinstance(self.content, Setting) else None

    @property
    def unit(self) -> Unit | None:
        """The content of added or removed ops, scopes and functions, None for any other change."""
        return self.content if isinstance(self.content, Unit) else None

    @property
    def rewiring(self) -> Rewiring | None:
        """The content of changed inputs, None for any other change."""
        return self.content if isinstance(self.content, Rewiring) else None

    @property
    def key(self) -> str:
        """The name of the changed setting, "op" for another op type, "" for any other change."""
        return self.content.key if isinstance(self.content, Setting) else ""

    @property
    def further_settings(self) -> tuple[SettingPart, ...]:
        """Further settings that changed in the same edit."""
        return self.content.beside if isinstance(self.content, Setting) else ()

    @property
    def links(self) -> tuple[InputWire, ...]:
        """Changed inputs: of the node itself, or of other ops that were added, removed or changed with it."""
        if isinstance(self.content, Rewiring):
            return self.content.inputs
        return (self.content.links or ()) if isinstance(self.content, Setting | Unit) else ()

    @property
    def ports(self) -> tuple[SignaturePort, ...]:
        """Inputs and outputs of a signature that differ."""
        return self.content.ports if isinstance(self.content, Ports) else ()

    @property
    def function(self) -> str | None:
        """The added, removed or changed function, without its number; None for any other change."""
        return self.content.function if isinstance(self.content, Unit | FunctionBody) else None

    def all_edits(self) -> NodeEdits:
        """Return the edits of the change and of its consequences."""
        return concat_node_edits([self.edits, *(change.all_edits() for change in self.consequences)])

    @property
    def places(self) -> tuple[NamePair, ...]:
        """All places with this change, the first one first."""
        return (self.old, self.new), *self.also

    @property
    def place_count(self) -> int:
        """The number of places with this change."""
        return 1 + len(self.also)

    def inverse(self) -> Change:
        """Return the change from the new graph to the old one."""
        return replace(
            self,
            kind=INVERSE_CHANGE_KINDS.get(self.kind, self.kind),
            old=self.new,
            new=self.old,
            content=exchange_sides(self.content),
            also=tuple((new, old) for old, new in self.also),
            inside=sort_by_severity(change.inverse() for change in self.inside),
            consequences=sort_by_severity(change.inverse() for change in self.consequences),
            edits=self.edits.inverse(),
        )

    def to_json(self) -> dict[str, Any]:
        """Return the change as plain values."""
        entry: dict[str, Any] = {
            "kind": self.kind,
            "severity": self.severity,
            "old": self.old,
            "new": self.new,
            "ops": self.ops,
            "detail": replace_non_finite(dict(self.detail)),
            "also": [{"old": old, "new": new} for old, new in self.also],
        }
        if self.inside:
            entry["inside"] = [change.to_json() for change in self.inside]
        if self.consequences:
            entry["consequences"] = [change.to_json() for change in self.consequences]
        return entry


def unmatched_change(
    new: bool, severity: Severity, names: Sequence[str], ops: int, content: ChangeContent, edits: NodeEdits
) -> Change:
    """Return an addition (`new`) or a removal at the places of some names."""
    places: list[NamePair] = [(None, name) if new else (name, None) for name in names]
    kind: ChangeKind = "added" if new else "removed"
    return Change(kind, severity, *places[0], ops, content, tuple(places[1:]), edits=edits)


def concat_node_edits(edits: Iterable[NodeEdits]) -> NodeEdits:
    """Concatenate edits. Adding them one by one would copy all earlier ones each time.

    >>> concat_node_edits([NodeEdits(added=(3,)), NodeEdits(added=(5,))]).added
    (3, 5)
    """
    parts = list(edits)
    names = [field.name for field in fields(NodeEdits) if field.name != "versions"]  # only `versions` is not a tuple
    merged = {name: tuple(chain.from_iterable(getattr(part, name) for part in parts)) for name in names}
    return NodeEdits(**merged, versions=any(part.versions for part in parts))


def sort_by_severity(changes: Iterable[Change]) -> tuple[Change, ...]:
    """Sort changes by severity, the most severe first; among equals by kind, name and then every other field."""

    def severity_key(change: Change) -> tuple[int, int, str, str]:
        return SEVERITIES.index(change.severity), CHANGE_KINDS.index(change.kind), change.name, change.old or ""

    def detail_text(change: Change) -> str:
        return str(sorted(change.detail.items(), key=lambda pair: pair[0]))

    ordered: list[Change] = []
    for _, alike in groupby(sorted(changes, key=severity_key), severity_key):
        one, *others = alike
        ordered += sorted((one, *others), key=detail_text) if others else [one]
    return tuple(ordered)


def value_pairs_to_json(numbers: Mapping[str, ValuePair]) -> dict[str, dict[str, int | None]]:
    """Convert pairs of numbers to plain values.

    >>> value_pairs_to_json({"ops": (3, 4)})
    {'ops': {'old': 3, 'new': 4}}
    """
    return {word: {"old": old, "new": new} for word, (old, new) in numbers.items()}
