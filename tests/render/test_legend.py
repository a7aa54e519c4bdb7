"""The legend explains what a picture shows, and nothing else."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from graphviz_tb.model.drawing import Label
from graphviz_tb.model.scene import Box, Route, Scene, Stub, Web
from graphviz_tb.model.theme import THEMES
from graphviz_tb.render.legend import LegendBlock, LegendEntry, _legend_shapes, _sign_entries, draw_legend
from tests.each import each

BOX = Box("a", 1, "scope", -1, 0, 0, 0, 90, 30, open=False, openable=False)
EDGE = Route(((0, 0), (0, 9)), "data", 0, 0, 10)
STUB = Stub(0, 0, 9, 9, "constant", "in", 0, 1, ((0, 0), (0, 9)))


def said(**things: Any) -> list[str]:
    """The words of the signs of a scene."""
    empty = Scene(100, 100, "BT", (), (), (), (), ())
    return [entry.label for entry in _sign_entries(replace(empty, **things), THEMES["light"])]


@each(
    ("choices", "words"),
    [
        ({}, []),
        ({"openable": True}, []),
        ({"open": True, "openable": True}, []),
        ({"open": True, "kind": "series"}, []),
        ({"kind": "op"}, []),
        ({"kind": "call"}, ["function call"]),
        ({"kind": "function"}, ["function"]),
        ({"kind": "series", "sheets": 2}, ["repeated, side by side"]),
        ({"kind": "series", "sheets": 2, "connected": True}, ["repeated, one after another"]),
        ({"kind": "fold", "sheets": 2, "connected": True}, ["many in one box"]),
    ],
)
def test_a_box_has_the_sign_of_its_kind_where_it_is_closed(choices: dict[str, Any], words: list[str]) -> None:
    assert said(boxes=(replace(BOX, **choices),)) == words


@pytest.mark.parametrize(
    ("choices", "words"),
    [
        ({}, []),
        ({"kind": "control"}, ["control"]),
        ({"kind": "reference"}, ["writes weights"]),
        ({"back": True}, ["against the flow"]),
    ],
)
def test_a_line_has_the_sign_of_its_kind(choices: dict[str, Any], words: list[str]) -> None:
    assert said(routes=(replace(EDGE, **choices),)) == words


def test_data_has_a_sign_where_there_are_other_lines() -> None:
    assert said(routes=(EDGE, replace(EDGE, kind="control"))) == ["data", "control"]


def test_a_web_and_a_stub_have_those_of_theirs() -> None:
    assert said(webs=(Web("control", -1, (0,), (1,)),)) == ["control"]
    kinds = {"constant": ["constant"], "weight": ["weight"], "summary": ["summary"], "shortcut": ["leads elsewhere"]}
    assert {kind: said(stubs=(replace(STUB, kind=kind),)) for kind in kinds} == kinds
    assert said(stubs=(replace(STUB, kind="more"),)) == []


def test_long_labels_that_differ_at_their_ends_do_so_when_they_are_cut() -> None:
    begin = "convolution, 8 like 2 Conv2D · 2 norm · 3 words of a stage · "
    entries = tuple(LegendEntry((), begin + end) for end in ("2 Relu", "Relu, 6 ops", "Relu, 12 ops"))
    (legend, *_) = _legend_shapes([LegendBlock("Hue", entries)])
    rows = [group.shapes for group in draw_legend(legend, THEMES["light"])][1:]
    labels = [shape.content for shapes in rows for shape in shapes if isinstance(shape, Label)]
    assert all("…" in label for label in labels)
    assert len(set(labels)) == len(entries)
