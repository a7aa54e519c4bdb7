"""Where in the forward pass a change is: causes are listed from the inputs to the results, whatever their names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from graphviz_tb.algorithms.topological import longest_paths, topological_cut
from graphviz_tb.diff.changes.layers import Layers
from graphviz_tb.limits import NODES_COSTED
from graphviz_tb.model.change import SEVERITIES, Change, in_order


def by_flow(layers: tuple[Layers, Layers], changes: Sequence[Change]) -> tuple[Change, ...]:
    """Sort changes by severity; of one severity those of the model first, in the order of flow, then by name. Graphs of
    very many nodes keep the order of names."""
    if len(changes) < 2 or any(len(side.side) > NODES_COSTED for side in layers):
        return tuple(changes)
    old, new = (Positions(side) for side in layers)
    # By the place of what is there, of what went by the place that it had.
    ordered = in_order(changes)
    ranks = [
        (SEVERITIES.index(change.severity), *min(new.first(nodes_after(change)), old.first(nodes_before(change))))
        for change in ordered
    ]
    return tuple(ordered[number] for number in sorted(range(len(ordered)), key=ranks.__getitem__))


def nodes_after(change: Change) -> Iterable[int]:
    """The new nodes of a change."""
    edits = change.edits
    pairs = (*edits.ops, *edits.inputs) if not edits.added else ()
    return [*edits.added, *(new for _, new in pairs), *(new for _, new, _ in edits.attributes)]


def nodes_before(change: Change) -> Iterable[int]:
    """The old nodes of a change that have no partner."""
    return change.edits.removed


@dataclass(eq=False)
class Positions:
    """How far behind the inputs the ops of one side are, as a share of the longest way."""

    layers: Layers

    @cached_property
    def depth(self) -> list[float]:
        """The length of the longest way to each node, by the longest of all."""
        graph = self.layers.side.graph
        after: list[list[int]] = [[] for _ in range(len(graph))]
        for source, target in zip(graph.source.tolist(), graph.target.tolist(), strict=True):
            after[source].append(target)
        depth = longest_paths(after, topological_cut(after))
        most = max(depth, default=0) or 1
        return [steps / most for steps in depth]

    def first(self, nodes: Iterable[int]) -> tuple[bool, float]:
        """Whether no node is in the model, and the place of the first that is; what only brings a value counts where it
        is used."""
        used = [self.layers.user(node) for node in nodes]
        places = [self.depth[node] for node in used if self.layers.forward[node]]
        # Constants that nobody uses say no place, where anything else does.
        return not places, min(filter(None, places), default=0.0)
