"""Where the legend is: below a drawing while its names stay legible, else beside it, level with its top."""

from __future__ import annotations

import pytest

from graphviz_tb.model.drawing import Label
from graphviz_tb.model.paint import Caption
from graphviz_tb.model.scene import Scene, Separator
from graphviz_tb.model.theme import THEMES
from graphviz_tb.render.compose import LEGEND_GAP, PAGE_MARGIN, SheetLayout, _lay_out_sheet, _title_row
from graphviz_tb.render.legend import LegendBlock, LegendEntry


def page(width: int, height: int) -> SheetLayout:
    """The sheet of a drawing that fills its rectangle."""
    scene = Scene(width, height, "BT", (), (), (), (), (), (Separator(0, 0, width, height),))
    rows = tuple(LegendEntry((), f"row {number}") for number in range(6))
    return _lay_out_sheet(scene, (LegendBlock("Signs", rows),), Caption("", ""))


def test_the_legend_of_a_tall_drawing_takes_no_column() -> None:
    found = page(300, 900)
    assert found.legend is not None
    assert found.width == 300 + 2 * PAGE_MARGIN
    assert found.at[1] >= found.scene[1] + 900 + LEGEND_GAP


def test_where_names_would_get_too_small_the_legend_stands_beside_the_top() -> None:
    found = page(300, 2400)
    assert found.legend is not None
    assert found.height == 2400 + 2 * PAGE_MARGIN
    assert found.at == (PAGE_MARGIN, PAGE_MARGIN)
    assert found.scene[0] == PAGE_MARGIN + found.legend.width + LEGEND_GAP


@pytest.mark.parametrize("letters", [1, 10, 40, 400])
def test_a_title_of_any_length_ends_at_the_margin(letters: int) -> None:
    wide = 300
    rows = _title_row(Caption("M" * letters, "1 op " * letters), THEMES["light"], wide)
    labels = [shape for group in rows for shape in group.shapes if isinstance(shape, Label)]
    ends = [label.x + label.width for label in labels]
    assert len(labels) == 2
    assert max(ends) <= wide - PAGE_MARGIN
    assert letters < 40 or min(ends) > wide - PAGE_MARGIN - 2 * 16  # as much of them as there is room for
