"""Notes: a stub that many boxes of a level share is said once."""

from __future__ import annotations

import pytest

import graphviz_tb
from graphviz_tb.model.scene import Scene


def graph(boxes: int, linked: int) -> Scene:
    """`boxes` scopes in a chain, of which the last `linked` feed a hub that is set apart by hand."""
    text = ""
    for at in range(boxes):
        before = f'input:"b{at - 1}/y" ' if at else ""
        text += f'node{{name:"b{at}/x" op:"Op{at}" {before}}} node{{name:"b{at}/y" op:"Out{at}" input:"b{at}/x"}}'
    inputs = " ".join(f'input:"b{at}/x"' for at in range(boxes - linked, boxes))
    text += f'node{{name:"hub" op:"Hub" {inputs}}}'
    return graphviz_tb.load(text.encode(), aux=("hub",)).picture(depth=0).scene


def notes(scene: Scene) -> list[str]:
    return [text.content for text in scene.texts if text.role == "note"]


@pytest.mark.parametrize(("linked", "said"), [(2, []), (3, ["3 boxes → hub"]), (6, ["all boxes → hub"])])
def test_what_three_boxes_share_with_the_auxiliary_area_is_one_note(linked: int, said: list[str]) -> None:
    scene = graph(6, linked)
    assert notes(scene) == said
    at_boxes = [stub for stub in scene.stubs if stub.side == "out" and stub.kind == "shortcut"]
    assert len(at_boxes) == (0 if said else linked)


def test_a_note_knows_every_edge_that_it_stands_for_and_names_the_boxes() -> None:
    (note,) = [text for text in graph(6, 4).texts if text.role == "note"]
    assert [named.source for named in note.identities] == ["b2", "b3", "b4", "b5"]
    assert {named.target for named in note.identities} == {"hub"}
    assert note.full == "hub ← b2, b3, b4, b5"


def test_the_neighbour_itself_still_shows_its_stubs() -> None:
    scene = graph(6, 4)
    hub = next(at for at, box in enumerate(scene.boxes) if box.address == "hub")
    assert sum(stub.box == hub for stub in scene.stubs) == 4


def test_what_five_boxes_of_many_share_is_one_note() -> None:
    assert notes(graph(14, 5)) == ["5 boxes → hub"]
