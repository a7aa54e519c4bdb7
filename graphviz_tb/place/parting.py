"""Separate the lines of a bus to an open box: each port of its frame gets its own waypoint."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from graphviz_tb.model.scene import Point
from graphviz_tb.model.skeleton import Skeleton, Wire
from graphviz_tb.model.view import View
from graphviz_tb.place.attachment import Gates, port_at_end


def separate_at_ports(view: View, gates: Gates, ports: Mapping[int, Sequence[Point]], axis: int) -> Skeleton:
    """Return the skeleton with separate waypoints for lines to several ports of an open child.

    `ports` are the places of the ports of each open child, `axis` the coordinate across the flow. The order of
    everything else stays; the new waypoints are neighbours, in the order of the ports.
    """
    skeleton = view.skeleton
    chains = [list(wire.chain) for wire in skeleton.wires]
    waypoint = list(skeleton.waypoint)
    beside: dict[int, list[int]] = {}
    # A bus ends in one box: if that is open, its lines continue to ports that may be far apart.
    for item, wires in wires_by_waypoint(skeleton).items() if gates else ():
        ways = wires_by_port(view, wires, gates, ports, axis)
        beside[item] = []
        for place in sorted(ways)[1:]:  # the first keeps the waypoint, the others get new ones to its right
            fresh = skeleton.first_waypoint + len(waypoint)
            waypoint.append(ways[place][0])
            beside[item].append(fresh)
            for wire in ways[place]:
                chains[wire][chains[wire].index(item)] = fresh
    if len(waypoint) == len(skeleton.waypoint):
        return skeleton
    first: dict[int, int] = {}
    for wire, chain in enumerate(chains):
        for item in chain[1:-1]:
            first.setdefault(item, wire)
    parts = tuple(
        tuple(tuple(one for item in row for one in (item, *beside.get(item, ()))) for row in part)
        for part in skeleton.parts
    )
    return replace(
        skeleton,
        wires=tuple(
            Wire(wire.edge, wire.bridge, tuple(chain), wire.turned)
            for wire, chain in zip(skeleton.wires, chains, strict=True)
        ),
        waypoint=tuple(first.get(skeleton.first_waypoint + at, wire) for at, wire in enumerate(waypoint)),
        parts=parts,
    )


def wires_by_waypoint(skeleton: Skeleton) -> dict[int, list[int]]:
    """Return the wires that share a waypoint, by waypoint."""
    users: dict[int, list[int]] = {}
    for number, wire in enumerate(skeleton.wires):
        for item in wire.chain[1:-1]:
            users.setdefault(item, []).append(number)
    return {item: wires for item, wires in users.items() if len(wires) > 1}


def wires_by_port(
    view: View, wires: Sequence[int], gates: Gates, ports: Mapping[int, Sequence[Point]], axis: int
) -> dict[int, list[int]]:
    """Return wires that have an end in common, by the place of their port, if the box there is open."""
    chains = [view.skeleton.wires[wire].chain for wire in wires]
    # Lines of a bus share their target, others a source. The target of a turned line is the start of others.
    for box in (chains[0][-1], chains[0][0]):
        if all(box in (chain[0], chain[-1]) for chain in chains):
            found: dict[int, list[int]] = {}
            for wire, chain in zip(wires, chains, strict=True):
                gate = port_at_end(view, wire, 1 if chain[-1] == box else 0, gates)
                if gate is not None:
                    found.setdefault(ports[box][gate][axis], []).append(wire)
            if found:
                return found
    return {}
