"""What a scene holds: stubs and their rest, the auxiliary area, stacks, loops, titles, labels of edges."""

from __future__ import annotations

from pathlib import Path

import pytest

import graphviz_tb
from graphviz_tb.model.metagraph import THICKEST_TENTHS, THICKNESS_THRESHOLDS, THINNEST_TENTHS
from graphviz_tb.model.scene import Scene
from graphviz_tb.model.view import NodeLabel
from graphviz_tb.place.boxes import lay_out_title

REAL = Path(__file__).parents[2] / "fixtures" / "real"


def scene(text: str, **choices: object) -> Scene:
    return graphviz_tb.load(text.encode()).picture(**choices).scene


def node(name: str, *inputs: str, op: str = "X") -> str:
    return f'node{{name:"{name}" op:"{op}" ' + " ".join(f'input:"{one}"' for one in inputs) + "}"


def shaped(name: str, dims: list[int], dtype: str = "DT_FLOAT", *inputs: str) -> str:
    sizes = " ".join(f"dim{{size:{dim}}}" for dim in dims)
    told = f'attr{{key:"_output_shapes" value{{list{{shape{{{sizes}}}}}}}}} attr{{key:"T" value{{type:{dtype}}}}}'
    return f'node{{name:"{name}" op:"Relu" {" ".join(f"input:{one!r}" for one in inputs)} {told}}}'


@pytest.mark.parametrize("direction", ["BT", "LR"])
def test_at_most_five_stubs_a_side_then_the_rest_is_counted(direction: str) -> None:
    names = [f"c{letter}" for letter in "abcdefgh"]
    text = " ".join(node(name, op="Const") for name in names) + node("sum", *names)
    found = scene(text, direction=direction)
    assert [stub.kind for stub in found.stubs] == ["constant"] * 5 + ["more"]
    assert found.texts[-1].content == "+3"
    assert "cf, cg, ch" in found.stubs[-1].title
    assert len(scene(text, direction=direction, max_annotations=8).stubs) == 8


def test_stubs_leave_the_flow_sides_free() -> None:
    # c (a constant) ─▶ a ─▶ b: where the flow is vertical the mark stands on the left, else above.
    text = node("c", op="Const") + node("a", "c") + node("b", "a")
    upright, lying = scene(text), scene(text, direction="LR")
    box = next(box for box in upright.boxes if box.address == "a")
    assert upright.stubs[0].x + upright.stubs[0].width < box.x
    box = next(box for box in lying.boxes if box.address == "a")
    assert lying.stubs[0].y + lying.stubs[0].height < box.y


@pytest.mark.parametrize("direction", ["BT", "TB", "LR", "RL"])
def test_the_auxiliary_area_stands_apart_behind_a_rule(direction: str) -> None:
    found = graphviz_tb.load(REAL / "lstm_dynamic_rnn.pb", aux=("Adam",)).picture(direction=direction, depth=0).scene
    away = [box for box in found.boxes if box.area != "main"]
    main = [box for box in found.boxes if box.area == "main"]
    *_, rule = found.rules
    assert away
    for box in main:
        for one in away:
            aside = box.x + box.width + 16 < one.x or one.x + one.width + 16 < box.x
            assert aside or box.y + box.height + 16 < one.y or one.y + one.height + 16 < box.y
        assert not (box.x <= rule.x1 <= box.x + box.width and box.y <= rule.y1 <= box.y + box.height)
    assert [text.content for text in found.texts if text.role == "heading"][-1] == "Auxiliary"


def test_stacks_show_their_sheets_and_their_number() -> None:
    found = graphviz_tb.load(REAL / "numbered_series.pb").picture().scene
    stacks = {box.address: box for box in found.boxes if box.kind == "series"}
    assert all(box.sheets == 2 for box in stacks.values())
    linked, apart = stacks["dense_[1-20]"], stacks["branch[0-7]"]
    assert linked.connected
    assert linked.height == 32 + 8
    assert not apart.connected
    assert apart.member == "op"
    told = {found.boxes[text.box].address: text.content for text in found.texts if text.role == "second"}
    assert told["dense_[1-20]"] == "4 → 4, tanh"
    names = {found.boxes[text.box].address: text.content for text in found.texts if text.role == "label"}
    assert names["dense_[1-20]"] == "dense_[1-20] ×20"
    assert names["branch[0-7]"] == "branch[0-7] ×8"


def test_an_edge_to_itself_is_a_loop_beside_its_box() -> None:
    found = scene(node("a", "a"))
    (loop,) = found.routes
    assert loop.source == loop.target == 0
    assert max(x for x, _ in loop.points) > found.boxes[0].x + found.boxes[0].width
    assert max(x for x, _ in loop.points) <= found.width


def labels(found: Scene) -> list[str]:
    return [text.content for text in found.texts if text.role == "edge"]


def test_labels_tell_shapes_but_not_of_scalars() -> None:
    assert labels(scene(shaped("a", [-1, 28, 28, 32]) + node("b", "a"))) == ["28×28×32"]
    assert labels(scene(shaped("a", [4], "DT_INT32") + node("b", "a"))) == ["[4] int32"]
    assert labels(scene(shaped("a", []) + node("b", "a"))) == []
    assert labels(scene(node("a") + node("b", "a"))) == []
    assert labels(scene(node("a") + node("b", "a", "a:1", "a:2"))) == ["3 tensors"]
    assert labels(scene(node("a") + node("b", "^a"))) == []


def test_a_line_is_labelled_once_however_many_frames_it_crosses() -> None:
    text = shaped("a/b/c", [3, 3]) + node("d/e/f", "a/b/c")
    assert labels(scene(text, depth=9)) == ["3×3"]


def test_lines_are_thicker_where_more_flows_and_grow_evenly() -> None:
    assert len(THICKNESS_THRESHOLDS) == THICKEST_TENTHS - THINNEST_TENTHS
    assert list(THICKNESS_THRESHOLDS) == sorted(THICKNESS_THRESHOLDS)
    thin, thick = (scene(shaped("a", [size]) + node("b", "a")).routes[0].thickness for size in (2, 5_000_000))
    assert THINNEST_TENTHS < thin < thick <= THICKEST_TENTHS


NODE_LABEL = NodeLabel(1, "scope", "scope", "scope", "scope", openable=True)


def test_a_title_stands_left_of_the_lines_that_cross_it() -> None:
    plain = lay_out_title(NODE_LABEL, "12 ops", [], 300)
    assert plain.texts[0].x == 12
    assert lay_out_title(NODE_LABEL, "12 ops", [200], 300).texts == plain.texts
    crossed = lay_out_title(NODE_LABEL, "12 ops", [60], 300)
    assert crossed.texts[0].x > 60 or crossed.texts[0].x + crossed.texts[0].width < 60


def test_where_there_is_no_room_for_a_title_the_content_moves() -> None:
    found = lay_out_title(NODE_LABEL, "12 ops", [20, 30, 40], 60)
    (name,) = found.texts
    assert name.x + name.width < 20 + found.shift or name.x > 40
    assert found.width >= 60


def test_what_stood_beside_a_group_is_counted_when_it_is_open() -> None:
    model = graphviz_tb.load(REAL / "lstm_dynamic_rnn.pb", aux=("Adam",))
    found = model.picture(open=("Adam",), direction="LR", depth=0).scene
    (count,) = (text.content for text in found.texts if text.role == "count")
    assert "link" in count
    opened = next(box for box in found.boxes if box.open)
    assert "linked with" in opened.title


def test_depth_does_not_break_the_stack() -> None:
    # each scope holds an op as well: scopes that hold nothing but one another are one frame
    names = ["/".join(["s"] * depth) for depth in range(1, 61)]
    text = "".join(node(f"{name}/a") for name in names)
    found = scene(text + node("b", f"{names[-1]}/a"), open_all=True)
    assert len(found.boxes) == 60 + 60 + 1
    assert max(box.depth for box in found.boxes) == 60


@pytest.mark.parametrize("direction", ["BT", "TB", "LR", "RL"])
def test_parts_are_read_in_the_order_of_the_file(direction: str) -> None:
    text = "".join(f'node{{name:"part{at:02}" op:"Op{at}"}}' for at in range(12))
    scene = graphviz_tb.load(text.encode(), folds=False).picture(direction=direction).scene
    across, along = (0, 1) if direction in ("BT", "TB") else (1, 0)
    places = {box.address: (box.x, box.y) for box in scene.boxes}
    read = sorted(places, key=lambda address: (places[address][along], places[address][across]))
    assert len({place[along] for place in places.values()}) > 1
    assert read == sorted(places)
