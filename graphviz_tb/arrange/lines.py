"""The lines of one level: metaedges between drawn children, and bridges to ports on the frame."""

from __future__ import annotations

from collections.abc import Iterable

from graphviz_tb.arrange.around import Neighbour, PortConstraints
from graphviz_tb.limits import PORTS_OF_SIDE
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.metagraph import Bridge, Mask, Metaedge, Metagraph
from graphviz_tb.model.skeleton import PortSlot
from graphviz_tb.model.thickness import load

TIERS = {"data": 0, "control": 1, "reference": 2}
Turned = frozenset[Neighbour]
PortSide = tuple[bool, Neighbour]  # flow side, (other row, inbound)


@dataclass(frozen=True, slots=True)
class ArrangeLine:
    """One line to draw, from item `source` to item `target`; `edge` or `bridge` is -1.

    `tier` orders the kinds by how unwillingly they are turned: reference 2, control 1, data 0. `thick` is how thick a
    line of data is drawn, 0 for other lines. `back`: it closes a loop, and is turned unless that would close another.
    """

    source: int
    target: int
    edge: int
    bridge: int
    tier: int
    weight: int
    thick: int
    back: bool = False


def core_edges(metagraph: Metagraph, mask: Mask) -> list[int]:
    """Indices of the metaedges that `mask` leaves to be drawn as lines."""
    away = mask.extracted
    return [
        index
        for index, edge in enumerate(metagraph.edges)
        if index not in mask.stubbed and edge.source not in away and edge.target not in away
    ]


def core_bridges(metagraph: Metagraph, mask: Mask) -> list[int]:
    """Indices of the bridges that `mask` leaves to be drawn as lines."""
    away = mask.extracted
    return [i for i, bridge in enumerate(metagraph.bridges) if bridge.drawable and bridge.child not in away]


def ports(metagraph: Metagraph, bridges: Iterable[int], outside: PortConstraints) -> list[PortSlot]:
    """The ports of the frame: one for each neighbour and direction, past eight on a side one for the smallest.

    Before: `bridges` are indices of bridges. After: the ports of the first side, then those of the last; on each
    side as their neighbours lie outside; where nothing is known of that, in the order of `bridges`, the shared port at
    the end.
    """
    known = {other: at for at, other in enumerate(outside.order)}

    def lies(other: Neighbour) -> int:
        return known.get(other, len(known))

    weight: dict[PortSide, int] = {}
    for index in bridges:
        bridge = metagraph.bridges[index]
        place = where(bridge, outside.turned)
        weight[place] = weight.get(place, 0) + total(bridge)
    slots: list[PortSlot] = []
    for first in (True, False):
        here = sorted([place for place in weight if place[0] is first], key=lambda place: lies(place[1]))
        own = set(sorted(here, key=lambda place: -weight[place])[:PORTS_OF_SIDE])
        side = [PortSlot(first, (place[1],)) for place in here if place in own]
        rest = tuple(place[1] for place in here if place not in own)
        if rest:
            # One port for the rest, in the middle of where its neighbours lie.
            side.append(PortSlot(first, rest))
        slots += sorted(side, key=lambda slot: lies(slot.others[len(slot.others) // 2]))
    return slots


def port_items(base: int, slots: list[PortSlot]) -> dict[PortSide, int]:
    """The item of each neighbour's port."""
    return {(slot.first, other): base + i for i, slot in enumerate(slots) for other in slot.others}


def lines(
    metagraph: Metagraph, edges: list[int], bridges: list[int], item: dict[PortSide, int], turned: Turned
) -> list[ArrangeLine]:
    """All lines of the level: metaedges, then bridges, each in file order."""
    result = []
    for index in edges:
        edge = metagraph.edges[index]
        weight = edge.tensors + edge.control + edge.reference
        result.append(
            ArrangeLine(edge.source, edge.target, index, -1, TIERS[edge.kind], weight, thick(edge), edge.back)
        )
    for index in bridges:
        bridge = metagraph.bridges[index]
        port = item[where(bridge, turned)]
        ends = (port, bridge.child) if bridge.inbound else (bridge.child, port)
        result.append(ArrangeLine(*ends, -1, index, TIERS[bridge.kind], total(bridge), thick(bridge)))
    return result


def thick(line: Metaedge | Bridge) -> int:
    """The `load` of a line of data; 0 for one that carries none, or in part references."""
    return load(line) if line.kind == "data" else 0


def where(bridge: Bridge, turned: Turned) -> PortSide:
    """The flow side on which a bridge leaves the frame, and its neighbour."""
    other = (bridge.other, bridge.inbound)
    # Inbound on the first side, unless its line is turned outside.
    return bridge.inbound is not (other in turned), other


def total(bridge: Bridge) -> int:
    """How many flat edges the bridge represents."""
    return bridge.tensors + bridge.control + bridge.reference
