"""Where in the forward pass a change is: causes are listed from the inputs to the results, whatever their names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from graphviz_tb.diff.changes.layers import Layers
from graphviz_tb.limits import MAX_COSTED_NODES
from graphviz_tb.model.change import SEVERITIES, Change, sort_by_severity


def by_flow(layers: tuple[Layers, Layers], changes: Iterable[Change]) -> tuple[Change, ...]:
    """Sort changes by severity; of one severity those of the model first, in the order of flow, then by name. Graphs of
    very many nodes keep the order of names. `layers` are those of the old and of the new graph."""
    ordered = sort_by_severity(changes)
    if len(ordered) < 2 or any(len(side.side) > MAX_COSTED_NODES for side in layers):
        return ordered
    old, new = layers
    # By the place of what is there, of what went by the place that it had.
    ranks = [
        (SEVERITIES.index(change.severity), *min(first(new, nodes_after(change)), first(old, change.edits.removed)))
        for change in ordered
    ]
    return tuple(ordered[number] for number in sorted(range(len(ordered)), key=ranks.__getitem__))


def nodes_after(change: Change) -> Sequence[int]:
    """The new nodes of a change."""
    edits = change.edits
    pairs = (*edits.ops, *edits.inputs) if not edits.added else ()
    return [*edits.added, *(new for _, new in pairs), *(new for _, new, _ in edits.attributes)]


def first(layers: Layers, nodes: Iterable[int]) -> tuple[bool, float]:
    """Whether no node is in the model, and the place of the first that is; what only brings a value counts where it is
    used."""
    used = [layers.user(node) for node in nodes]
    places = [layers.depth[node] for node in used if layers.forward[node]]
    # Constants that nobody uses say no place, where anything else does.
    return not places, min(filter(None, places), default=0.0)
