"""What is drawn knows what it stands for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import graphviz_tb
from graphviz_tb.model.scene import Scene
from graphviz_tb.model.view import View

FIXTURES = Path(__file__).parents[2] / "fixtures" / "real"
OPENED = [
    ("mnist_cnn.pbtxt", {"depth": 1}),
    ("lstm_dynamic_rnn.pb", {"open": ("rnn",)}),
    ("func_library_nested.pb", {"depth": 2}),
    ("while_v1.pb", {"open": ("outer",)}),
    ("word2vec_nce.pb", {"depth": 1}),
]


def groups(view: View) -> Iterator[View]:
    todo = [view]
    while todo:
        one = todo.pop()
        yield one
        todo += one.opened.values()


@pytest.fixture(params=OPENED, ids=lambda case: case[0], scope="module")
def drawn(request: pytest.FixtureRequest) -> tuple[dict[str, View], Scene]:
    name, choices = request.param
    picture = graphviz_tb.load(FIXTURES / name).picture(**choices)
    return {view.address: view for view in groups(picture.view)}, picture.scene


def test_a_line_names_the_metaedge_or_bridge_that_it_is_drawn_for(drawn: tuple[dict[str, View], Scene]) -> None:
    views, scene = drawn
    assert scene.routes
    for route in scene.routes:
        named = route.identity
        level = views[named.group].metagraph
        if named.kind == "loop":
            assert (route.source, named.source) == (route.target, named.target)
            continue
        entry = {"edge": level.edges, "bridge": level.bridges}[named.kind][named.index]
        assert entry.kind == route.kind
        ends = [scene.boxes[box].row if box >= 0 else -1 for box in (route.source, route.target)]
        if named.kind == "edge":
            assert ends == [level.children[entry.source], level.children[entry.target]]
        else:
            assert ends == ([-1, level.children[entry.child]] if entry.inbound else [level.children[entry.child], -1])


def test_the_ends_of_a_line_are_addresses(drawn: tuple[dict[str, View], Scene]) -> None:
    _, scene = drawn
    for route in scene.routes:
        for box, address in ((route.source, route.identity.source), (route.target, route.identity.target)):
            assert address
            assert box < 0 or scene.boxes[box].address == address


def test_a_line_that_goes_on_inside_a_frame_meets_the_same_port_there(drawn: tuple[dict[str, View], Scene]) -> None:
    _, scene = drawn
    for route in scene.routes:
        ends = ((route.source_port, route.source, route.points[0]), (route.target_port, route.target, route.points[-1]))
        for port, box, point in ends:
            assert port >= 0 or box >= 0
            if port >= 0:
                assert (scene.ports[port].x, scene.ports[port].y) == point
                assert scene.ports[port].box == (box if box >= 0 else route.frame)


def test_a_port_names_its_frame_and_the_neighbours_that_share_it(drawn: tuple[dict[str, View], Scene]) -> None:
    views, scene = drawn
    for port in scene.ports:
        slot = views[port.group].skeleton.ports[port.slot]
        assert scene.boxes[port.box].address == port.group
        assert (port.first, len(port.others)) == (slot.first, len(slot.others))
        assert all(port.others)


def test_a_stub_names_what_it_stands_for(drawn: tuple[dict[str, View], Scene]) -> None:
    views, scene = drawn
    for stub in scene.stubs:
        assert stub.identities
        for named in stub.identities:
            level, box = views[named.group].metagraph, scene.boxes[stub.box]
            assert box.address == (named.target if stub.side == "in" else named.source)
            if named.kind == "edge":
                edge = level.edges[named.index]
                assert named.index in level.mask.stubbed
                assert box.row == level.children[edge.target if stub.side == "in" else edge.source]
            elif named.kind == "bridge":
                bridge = level.bridges[named.index]
                assert (level.children[bridge.child], bridge.inbound) == (box.row, stub.side == "in")
            else:
                kind = level.annotations[named.index].kind
                assert kind in ("constant", "weight", "summary")
                assert stub.kind in (kind, "more")


def test_the_rest_of_many_stubs_names_all_of_them() -> None:
    # one op beside six constants, of which five are shown
    text = "".join(f'node{{name:"c{at}" op:"Const"}}' for at in range(7))
    text += 'node{name:"sum" op:"AddN" ' + "".join(f'input:"c{at}" ' for at in range(7)) + "}"
    stubs = graphviz_tb.load(text.encode()).picture().scene.stubs
    assert [len(stub.identities) for stub in stubs] == [1, 1, 1, 1, 1, 2]
    assert [named.source for named in stubs[-1].identities] == ["c5", "c6"]
