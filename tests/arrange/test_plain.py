"""Levels too large to be laid out are drawn in plain rows."""

from __future__ import annotations

import pytest

from graphviz_tb import load
from graphviz_tb.arrange.level import arrange
from graphviz_tb.model.metagraph import Metagraph
from graphviz_tb.model.scene import Scene
from graphviz_tb.model.skeleton import Skeleton
from graphviz_tb.proto import GraphDef
from tests.arrange.levels import level

PLAIN = "graphviz_tb.arrange.plain_rows.MAX_LEVEL_ITEMS"


def test_many_boxes_and_lines_stand_in_plain_rows() -> None:
    # one op feeds 25,000
    hub = level(25_001, *((0, at) for at in range(1, 25_001)))
    found = arrange(hub)
    check(hub, found)
    assert found.parts[0][0] == (0,)
    assert max(map(len, found.parts[0])) < 250


def test_many_bends_stand_in_plain_rows() -> None:
    # a chain of 400, and lines that skip most of it
    arcs = (
        {(at, at + 1) for at in range(400)} | {(at, 400 - at) for at in range(190)} | {(at, 398) for at in range(200)}
    )
    dense = level(401, *sorted(arcs))
    found = arrange(dense)
    check(dense, found)
    assert max(map(len, found.parts[0])) > 10  # 401 ranks of one box would be a thread


def test_circles_and_boxes_alone_have_their_places(monkeypatch: pytest.MonkeyPatch) -> None:
    # 0 ─▶ 1 ─▶ 2 ─▶ 1, and 3 alone
    monkeypatch.setattr(PLAIN, 0)
    circle = level(4, (0, 1), (1, 2), (2, 1))
    found = arrange(circle)
    check(circle, found)
    assert [wire.turned for wire in found.wires] == [False, False, True]


def check(metagraph: Metagraph, found: Skeleton) -> None:
    """Every box has a place and every line its ends."""
    assert found.plain
    assert [notice.code for notice in found.notices] == ["large-level"]
    assert sorted(box for part in found.parts for row in part for box in row) == list(range(len(metagraph.children)))
    assert {wire.chain for wire in found.wires} == {(edge.source, edge.target) for edge in metagraph.edges}


def two_layers() -> GraphDef:
    """x ─▶ a/{p, q, r} ─▶ b/{p, q, r} ─▶ y, all to all."""
    graph = GraphDef()
    graph.node.add(name="x", op="Sin")
    before = ["x"]
    for scope in "ab":
        names = [f"{scope}/{name}" for name in "pqr"]
        for name, op in zip(names, ("Add", "Mul", "Sub"), strict=True):
            graph.node.add(name=name, op=op, input=before)
        before = names
    graph.node.add(name="y", op="Cos", input=before)
    return graph


@pytest.mark.parametrize("direction", ["BT", "LR"])
def test_the_picture_shows_every_line(monkeypatch: pytest.MonkeyPatch, direction: str) -> None:
    monkeypatch.setattr(PLAIN, 3)
    picture = load(two_layers(), folds=False).picture(open=("a", "b"), direction=direction)
    scene = picture.scene
    assert not scene.routes
    assert not overlaps(scene)
    frames = {box.address: number for number, box in enumerate(scene.boxes)}
    inside = {web.frame: len(web.sources) for web in scene.webs}
    assert inside == {-1: 3, frames["a"]: 3 + 3, frames["b"]: 3 * 1 + 3}  # three bridges to a port on either side
    svg, dot = picture.render("svg").decode(), picture.render("dot").decode()
    assert svg.count("L") > sum(inside.values())
    assert dot.count("->") == sum(inside.values())


def overlaps(scene: Scene) -> list[tuple[str, str]]:
    """Closed boxes that share ground."""
    closed = [box for box in scene.boxes if not box.open]
    return [
        (one.address, two.address)
        for at, one in enumerate(closed)
        for two in closed[at + 1 :]
        if one.x < two.x + two.width
        and two.x < one.x + one.width
        and one.y < two.y + two.height
        and two.y < one.y + one.height
    ]
