"""Boxes that no line touches stand in a free corner."""

from __future__ import annotations

import pytest

import graphviz_tb
from graphviz_tb.model.scene import Box, Scene


def chain(length: int, alone: int) -> Scene:
    """`length` boxes one after the other, and `alone` others."""
    text = "".join(
        f'node{{name:"c{at}" op:"C{at}" ' + (f'input:"c{at - 1}"' if at else "") + "}" for at in range(length)
    )
    text += "".join(f'node{{name:"s{at}" op:"S{at}"}}' for at in range(alone))
    return graphviz_tb.load(text.encode(), folds=False).picture(depth=0).scene


def named(scene: Scene, letter: str) -> list[Box]:
    return [box for box in scene.boxes if box.address.startswith(letter)]


@pytest.mark.parametrize(("length", "alone"), [(4, 1), (9, 2), (9, 6), (2, 6), (12, 8)])
def test_all_boxes_are_there_apart_and_in_the_main_area(length: int, alone: int) -> None:
    scene = chain(length, alone)
    assert len(named(scene, "c")) == length
    assert len(named(scene, "s")) == alone
    assert {box.area for box in scene.boxes} == {"main"}
    for at, one in enumerate(scene.boxes):
        assert one.x >= 0
        assert one.x + one.width <= scene.width
        assert one.y >= 0
        assert one.y + one.height <= scene.height
        for two in scene.boxes[at + 1 :]:
            beside = one.x + one.width < two.x or two.x + two.width < one.x
            assert beside or one.y + one.height < two.y or two.y + two.height < one.y


def test_a_lone_box_of_a_wide_drawing_takes_no_column() -> None:
    # c0 ─▶ c1 ─▶ c2 ─▶ c3 ─▶ eight boxes: at the foot both corners are free
    fan = "".join(f'node{{name:"c{at}" op:"C{at}" ' + (f'input:"c{at - 1}"' if at else "") + "}" for at in range(4))
    fan += "".join(f'node{{name:"w{at}" op:"W{at}" input:"c3"}}' for at in range(8))
    sizes = []
    for text in (fan, fan + 'node{name:"s" op:"S"}'):
        scene = graphviz_tb.load(text.encode(), folds=False).picture(depth=0).scene
        sizes.append((scene.width, scene.height))
    assert sizes[0] == sizes[1]


def test_boxes_beside_a_tower_make_it_no_higher() -> None:
    alone, tower = chain(7, 2), chain(7, 0)
    assert tower.height > 2 * tower.width
    assert alone.height == tower.height
