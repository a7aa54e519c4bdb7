"""A long part in columns: side by side, level, and joined by lines that keep apart."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby, pairwise

import pytest

from graphviz_tb import load
from graphviz_tb.arrange.level import arrange
from graphviz_tb.model.metagraph import Metaedge, Metagraph
from graphviz_tb.model.skeleton import LevelGaps, LevelLayout, Skeleton, WireStroke
from graphviz_tb.place.coordinates import place_level
from graphviz_tb.proto import GraphDef
from tests.place.geometry import faults


def residual(blocks: int, label: tuple[int, int] = (0, 0)) -> tuple[Skeleton, LevelLayout]:
    """Blocks of four boxes, each with a skip over it; each line has a label so large."""
    count = 4 * blocks + 1
    pairs = [*pairwise(range(count)), *((4 * at, 4 * at + 4) for at in range(blocks))]
    edges = tuple(Metaedge(one, two, 1, 0, 0) for one, two in pairs)
    skeleton = arrange(Metagraph(0, tuple(range(1, count + 1)), (2,) * count, edges, ()))
    strokes = {wire: WireStroke(label=label, is_main=True) for wire in range(len(pairs))}
    return skeleton, place_level(skeleton, [(80, 24)] * count, LevelGaps(), strokes=strokes)


def columns(skeleton: Skeleton) -> list[list[int]]:
    """The boxes of each column, in the order of the flow."""
    ends = (0, *skeleton.breaks[0], len(skeleton.parts[0]))
    return [
        [item for row in skeleton.parts[0][start:end] for item in row if item < skeleton.children]
        for start, end in pairwise(ends)
    ]


def test_columns_stand_side_by_side_and_each_runs_down() -> None:
    skeleton, level = residual(10)
    found = columns(skeleton)
    assert len(found) > 1
    for column in found:
        tops = [level.positions[item][1] for item in column]
        assert tops == sorted(tops)
    for one, two in pairwise(found):
        right = max(level.positions[item][0] + 80 for item in one)
        assert right + 40 <= min(level.positions[item][0] for item in two)
    assert len({level.positions[column[0]][1] for column in found[1:]}) == 1


def test_a_shorter_column_begins_level_with_the_others() -> None:
    skeleton, _ = residual(10)
    one = skeleton.parts[0]
    skeleton = replace(skeleton, breaks=((len(one) // 3,),))
    level = place_level(skeleton, [(80, 24)] * skeleton.children, LevelGaps())
    starts = [level.positions[column[0]][1] for column in columns(skeleton)]
    assert len(starts) == 2
    assert starts[0] == starts[1] > 0


def test_lines_between_columns_run_apart() -> None:
    skeleton, level = residual(10)
    column = {item: at for at, items in enumerate(columns(skeleton)) for item in items}
    upright = [
        (one[0], min(one[1], two[1]), max(one[1], two[1]))
        for wire, route in zip(skeleton.wires, level.routes, strict=True)
        if column[wire.chain[0]] != column[wire.chain[-1]]
        for one, two in pairwise(route)
        if one[0] == two[0] and abs(one[1] - two[1]) > 100
    ]
    assert len(upright) >= 2
    for at, (x, top, bottom) in enumerate(upright):
        for other, high, low in upright[:at]:
            assert abs(x - other) >= 10 or top >= low or high >= bottom


@pytest.mark.parametrize("label", [(100, 12), (12, 100)])
def test_room_for_labels_ends_where_lines_turn_to_the_next_column(label: tuple[int, int]) -> None:
    skeleton, level = residual(10, label)
    column = {item: at for at, items in enumerate(columns(skeleton)) for item in items}
    for wire, route in zip(skeleton.wires, level.routes, strict=True):
        ways = [upward for upward, _ in groupby(two[1] < one[1] for one, two in pairwise(route))]
        assert sum(ways) == column[wire.chain[-1]] - column[wire.chain[0]]


@pytest.mark.parametrize("direction", ["BT", "TB", "LR", "RL"])
def test_a_long_network_has_no_fault(direction: str) -> None:
    text = 'node { name: "a0" op: "Placeholder" }'
    for at in range(1, 60):
        skip = f'input: "a{at - 4}"' if at % 4 == 1 and at > 4 else ""
        text += f'node {{ name: "a{at}" op: "Op{at % 7}" input: "a{at - 1}" {skip} }}'
    model = load(text.encode(), folds=False, series_min=100)
    wrapped, whole = model.picture(direction=direction).scene, model.picture(direction=direction, wrap=False).scene
    assert faults(wrapped) == []
    along, across = ("height", "width") if direction in ("BT", "TB") else ("width", "height")
    assert getattr(wrapped, along) * 2 < getattr(whole, along)
    assert getattr(wrapped, across) > getattr(whole, across)


def test_a_line_beside_a_column_turns_to_the_next_where_it_leaves_its_box() -> None:
    # 0 ─▶ 1 ─▶ … ─▶ 7, the second column from 4 on, and a skip from 1 to 6
    pairs = [*pairwise(range(8)), (1, 6)]
    edges = tuple(Metaedge(one, two, 1, 0, 0) for one, two in pairs)
    skeleton = arrange(Metagraph(0, tuple(range(1, 9)), (2,) * 8, edges, ()))
    level = place_level(replace(skeleton, breaks=((4,),)), [(80, 24)] * 8, LevelGaps())
    route = level.routes[len(pairs) - 1]
    if route[0][0] > route[1][0]:
        route = route[::-1]
    lane = max(at for at, (x, _) in enumerate(route) if x < level.positions[4][0])
    assert max(y for _, y in route[: lane + 1]) < level.positions[2][1]
    assert len(route) == 8


def test_a_line_that_is_straight_beside_a_column_turns_in_the_first_gap() -> None:
    # 0 ─▶ 1 ─▶ … ─▶ 7, the second column from 4 on; 8 at the right of 1 leads to 2 and to 6
    pairs = [*pairwise(range(8)), (8, 2), (8, 6)]
    edges = tuple(Metaedge(one, two, 1, 0, 0) for one, two in pairs)
    skeleton = arrange(Metagraph(0, tuple(range(1, 10)), (2,) * 9, edges, ()))
    level = place_level(replace(skeleton, breaks=((4,),)), [(80, 24)] * 9, LevelGaps())
    across = [route[1][1] for route in level.routes[-2:]]
    assert across[0] == across[1]
    assert level.positions[8][1] + 24 < across[0] < level.positions[2][1]


# x ─▶ a0 ─▶ a1 ─▶ a2 ─▶ m ─▶ b0 ─▶ b1 ─▶ b2 ─▶ c0 ─▶ …, with a2 ─▶ b0, a1 ─▶ b1 and a0 ─▶ b2
@pytest.mark.parametrize(("tail", "bent"), [(4, True), (16, False)])
def test_a_u_larger_than_the_screen_is_given_up_for_columns(tail: int, bent: bool) -> None:
    graph = GraphDef()
    graph.node.add(name="x", op="Placeholder")
    names = ["x", "a0", "a1", "a2", "m", "b0", "b1", "b2", *(f"c{number}" for number in range(tail))]
    ops = ["Relu", "Exp", "Neg", "Abs", "AddV2", "Mul", "Sub", "Tanh", "Sin", "Cos", "Log", "Sqrt", "Sign", "Floor"]
    ops += ["Ceil", "Rint", "Erf", "Sinh", "Cosh", "Tan", "Atan", "Elu", "Selu", "Square"]
    for (last, name), op in zip(pairwise(names), ops, strict=False):
        skip = [f"a{2 - int(name[1:])}"] if name[0] == "b" else []
        graph.node.add(name=name, op=op, input=[last, *skip])
    scene = load(graph, folds=False).picture().scene
    high = {box.address: box.y for box in scene.boxes}
    assert (high["a0"] < high["a2"]) is bent  # the flow runs up, in the first leg down
    assert scene.height < 744  # of the screen, without title and legend
    assert not list(faults(scene))


def test_only_the_result_of_the_encoder_runs_from_column_to_column() -> None:
    scene = load("fixtures/exported/t5.pt2").picture().scene
    assert not [*faults(scene)]
    box = {one.address: one for one in scene.boxes}
    decoder = box["T5/T5Block[decoder.[0-2]]"]
    middle = [box[name].x + box[name].width // 2 for name in ("targets", "T5/Embedding[shared@2]")]
    assert middle[0] == middle[1] > decoder.x > box["ids"].x
    assert decoder.y < box["T5/Embedding[shared@2]"].y < box["targets"].y == box["ids"].y


def stack_in_a_frame(name: str, source: str, extra: str = "") -> str:
    """An embedding, a stack of eight blocks that attend to `extra` too, and a norm, in a scope."""
    last, nodes = f"{name}/embed", [f'node {{ name: "{name}/embed" op: "Embed" input: "{source}" }}']
    for at in range(8):
        block = f"{name}/block_{at}"
        crossed = [
            f'node {{ name: "{block}/keys" op: "MatMul" input: "{extra}" input: "{block}/w" }}',
            f'node {{ name: "{block}/scores" op: "Softmax" input: "{block}/attend" input: "{block}/keys" }}',
            f'node {{ name: "{block}/dense" op: "MatMul" input: "{block}/scores" input: "{block}/w" }}',
            f'node {{ name: "{block}/gelu" op: "Gelu" input: "{block}/dense" }}',
        ]
        result = f"{block}/gelu" if extra else f"{block}/attend"
        nodes += [
            f'node {{ name: "{block}/w" op: "VariableV2" }}',
            f'node {{ name: "{block}/norm" op: "Norm" input: "{last}" }}',
            f'node {{ name: "{block}/attend" op: "MatMul" input: "{block}/norm" input: "{block}/w" }}',
            *(crossed if extra else []),
            f'node {{ name: "{block}/add" op: "AddV2" input: "{last}" input: "{result}" }}',
        ]
        last = f"{block}/add"
    return "".join([*nodes, f'node {{ name: "{name}/norm" op: "Norm" input: "{last}" }}'])


def test_a_decoder_in_a_frame_stands_beside_its_encoder() -> None:
    inputs = "".join(f'node {{ name: "{name}" op: "Placeholder" }}' for name in ("source", "target"))
    encoder, decoder = stack_in_a_frame("encoder", "source"), stack_in_a_frame("decoder", "target", "encoder/norm")
    text = f'{inputs} {encoder} {decoder} node {{ name: "out" op: "Softmax" input: "decoder/norm" }}'
    scene = load(text.encode()).picture().scene
    assert list(faults(scene)) == []
    by_name = {box.address: box for box in scene.boxes}
    left, right = by_name["encoder"], by_name["decoder"]
    assert left.open
    assert right.open
    assert left.x + left.width < right.x
    assert right.x <= by_name["target"].x < right.x + right.width


def test_lines_to_the_head_of_a_column_end_next_to_it() -> None:
    def op(name: str, *inputs: str) -> str:
        named = " ".join(f'input: "{one}"' for one in inputs)
        return f'node {{ name: "{name}" op: "{name.upper()}" {named} }}'

    chain = [*"abcdefghij", "a_name_that_makes_its_box_wide", "l"]
    nodes, last = [op("a"), *(op(one, two) for two, one in pairwise(chain))], "l"
    for at in range(8):  # a stack that two more boxes feed, for all members
        nodes.append(f'node {{ name: "s_{at}/mul" op: "Mul" input: "{last}" input: "b" }}')
        nodes.append(f'node {{ name: "s_{at}/add" op: "AddV2" input: "s_{at}/mul" input: "e" }}')
        last = f"s_{at}/add"
    text = "".join([*nodes, op("m", last), *(op(one, two) for two, one in pairwise("mnopqrstuv"))])
    scene = load(text.encode()).picture().scene
    [stack] = [number for number, box in enumerate(scene.boxes) if box.address.startswith("s_")]
    box, before = scene.boxes[stack], next(box for box in scene.boxes if box.address == "l")
    assert before.x + before.width < box.x
    assert list(faults(scene)) == []
    for route in scene.routes:
        if route.target == stack:  # from where it turns down
            assert all(box.x - 30 <= x <= box.x + box.width + 30 for x, _ in route.points[-3:])


def test_no_column_begins_at_a_run_of_single_ops_that_several_boxes_feed() -> None:
    def op(name: str, *inputs: str) -> str:
        named = " ".join(f'input: "{one}"' for one in inputs)
        return f'node {{ name: "{name}" op: "{name.upper()}" {named} }}'

    # a ─▶ … ─▶ h ─▶ x, y, z ─▶ eight sums ─▶ m ─▶ … ─▶ t
    nodes, last = [op("a"), *(op(one, two) for two, one in pairwise("abcdefgh")), *(op(one, "h") for one in "xyz")], "x"
    for at in range(8):
        nodes.append(f'node {{ name: "sum_{at}" op: "Sub" input: "{last}" input: "{"yz"[at % 2]}" }}')
        last = f"sum_{at}"
    text = "".join([*nodes, op("m", last), *(op(one, two) for two, one in pairwise("mnopqrst"))])
    scene = load(text.encode(), folds=False).picture().scene
    [run] = [number for number, box in enumerate(scene.boxes) if box.address.startswith("sum_")]
    feeding = [route.points for route in scene.routes if route.target == run]
    assert len(feeding) == 3
    below = scene.boxes[run].y + scene.boxes[run].height  # none runs over a column and down again
    assert min(y for points in feeding for _, y in points) >= below - scene.boxes[run].height
