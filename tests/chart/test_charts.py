"""A sheet of charts: every run is there, by colour and by dashes, and hostile names are text."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np

from graphviz_tb.chart.axes import run_styles
from graphviz_tb.chart.lines import ChartLine, ChartLook, LineChart, chart_sheet
from graphviz_tb.model.drawing import Curve, Drawing, Label
from graphviz_tb.model.theme import LIGHT_THEME
from graphviz_tb.render.svg import svg_bytes


def charts(values: dict[str, list[float]], tag: str = "loss", look: ChartLook | None = None) -> Drawing:
    style = run_styles({run: float(at) for at, run in enumerate(values)})
    lines = [
        ChartLine(run, style[run], np.arange(len(v)), np.arange(len(v)) + 1e9, np.array(v), np.zeros(len(v), np.bool_))
        for run, v in values.items()
    ]
    return chart_sheet("logs", [LineChart(tag, tuple(lines))], look or ChartLook(), LIGHT_THEME)


def pens(drawing: Drawing) -> set[tuple[str, tuple[float, ...]]]:
    """Colour and dashes of each line that is drawn as one that counts."""
    shapes = drawing.shapes()
    return {(s.pen.colour, s.pen.dashes) for s in shapes if isinstance(s, Curve) and s.pen and s.pen.width == 1.5}


def words(drawing: Drawing) -> list[str]:
    return [shape.content for shape in drawing.shapes() if isinstance(shape, Label)]


def test_fifteen_runs_are_told_apart() -> None:
    assert len(pens(charts({f"run{at}": [0.0, float(at)] for at in range(15)}))) == 15


def test_hostile_names_are_text() -> None:
    drawing = charts({"<script>": [1.0, 2.0]}, tag='"><img src=x>')
    root = ElementTree.fromstring(svg_bytes(drawing))
    assert not [element for element in root.iter() if element.tag.endswith(("script", "img"))]


def test_values_that_are_no_numbers_are_marked() -> None:
    drawing = charts({"a": [1.0, float("nan"), float("inf"), 2.0]})
    triangles = [s for s in drawing.shapes() if isinstance(s, Curve) and s.fill]
    assert len(triangles) == 2
    assert "no finite values" in words(charts({"a": [float("nan")] * 3}))


def test_a_log_axis_says_how_many_points_it_lacks() -> None:
    drawing = charts({"a": [0.0, -1.0, 1.0, 100.0]}, look=ChartLook(log_y=True))
    assert "not on the log axis: 2" in words(drawing)


def test_superseded_points_are_faint_and_stay_out_of_the_line() -> None:
    value, marked = np.array([1.0, 9.0, 2.0]), np.array([False, True, False])
    line = ChartLine("a", run_styles({"a": 0.0})["a"], np.arange(3), np.arange(3.0), value, marked)
    drawing = chart_sheet("", [LineChart("t", (line,))], ChartLook(smooth=0.5), LIGHT_THEME)
    assert len(pens(drawing)) == 2


def test_one_point_and_no_series() -> None:
    assert pens(charts({"a": [1.0]}))
    assert chart_sheet("none", [], ChartLook(), LIGHT_THEME).width > 0


def test_times_lie_across() -> None:
    words_of = [words(charts({"a": [1.0, 2.0] * 200}, look=ChartLook(axis=kind))) for kind in ("relative", "wall")]
    assert "2 min" in words_of[0]
    assert any(":" in word for word in words_of[1])
