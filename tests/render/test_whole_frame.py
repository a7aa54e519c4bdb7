"""A frame around the whole model is not drawn; its name is in the title."""

from __future__ import annotations

import pytest

import graphviz_tb
from graphviz_tb.model.drawing import Label


def _node(name: str, *inputs: str) -> str:
    return f'node {{ name: "{name}" op: "X" ' + "".join(f'input: "{each}" ' for each in inputs) + "}\n"


def _drawn(text: str, **choices: object) -> tuple[list[str], list[str]]:
    """Return the words of the title and of the graph of a picture with its group `net` open."""
    picture = graphviz_tb.load(text.encode()).picture(open=("net",), depth=0, **choices)
    assert any(box.open for box in picture.scene.boxes)
    words = {
        part.name: [shape.content for group in part.groups for shape in group.shapes if isinstance(shape, Label)]
        for part in picture.drawing.parts
    }
    return words["title"], words["graph"]


NET = _node("net/a", "x") + _node("net/b", "net/a")


def test_the_name_of_the_frame_around_all_but_inputs_and_outputs_is_in_the_title() -> None:
    title, graph = _drawn(_node("x") + NET + _node("y", "net/b"))
    assert "net" not in graph
    assert any("net · 4 ops" in word for word in title)


@pytest.mark.parametrize(
    "rest",
    [
        _node("z", "net/b") + _node("y", "z"),  # more than an output
        _node("other/a", "net/b") + _node("other/b", "other/a"),  # another group
    ],
)
def test_a_frame_beside_more_than_inputs_and_outputs_is_drawn(rest: str) -> None:
    _, graph = _drawn(_node("x") + NET + rest)
    assert "net" in graph


def test_a_frame_that_is_selected_is_drawn() -> None:
    _, graph = _drawn(_node("x") + NET + _node("y", "net/b"), select=("net",))
    assert "net" in graph
