"""Colouring by time and memory: the scale of what is shown, values on the second line, hatch for what is unknown."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphviz_tb.color import Measured, paint
from graphviz_tb.color.hues import contrast
from graphviz_tb.model.paint import fill_of
from graphviz_tb.pipeline import Model, Picture, load


@pytest.fixture(scope="module")
def model(fixtures: Path) -> Model:
    return load(fixtures / "real/mnist_cnn.pbtxt", run_metadata=(str(fixtures / "run_metadata/mnist_cnn_step099.pb"),))


def measured(picture: Picture) -> Measured:
    assert isinstance(picture.painter, Measured)
    return picture.painter


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("scheme", ["compute-time", "memory"])
def test_the_scale_ends_at_the_largest_box_shown_closed(model: Model, scheme: str, theme: str) -> None:
    picture = model.picture(color_by=scheme, open=("train", "conv1"), theme=theme)
    painter = measured(picture)
    closed = [box.row for box in picture.scene.boxes if not box.open]
    values = {row: painter.value(painter.figures((row,))) for row in closed}
    largest = max(values, key=values.__getitem__)
    assert painter.top == values[largest]
    assert painter.fill(largest).fill == painter.ramp[-1]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("scheme", ["compute-time", "memory"])
def test_every_text_can_be_read(model: Model, scheme: str, theme: str) -> None:
    painter = measured(model.picture(color_by=scheme, theme=theme))
    for share in range(101):
        fill = painter.shade(painter.top * share / 100)
        assert contrast(fill.fill, fill.text) >= 4.5
    for row in range(len(model.hierarchy)):
        fill = painter.fill(row)
        assert contrast(fill.fill, fill.text) >= 4.5


def test_more_is_further_along_the_ramp(model: Model) -> None:
    painter = measured(model.picture(color_by="compute-time"))
    lights = [contrast(painter.shade(painter.top * share / 50).fill, "#000000") for share in range(51)]
    assert lights == sorted(lights, reverse=True)


def test_the_legend_has_five_ticks_the_hatch_and_the_coverage(model: Model) -> None:
    picture = model.picture(color_by="compute-time")
    told = picture.painter.legend([box.row for box in picture.scene.boxes])
    assert [row.label for row in told] == [
        "0 µs",
        *(row.label for row in told[1:5]),
        "not measured",
        "168 of 323 ops measured",
    ]
    assert told[5].fill.hatch
    assert len({row.fill.fill for row in told[:5]}) == 5


def test_the_second_line_is_the_value(model: Model) -> None:
    picture = model.picture(color_by="compute-time")
    said = {text.content for text in picture.scene.texts if text.role == "second"}
    assert {"11.3 ms", "3.63 ms"} <= said


def test_stats_stand_on_the_second_line_in_any_colouring(model: Model) -> None:
    picture = model.picture(stats=True)
    said = {text.content for text in picture.scene.texts if text.role == "second"}
    assert "11.3 ms · 74.9 KB" in said
    assert picture.painter.scheme == "structure"
    assert "2 ops" in said  # `input` was not measured: the usual line
    boxes = picture.scene.boxes
    hatched = {box.address for box in boxes if fill_of(picture.painter, box.row, box.address).hatch}
    assert hatched == {"input"}
    assert [row.label for row in picture.painter.legend([box.row for box in boxes])][-1] == "not measured"


def test_an_empty_scale_is_no_error(model: Model) -> None:
    assert model.facts.stats is not None
    painter = paint(model.hierarchy, "memory", "light", model.facts.stats)
    assert isinstance(painter, Measured)
    assert painter.over([]).fill(0).fill == painter.ramp[0]


def test_calls_of_one_function_have_their_own_colours(fixtures: Path) -> None:
    folder = fixtures / "run_metadata/calls_in_session"
    model = load(folder / "graph.pb", run_metadata=(str(folder / "step.pb"),))
    around = "main/PartitionedCall::lay/PartitionedCall"
    picture = model.picture(color_by="compute-time", open=(around, around + "_1"))
    painter = measured(picture)
    boxes = [box for box in picture.scene.boxes if box.address.endswith("::deep")]
    assert len(boxes) == 2
    assert boxes[0].row == boxes[1].row
    times = [painter.figures(painter.places[box.address]).time for box in boxes]
    fills = [painter.fill_box(box.row, box.address).fill for box in boxes]
    assert (fills[0] == fills[1]) == (times[0] == times[1])


def test_edges_of_what_was_not_measured_are_faint(model: Model) -> None:
    picture = model.picture(color_by="compute-time")
    painter, boxes = measured(picture), picture.scene.boxes
    for route in picture.scene.routes:
        ends = {boxes[end].address for end in (route.source, route.target) if end >= 0}
        assert (painter.tint(picture.scene, route) is not None) == ("input" in ends)
