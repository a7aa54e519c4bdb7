"""A line that runs beside an open box enters it on that side, level with the box inside that it feeds."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import graphviz_tb
from graphviz_tb.model.scene import Route, Scene
from graphviz_tb.model.skeleton import PortSlot, Skeleton, Wire
from graphviz_tb.place.boxes import Piece
from graphviz_tb.place.side_ports import SideEntry, _turn_order, count_crossings, move_beside
from graphviz_tb.place.ties import InnerPorts, SidePort
from tests.each import each

FIXTURES = Path(__file__).parents[2] / "fixtures"


def decoder_scene(direction: str = "BT") -> tuple[Scene, list[Route]]:
    """A picture of an encoder beside an open decoder, and the lines inside of frames that begin at the left of one."""
    scene = graphviz_tb.load(FIXTURES / "exported" / "t5.pt2").picture(direction=direction).scene
    inside = [route for route in scene.routes if route.frame >= 0 and route.source < 0]
    return scene, [route for route in inside if route.points[0][0] == scene.boxes[route.frame].x]


@pytest.mark.parametrize("direction", ["BT", "TB"])
def test_what_an_encoder_gives_enters_the_decoder_at_its_side_and_runs_straight_to_its_attention(
    direction: str,
) -> None:
    scene, entering = decoder_scene(direction)
    assert entering
    for route in entering:
        box = scene.boxes[route.target]
        assert len(route.points) == 2
        assert route.points[1] == (box.x, route.points[0][1])
        assert box.y < route.points[1][1] < box.y + box.height


def test_the_line_outside_ends_where_the_line_inside_begins_at_a_dot() -> None:
    scene, entering = decoder_scene()
    for route in entering:
        [outside] = [line for line in scene.routes if line.target_port == route.source_port]
        port = scene.ports[route.source_port]
        assert outside.points[-1] == route.points[0] == (port.x, port.y)
        assert all(a[0] == b[0] or a[1] == b[1] for a, b in pairwise(outside.points))


def test_lines_turn_to_one_box_without_crossing() -> None:
    # Two lines from above and two from below; the nearest to the box turns first.
    starts = [(10, 0), (20, 0), (10, 90), (20, 90)]
    entries = [SideEntry(wire, 0, 0, [start], (40, 50)) for wire, start in enumerate(starts)]
    order = sorted(entries, key=lambda entry: _turn_order(entry, -1))
    assert [entry.wire for entry in order] == [1, 0, 2, 3]
    lines = {
        entry.wire: [entry.before[0], (entry.before[0][0], 35 + 10 * at), (40, 35 + 10 * at)]
        for at, entry in enumerate(order)
    }
    assert all(
        count_crossings(line, {w: other for w, other in lines.items() if w != wire}) == 0
        for wire, line in lines.items()
    )


@each("width", [300, 160])
def test_a_line_to_the_foot_of_an_open_box_moves_beside_it_if_the_frame_has_room(width: int) -> None:
    #  ┌────────────┐         a mask enters the frame at x 100, beside the data at 130;
    #  │    ┌────┐  │         the open box in it is from 80 to 160, and offers its left side
    #  │    │    │  │
    wires = (Wire(-1, 0, (1, 0)), Wire(-1, 1, (2, 0)))
    ports = (PortSlot(True, ((7, True),)), PortSlot(True, ((8, True),)))
    skeleton = Skeleton(1, ports, wires, (), (), (), main_path=(1,))
    metagraph = SimpleNamespace(bridges=[SimpleNamespace(other=7), SimpleNamespace(other=8)])
    view: Any = SimpleNamespace(skeleton=skeleton, metagraph=metagraph)
    offered = SidePort(0, -1, (0, 60), (20, 60), 10, 40, 1)
    inner = InnerPorts({0: {(7, True, True): 0, (8, True, True): 1}}, {}, {0: {0: offered}}, {}, {})
    routes = {0: [(100, 200), (100, 150)], 1: [(130, 200), (130, 150)]}
    left = 80 if width == 300 else 40
    slots = {0: (Piece(80, 100, 0, 0, (80, 100)), (left, 50))}
    moved = [(entry.port, [*line]) for entry, line in move_beside(view, routes, slots, inner, width, [])]
    assert moved == ([(0, [(50, 200), (50, 110), (80, 110)])] if width == 300 else [])


def test_two_lines_to_one_side_of_an_open_box_do_not_move_to_one_track() -> None:
    wires = (Wire(-1, 0, (1, 0)), Wire(-1, 1, (2, 0)))
    ports = (PortSlot(True, ((7, True),)), PortSlot(True, ((8, True),)))
    skeleton = Skeleton(1, ports, wires, (), (), ())
    metagraph = SimpleNamespace(bridges=[SimpleNamespace(other=7), SimpleNamespace(other=8)])
    view: Any = SimpleNamespace(skeleton=skeleton, metagraph=metagraph)
    offered = {port: SidePort(port, -1, (0, y), (20, y), 10, 40, 1) for port, y in ((0, 60), (1, 30))}
    inner = InnerPorts({0: {(7, True, True): 0, (8, True, True): 1}}, {}, {0: offered}, {}, {})
    routes = {0: [(100, 200), (100, 150)], 1: [(130, 200), (130, 150)]}
    slots = {0: (Piece(80, 100, 0, 0, (80, 100)), (80, 50))}
    moved = [entry.port for entry, _ in move_beside(view, routes, slots, inner, 300, [])]
    assert moved == [0]
