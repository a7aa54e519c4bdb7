"""The main path of a picture leads on through open groups, and is straight there."""

from __future__ import annotations

import pytest

import graphviz_tb
from graphviz_tb.model.scene import Route, Scene


def node(name: str, *inputs: str) -> str:
    return f'node{{name:"{name}" op:"{name.replace("/", "_")}" ' + " ".join(f'input:"{one}"' for one in inputs) + "}"


# x ─▶ [a ─▶ b ─▶ c] ─▶ out      the longer way once the group is open,
#  └─▶   p   ─▶   q  ──▶ ┘       the longer one while it is closed
TEXT = "".join(
    [
        node("x"),
        node("group/a", "x"),
        node("group/b", "group/a"),
        node("group/c", "group/b"),
        node("p", "x"),
        node("q", "p"),
        node("out", "group/c", "q"),
    ]
)


def picture(direction: str, *opened: str) -> Scene:
    options = {"direction": direction, "open": opened, "depth": 0}
    return graphviz_tb.load(TEXT.encode(), folds=False).picture(**options).scene


def joined(route: Route) -> tuple[str, str]:
    return route.identity.source, route.identity.target


def straight(route: Route, across: int) -> bool:
    return len({point[across] for point in route.points}) == 1


@pytest.mark.parametrize(("direction", "across"), [("BT", 0), ("TB", 0), ("LR", 1), ("RL", 1)])
def test_the_longest_way_through_an_open_group_is_straight(direction: str, across: int) -> None:
    main = [route for route in picture(direction, "group").routes if route.main]
    assert {end for route in main for end in joined(route)} >= {"x", "group/a", "group/b", "group/c", "out"}
    assert not {"p", "q"} & {end for route in main for end in joined(route)}
    assert all(straight(route, across) for route in main)
    assert len({point[across] for route in main for point in route.points}) == 1


def test_a_closed_picture_has_the_main_path_of_its_level() -> None:
    main = [joined(route) for route in picture("BT").routes if route.main]
    assert main == [("x", "p"), ("p", "q"), ("q", "out")]


# e1 ─▶ … ─▶ e6 ───────────┐            what an encoder gives enters late
# y  ─▶ [self ─▶ add ─▶ cross ─▶ ffn] ─▶ out
DECODER = "".join(
    [
        node("e1"),
        *(node(f"e{at + 1}", f"e{at}") for at in range(1, 6)),
        node("y"),
        node("decoder/self", "y"),
        node("decoder/add", "decoder/self"),
        node("decoder/cross", "decoder/add", "e6"),
        node("decoder/ffn", "decoder/cross"),
        node("out", "decoder/ffn"),
    ]
)


def test_what_an_encoder_gives_joins_the_decoder_from_the_side() -> None:
    scene = graphviz_tb.load(DECODER.encode(), folds=False).picture(open=("decoder",), depth=0).scene
    main = [joined(route) for route in scene.routes if route.main]
    inside = [("decoder/self", "decoder/add"), ("decoder/add", "decoder/cross"), ("decoder/cross", "decoder/ffn")]
    assert {*inside} <= {*main}
    assert not [pair for pair in main if pair[0] == "e6"]
    assert [pair for pair in main if pair[0] == "y"]


# e1 ─▶ … ─▶ e6 ────────────────┐      the longer way, but the decoder embeds tokens of its own
# ids ─▶ [embed ─▶ norm ─▶ cross ─▶ ffn] ─▶ out
TOKENS = "".join(
    [
        node("e1"),
        *(node(f"e{at + 1}", f"e{at}") for at in range(1, 6)),
        'node{name:"ids" op:"Placeholder" attr{key:"dtype" value{type:DT_INT32}}}',
        'node{name:"decoder/table" op:"VariableV2" attr{key:"dtype" value{type:DT_FLOAT}}}',
        'node{name:"decoder/embed" op:"GatherV2" input:"decoder/table" input:"ids"',
        'attr{key:"Tparams" value{type:DT_FLOAT}} attr{key:"Tindices" value{type:DT_INT32}}}',
        node("decoder/norm", "decoder/embed"),
        node("decoder/cross", "decoder/norm", "e6"),
        node("decoder/ffn", "decoder/cross"),
        node("out", "decoder/ffn"),
    ]
)


def test_a_decoder_that_embeds_its_tokens_is_entered_by_them() -> None:
    scene = graphviz_tb.load(TOKENS.encode(), folds=False).picture(open=("decoder",), depth=0).scene
    main = [joined(route) for route in scene.routes if route.main]
    assert {("decoder/embed", "decoder/norm"), ("decoder/norm", "decoder/cross")} <= {*main}
    assert not [pair for pair in main if pair[0] == "e6"]


# x ──▶ embed ──────────▶ [attend ─▶ ffn] ─▶ out      one box makes a mask of sizes
# sizes ─▶ [mask ─────────▶ attend ─▶ ffn]
MASK = "".join(
    [
        node("x"),
        'node{name:"sizes" op:"Placeholder" attr{key:"dtype" value{type:DT_INT32}}}',
        'node{name:"encoder/mask" op:"Cast" input:"sizes"',
        'attr{key:"SrcT" value{type:DT_INT32}} attr{key:"DstT" value{type:DT_FLOAT}}}',
        node("embed", "x"),
        node("encoder/attend", "embed", "encoder/mask"),
        node("encoder/ffn", "encoder/attend"),
        node("out", "encoder/ffn"),
    ]
)


def test_a_mask_joins_from_the_side() -> None:
    scene = graphviz_tb.load(MASK.encode(), folds=False).picture(open=("encoder",), depth=0).scene
    ends = {end for route in scene.routes if route.main for end in joined(route)}
    assert "embed" in ends
    assert "encoder/mask" not in ends


def test_what_is_beside_the_main_path_and_has_an_input_of_its_own_is_straight_and_dark_too() -> None:
    text = DECODER + node("told", "e6")
    scene = graphviz_tb.load(text.encode(), folds=False).picture(open=("decoder",), depth=0).scene
    main = {joined(route): route for route in scene.routes if route.main}
    encoder = [(f"e{at}", f"e{at + 1}") for at in range(1, 6)] + [("e6", "told")]
    assert {*encoder} <= {*main}
    assert len({x for pair in encoder for x, _ in main[pair].points}) == 1
    [given] = [route for route in scene.routes if joined(route) == ("e6", "decoder")]
    assert not given.main


def test_a_short_chain_is_no_path_of_its_own() -> None:
    text = "".join([node("m"), node("n", "m"), *(node(f"a{at}", f"a{at - 1}" if at else "") for at in range(6))])
    text = text.replace('input:""', "") + node("out", "a5", "n")
    scene = graphviz_tb.load(text.encode(), folds=False).picture(depth=0).scene
    assert not [route for route in scene.routes if route.main and joined(route)[0] in ("m", "n")]
