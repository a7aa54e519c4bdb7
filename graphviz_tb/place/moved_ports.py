"""Move the ports of frames to the places where the levels around them lead their lines.

A frame is laid out before the level around it, and says how its ports may move; that level decides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from graphviz_tb.model.scene import Direction
from graphviz_tb.model.view import View
from graphviz_tb.place.feet import RaisedEnd
from graphviz_tb.place.frames import GroupLayout, OpenGroup
from graphviz_tb.place.orientation import FlowTurn
from graphviz_tb.place.side_entries import find_partings


def move_ports(groups: Sequence[OpenGroup], frames: dict[int, GroupLayout], direction: Direction) -> None:
    """Move the ports of all frames, outer frames first."""
    for number, group in enumerate(groups):
        made = frames[number]
        for position, entered in made.entered.items():
            child = group.below[position]
            frames[child] = _with_side_ports(frames[child], groups[child].view, entered)
        for position, slid in made.slid.items():
            child = group.below[position]
            frames[child] = _with_slid_ports(frames[child], groups[child].view, slid)
        for end in made.raised:
            child = group.below[end.item]
            frames[child] = _with_raised_port(frames[child], groups[child].view, end, direction)


def _with_side_ports(made: GroupLayout, view: View, entered: Mapping[int, int]) -> GroupLayout:
    """Return a frame with some of its ports on a side; `entered` has the y of each."""
    ports, routes = [*made.ports], {**made.routes}
    for port, y in entered.items():
        side = made.side_ports[port]
        ports[port] = (side.place[0], y)
        routes[side.wire] = [ports[port], (side.end[0], y)]
    return replace(made, ports=tuple(ports), routes=routes, partings=find_partings(view.skeleton, routes))


def _with_slid_ports(made: GroupLayout, view: View, slid: Mapping[int, int]) -> GroupLayout:
    """Return a frame with some of its ports, and the first runs of their lines, moved aside; `slid` has the x of
    each."""
    ports, routes = [*made.ports], {**made.routes}
    for port, x in slid.items():
        ports[port] = (x, ports[port][1])
        for wire in _wires_from_port(made, view, port):
            routes[wire] = [ports[port], (x, routes[wire][1][1]), *routes[wire][2:]]
    return replace(made, ports=tuple(ports), routes=routes, partings=find_partings(view.skeleton, routes))


def _with_raised_port(made: GroupLayout, view: View, end: RaisedEnd, direction: Direction) -> GroupLayout:
    """Return a frame with the port of a line that reaches into its foot inside the foot."""
    ports, routes = [*made.ports], {**made.routes}
    ports[end.port] = FlowTurn(direction, made.width, made.height).to_screen((ports[end.port][0], end.depth))
    for wire in _wires_from_port(made, view, end.port):
        routes[wire] = [ports[end.port], *routes[wire][1:]]
    return replace(made, ports=tuple(ports), routes=routes)


def _wires_from_port(made: GroupLayout, view: View, port: int) -> list[int]:
    wires, item = view.skeleton.wires, view.skeleton.children + port
    return [wire for wire in made.routes if wires[wire].chain[0] == item]
