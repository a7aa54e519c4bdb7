"""Words of a first picture about layers and stacks: those of a paper first, the surplus of a first block, equal shapes
once."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from graphviz_tb import load
from graphviz_tb.api.picture import Picture
from graphviz_tb.model.drawing import Label
from graphviz_tb.model.view import NodeLabel
from graphviz_tb.words.block_words import Block, whole_chain
from graphviz_tb.words.step_words import LayerStep

SHAPES = Path(__file__).parents[2] / "fixtures" / "shapes"


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


def test_an_open_stack_says_which_member_it_shows() -> None:
    assert labels("ResNet50")["conv4"].second == "block2 shown; block1: /2, projection"


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
    steps = tuple(LayerStep("convolution", word) for word in words)
    block = Block(steps, {0: frozenset(), 1: frozenset([0]), 2: frozenset([1]), 3: frozenset()})
    assert whole_chain(block) == "1×1 1024, 3×3 1024, 1×1 4096, projection"
    assert whole_chain(Block(steps[:1], {0: frozenset()})) == ""


def test_a_tooltip_has_the_whole_name_the_words_and_no_name_twice() -> None:
    titles = {box.address.rsplit("/", 1)[-1]: box.title for box in picture("ResNet50").scene.boxes}
    assert titles["conv1"].startswith(f"{labels('ResNet50')['conv1'].full} · 7×7, 64, /2 · BN, ReLU · ")
