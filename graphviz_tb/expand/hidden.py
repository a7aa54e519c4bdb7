"""Drop the children of a level that the reader hid."""

from __future__ import annotations

from dataclasses import replace

from graphviz_tb.model.columns import Bools
from graphviz_tb.model.metagraph import DrawingMask, Metagraph


def drop_hidden_children(level: Metagraph, hidden: Bools) -> Metagraph:
    """Return the level without hidden children, and without all lines, stubs and marks that lead to one, here or
    elsewhere.

    The rest keeps its order.
    """
    kept = [at for at, row in enumerate(level.children) if not hidden[row]]
    place = {old: new for new, old in enumerate(kept)}
    edges = [at for at, edge in enumerate(level.edges) if edge.source in place and edge.target in place]
    number = {old: new for new, old in enumerate(edges)}

    def renumber_mask(mask: DrawingMask) -> DrawingMask:
        return DrawingMask(
            tuple(place[at] for at in mask.in_extract if at in place),
            tuple(place[at] for at in mask.out_extract if at in place),
            frozenset(number[at] for at in mask.stubbed if at in number),
        )

    return replace(
        level,
        children=tuple(level.children[at] for at in kept),
        units=tuple(level.units[at] for at in kept),
        edges=tuple(
            replace(edge, source=place[edge.source], target=place[edge.target])
            for edge in (level.edges[at] for at in edges)
        ),
        bridges=tuple(
            replace(bridge, child=place[bridge.child])
            for bridge in level.bridges
            if bridge.child in place and not hidden[bridge.other]
        ),
        mask=renumber_mask(level.mask),
        automatic=renumber_mask(level.automatic),
        annotations=tuple(
            replace(stub, child=place[stub.child])
            for stub in level.annotations
            if stub.child in place and not hidden[stub.other]
        ),
        functions=tuple(row for row in level.functions if not hidden[row]),
        loops=tuple((place[at], count) for at, count in level.loops if at in place),
    )
