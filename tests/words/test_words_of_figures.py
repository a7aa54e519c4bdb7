"""Words of a first picture about layers and stacks: those of a paper first, the surplus of a first block, equal shapes
once."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from graphviz_tb import load
from graphviz_tb.api.picture import Picture
from graphviz_tb.model.drawing import Label
from graphviz_tb.model.hierarchy import FOLD_ROW
from graphviz_tb.model.measure import NODE_FONT_PX, text_width
from graphviz_tb.model.paths import sole_stack
from graphviz_tb.model.view import SHORT_NAMES, SMALL_GAPS, NodeLabel
from graphviz_tb.proto import GraphDef
from graphviz_tb.words.block import Block
from graphviz_tb.words.block_words import whole_chain
from graphviz_tb.words.paper import PaperWords
from graphviz_tb.words.step_words import worded_step
from graphviz_tb.words.view import NodeLabels

FIXTURES = Path(__file__).parents[2] / "fixtures"
SHAPES, REAL = FIXTURES / "shapes", FIXTURES / "real"


@cache
def picture(name: str) -> Picture:
    return load(SHAPES / f"{name}.pb.gz").picture()


def labels(name: str) -> dict[str, NodeLabel]:
    """The labels of all shown boxes, by the name of their row."""
    views, found = [picture(name).view], {}
    while views:
        view = views.pop()
        found.update({label.full.rpartition("/")[2]: label for label in view.node_labels})
        views += view.opened.values()
    return found


def drawn_texts(name: str) -> list[Label]:
    return [shape for shape in picture(name).drawing.shapes() if isinstance(shape, Label)]


def test_a_closed_stack_says_on_a_third_line_what_its_first_member_has_more() -> None:
    said = labels("ResNet50")
    assert (said["conv2"].second, said["conv2"].first) == ("1×1 64, 3×3 64, 1×1 256", "block1: projection")
    assert [said[stage].first for stage in ("conv3", "conv5")] == ["block1: /2, projection"] * 2
    heights = {box.address.rpartition("/")[2]: box.height for box in picture("ResNet50").scene.boxes}
    assert heights["conv3"] > heights["pool1"] + 10
    lines = {text.content: text.y for text in drawn_texts("ResNet50")}
    assert lines["conv3 ×4"] < lines["1×1 128, 3×3 128, 1×1 512"] < lines["block1: /2, projection"]


def test_a_closed_stack_of_equal_words_says_how_its_members_grow() -> None:
    said = labels("InceptionV3")
    grown = {name: label.first for name, label in said.items() if label.first}
    assert grown == {"mixed[0-2]": "→ 256, 288, 288"}  # no stack whose words list the channels
    assert said["mixed[0-2]"].second == "1×1 | 5×5 | 3×3, 3×3 | avg 3×3"
    assert (said["mixed[4-7]"].second, said["mixed[9-10]"].second) == (
        "mixed4 shown · 128, then 160, 160, 192",  # open: the layers of the shown one can be seen
        "1×1 | 1×3+3×1 | 3×3, 1×3+3×1 | avg",
    )


def test_an_open_stack_says_which_member_it_shows() -> None:
    assert labels("ResNet50")["conv4"].second == "block2 shown; block1: /2"  # the projection has a box


def test_the_projection_of_a_first_block_has_a_box_in_the_open_stack() -> None:
    said = labels("ResNet50")["conv4_block1"]
    assert (said.label, said.second, said.semibold) == ("1×1, 1024, /2", "block1 only", True)
    assert said.about.startswith("15 ops that the others lack: ")
    [box] = [box for box in picture("ResNet50").scene.boxes if box.surplus]
    assert not box.openable
    scene = picture("ResNet50").scene
    into = [line for line in scene.routes if scene.boxes[line.target] is box]
    assert len(into) == 1
    assert not into[0].main


def test_what_one_layer_makes_for_all_says_so() -> None:
    nodes: list[dict[str, Any]] = [{"name": "x", "op": "Placeholder"}, {"name": "b/table", "op": "VariableV2"}]
    for at in range(5):
        inside = [{"name": "bias", "op": "MatMul", "input": ["x", "b/table"]}] if not at else []
        inside.append({"name": "mul", "op": "Mul", "input": [f"b_{at - 1}/out" if at else "x", "b_0/bias"]})
        inside.append({"name": "out", "op": "Relu", "input": [f"b_{at}/mul"]})
        nodes += [{**node, "name": f"b_{at}/{node['name']}"} for node in inside]
    nodes.append({"name": "y", "op": "Sigmoid", "input": ["b_4/out"]})
    scene = load(GraphDef(node=nodes), group="b_[0-4]").picture(open=["b_[0-4]"]).scene
    assert {"b_0 only", "the same for all"} <= {text.content for text in scene.texts}


def test_a_table_looked_up_by_distances_of_known_type_is_a_position_bias() -> None:
    graph = GraphDef()
    for name, op in (("x", "Placeholder"), ("one", "Const"), ("table", "VariableV2")):
        graph.node.add(name=name, op=op)
    for at in range(4):
        ops = [("range", "Range", ["one"] * 3), ("bias", "GatherV2", ["table", "b_0/range", "one"])] if not at else []
        ops += [("add", "AddV2", [f"b_{at - 1}/out" if at else "x", "b_0/bias"]), ("out", "Relu", [f"b_{at}/add"])]
        for name, op, inputs in ops:
            graph.node.add(name=f"b_{at}/{name}", op=op, input=inputs)
            if op == "Range":
                graph.node[-1].attr["Tidx"].type = 3  # int32
    scene = load(graph, group="b_[0-3]").picture(open=["b_[0-3]"]).scene
    assert {"position bias", "b_0 only"} <= {text.content for text in scene.texts}


@pytest.mark.parametrize(
    ("name", "said"), [("gan_scopes", "RMSProp · 18 ops"), ("cifar10_shapes", "GradientDescent · 17 ops")]
)
def test_updates_say_their_optimizer(name: str, said: str) -> None:
    shown = load(REAL / f"{name}.pb").picture().view.node_labels
    [updates] = [label for label in shown if label.label == "updates"]
    assert (updates.second, updates.about) == (said, "")


@pytest.mark.parametrize("name", ["conv1", "conv4_block2_1_conv", "pool1"])
def test_words_come_before_a_name_that_says_a_kind_and_are_semibold(name: str) -> None:
    wanted = {
        "conv1": ("7×7, 64, /2", "conv1 · BN, ReLU"),
        "conv4_block2_1_conv": ("1×1, 256", "1_conv · BN, ReLU"),
        "pool1": ("max 3×3, /2", "pool1"),
    }
    label = labels("ResNet50")[name]
    assert (label.label, label.second) == wanted[name]
    assert label.semibold
    weights = {text.content: text.semibold for text in drawn_texts("ResNet50")}
    assert weights[label.label]
    assert not weights[label.second]


@pytest.mark.parametrize(("name", "first"), [("GlobalAveragePool_3", "global avg"), ("outer", "outer")])
def test_words_come_before_the_op_type_of_any_framework(name: str, first: str) -> None:
    graph = GraphDef()
    graph.node.add(name="x", op="Placeholder")
    graph.node.add(name=name, op="onnx::GlobalAveragePool", input=["x"])
    shown = load(graph).picture().view.node_labels
    assert (first, first != name) in {(label.label, label.semibold) for label in shown}


def test_words_come_before_the_name_of_a_fold_with_a_counted_name_at_one_end() -> None:
    hierarchy = load(FIXTURES / "exported" / "dlrm.pt2").hierarchy
    labels = NodeLabels(hierarchy, lambda path: None, alone=True)
    folds = np.flatnonzero(hierarchy.kind == FOLD_ROW).tolist()
    row = next(row for row in folds if labels.paper.tells_layers(row))
    said = {name: labels.says_more(row, name, "64 → 10", 200) for name in ("dropout_45 → output", "stem → head")}
    assert said == {"dropout_45 → output": True, "stem → head": False}


def test_a_name_that_a_program_gave_comes_first() -> None:
    [label] = [label for label in labels("ResNet50").values() if label.label == "predictions"]
    assert not label.semibold
    stage = labels("ResNet50")["conv2"]  # many layers
    assert (stage.label, stage.semibold) == ("conv2", False)


def test_equal_shapes_into_one_box_are_said_once() -> None:
    """The four branches of a module of Inception have one shape before their concat."""
    shown = [text.content for text in picture("InceptionV3").scene.texts]
    assert shown.count("17×17×192") == 1


def test_the_words_of_a_chain_are_all_known_where_a_line_has_no_room() -> None:
    words = ("1×1, 1024", "3×3, 1024", "1×1, 4096", "1×1, 4096")
    steps = tuple(worded_step("convolution", word.split(", ")) for word in words)
    block = Block(steps, {0: frozenset(), 1: frozenset([0]), 2: frozenset([1]), 3: frozenset()})
    assert whole_chain(block) == "1×1 1024, 3×3 1024, 1×1 4096, projection"
    assert whole_chain(Block(steps[:1], {0: frozenset()})) == ""


def test_a_tooltip_has_the_whole_name_the_words_and_no_name_twice() -> None:
    titles = {box.address.rsplit("/", 1)[-1]: box.title for box in picture("ResNet50").scene.boxes}
    assert titles["conv1"].startswith(f"{labels('ResNet50')['conv1'].full} · 7×7, 64, /2 · BN, ReLU · ")


def test_two_uses_of_one_table_of_unknown_size_say_so() -> None:
    resource = {"name": "table", "op": "Placeholder"}
    nodes: list[dict[str, Any]] = [resource, {"name": "axis", "op": "Const"}]
    for name in ("encoder", "decoder", "other"):
        table = "other/table" if name == "other" else "table"
        nodes += [{"name": table, "op": "Placeholder"}] if name == "other" else []
        nodes.append({"name": f"{name}_ids", "op": "Placeholder"})
        nodes.append({"name": f"{name}/embed/at_least", "op": "Maximum", "input": [f"{name}_ids", f"{name}_ids"]})
        nodes.append({"name": f"{name}/embed/read", "op": "ReadVariableOp", "input": [table]})
        taken = [f"{name}/embed/read", f"{name}/embed/at_least", "axis"]
        nodes.append({"name": f"{name}/embed/take", "op": "GatherV2", "input": taken})
        nodes.append({"name": f"{name}/act", "op": "Relu", "input": [f"{name}/embed/take"]})
    graph = GraphDef(node=nodes)
    for node in graph.node:
        if node.name.endswith("table"):
            node.attr["dtype"].type = 20  # a resource
    model = load(graph)
    words = PaperWords(model.hierarchy)
    said = {
        name: words.words_of_row(model.hierarchy.name.index(f"{name}/embed"))
        for name in ("encoder", "decoder", "other")
    }
    assert said == {"encoder": "shared weights", "decoder": "shared weights", "other": None}


def test_the_words_of_layers_take_both_lines_where_a_list_of_names_has_no_room() -> None:
    hierarchy = load(SHAPES.parent / "exported" / "unet.script.onnx.gz").hierarchy
    [row] = [row for row in hierarchy.children(0).tolist() if hierarchy.display_label(row).startswith("middle")]
    lines = []
    for narrow in (SMALL_GAPS, SHORT_NAMES):
        labels = NodeLabels(hierarchy, lambda path: None, placed=False, printed=True, narrow=narrow)
        label = labels.plain_label((0, row))
        lines.append((label.label, label.second))
    assert lines == [("middle · Concat · up.", "3×3 256, 3×3 256, 2×2 128 ↑2"), ("3×3 256", "3×3 256, …")]


def test_the_name_of_a_frame_has_more_room_in_a_narrow_figure_than_that_of_a_box() -> None:
    ops = [{"name": f"TransformerDecoderLayer/{name}", "op": name} for name in ("Relu", "Tanh")]
    hierarchy = load(GraphDef(node=ops)).hierarchy  # type: ignore[list-item]
    labels = NodeLabels(hierarchy, lambda path: None, placed=False, printed=True, narrow=SHORT_NAMES)
    path = 0, hierarchy.name.index("TransformerDecoderLayer")
    assert labels.node_label(path, path, framed=True).label == "TransformerDecoderLayer"
    assert "…" in labels.node_label(path, path).label


def test_an_op_whose_name_is_a_number_has_that_of_its_type_in_a_figure() -> None:
    types = ["Placeholder", *(["Conv2D", "AddV2", "MaxPool"] * 8), "Identity"]
    names = [f"n{17 * at % 97}" for at in range(len(types))]
    ops = [{"name": names[at], "op": op, "input": names[max(0, at - 1) : at]} for at, op in enumerate(types)]
    hierarchy = load(GraphDef(node=ops), folds=False).hierarchy  # type: ignore[list-item]
    rows = [(hierarchy.name.index(names[at]),) for at in (0, 1, 2, -1)]
    said = {}
    for printed in (False, True):
        labels = NodeLabels(hierarchy, lambda path: None, placed=False, printed=printed)
        said[printed] = [(label.label, label.second) for label in map(labels.plain_label, rows)]
    assert said[True] == [("input", ""), ("Conv2D", ""), ("Add", ""), ("output", "")]
    assert said[False] == [(names[at], types[at]) for at in (0, 1, 2, -1)]


def test_a_box_has_more_room_for_the_words_of_layers_in_a_figure_and_a_frame_yet_more() -> None:
    hierarchy = load(GraphDef(node=[{"name": "x", "op": "Relu"}])).hierarchy  # type: ignore[list-item]
    room = {
        printed: NodeLabels(hierarchy, lambda path: None, placed=False, printed=printed).name_room
        for printed in (False, True)
    }
    wide = text_width("1×1 672, dw 5×5, SE 28, 1×1 112 ×3", NODE_FONT_PX)
    assert room[False](False) == room[False](True) < wide < room[True](False) < room[True](True)


def test_a_stack_whose_words_list_its_members_has_no_number_behind_them() -> None:
    def stem(*sizes: int) -> NodeLabel:
        graph, source, fed = GraphDef(), "x", 3
        graph.node.add(name="x", op="Placeholder")
        for at, size in enumerate(sizes):
            behind = f"_{at}" if at else ""
            kernel = graph.node.add(name=f"conv2d{behind}/kernel", op="VariableV2")
            for side in (3, 3, fed, size):
                kernel.attr["shape"].shape.dim.add(size=side)
            kernel.attr["dtype"].type = 1
            graph.node.add(name=f"conv2d{behind}/Conv2D", op="Conv2D", input=[source, f"conv2d{behind}/kernel"])
            graph.node.add(name=f"conv2d{behind}/Relu", op="Relu", input=[f"conv2d{behind}/Conv2D"])
            source, fed = f"conv2d{behind}/Relu", size
        hierarchy = load(graph).hierarchy
        [row] = [row for row in hierarchy.children(0).tolist() if sole_stack(hierarchy, row) >= 0]
        return NodeLabels(hierarchy, lambda path: None, placed=False, alone=True, printed=True).plain_label((0, row))

    unlike, like = stem(8, 16, 64), stem(8, 8, 8)
    assert (unlike.label, unlike.badge) == ("3×3 8, 3×3 16, 3×3 64", "")
    assert (like.label, like.badge) == ("3×3, 8", "×3")
