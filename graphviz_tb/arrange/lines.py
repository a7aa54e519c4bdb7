"""The lines of one level, and the constraints that its order puts on the ports of its open children."""

from __future__ import annotations

from collections.abc import Container, Iterable
from itertools import groupby

from graphviz_tb.limits import MAX_PORTS_PER_SIDE
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.metagraph import Bridge, DrawingMask, Metaedge, Metagraph, main_path_weight
from graphviz_tb.model.skeleton import PortSlot, Skeleton, Wire

# Port constraints that a level puts on an open child: which bridges run against the flow, and their order.
#
# They come from the order of that level alone, not from what else is open.

Neighbour = tuple[int, bool]  # its row, inbound
ChildSide = tuple[int, bool]  # position of a child, whether it is the side where the flow begins


@dataclass(frozen=True, slots=True)
class PortConstraints:
    """Direction and order of a group's bridges in the level around it.

    `turned` are the neighbours whose line runs against the flow. `order` lists those of the first flow side, then those
    of the last, each from left to right, for sides with more than one. `falling`: its flow runs against the ranks.
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
            against = wire.turned or child in falling
            if against:
                turned.setdefault(child, set()).add(other)
            # From the child outwards, rank by rank: paths are compared where they diverge.
            chain = wire.chain[::-1] if other[1] else wire.chain
            way = [place[item] for item in chain[1:]]
            sides.setdefault((child, other[1] is not against), []).append((way, other))
    order: dict[int, list[Neighbour]] = {child: [] for child, _ in sides}
    for first in (True, False):
        for child in order:
            found = sorted(sides.get((child, first), ()))
            if len(found) > 1:
                order[child] += [other for _, other in found]
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
TakenTensors = tuple[int, int, tuple[tuple[int, int], ...]]  # child, bridge or -1, outputs


@dataclass(frozen=True, slots=True)
class ArrangeLine:
    """One line to draw, from item `source` to item `target`; `edge` or `bridge` is -1.

    `tier` ranks the kinds, those to turn first being highest: data 0, control 1, reference 2. `thick` is the
    `line_load` of a data line, 0 for others, and at what only one member of a stack has.
    `back`: it closes a loop, and is turned unless that would close another.
    `training`: as in `Metaedge`.
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
    """Return the indices of the metaedges that `mask` leaves to be drawn as lines."""
    away = mask.extracted_children
    return [
        index
        for index, edge in enumerate(metagraph.edges)
        if index not in mask.stubbed and edge.source not in away and edge.target not in away
    ]


def drawn_bridges(metagraph: Metagraph, mask: DrawingMask) -> list[int]:
    """Return the indices of the bridges that `mask` leaves to be drawn as lines."""
    away = mask.extracted_children
    return [i for i, bridge in enumerate(metagraph.bridges) if bridge.drawable and bridge.child not in away]


def frame_ports(metagraph: Metagraph, bridges: Iterable[int], outside: PortConstraints) -> list[PortSlot]:
    """Return the ports of the frame: one for each neighbour and direction, or for neighbours side by side that take the
    same tensors; beyond eight on a side the smallest share one.

    Ports of the first side come first. On each side they follow the order of their neighbours outside; without one, the
    order of `bridges`, with the shared port at the end.
    """
    known = {other: at for at, other in enumerate(outside.order)}

    def place_outside(other: Neighbour) -> int:
        return known.get(other, len(known))

    weight: dict[PortSide, int] = {}
    taken: dict[PortSide, tuple[TakenTensors, ...]] = {}
    for index in bridges:
        bridge = metagraph.bridges[index]
        place = port_side(bridge, outside.turned)
        weight[place] = weight.get(place, 0) + _flat_edge_count(bridge)
        taken[place] = (*taken.get(place, ()), taken_tensors(bridge, index))
    slots: list[PortSlot] = []
    for first in (True, False):
        here = sorted([place for place in weight if place[0] is first], key=lambda place: place_outside(place[1]))
        joined = [[*equal] for _, equal in groupby(here, key=lambda place: taken[place])]
        own = sorted(joined, key=lambda equal: -sum(map(weight.__getitem__, equal)))[:MAX_PORTS_PER_SIDE]
        side = [PortSlot(first, tuple(place[1] for place in equal)) for equal in joined if equal in own]
        rest = tuple(place[1] for equal in joined if equal not in own for place in equal)
        if rest:
            # One port for the rest, in the middle of its neighbours.
            side.append(PortSlot(first, rest))
        slots += sorted(side, key=lambda slot: place_outside(slot.others[len(slot.others) // 2]))
    return slots


def taken_tensors(bridge: Bridge, index: int) -> TakenTensors:
    """Return what a neighbour outside takes from a child: equal for those that take the same data, else with the
    `index` of the bridge."""
    outputs = bridge.carried_tensors.outputs if bridge.kind == "data" and not bridge.inbound else ()
    return bridge.child, -1 if outputs else index, outputs


def frame_port_items(base: int, slots: list[PortSlot]) -> dict[PortSide, int]:
    return {(slot.first, other): base + i for i, slot in enumerate(slots) for other in slot.others}


def level_lines(
    metagraph: Metagraph, edges: list[int], bridges: list[int], item: dict[PortSide, int], turned: Turned
) -> list[ArrangeLine]:
    """Return all lines of the level: metaedges, then bridges, each in file order."""
    result = []
    beside = metagraph.surplus_position
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
                0 if beside in (edge.source, edge.target) else line_load(edge),
                edge.back,
                edge.training,
            )
        )
    for index in bridges:
        bridge = metagraph.bridges[index]
        port = item[port_side(bridge, turned)]
        ends = (port, bridge.child) if bridge.inbound else (bridge.child, port)
        load = 0 if bridge.child == beside else line_load(bridge)
        result.append(ArrangeLine(*ends, -1, index, TIER_BY_KIND[bridge.kind], _flat_edge_count(bridge), load))
    return result


def line_load(line: Metaedge | Bridge) -> int:
    """Return the `main_path_weight` of a data line; 0 for control lines, lines with references, and those of
    training."""
    return main_path_weight(line) if line.kind == "data" and not line.training else 0


def port_side(bridge: Bridge, turned: Turned) -> PortSide:
    """Return the flow side on which a bridge leaves the frame, and its neighbour."""
    other = (bridge.other, bridge.inbound)
    # Inbound bridges are on the first side, unless their line is turned outside.
    return bridge.inbound is not (other in turned), other


def _flat_edge_count(bridge: Bridge) -> int:
    return bridge.tensors + bridge.control + bridge.reference
