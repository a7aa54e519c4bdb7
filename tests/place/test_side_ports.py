"""A line that runs beside an open box enters it on that side, level with the box inside that it feeds."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

import graphviz_tb
from graphviz_tb.model.scene import Route, Scene
from graphviz_tb.place.side_ports import SideEntry, _turn_order, count_crossings

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


#         ┌─────────────────────┐ the frame has room beside the box in it for its long name
#  mask ──┼──▶ [self ─▶ out]    │
#  x ─────┼─────▲               │
OUTER = "a_block_whose_name_is_long_so_that_its_frame_is_wide"
INNER = f"{OUTER}/inner"
INT32 = 'attr{key:"dtype" value{type:DT_INT32}}'
BESIDE = {
    "mask": "",
    "x": "",
    f"{INNER}/q": "x",
    f"{INNER}/self": f"mask {INNER}/q",
    f"{INNER}/out": f"{INNER}/self",
    f"{OUTER}/norm": f"{INNER}/out",
    "y": f"{OUTER}/norm",
}


def test_a_line_moves_beside_an_open_box_where_the_frame_has_room() -> None:
    text = "".join(
        f'node{{name:"{name}" op:"{"Placeholder" if not inputs else f"Op{number}"}" {INT32 if name == "mask" else ""}'
        + " ".join(f'input:"{one}"' for one in inputs.split())
        + "}"
        for number, (name, inputs) in enumerate(BESIDE.items())
    )
    scene = graphviz_tb.load(text.encode(), folds=False).picture(open=(OUTER, INNER), depth=0).scene
    [inner] = [box for box in scene.boxes if box.open and box.address == INNER]
    [attention] = [number for number, box in enumerate(scene.boxes) if box.address == f"{INNER}/self"]
    [entering] = [route for route in scene.routes if route.source < 0 and route.target == attention]
    assert [x for x, _ in entering.points] == [inner.x, scene.boxes[attention].x]
    [outside] = [route for route in scene.routes if route.target_port == entering.source_port]
    (x, _), (turn, y), end = outside.points
    assert x == turn < inner.x
    assert (inner.x, y) == end == entering.points[0]
