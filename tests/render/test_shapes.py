"""Outlines and places worked out by hand: bands in a box, lines of a very large level, columns of a legend."""

from __future__ import annotations

from pathlib import Path

import pytest

import graphviz_tb
from graphviz_tb.model.drawing import Curve, Rectangle
from graphviz_tb.model.paint import RowFill
from graphviz_tb.model.scene import Box, Port, Scene, Web
from graphviz_tb.model.theme import THEMES
from graphviz_tb.render.boxes import _colour_bar
from graphviz_tb.render.compose import _draw_edges
from graphviz_tb.render.legend import LEGEND_ROW_PX, SIGN_SAMPLES, LegendBlock, LegendEntry, _column_layout
from graphviz_tb.render.lines import draw_web
from tests.each import each

LIGHT = THEMES["light"]
REAL = Path(__file__).parents[2] / "fixtures/real"


def outlines(*shares: int, corners: tuple[int, int] = (8, 8)) -> list[str]:
    """The commands of each band of a box at (10, 20), 30 high."""
    fill = RowFill("#fff", "#000", "#000", "#000", bands=tuple(("#123", share) for share in shares))
    return [shape_of(curve) for curve in _colour_bar(10, 20, 30, *corners, fill) if isinstance(curve, Curve)]


def shape_of(curve: Curve) -> str:
    return " ".join(command + ",".join(f"{number:g}" for number in numbers) for command, numbers in curve.steps)


def test_bands_are_a_bar_at_the_left_and_only_its_ends_are_round() -> None:
    first, middle, last = outlines(500, 300, 200)
    assert first == "M18,21 L19,21 L19,36 L11,36 L11,28 A7,18,21 Z"
    assert middle == "M11,36 L19,36 L19,44 L11,44 L11,36 Z"
    assert last == "M11,44 L19,44 L19,49 L16,49 A5,11,44 L11,44 Z"  # bends as far as it is high


def test_a_sliver_is_four_pixels_high() -> None:
    first, last = outlines(10, 990)
    assert first == "M15,21 L19,21 L19,25 L11,25 L11,25 A4,15,21 Z"
    assert last.startswith("M11,25 L19,25 L19,49")


def test_below_a_folded_corner_a_bar_is_straight() -> None:
    assert outlines(1000, corners=(0, 0)) == ["M11,21 L19,21 L19,49 L11,49 L11,21 Z"]


def test_lines_of_a_large_level_lead_from_middle_to_middle_and_to_ports() -> None:
    boxes = tuple(Box(str(at), at, "op", -1, 0, 100 * at, 10 * at, 21, 11, False, False) for at in range(2))
    ports = (Port(7, 8, -1, "data"), Port(70, 80, -1, "data"))
    scene = Scene(200, 100, "TB", boxes, (), ports, (), ())
    (group,) = draw_web(Web("data", -1, (0, -1, 1), (1, 0, -2)), scene, LIGHT)
    (curve,) = group.shapes
    assert isinstance(curve, Curve)
    assert shape_of(curve) == "M10,5 L110,15 M7,8 L10,5 M110,15 L70,80"


@pytest.mark.parametrize(("lines", "outlined"), [(100, [100]), (101, [100, 1]), (250, [100, 100, 50])])
def test_a_hundred_lines_make_one_outline(lines: int, outlined: list[int]) -> None:
    scene = Scene(9, 9, "TB", (Box("a", 0, "op", -1, 0, 0, 0, 9, 9, False, False),), (), (), (), ())
    groups = draw_web(Web("data", -1, (0,) * lines, (0,) * lines), scene, LIGHT)
    assert [len(curve.steps) // 2 for group in groups for curve in group.shapes if isinstance(curve, Curve)] == outlined


@each(
    ("count", "limit", "shape"),
    [
        (5, 100, (1, 5)),  # one column of 100 px
        (5, 215, (1, 5)),
        (5, 216, (2, 3)),  # 100 + 16 + 100
        (5, 332, (3, 2)),
        (5, 331, (2, 3)),
        (4, 332, (2, 2)),  # three columns would leave the last one empty
        (5, 20, (1, 5)),  # wider than the limit: one column all the same
    ],
)
def test_rows_of_a_legend_fill_the_columns_that_fit(count: int, limit: int, shape: tuple[int, int]) -> None:
    block = LegendBlock("Heading", (LegendEntry((), "a very long label that is cut"),) * count, most=100)
    assert block.column_width == 100
    assert _column_layout(block, block.column_width, limit) == shape


def test_rows_of_two_lines_are_one_column() -> None:
    block = LegendBlock("Heading", (LegendEntry((), "label"), LegendEntry((), "label", "more")), most=100)
    assert _column_layout(block, block.column_width, 1000) == (1, 2)


def test_thick_lines_are_in_front_of_thin_ones_and_main_paths_in_front_of_both() -> None:
    """In a bus a pale thin line over a dark thick one would be a stroke of two tones."""
    picture = graphviz_tb.load(REAL / "cifar10_shapes.pb").picture()
    first = [group.shapes[0] for group in _draw_edges(picture.scene, picture.paint, set())]
    pens = [shape.pen for shape in first if isinstance(shape, Curve) and shape.pen]
    main = picture.paint.theme.main
    assert len({pen.width for pen in pens}) > 3
    assert [(pen.colour == main, pen.width) for pen in pens] == sorted((pen.colour == main, pen.width) for pen in pens)
    assert {pen.colour == main for pen in pens} == {False, True}


def test_samples_of_a_legend_lie_in_their_rows() -> None:
    plain = RowFill(LIGHT.op, LIGHT.stroke, LIGHT.text, LIGHT.secondary)
    for name, _, draw in SIGN_SAMPLES:
        rects = [shape for shape in draw(plain, LIGHT) if isinstance(shape, Rectangle)]
        assert all(shape.y > -2 and shape.y + shape.height < LEGEND_ROW_PX - 2 for shape in rects), name
