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


def test_foot_is_entered_at_its_sides_and_legs_are_straight() -> None:
    scene = load(UNET).picture().scene
    closed = [box for box in scene.boxes if not box.open]
    foot = next(box for box in closed if "[middle]" in box.address)
    middle = foot.y + foot.height // 2
    ends = [
        point
        for line in scene.routes
        for point in (line.points[0], line.points[-1])
        if scene.boxes.index(foot) in (line.source, line.target) and point[1] == middle
    ]
    assert sorted(ends) == [(foot.x, middle), (foot.x + foot.width, middle)]
    skips = [line for line in scene.routes if len(line.points) == 2 and line.points[0][1] == line.points[1][1]]
    middles = {
        tuple(scene.boxes[end].x + scene.boxes[end].width // 2 for end in (line.source, line.target)) for line in skips
    }
    assert len({right - left for left, right in middles}) <= 2  # one px of rounding


def test_figures_show_a_u_rather_than_a_stack() -> None:
    for width in (178, 100):
        scene = load(UNET).picture(paper=True, width_mm=width).scene
        assert sum(len(line.points) == 2 and line.points[0][1] == line.points[1][1] for line in scene.routes) == 4
