"""Colouring by time and memory: the scale of what is shown, values on the second line, hatch for what is unknown."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphviz_tb.api.pipeline import Model, load
from graphviz_tb.color import make_colouring
from graphviz_tb.color.colouring import contrast
from graphviz_tb.color.measured import MeasuredColouring


@pytest.fixture(scope="module")
def model(fixtures: Path) -> Model:
    return load(fixtures / "real/mnist_cnn.pbtxt", run_metadata=(str(fixtures / "run_metadata/mnist_cnn_step099.pb"),))


def measured(model: Model, scheme: str, theme: str = "light") -> MeasuredColouring:
    """A colouring whose scale is that of a picture that shows everything closed but the main graph."""
    colouring = make_colouring(model.hierarchy, model.facts, scheme, theme)
    assert isinstance(colouring, MeasuredColouring)
    return colouring.scaled_to([(row,) for row in model.metagraph().children])


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("scheme", ["compute-time", "memory"])
def test_the_scale_ends_at_the_largest_box_shown_closed(model: Model, scheme: str, theme: str) -> None:
    picture = model.picture(color_by=scheme, open=("train", "conv1"), theme=theme)
    colouring = measured(model, scheme, theme)
    closed = [at for at, box in enumerate(picture.scene.boxes) if not box.open]
    values = {at: colouring.figures_at((picture.scene.boxes[at].row,)).quantity(colouring.quantity) for at in closed}
    largest = max(values, key=values.__getitem__)
    assert picture.paint.boxes[largest].fill == colouring.ramp[-1]
    assert sum(picture.paint.boxes[at].fill == colouring.ramp[-1] for at in closed) == 1


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("scheme", ["compute-time", "memory"])
def test_every_text_can_be_read(model: Model, scheme: str, theme: str) -> None:
    painter = measured(model, scheme, theme)
    for share in range(101):
        fill = painter.shade_of(painter.top * share / 100)
        assert contrast(fill.fill, fill.text) >= 4.5
    for row in range(len(model.hierarchy)):
        fill = painter.fill_of((row,))
        assert contrast(fill.fill, fill.text) >= 4.5


def test_more_is_further_along_the_ramp(model: Model) -> None:
    painter = measured(model, "compute-time")
    lights = [contrast(painter.shade_of(painter.top * share / 50).fill, "#000000") for share in range(51)]
    assert lights == sorted(lights, reverse=True)


def test_the_legend_has_five_ticks_the_hatch_and_the_coverage(model: Model) -> None:
    told = model.picture(color_by="compute-time", depth=1).paint.legend
    assert [row.label for row in told] == [
        "0 µs",
        *(row.label for row in told[1:5]),
        "not measured",
        "132 of 271 ops measured",
    ]
    assert told[5].fill.hatch
    assert len({row.fill.fill for row in told[:5]}) == 5


def test_the_second_line_is_the_value(model: Model) -> None:
    picture = model.picture(color_by="compute-time")
    said = {text.content for text in picture.scene.texts if text.role == "second"}
    assert {"11.3 ms", "6.04 ms"} <= said  # the stack of conv1, 3.64 ms, and conv2


def test_stats_stand_on_the_second_line_in_any_colouring(model: Model) -> None:
    picture, stats = model.picture(stats=True, depth=1), model.facts.stats
    assert stats is not None
    said = {text.content for text in picture.scene.texts if text.role == "second"}
    assert picture.paint.scheme == "structure"
    closed = [each for each in zip(picture.scene.boxes, picture.paint.boxes, strict=True) if not each[0].open]
    assert {stats.format_time_and_memory((box.row,)) for box, fill in closed if box.openable and not fill.hatch} <= said
    assert {box.row: fill.hatch for box, fill in closed} == {box.row: not stats.known[box.row] for box, _ in closed}
    assert any(fill.hatch for _, fill in closed)
    assert picture.paint.legend[-1].label == "not measured"


def test_an_empty_scale_is_no_error(model: Model) -> None:
    assert model.facts.stats is not None
    painter = measured(model, "memory")
    assert painter.scaled_to([]).fill_of((0,)).fill == painter.ramp[0]


def test_calls_of_one_function_have_their_own_colours(fixtures: Path) -> None:
    folder = fixtures / "run_metadata/calls_in_session"
    model = load(folder / "graph.pb", run_metadata=(str(folder / "step.pb"),))
    around = "lay/PartitionedCall"
    picture = model.picture(color_by="compute-time", open=(around, around + "_1"))
    boxes = [at for at, box in enumerate(picture.scene.boxes) if box.address.endswith("::deep")]
    assert len(boxes) == 2
    assert len({picture.scene.boxes[at].row for at in boxes}) == 1
    said = [text.content for text in picture.scene.texts if text.role == "second" and text.box in boxes]
    assert (picture.paint.boxes[boxes[0]] == picture.paint.boxes[boxes[1]]) == (said[0] == said[1])


def test_edges_of_what_was_not_measured_are_faint(model: Model) -> None:
    picture = model.picture(color_by="compute-time")
    boxes = picture.scene.boxes
    for route, tint in zip(picture.scene.routes, picture.paint.tints.routes, strict=True):
        ends = {boxes[end].address for end in (route.source, route.target) if end >= 0}
        assert (tint is not None) == ("input" in ends)
