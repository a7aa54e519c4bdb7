"""List the lines and ports of one level, and the constraints that its order puts on the ports of its open children."""

from __future__ import annotations

from collections.abc import Container, Iterable
from itertools import groupby

from graphviz_tb.limits import MAX_PORTS_PER_SIDE
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.metagraph import Bridge, DrawingMask, Metaedge, Metagraph, main_path_weight
from graphviz_tb.model.skeleton import PortSlot, Skeleton, Wire

# Port constraints that a level puts on an open child: the order of its bridges, and which run against the flow.
#
# They depend only on the order of that level, not on other open groups.

Neighbour = tuple[int, bool]  # row, inbound
ChildSide = tuple[int, bool]  # position of a child, whether this is the side where the flow begins


@dataclass(frozen=True, slots=True)
class PortConstraints:
    """Direction and order of a group's bridges in the level around it.

    `turned` are the neighbours whose line runs against the flow. `order` lists the neighbours on the first flow side,
    then those on the last, each from left to right; sides with a single neighbour are left out. If `falling`, the flow
    of the group runs against the ranks.
    """

    turned: frozenset[Neighbour] = frozenset()
    order: tuple[Neighbour, ...] = ()
    falling: bool = False


def child_port_constraints(
    metagraph: Metagraph, skeleton: Skeleton, children: Container[int]
) -> dict[int, PortConstraints]:
    """Return the port constraints of the given children of a level, by position.

    >>> from graphviz_tb.arrange.level import arrange
    >>> from graphviz_tb.model.metagraph import Metaedge
    >>> edges = (Metaedge(0, 1, 1, 0, 0), Metaedge(1, 0, 0, 0, 1))
    >>> level = Metagraph(0, (1, 5), (2, 2), edges, ())
    >>> child_port_constraints(level, arrange(level), (0,))[0].order
    ((5, False), (5, True))
    """
    place = {item: at for part in skeleton.parts for row in part for at, item in enumerate(row)}
    turned: dict[int, set[Neighbour]] = {}
    sides: dict[ChildSide, list[tuple[list[int], Neighbour]]] = {}
    falling = set(skeleton.falling)
    for wire in skeleton.wires:
        for child, other in _child_ends(metagraph, wire):
            if child not in children:
                continue
            is_turned = wire.turned or child in falling
            if is_turned:
                turned.setdefault(child, set()).add(other)
            # Sort by the places on the way from the child outwards, so that lines are compared where they part.
            chain = wire.chain[::-1] if other[1] else wire.chain
            places = [place[item] for item in chain[1:]]
            sides.setdefault((child, other[1] is not is_turned), []).append((places, other))
    order: dict[int, list[Neighbour]] = {child: [] for child, _ in sides}
    for first in (True, False):
        for child in order:
            neighbours = sorted(sides.get((child, first), ()))
            if len(neighbours) > 1:
                order[child] += [other for _, other in neighbours]
    return {
        child: PortConstraints(frozenset(turned.get(child, ())), tuple(order.get(child, ())), child in falling)
        for child in dict.fromkeys([*order, *(child for child in skeleton.falling if child in children)])
    }


def _child_ends(metagraph: Metagraph, wire: Wire) -> list[tuple[int, Neighbour]]:
    """Return the children at which a wire ends, each with its neighbour there."""
    if wire.bridge >= 0:
        bridge = metagraph.bridges[wire.bridge]
        return [(bridge.child, (bridge.other, bridge.inbound))]
    edge = metagraph.edges[wire.edge]
    source, target = metagraph.children[edge.source], metagraph.children[edge.target]
    return [(edge.source, (target, False)), (edge.target, (source, True))]


# The lines of one level: metaedges between drawn children, and bridges to ports on the frame.

TIER_BY_KIND = {"data": 0, "control": 1, "reference": 2}
Turned = frozenset[Neighbour]
PortSide = tuple[bool, Neighbour]  # flow side, (other row, inbound)
BridgeTensors = tuple[int, int, tuple[tuple[int, int], ...]]  # child, bridge or -1, outputs


@dataclass(frozen=True, slots=True)
class ArrangeLine:
    """One line to draw, from item `source` to item `target`; `edge` or `bridge` is -1.

    - `tier`: data 0, control 1, reference 2; lines of a higher tier are turned first.
    - `thick`: the `line_load`; 0 at the box of a surplus.
    - `back`: the line closes a loop and is turned, unless that would close another cycle.
    - `training`: as in `Metaedge`.
    """

    source: int
    target: int
    edge: int
    bridge: int
    tier: int
    weight: int
    thick: int
    back: bool = False
    training: int = 0


def drawn_edges(metagraph: Metagraph, mask: DrawingMask) -> list[int]:
    """Return the indices of the metaedges that are drawn as lines under `mask`."""
    away = mask.extracted_children
    return [
        index
        for index, edge in enumerate(metagraph.edges)
        if index not in mask.stubbed and edge.source not in away and edge.target not in away
    ]


def drawn_bridges(metagraph: Metagraph, mask: DrawingMask) -> list[int]:
    """Return the indices of the bridges that are drawn as lines under `mask`."""
    away = mask.extracted_children
    return [i for i, bridge in enumerate(metagraph.bridges) if bridge.drawable and bridge.child not in away]


def frame_ports(metagraph: Metagraph, bridges: Iterable[int], outside: PortConstraints) -> list[PortSlot]:
    """Return the ports of the frame, those of the first side first.

    Each neighbour and direction has a port; adjacent neighbours that receive the same tensors share one. Beyond
    `MAX_PORTS_PER_SIDE` ports on a side, those with the fewest edges are merged into one. Ports have the order of their
    neighbours outside, or that of `bridges` if there is none, with the merged port last.
    """
    outer_place = {other: at for at, other in enumerate(outside.order)}

    def place_outside(other: Neighbour) -> int:
        return outer_place.get(other, len(outer_place))

    weight: dict[PortSide, int] = {}
    tensors: dict[PortSide, list[BridgeTensors]] = {}
    for index in bridges:
        bridge = metagraph.bridges[index]
        place = port_side(bridge, outside.turned)
        weight[place] = weight.get(place, 0) + _flat_edge_count(bridge)
        tensors.setdefault(place, []).append(bridge_tensors(bridge, index))
    slots: list[PortSlot] = []
    for first in (True, False):
        sides = sorted([place for place in weight if place[0] is first], key=lambda place: place_outside(place[1]))
        groups = [[*equal] for _, equal in groupby(sides, key=lambda place: tensors[place])]
        kept = sorted(groups, key=lambda equal: -sum(map(weight.__getitem__, equal)))[:MAX_PORTS_PER_SIDE]
        side = [PortSlot(first, tuple(place[1] for place in equal)) for equal in groups if equal in kept]
        rest = tuple(place[1] for equal in groups if equal not in kept for place in equal)
        if rest:
            # The merged port is in the middle of its neighbours.
            side.append(PortSlot(first, rest))
        slots += sorted(side, key=lambda slot: place_outside(slot.others[len(slot.others) // 2]))
    return slots


def bridge_tensors(bridge: Bridge, index: int) -> BridgeTensors:
    """Return a key that is equal for bridges on which neighbours receive the same tensors of a child, and unique for
    other bridges."""
    outputs = bridge.carried_tensors.outputs if bridge.kind == "data" and not bridge.inbound else ()
    return bridge.child, -1 if outputs else index, outputs


def frame_port_items(base: int, slots: list[PortSlot]) -> dict[PortSide, int]:
    return {(slot.first, other): base + i for i, slot in enumerate(slots) for other in slot.others}


def level_lines(
    metagraph: Metagraph, edges: list[int], bridges: list[int], item: dict[PortSide, int], turned: Turned
) -> list[ArrangeLine]:
    """Return all lines of the level: metaedges, then bridges, each in file order."""
    result = []
    surplus = metagraph.surplus_position
    for index in edges:
        edge = metagraph.edges[index]
        weight = edge.tensors + edge.control + edge.reference
        result.append(
            ArrangeLine(
                edge.source,
                edge.target,
                index,
                -1,
                TIER_BY_KIND[edge.kind],
                weight,
                0 if surplus in (edge.source, edge.target) else line_load(edge),
                edge.back,
                edge.training,
            )
        )
    for index in bridges:
        bridge = metagraph.bridges[index]
        port = item[port_side(bridge, turned)]
        ends = (port, bridge.child) if bridge.inbound else (bridge.child, port)
        load = 0 if bridge.child == surplus else line_load(bridge)
        result.append(ArrangeLine(*ends, -1, index, TIER_BY_KIND[bridge.kind], _flat_edge_count(bridge), load))
    return result


def line_load(line: Metaedge | Bridge) -> int:
    """Return the `main_path_weight` of a data line; 0 for control, reference and training lines."""
    return main_path_weight(line) if line.kind == "data" and not line.training else 0


def port_side(bridge: Bridge, turned: Turned) -> PortSide:
    """Return the flow side on which a bridge leaves the frame, and its neighbour."""
    other = (bridge.other, bridge.inbound)
    # An inbound bridge is on the first side, unless its line is turned outside.
    return bridge.inbound is not (other in turned), other


def _flat_edge_count(bridge: Bridge) -> int:
    return bridge.tensors + bridge.control + bridge.reference
