"""First pictures fill a sheet that is wide: long levels stand in columns, which stay whatever is opened."""

from __future__ import annotations

import itertools

import pytest

from graphviz_tb import load
from graphviz_tb.api.picture import Picture
from graphviz_tb.api.pipeline import Model
from graphviz_tb.model.scene import Scene
from tests.place.geometry import faults


def network(stages: int, blocks: int = 1) -> Model:
    """A scope with a chain of scopes, each of which holds a short chain."""
    last, lines = "x", ['node { name: "x" op: "Placeholder" }']
    for stage in range(stages):
        for block in range(blocks):
            for op in ("MatMul", "BiasAdd", f"Op{stage}"):
                name = f"net/stage{stage}/part{block}/{op}"
                lines.append(f'node {{ name: "{name}" op: "{op}" input: "{last}" }}')
                last = name
    lines.append(f'node {{ name: "y" op: "Softmax" input: "{last}" }}')
    return load("\n".join(lines).encode())


def ratio(picture: Picture) -> float:
    return picture.drawing.height / picture.drawing.width


@pytest.mark.parametrize("stages", [9, 14, 24])
def test_no_first_picture_of_a_chain_is_a_tower(stages: int) -> None:
    model = network(stages)
    scene = model.picture().scene
    assert faults(scene) == []
    assert ratio(model.picture()) < 2
    assert stages < 14 or ratio(model.picture(wrap=False)) > 2


def test_columns_follow_the_direction_of_the_flow() -> None:
    scene = network(14).picture(direction="LR").scene
    assert faults(scene) == []
    assert scene.width < network(14).picture(direction="LR", wrap=False).scene.width


def places(scene: Scene) -> dict[str, tuple[int, int, int]]:
    return {box.address: (box.parent, box.x, box.y) for box in scene.boxes}


def test_what_is_opened_changes_no_column() -> None:
    model = network(12)
    names = [f"net/stage{stage}" for stage in range(12)]
    closed = places(model.picture(open=("net",)).scene)
    for chosen in (names[:1], names[4:6], names[::3]):
        opened = places(model.picture(open=("net", *chosen)).scene)
        for one, two in itertools.combinations(names, 2):
            # In different columns before, and in the same order now.
            if closed[one][1] + 200 < closed[two][1]:
                assert opened[one][1] < opened[two][1], (one, two, chosen)


def test_the_first_picture_has_the_same_columns_whatever_was_drawn_before() -> None:
    fresh, used = network(12), network(12)
    used.picture(open=("net", "net/stage3"))
    used.picture(depth=2)
    assert places(used.picture().scene) == places(fresh.picture().scene)
    assert places(used.picture(depth=1).scene) == places(fresh.picture(depth=1).scene)
