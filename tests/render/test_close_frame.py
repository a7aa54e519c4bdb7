"""The room of a frame that is not drawn is closed: nothing touches, and lines still end where they did."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import graphviz_tb
from graphviz_tb.api.layout import PAPER_ROOM
from graphviz_tb.api.picture import Picture
from graphviz_tb.model.scene import Route, Scene
from graphviz_tb.render.close_frame import close_frame, drawn_size
from graphviz_tb.render.compose import PAGE_MARGIN, TITLE_LINE_PX, TITLE_ROW, _whole_frame, paper_units
from tests.place import geometry

SMALL_SCREEN_PX = 744  # of the drawing, in a laptop's window
EXPORTED = Path(__file__).parents[2] / "fixtures" / "exported"
NAMES = ["mamba.pt2", "resnet.pt2", "diffusion.dynamo.onnx.gz", "unet.pt2", "dlrm.pt2", "wavenet.pt2", "gnn.pt2"]


def closed(name: str, **more: str | bool) -> tuple[Picture, Scene, int]:
    picture = graphviz_tb.load(EXPORTED / name).picture(**more)  # type: ignore[arg-type]
    whole = _whole_frame(picture.scene, picture.paint, set())
    assert whole >= 0
    return picture, close_frame(picture.scene, whole), whole


def without(scene: Scene, whole: int) -> list[tuple[int, int, int, int]]:
    return [
        (box.x, box.y, box.x + box.width, box.y + box.height)
        for number, box in enumerate(scene.boxes)
        if number != whole and not box.open
    ]


def heading(line: Route) -> tuple[bool, bool, bool, bool]:
    """In which direction a line leaves."""
    (x, y), (right, down) = line.points[:2]
    return right > x, right < x, down > y, down < y


@pytest.mark.parametrize("direction", ["BT", "TB", "LR", "RL"])
@pytest.mark.parametrize("name", NAMES)
def test_nothing_overlaps_and_lines_end_at_boxes(name: str, direction: str) -> None:
    picture, scene, whole = closed(name, direction=direction)
    assert scene.height <= picture.scene.height
    boxes = without(scene, whole)
    for number, one in enumerate(boxes):
        assert min(one[:2]) >= 0
        assert one[2] <= scene.width
        assert one[3] <= scene.height
        for other in boxes[:number]:
            assert one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1], (one, other)
    undrawn = replace(scene.boxes[whole], x=0, y=0, width=0, height=0)
    texts = tuple(text for text in scene.texts if not (text.inside and text.box == whole))
    drawn = replace(scene, boxes=(*scene.boxes[:whole], undrawn, *scene.boxes[whole + 1 :]), texts=texts)
    assert list(geometry.lines_through_boxes(drawn)) == []
    assert list(geometry.lines_through_texts(drawn)) == list(geometry.lines_through_texts(picture.scene))
    assert list(geometry.texts_apart(drawn)) == []
    for before, line in zip(picture.scene.routes, scene.routes, strict=True):
        assert all(a[0] == b[0] or a[1] == b[1] for a, b in zip(line.points, line.points[1:], strict=False))
        for end, number in ((0, line.source), (-1, line.target)):
            if number >= 0 and number != whole:
                was, box = picture.scene.boxes[number], scene.boxes[number]
                place = [before.points[end][0] - was.x, before.points[end][1] - was.y]
                if end == 0 and heading(line) != heading(before):  # an input at the other side of its box
                    axis = 1 if direction in ("BT", "TB") else 0
                    place[axis] = (box.width, box.height)[axis] - place[axis]
                assert [line.points[end][0] - box.x, line.points[end][1] - box.y] == place
    for route in scene.routes:  # a line goes on in the frame where it ended outside
        for port in {route.source_port, route.target_port} - {-1}:
            if scene.ports[port].box == whole:
                assert (scene.ports[port].x, scene.ports[port].y) in (route.points[0], route.points[-1])


@pytest.mark.parametrize("name", ["unet.pt2", "resnet.pt2"])
def test_the_room_is_closed_also_in_a_picture_that_fits_a_screen(name: str) -> None:
    picture, scene, _ = closed(name, legend=False)
    assert picture.scene.height < SMALL_SCREEN_PX
    assert scene.height < picture.scene.height
    assert picture.drawing.height - scene.height in {2 * PAGE_MARGIN + TITLE_LINE_PX, 2 * PAGE_MARGIN + TITLE_ROW}


def test_an_output_stands_at_the_end_of_its_column() -> None:
    picture, scene, _ = closed("resnet.pt2")
    [line] = [route for route in scene.routes if route.target >= 0 and scene.boxes[route.target].address == "output"]
    output = line.target
    [last] = [route.source for route in scene.routes if route.source >= 0 and route.target_port == line.source_port]

    def gap(boxes: Scene) -> int:
        return boxes.boxes[last].y - boxes.boxes[output].y - boxes.boxes[output].height

    assert gap(picture.scene) > 200
    assert 26 <= gap(scene) <= 60


@pytest.mark.parametrize("direction", ["BT", "TB", "LR", "RL"])
def test_an_input_of_a_u_stands_before_its_first_leg(direction: str) -> None:
    picture, scene, _ = closed("unet.pt2", direction=direction)
    [(before, line)] = [
        (before, line)
        for before, line in zip(picture.scene.routes, scene.routes, strict=True)
        if line.source >= 0 and scene.boxes[line.source].address == "x"
    ]
    assert heading(line) != heading(before)
    [entering] = [route for route in scene.routes if route.source < 0 and route.source_port == line.target_port]
    ends = {point[0 if direction in ("BT", "TB") else 1] for point in (*line.points, *entering.points)}
    assert len(ends) == 1


def test_a_figure_is_fitted_without_the_frame_that_is_not_drawn() -> None:
    # 455 × 949 units with the frame: higher than a page with its legend; 431 × 878 without it
    picture, scene, _ = closed("t5.pt2", paper=True)
    assert drawn_size(picture.scene) == (scene.width, scene.height)
    assert picture.scene.height + PAPER_ROOM[1] > paper_units(picture.options)[1] >= scene.height + PAPER_ROOM[1]
    assert any(box.open for box in picture.scene.boxes if box.kind == "series")
