"""A sheet of charts: every run is there, by colour and by dashes, and hostile names are text."""

from __future__ import annotations

from itertools import pairwise
from xml.etree import ElementTree

import numpy as np

from graphviz_tb.chart.axes import RUN_HUES, run_styles
from graphviz_tb.chart.lines import ChartLine, ChartLook, LineChart, chart_sheet
from graphviz_tb.chart.runs import colour_values
from graphviz_tb.model.drawing import Curve, Disc, Drawing, Label
from graphviz_tb.model.logs import Trials, TrialSession
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
    assert any(isinstance(shape, Disc) for shape in charts({"a": [1.0]}).shapes())
    assert chart_sheet("none", [], ChartLook(), LIGHT_THEME).width > 0


def test_a_single_point_is_a_disc_with_its_value() -> None:
    drawing = charts({"a": [0.25], "b": [1.0, 2.0]})
    (disc,) = [shape for shape in drawing.shapes() if isinstance(shape, Disc)]
    assert disc.radius == 4
    assert "0.25" in words(drawing)


def test_runs_that_coincide_are_all_seen() -> None:
    shapes = charts({"a": [1.0, 2.0], "b": [1.0, 2.0], "c": [2.0, 1.0]}).shapes()
    lines = [(shape.pen.colour, shape.pen.width) for shape in shapes if isinstance(shape, Curve) and shape.pen]
    widths = [width for colour, width in lines if colour in RUN_HUES["light"][:3]]
    assert widths == [4.0, 1.5, 1.5]


def test_the_axis_has_its_name_and_triangles_are_explained() -> None:
    said = words(charts({"a": [1.0, float("nan"), float("nan"), float("inf"), 2.0]}))
    assert "step" in said
    assert "triangles: 2 NaN, 1 +∞" in said
    assert "time since the first point" in words(charts({"a": [1.0, 2.0]}, look=ChartLook(axis="relative")))


def test_up_to_eight_runs_are_named_at_their_ends_apart_from_one_another() -> None:
    names = [f"run_of_a_name_that_is_so_long_that_it_has_no_room_lr_{at}" for at in range(8)]
    drawing = charts({name: [1.0, 1.0 + at / 1000] for at, name in enumerate(names)})
    labels = [shape for shape in drawing.shapes() if isinstance(shape, Label) and shape.content.startswith("…")]
    assert len({label.content for label in labels}) == 8
    heights = sorted(label.y for label in labels)
    assert all(lower - upper >= 11 for upper, lower in pairwise(heights))
    assert len(words(charts({f"r{at}": [1.0, 2.0] for at in range(9)}))) > 9


def test_many_runs_are_coloured_by_what_differs_between_them() -> None:
    sessions = tuple(TrialSession(f"run{at}", "", {"depth": 3.0, "lr": float(at % 2)}) for at in range(10))
    groups = colour_values(Trials(sessions=sessions), [f"run{at}/train" for at in range(10)])
    assert groups["run3/train"] == "lr = 1"
    assert colour_values(Trials(), ["a", "b"]) == {}


def test_times_lie_across() -> None:
    words_of = [words(charts({"a": [1.0, 2.0] * 200}, look=ChartLook(axis=kind))) for kind in ("relative", "wall")]
    assert "2 min" in words_of[0]
    assert any(":" in word for word in words_of[1])


def test_where_all_points_have_one_step_the_axis_names_it_alone() -> None:
    drawing = charts({"run": [0.5]})
    texts = [shape.content for shape in drawing.shapes() if isinstance(shape, Label)]
    assert "0" in texts
    assert not any(text.startswith("-0.") for text in texts)


def test_names_of_runs_keep_every_word_that_differs() -> None:
    names = [f"resnet50_imagenet_batch256_seed{at}_lr{lr}_final" for at, lr in enumerate((0.1, 0.01, 0.0003))]
    drawing = charts({name: [1.0, 2.0 + at] for at, name in enumerate(names)})
    texts = {shape.content for shape in drawing.shapes() if isinstance(shape, Label)}
    assert {"…seed0_lr0.1…", "…seed1_lr0.01…", "…seed2_lr0.0003…"} <= texts
