"""The basis of a diff: two graphs and their matching, seen from old to new whichever way they were matched."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from graphviz_tb.diff.changes.classes import LayerClasses
from graphviz_tb.diff.changes.layers import Layers
from graphviz_tb.diff.changes.names import shifts
from graphviz_tb.diff.changes.numbers import NodeQuantities
from graphviz_tb.diff.changes.positions import by_flow
from graphviz_tb.diff.changes.wiring import Rewire, rewires
from graphviz_tb.diff.columns.ids import exists
from graphviz_tb.diff.columns.side import GraphColumns
from graphviz_tb.diff.ledger import FUNCTION, SCOPE, LedgerEntry, ledger_of, name_of_entry
from graphviz_tb.diff.match.found import Reason
from graphviz_tb.diff.match.matching import WORDS, Matching
from graphviz_tb.diff.options import DiffOptions
from graphviz_tb.model.change import Change
from graphviz_tb.model.columns import Ints
from graphviz_tb.model.formatting import replace_non_finite
from graphviz_tb.model.graph import Graph


@dataclass(frozen=True, eq=False)
class MatchedGraphs:
    """The two graphs and their matching; `turned` where the matching runs from new to old.

    Nothing outside reads the matching by its own orientation: `to_new[node]` is the partner of an old node, -1 for
    none, `scope_to_new` the same for scopes, `functions` maps old functions to new ones.
    """

    matching: Matching
    layers: tuple[Layers, Layers]
    options: DiffOptions
    turned: bool = False

    @property
    def old_side(self) -> GraphColumns:
        """The columns of the old graph."""
        return self.matching.b if self.turned else self.matching.a

    @property
    def new_side(self) -> GraphColumns:
        """The columns of the new graph."""
        return self.matching.a if self.turned else self.matching.b

    @property
    def old(self) -> Graph:
        """The old graph."""
        return self.old_side.graph

    @property
    def new(self) -> Graph:
        """The new graph."""
        return self.new_side.graph

    @property
    def to_new(self) -> Ints:
        """The new node of each old one."""
        return self.matching.to_a if self.turned else self.matching.to_b

    @property
    def scope_to_new(self) -> Ints:
        """The new scope of each old one."""
        return self.matching.scope_to_a if self.turned else self.matching.scope_to_b

    @property
    def to_old(self) -> Ints:
        """The old node of each new one."""
        return self.matching.to_b if self.turned else self.matching.to_a

    @property
    def scope_to_old(self) -> Ints:
        """The old scope of each new one."""
        return self.matching.scope_to_b if self.turned else self.matching.scope_to_a

    @cached_property
    def functions(self) -> Mapping[int, int]:
        """The new function of each old one."""
        known = self.matching.functions
        return {other: mine for mine, other in known.items()} if self.turned else known

    @property
    def both_layers(self) -> tuple[Layers, Layers]:
        """The layers of the old and of the new graph."""
        return self.layers[::-1] if self.turned else self.layers

    @cached_property
    def numbers(self) -> NodeQuantities:
        """The costs of the ops of both graphs."""
        return NodeQuantities(*self.both_layers, self.to_new)

    @cached_property
    def classes(self) -> tuple[LayerClasses, LayerClasses]:
        """The classes of the layers of the old and of the new graph."""
        old, new = self.both_layers
        return LayerClasses(old), LayerClasses(new)

    def in_order(self, changes: Iterable[Change]) -> tuple[Change, ...]:
        """Changes by severity, then from the inputs to the results."""
        return by_flow(self.both_layers, changes)

    def layers_of(self, change: Change) -> dict[str, list[dict[str, str]]]:
        """The layers that a change is about, `old` and `new`, those that were there before and are still in both."""
        edits, (before, after) = change.edits, self.classes
        pairs = (*edits.ops, *edits.inputs) if not (edits.added or edits.removed) else edits.ops
        kept = [*pairs, *((old, new) for old, new, _ in edits.attributes)]
        old = {before.layers.of(node) for node in (*edits.removed, *(pair[0] for pair in kept))}
        new = {after.layers.of(node) for node in (*edits.added, *(pair[1] for pair in kept))}
        old |= partners(new, self.to_old, self.scope_to_old)
        new |= partners(old, self.to_new, self.scope_to_new)
        return {"old": before.named(old), "new": after.named(new)}

    def inverted(self) -> MatchedGraphs:
        """Return the diff seen from the other side: old and new exchanged."""
        return replace(self, turned=not self.turned)

    def rewires(self, old: int, new: int) -> list[Rewire]:
        """Return how the inputs of two matched nodes differ."""
        if not self.turned:
            return rewires(self.matching, old, new)
        wires = rewires(self.matching, new, old)
        return [replace(wire, old=old, new=new, before=wire.after, after=wire.before) for wire in wires]

    def renumbered(self) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
        """Scopes and nodes that only have another number, because members of their series came or went."""
        scopes, nodes = shifts(self.matching)
        if not self.turned:
            return scopes, nodes
        return [(new, old) for old, new in scopes], [(new, old) for old, new in nodes]

    def pairs(self) -> Iterator[tuple[int, int]]:
        """Matched nodes, old and new."""
        mine, others = (column.tolist() for column in self.matching.together())
        return zip(*((others, mine) if self.turned else (mine, others)), strict=True)

    def matches(self) -> Iterator[tuple[str, str, str]]:
        """Every matched node: its old name, its new name, and why."""
        reasons = self.matching.reason
        for old, new in self.pairs():
            why = WORDS[Reason(int(reasons[new if self.turned else old]))]
            yield self.old.name[old], self.new.name[new], why


def partners(layers: Collection[int], nodes: Ints, scopes: Ints) -> set[int]:
    """The layers on the other side of those that have a partner there."""
    found = {int(scopes[layer]) for layer in layers if exists(layer) and exists(scopes[layer])}
    return found | {-1 - int(nodes[-1 - layer]) for layer in layers if not exists(layer) and exists(nodes[-1 - layer])}


def entries_old_to_new(source: MatchedGraphs) -> tuple[LedgerEntry, ...]:
    """The ledger of two matched graphs, from old to new whichever way they were matched."""
    entries = ledger_of(source.matching, source.options)
    return tuple(entry.inverted() for entry in entries) if source.turned else entries


def entries_by_place(source: MatchedGraphs, entries: Sequence[LedgerEntry]) -> list[dict[str, Any]]:
    """Entries as plain values, those of one node, scope or function together: its name may be long."""
    sides = source.old_side, source.new_side
    places: dict[tuple[str, int, int], list[dict[str, Any]]] = {}
    for number, entry in enumerate(entries):
        what = entry.aspect if entry.aspect in (SCOPE, FUNCTION) else "node"
        said = {"before": replace_non_finite(entry.before), "after": replace_non_finite(entry.after)}
        told = {"id": number, "aspect": entry.aspect, "key": entry.key, **said}
        places.setdefault((what, entry.old, entry.new), []).append(told)
    return [
        {"at": what, "old": name_of_entry(sides[0], what, old), "new": name_of_entry(sides[1], what, new), "entries": members}
        for (what, old, new), members in places.items()
    ]
