"""Port constraints that a level puts on an open child: which bridges run against the flow, and their order.

They come from the order of that level alone, not from what else is open.
"""

from __future__ import annotations

from collections.abc import Container

from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.metagraph import Metagraph
from graphviz_tb.model.skeleton import Skeleton, Wire

Neighbour = tuple[int, bool]  # its row, inbound
ChildSide = tuple[int, bool]  # position of a child, whether it is the side where the flow begins


@dataclass(frozen=True, slots=True)
class PortConstraints:
    """Direction and order of a group's bridges in the level around it.

    `turned` are the neighbours whose line runs against the flow. `order` lists those of the first flow side, then those
    of the last, each from left to right, for sides with more than one.
    """

    turned: frozenset[Neighbour] = frozenset()
    order: tuple[Neighbour, ...] = ()


def child_port_constraints(
    metagraph: Metagraph, skeleton: Skeleton, children: Container[int]
) -> dict[int, PortConstraints]:
    """Return the port constraints of the given children of a level, by position.

    >>> from graphviz_tb.arrange import arrange
    >>> from graphviz_tb.model.metagraph import Metaedge
    >>> edges = (Metaedge(0, 1, 1, 0, 0), Metaedge(1, 0, 0, 0, 1))
    >>> level = Metagraph(0, (1, 5), (2, 2), edges, ())
    >>> child_port_constraints(level, arrange(level), (0,))
    {0: PortConstraints(turned=frozenset({(5, True)}), order=((5, False), (5, True)))}
    """
    place = {item: at for part in skeleton.parts for row in part for at, item in enumerate(row)}
    turned: dict[int, set[Neighbour]] = {}
    sides: dict[ChildSide, list[tuple[list[int], Neighbour]]] = {}
    for wire in skeleton.wires:
        for child, other in child_ends(metagraph, wire):
            if child not in children:
                continue
            if wire.turned:
                turned.setdefault(child, set()).add(other)
            # From the child outwards, rank by rank: paths are compared where they diverge.
            chain = wire.chain[::-1] if other[1] else wire.chain
            way = [place[item] for item in chain[1:]]
            sides.setdefault((child, other[1] is not wire.turned), []).append((way, other))
    order: dict[int, list[Neighbour]] = {child: [] for child, _ in sides}
    for first in (True, False):
        for child in order:
            found = sorted(sides.get((child, first), ()))
            if len(found) > 1:
                order[child] += [other for _, other in found]
    return {child: PortConstraints(frozenset(turned.get(child, ())), tuple(found)) for child, found in order.items()}


def child_ends(metagraph: Metagraph, wire: Wire) -> list[tuple[int, Neighbour]]:
    """Return the children at which a wire ends, each with its neighbour there."""
    if wire.bridge >= 0:
        bridge = metagraph.bridges[wire.bridge]
        return [(bridge.child, (bridge.other, bridge.inbound))]
    edge = metagraph.edges[wire.edge]
    source, target = metagraph.children[edge.source], metagraph.children[edge.target]
    return [(edge.source, (target, False)), (edge.target, (source, True))]
