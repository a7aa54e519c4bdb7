"""The lines of one level: metaedges between drawn children, and bridges to ports on the frame."""

from __future__ import annotations

from collections.abc import Iterable

from graphviz_tb.arrange.around import Neighbour, PortConstraints
from graphviz_tb.limits import MAX_PORTS_PER_SIDE
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.metagraph import Bridge, DrawingMask, Metaedge, Metagraph
from graphviz_tb.model.skeleton import PortSlot
from graphviz_tb.model.thickness import main_path_weight

TIER_BY_KIND = {"data": 0, "control": 1, "reference": 2}
Turned = frozenset[Neighbour]
PortSide = tuple[bool, Neighbour]  # flow side, (other row, inbound)


@dataclass(frozen=True, slots=True)
class ArrangeLine:
    """One line to draw, from item `source` to item `target`; `edge` or `bridge` is -1.

    `tier` ranks the kinds, those to turn first being highest: data 0, control 1, reference 2. `line_load` is the
    thickness
    of a data line, 0 for others. `back`: it closes a loop, and is turned unless that would close another.
    """

    source: int
    target: int
    edge: int
    bridge: int
    tier: int
    weight: int
    thick: int
    back: bool = False


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
    """Return the ports of the frame: one for each neighbour and direction; beyond eight on a side the smallest share
    one.

    Ports of the first side come first. On each side they follow the order of their neighbours outside; without one, the
    order of `bridges`, with the shared port at the end.
    """
    known = {other: at for at, other in enumerate(outside.order)}

    def place_outside(other: Neighbour) -> int:
        return known.get(other, len(known))

    weight: dict[PortSide, int] = {}
    for index in bridges:
        bridge = metagraph.bridges[index]
        place = port_side(bridge, outside.turned)
        weight[place] = weight.get(place, 0) + flat_edge_count(bridge)
    slots: list[PortSlot] = []
    for first in (True, False):
        here = sorted([place for place in weight if place[0] is first], key=lambda place: place_outside(place[1]))
        own = set(sorted(here, key=lambda place: -weight[place])[:MAX_PORTS_PER_SIDE])
        side = [PortSlot(first, (place[1],)) for place in here if place in own]
        rest = tuple(place[1] for place in here if place not in own)
        if rest:
            # One port for the rest, in the middle of its neighbours.
            side.append(PortSlot(first, rest))
        slots += sorted(side, key=lambda slot: place_outside(slot.others[len(slot.others) // 2]))
    return slots


def frame_port_items(base: int, slots: list[PortSlot]) -> dict[PortSide, int]:
    """Return the item of each neighbour's port."""
    return {(slot.first, other): base + i for i, slot in enumerate(slots) for other in slot.others}


def level_lines(
    metagraph: Metagraph, edges: list[int], bridges: list[int], item: dict[PortSide, int], turned: Turned
) -> list[ArrangeLine]:
    """Return all lines of the level: metaedges, then bridges, each in file order."""
    result = []
    for index in edges:
        edge = metagraph.edges[index]
        weight = edge.tensors + edge.control + edge.reference
        result.append(
            ArrangeLine(
                edge.source, edge.target, index, -1, TIER_BY_KIND[edge.kind], weight, line_load(edge), edge.back
            )
        )
    for index in bridges:
        bridge = metagraph.bridges[index]
        port = item[port_side(bridge, turned)]
        ends = (port, bridge.child) if bridge.inbound else (bridge.child, port)
        result.append(
            ArrangeLine(*ends, -1, index, TIER_BY_KIND[bridge.kind], flat_edge_count(bridge), line_load(bridge))
        )
    return result


def line_load(line: Metaedge | Bridge) -> int:
    """Return the `main_path_weight` of a data line; 0 for control lines and lines with references."""
    return main_path_weight(line) if line.kind == "data" else 0


def port_side(bridge: Bridge, turned: Turned) -> PortSide:
    """Return the flow side on which a bridge leaves the frame, and its neighbour."""
    other = (bridge.other, bridge.inbound)
    # Inbound bridges are on the first side, unless their line is turned outside.
    return bridge.inbound is not (other in turned), other


def flat_edge_count(bridge: Bridge) -> int:
    """Return how many flat edges the bridge represents."""
    return bridge.tensors + bridge.control + bridge.reference
