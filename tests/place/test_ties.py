"""The skips of a U are level, also where a member was put away by hand."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

from graphviz_tb import load
from tests.place.geometry import faults

UNET = Path(__file__).parents[2] / "fixtures" / "exported" / "unet.pt2"


def test_skips_are_level() -> None:
    model = load(UNET)
    scene = model.picture().scene
    level = [route for route in scene.routes if len(route.points) == 2 and route.points[0][1] == route.points[1][1]]
    assert len(level) == 4
    for route in level:
        source, target = scene.boxes[route.source], scene.boxes[route.target]
        assert source.x + source.width == route.points[0][0]
        assert target.x == route.points[1][0]
    assert not any(route.back for route in scene.routes)
    assert not list(faults(scene))


def test_members_put_away_and_open_members_fit_in() -> None:
    legs = [load(UNET).hierarchy.name[row] for row in sorted(load(UNET).hierarchy.legs)]
    for name in (legs[0], legs[-1]):
        for scene in (load(UNET, aux=(name,)).picture().scene, load(UNET).picture(open=(name,)).scene):
            assert not list(faults(scene))
            assert all(a[0] == b[0] or a[1] == b[1] for line in scene.routes for a, b in pairwise(line.points))
