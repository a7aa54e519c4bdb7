"""Notes: how many boxes must share a stub before one note says it for all."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from graphviz_tb.words.level import _shared_notes
from tests.each import each

FAR = 99  # the row of a neighbour


def level(boxes: int, linked: int, extracted: bool = False, opened: int = 0) -> Any:
    """`boxes` boxes, of which the first `linked` have a stub to one neighbour and the last `opened` are open."""
    stubs = [
        SimpleNamespace(kind="shortcut", side="out", other=FAR, child=child, training=False) for child in range(linked)
    ]
    metagraph = SimpleNamespace(
        core_children=lambda: range(boxes),
        children=[*range(boxes), FAR],
        annotations=stubs,
        mask=SimpleNamespace(extracted_children=[boxes] if extracted else []),
    )
    return SimpleNamespace(
        metagraph=metagraph,
        opened=set(range(boxes - opened, boxes)),
        names={FAR: "far/hub"},
        labels={FAR: "hub"},
        node_labels=[SimpleNamespace(label=f"b{child}") for child in range(boxes)],
    )


@each(
    ("view", "said"),
    [
        (level(20, 4), []),
        (level(20, 5), ["5 boxes → hub"]),
        (level(9, 4), []),
        (level(8, 4), ["4 boxes → hub"]),  # half of the level
        (level(8, 4, opened=4), ["all boxes → hub"]),
        (level(20, 2, extracted=True), []),
        (level(20, 3, extracted=True), ["3 boxes → hub"]),
        (level(4, 2), []),  # half, but only two
    ],
)
def test_how_many_boxes_make_a_note(view: Any, said: list[str]) -> None:
    assert [note.content for note in _shared_notes(view)] == said
