"""The title above a drawing, and the legend below it."""

from __future__ import annotations

import pytest

from graphviz_tb.model.drawing import Label
from graphviz_tb.model.paint import Caption
from graphviz_tb.model.scene import Scene, Separator
from graphviz_tb.model.theme import THEMES
from graphviz_tb.render.compose import LEGEND_GAP, PAGE_MARGIN, SheetLayout, _lay_out_sheet, _title_row
from graphviz_tb.render.legend import LEGEND_ROW_PX, LegendBlock, LegendEntry, legend_in_lines


def page(width: int, height: int, count: int = 6) -> SheetLayout:
    """The sheet of a drawing that fills its rectangle."""
    scene = Scene(width, height, "BT", (), (), (), (), (), (Separator(0, 0, width, height),))
    rows = tuple(LegendEntry((), f"row {number}") for number in range(count))
    return _lay_out_sheet(scene, (LegendBlock("Signs", rows),), Caption("", ""))


def test_the_legend_is_one_line_at_the_foot() -> None:
    for size in ((300, 900), (1400, 300), (60, 60)):
        found = page(*size)
        assert found.legend is not None
        assert found.legend.height == LEGEND_ROW_PX
        assert found.at[1] == found.scene[1] + size[1] + LEGEND_GAP
        assert found.at[0] == PAGE_MARGIN
        assert found.width >= found.legend.width + 2 * PAGE_MARGIN


def test_the_legend_below_a_slim_drawing_is_as_long_as_that_is_high() -> None:
    found = page(300, 900, 16)
    assert found.legend is not None
    assert found.legend.height == LEGEND_ROW_PX
    assert 600 < found.legend.width <= 900
    assert abs(2 * found.scene[0] + 300 - found.width) <= 1  # the drawing is above its middle
    broken = page(300, 900, 30).legend
    assert broken is not None
    assert broken.height > LEGEND_ROW_PX
    assert broken.width <= 900


def test_a_legend_is_no_longer_than_the_screen_is_wide() -> None:
    blocks = [LegendBlock("Signs", tuple(LegendEntry((), f"row {number}") for number in range(60)))]
    found = legend_in_lines(blocks, 400)
    assert found.width <= 400
    assert found.height > LEGEND_ROW_PX
    assert len({(one.x, one.y) for one in found.blocks}) == 61  # the heading, too


def test_the_title_and_its_facts_are_in_one_line_if_they_fit() -> None:
    def rows(name: str) -> set[int | float]:
        groups = _title_row(Caption(name, "12 ops"), THEMES["light"], 400)
        return {shape.y for group in groups for shape in group.shapes if isinstance(shape, Label)}

    assert len(rows("net")) == 1
    assert len(rows("n" * 60)) == 2


@pytest.mark.parametrize("letters", [1, 10, 40, 400])
def test_a_title_of_any_length_ends_at_the_margin(letters: int) -> None:
    wide = 300
    rows = _title_row(Caption("M" * letters, "1 op " * letters), THEMES["light"], wide)
    labels = [shape for group in rows for shape in group.shapes if isinstance(shape, Label)]
    ends = [label.x + label.width for label in labels]
    assert len(labels) == 2
    assert max(ends) <= wide - PAGE_MARGIN
    assert letters < 40 or min(ends) > wide - PAGE_MARGIN - 2 * 16  # as much of them as there is room for
