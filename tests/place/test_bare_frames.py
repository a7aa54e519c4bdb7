"""A frame around one open stack and what feeds it from beside is not drawn: its name is before that of the stack."""

from __future__ import annotations

from itertools import pairwise

import graphviz_tb
from graphviz_tb.api.picture import Picture
from graphviz_tb.proto import GraphDef
from tests.place.geometry import faults

#  net:  enc: mask ─▶ ┐
#        embed ─▶ layer_0 ─▶ … ─▶ layer_5 ─▶ head


def picture_of_encoder(inside: str) -> Picture:
    """A network with an encoder that holds six layers and the op `inside`, before all of them or beside them."""
    graph = GraphDef()
    for name, op, inputs in (
        ("x", "Placeholder", ()),
        ("m", "Placeholder", ()),
        ("net/embed/w", "VariableV2", ()),
        ("net/embed/product", "MatMul", ("x", "net/embed/w")),
        (
            "net/enc/not",
            "LogicalNot" if inside == "beside" else "Tanh",
            ("m",) if inside == "beside" else ("net/embed/product",),
        ),
    ):
        graph.node.add(name=name, op=op, input=inputs)
    last = "net/embed/product" if inside == "beside" else "net/enc/not"
    for number in range(6):
        layer = f"net/enc/layer_{number}"
        graph.node.add(name=f"{layer}/w", op="VariableV2")
        graph.node.add(name=f"{layer}/product", op="MatMul", input=[last, f"{layer}/w"])
        scaled = "net/enc/not" if inside == "beside" else f"{layer}/product"
        graph.node.add(name=f"{layer}/mul", op="Mul", input=[f"{layer}/product", scaled])
        graph.node.add(name=f"{layer}/relu", op="Relu", input=[f"{layer}/mul"])
        last = f"{layer}/relu"
    graph.node.add(name="net/head/w", op="VariableV2")
    graph.node.add(name="net/head/product", op="MatMul", input=[last, "net/head/w"])
    graph.node.add(name="y", op="Softmax", input=["net/head/product"])
    return graphviz_tb.load(graph).picture(open=["net", "net/enc", "net/enc/layer_[0-5]"])


def test_the_name_of_a_frame_that_holds_one_stack_is_before_that_of_the_stack() -> None:
    picture = picture_of_encoder("beside")
    scene = picture.scene
    titles = [text.content for text in scene.texts if text.role == "title"]
    assert "enc / layer_[0-5] ×6" in titles
    assert "enc" not in titles
    [bare] = [number for number, box in enumerate(scene.boxes) if box.bare]
    assert scene.boxes[bare].address == "net/enc"
    assert all(port.bare is (port.box == bare) for port in scene.ports)


def test_lines_run_on_through_a_frame_that_is_not_drawn() -> None:
    scene = picture_of_encoder("beside").scene
    for number, port in enumerate(scene.ports):
        if port.bare:
            ends = [route.points[0] for route in scene.routes if route.source_port == number]
            ends += [route.points[-1] for route in scene.routes if route.target_port == number]
            assert set(ends) == {(port.x, port.y)}
    for route in scene.routes:  # none runs back
        for (ax, ay), (bx, by), (cx, cy) in zip(route.points, route.points[1:], route.points[2:], strict=False):
            assert (bx - ax) * (cx - bx) + (by - ay) * (cy - by) >= 0
        assert all(one != other for one, other in pairwise(route.points))


def test_a_frame_with_more_on_its_main_path_is_drawn() -> None:
    scene = picture_of_encoder("before").scene
    assert not any(box.bare for box in scene.boxes)
    assert "enc" in [text.content for text in scene.texts if text.role == "title"]


def test_the_box_before_such_a_frame_is_beside_what_feeds_its_stack_from_beside() -> None:
    scene = picture_of_encoder("beside").scene
    boxes = {box.address: box for box in scene.boxes}
    embed, mask, stack = boxes["net/embed"], boxes["net/enc/not"], boxes["net/enc/layer_[0-5]"]
    assert embed.y < mask.y + mask.height
    assert mask.y < embed.y + embed.height
    assert embed.x - mask.x - mask.width >= 16 or mask.x - embed.x - embed.width >= 16
    assert 28 <= embed.y - stack.y - stack.height <= 36
    assert not list(faults(scene))
    ends = [route.points for route in scene.routes if route.source == scene.boxes.index(mask)]
    assert [len(points) for points in ends] == [2]  # its port at the stack is where it leads straight


def test_an_open_box_before_such_a_frame_stays_before_it() -> None:
    model = picture_of_encoder("beside").model
    scene = model.picture(open=["net", "net/embed", "net/enc", "net/enc/layer_[0-5]"]).scene
    boxes = {box.address: box for box in scene.boxes}
    assert boxes["net/embed"].y >= boxes["net/enc"].y + boxes["net/enc"].height
    assert not list(faults(scene))
