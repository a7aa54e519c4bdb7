"""Layers that changed places."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

from graphviz_tb.diff.changes.layers import Layers
from graphviz_tb.diff.changes.several import edits_of, places_of
from graphviz_tb.diff.columns.ids import exists
from graphviz_tb.diff.match.matching import Matching
from graphviz_tb.model.change import Change
from graphviz_tb.model.paths import last_segment


def reordered(m: Matching, layers: tuple[Layers, Layers], changes: list[Change]) -> Change:
    """Layers that changed places."""
    first = changes[0]
    wires = [
        {"node": {"old": change.old, "new": change.new}, **wire}
        for change in changes
        for wire in change.detail["inputs"]
    ]
    detail: dict[str, Any] = {"inputs": wires}
    pairs = [pair for change in changes for pair in change.edits.inputs]
    new = order(layers[1], [new for _, new in pairs], layers[1].name)
    old = order(layers[0], [old for old, _ in pairs], lambda layer: partner_name(m, layers, layer))
    # The same layers in another order; without what is equal at both ends.
    if set(old) == set(new) and old != new:
        while old[-1] == new[-1]:
            old.pop(), new.pop()
        while old[0] == new[0]:
            old.pop(0), new.pop(0)
        detail["order"] = {"old": old, "new": new}
    ops = sum(change.ops for change in changes)
    also = places_of(changes, first)
    return Change("rewired", "wiring", first.old, first.new, ops, detail, also, edits=edits_of(changes))


def partner_name(m: Matching, layers: tuple[Layers, Layers], layer: int) -> str:
    """The name that an old layer has now."""
    partner = int(m.scope_to_b[layer] if exists(layer) else m.to_b[-1 - layer])
    if not exists(partner):
        return layers[0].name(layer)
    return layers[1].name(partner if exists(layer) else -1 - partner)


def order(layers: Layers, nodes: Sequence[int], name_of: Callable[[int], str]) -> list[str]:
    """The layers of nodes as data runs through them, by the names that they have below their scope."""
    graph = layers.side.graph
    mine = {layers.of(node) for node in nodes if layers.forward[node]}
    before: dict[int, set[int]] = {layer: set() for layer in mine}
    for node in nodes:
        for source in graph.source[layers.side.in_edges(node)].tolist():
            here, there = layers.of(node), layers.of(source)
            if here in mine and there in mine and here != there:
                before[here].add(there)
    after = defaultdict(list)
    for layer, ahead in before.items():
        for other in ahead:
            after[other].append(layer)
    names: list[str] = []
    missing = {layer: len(ahead) for layer, ahead in before.items()}
    ready = [layer for layer, count in missing.items() if not count]
    # Kahn's order, rank by rank; layers on a cycle are left out.
    while ready:
        rank = sorted((name_of(layer), layer) for layer in ready)
        names += [last_segment(name) for name, _ in rank]
        ready = []
        for later in (later for _, layer in rank for later in after[layer]):
            missing[later] -= 1
            if not missing[later]:
                ready.append(later)
    return names
