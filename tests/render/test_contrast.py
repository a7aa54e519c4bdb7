"""Every text stands out from what it lies on by 4.5 to 1 or more, read from the file."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest
from paper import shapes

import graphviz_tb
from graphviz_tb.api.pipeline import Model
from graphviz_tb.color import SCHEMES
from graphviz_tb.color.colouring import contrast
from graphviz_tb.model.theme import THEMES, Theme
from tests.each import each
from tests.effort import part

REAL = Path(__file__).parents[2] / "fixtures" / "real"
GRAPHS = ["mnist_cnn.pbtxt", "multi_device.pb", "numbered_series.pb", "func_library_v2.pb", "odd_names.pbtxt"]
LEAST, SMALLEST = 4.5, 9


@each("theme", THEMES)
@each("scheme", [word for word, row in SCHEMES.items() if not (row.measured or row.logged or row.given)])
@each("graph", part(GRAPHS, 36))
def test_every_text_can_be_read(graph: str, scheme: str, theme: str) -> None:
    model = loaded(graph)
    for depth in (0, 2):
        svg = model.picture(color_by=scheme, theme=theme, depth=depth).render("svg")
        assert weak(svg) == []


@cache
def loaded(graph: str) -> Model:
    return graphviz_tb.load(REAL / graph)


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("scheme", [word for word, row in SCHEMES.items() if row.measured])
def test_every_text_can_be_read_on_measured_colours(scheme: str, theme: str) -> None:
    measured = REAL.parent / "run_metadata" / "mnist_cnn_step099.pb"
    model = graphviz_tb.load(REAL / "mnist_cnn.pbtxt", run_metadata=(str(measured),))
    for depth in (0, 2):
        assert weak(model.picture(color_by=scheme, theme=theme, depth=depth).render("svg")) == []


@pytest.mark.parametrize("theme", THEMES)
def test_every_text_can_be_read_on_colours_of_a_log(theme: str) -> None:
    model = graphviz_tb.load(REAL.parent / "logdirs" / "keras3_callback")
    for depth in (0, 2):
        assert weak(model.picture(color_by="logged", theme=theme, depth=depth).render("svg")) == []


def weak(svg: bytes) -> list[str]:
    """Texts that are too faint or too small."""
    below: list[Any] = []  # the shapes drawn so far
    told = []
    for text in shapes(svg):
        if not text.content:
            below.append(text)
        if not text.content.strip():
            continue
        if text.size < SMALLEST:
            told.append(f"{text.content!r} is set at {text.size}")
        middle = (text.top + text.bottom) / 2
        for ninth in range(9):
            x = text.left + (text.right - text.left) * ninth / 8
            ground = text.halo or next(shape.fill for shape in reversed(below) if shape.holds(x, middle))
            if contrast(text.fill, ground) < LEAST:
                told.append(f"{text.content!r}: {text.fill} on {ground}")
                break
    return told


@pytest.mark.parametrize("theme", THEMES.values(), ids=lambda theme: theme.name)
def test_text_on_every_hue_and_ground(theme: Theme) -> None:
    for hue in (*theme.hues, theme.op, theme.neutral, *theme.frames):
        assert contrast(theme.text, hue) >= LEAST
    for ground in (theme.op, *theme.frames):
        assert contrast(theme.secondary, ground) >= LEAST
    assert contrast(theme.quiet, theme.neutral) >= LEAST
    assert contrast(theme.sign, theme.mark) >= LEAST
