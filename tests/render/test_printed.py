"""A figure to print: nothing of a screen, its true size, told apart in grey."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

import graphviz_tb
from graphviz_tb.api.picture import Picture
from graphviz_tb.color.colouring import contrast
from graphviz_tb.model.drawing import Curve, Label
from graphviz_tb.model.scene import Route
from graphviz_tb.render.compose import MIN_UNIT_POINTS, PAPER_INK
from graphviz_tb.render.lines import draw_route

REAL = Path(__file__).parents[2] / "fixtures" / "real"
EDGE = Route(((0, 0), (0, 90)), "data", 0, 1, 10)


def figure(name: str, **more: object) -> Picture:
    return graphviz_tb.load(REAL / name).picture(paper=True, **more)


@pytest.mark.parametrize("millimetres", [84, 178])
@pytest.mark.parametrize("name", ["mnist_cnn.pbtxt", "keras2_functional.pb", "frozen_mlp.pb"])
def test_it_is_as_wide_as_asked_and_its_text_is_no_smaller_than_7_points(name: str, millimetres: int) -> None:
    picture = figure(name, width_mm=millimetres)
    found = re.search(rb'width="([0-9.]+)mm"', picture.render("svg"))
    assert found
    drawing = picture.drawing
    wide = drawing.points == MIN_UNIT_POINTS  # it needs more room for its text, and says so
    assert wide or float(found[1]) == millimetres
    assert wide == any("mm wide" in notice.message for notice in picture.notices)
    names = [shape.size for shape in drawing.shapes() if isinstance(shape, Label) and len(shape.content) > 1]
    assert min(names) * drawing.points >= 7


def test_it_has_no_buttons_and_no_name_of_a_file() -> None:
    screen, paper = graphviz_tb.load(REAL / "mnist_cnn.pbtxt").picture().render(), figure("mnist_cnn.pbtxt").render()
    assert b"mnist_cnn" in screen
    assert b"mnist_cnn" not in paper
    assert len(re.findall(b"<circle", paper)) < len(re.findall(b"<circle", screen))
    assert b"Figure" in figure("mnist_cnn.pbtxt", title="Figure").render()


def test_a_page_and_pixels_have_the_same_size() -> None:
    picture = figure("mnist_cnn.pbtxt")
    wide = picture.drawing.width * picture.drawing.points
    page = re.search(rb"/MediaBox ?\[0 0 ([0-9.]+) ", picture.render("pdf"))
    assert page
    assert float(page[1]) == pytest.approx(wide, abs=0.1)
    pixels = int.from_bytes(picture.render("png")[16:20], "big")
    assert pixels == pytest.approx(wide / 72 * 300, abs=3)


def test_lines_are_told_apart_without_colours() -> None:
    def looks(line: Route) -> tuple[str, tuple[float, ...]]:
        [stroke] = [shape for shape in draw_route(line, PAPER_INK, chosen=False).shapes[:1] if isinstance(shape, Curve)]
        assert stroke.pen
        return stroke.pen.colour, stroke.pen.dashes

    kinds = [EDGE, replace(EDGE, main=True), replace(EDGE, kind="control"), replace(EDGE, kind="reference")]
    found = [looks(line) for line in kinds]
    assert len({dashes for _, dashes in found}) == 3
    grey = [colour for colour, _ in found]
    assert all(len({colour[1:3], colour[3:5], colour[5:7]}) == 1 for colour in grey)
    assert contrast(grey[0], grey[1]) > 2  # the main path and the others, both without dashes


def test_a_narrow_figure_closes_groups_wraps_rows_and_shortens_names_until_it_fits() -> None:
    # Ten branches of long names meet: one row of them is 1,500 units wide, 340 are there.
    names = [f"branch_with_a_long_name_{number}" for number in range(10)]
    nodes = [f'node {{ name: "{name}" op: "Relu" input: "x" }}' for name in names]
    ends = " ".join(f'input: "{name}"' for name in names)
    text = f'node {{ name: "x" op: "Placeholder" }} {" ".join(nodes)} node {{ name: "all" op: "AddN" {ends} }}'
    picture = graphviz_tb.load(text.encode()).picture(paper=True, width_mm=84)
    assert picture.drawing.width * picture.drawing.points == pytest.approx(84 / 25.4 * 72)
    assert picture.drawing.points >= MIN_UNIT_POINTS


def test_a_slim_figure_has_white_on_both_sides() -> None:
    picture = figure("frozen_mlp.pb", width_mm=178)
    [left] = [part.at[0] for part in picture.drawing.parts if part.name == "graph"]
    right = picture.drawing.width - left - picture.scene.width
    assert left > 100
    assert abs(left - right) <= 1


def test_neither_a_title_nor_open_groups_make_a_narrow_figure_wider_if_names_can_be_shorter() -> None:
    title = "A title that nobody would print in one line of a column"
    found = figure("mnist_cnn.pbtxt", width_mm=84, title=title)
    assert found.drawing.width * found.drawing.points == pytest.approx(84 / 25.4 * 72)
    chosen = figure("frozen_mlp.pb", width_mm=84, depth=1)
    assert chosen.drawing.width * chosen.drawing.points == pytest.approx(84 / 25.4 * 72)


def test_a_figure_shows_what_fits_even_where_no_stack_can_show_a_member() -> None:
    exported = graphviz_tb.load(REAL.parent / "exported" / "efficientnet.pt2")
    picture = exported.picture(paper=True, width_mm=84)
    assert any(box.sheets for box in picture.scene.boxes)
    assert picture.drawing.width * picture.drawing.points == pytest.approx(84 / 25.4 * 72)


@pytest.mark.parametrize(("name", "millimetres"), [("vit.pt2", 178), ("moe.pt2", 84)])
def test_gaps_become_smaller_before_names_are_shortened(name: str, millimetres: int) -> None:
    # With the gaps of a screen, what is shown would be higher than a page.
    model = graphviz_tb.load(REAL.parent / "exported" / name)
    low = model.picture(paper=True, width_mm=millimetres)
    opened = tuple(box.address for box in low.scene.boxes if box.open)
    usual = model.picture(open=opened, wrap=False)
    assert low.drawing.height * low.drawing.points <= 242 / 25.4 * 72
    assert low.scene.height < 0.9 * usual.scene.height
    assert not [text.content for text in low.scene.texts if text.inside and "…" in text.content]


def test_training_is_left_out_where_nothing_else_makes_a_figure_narrow_enough() -> None:
    narrow, wide = figure("keras2_mnist.pb", width_mm=60), figure("keras2_mnist.pb", width_mm=84)
    for picture, is_shown in ((narrow, False), (wide, True)):
        assert is_shown == any(box.address.startswith("gradients") for box in picture.scene.boxes)
        assert is_shown is not any("no room for what trains" in notice.message for notice in picture.notices)
    assert narrow.drawing.width * narrow.drawing.points == pytest.approx(60 / 25.4 * 72)


def texts_of(picture: Picture) -> str:
    return picture.render("svg").decode()


@pytest.mark.parametrize("kernel", [b' input: "kernel"', b""])  # without: the file does not say what the weights are
def test_a_figure_shows_neither_what_stands_apart_from_the_model_nor_constants(kernel: bytes) -> None:
    # x ─▶ conv ─▶ relu, and beside it: an input that nothing reads, an op at the end of a control edge, a lone chain.
    text = b"""
      node { name: "x" op: "Placeholder" }
      node { name: "unread" op: "Placeholder" }
      node { name: "kernel" op: "VariableV2" attr { key: "shape" value { shape {
        dim { size: 3 } dim { size: 3 } dim { size: 3 } dim { size: 8 } } } } }
      node { name: "conv" op: "Conv2D" input: "x" input: "kernel" }
      node { name: "level" op: "Const" }
      node { name: "limit" op: "Maximum" input: "conv" input: "level" }
      node { name: "relu" op: "Relu" input: "limit" }
      node { name: "full" op: "Range" } node { name: "mask" op: "Neg" input: "full" }
      node { name: "done" op: "NoOp" input: "^relu" }
    """
    model = graphviz_tb.load(text.replace(b' input: "kernel"', kernel))
    screen, paper = model.picture(), model.picture(paper=True)
    assert {"x", "conv", "limit", "relu"} == {box.address for box in paper.scene.boxes}
    assert {"unread", "full", "mask"} < {box.address for box in screen.scene.boxes}
    assert ">level<" in texts_of(screen)
    assert ">level<" not in texts_of(paper)


def test_a_figure_of_a_graph_without_weights_shows_all_of_it() -> None:
    text = b'node { name: "a" op: "Range" } node { name: "b" op: "Neg" input: "a" } node { name: "c" op: "Range" }'
    scene = graphviz_tb.load(text).picture(paper=True).scene
    assert {box.address for box in scene.boxes} == {"a", "b", "c"}


def test_a_figure_is_no_longer_than_a_page() -> None:
    # Forty layers in one frame: no group can stay open.
    layers = [
        f'node {{ name: "net/l{n}/w" op: "VariableV2" }} node {{ name: "net/l{n}/{op}" op: "{op}" '
        f'input: "{f"net/l{n - 1}/{last}" if n else "x"}" input: "net/l{n}/w" }}'
        for n in range(40)
        for op, last in [(("MatMul", "BiasAdd"), ("BiasAdd", "MatMul"))[n % 2]]
    ]
    picture = graphviz_tb.load(f'node {{ name: "x" op: "Placeholder" }} {" ".join(layers)}'.encode()).picture(
        paper=True, width_mm=84
    )
    assert picture.drawing.height * picture.drawing.points <= 245 / 25.4 * 72


@pytest.mark.parametrize("name", ["cifar10_shapes.pb", "gan_scopes.pb", "keras2_functional.pb"])
def test_training_has_no_room_of_its_own_where_it_does_not_fit(name: str) -> None:
    narrow, wide = figure(name, width_mm=84), figure(name, width_mm=178)
    assert narrow.drawing.points > MIN_UNIT_POINTS
    headed = ["Training" in [text.content for text in one.scene.texts] for one in (narrow, wide)]
    assert headed == [False, True]
    assert any(narrow.scene.boxes[route.target].address.startswith("gradients") for route in narrow.scene.routes)


def test_it_has_no_frame_around_parts_that_the_program_has_no_name_for() -> None:
    model = graphviz_tb.load(REAL.parent / "shapes" / "MobileNetV2.pb.gz")
    names = model.hierarchy.name
    for paper in (False, True):
        picture = model.picture(paper=paper, open=["mobilenetv2_1.00_224_1/expanded_conv · block_[1-2]"])
        [frame] = [at for at, box in enumerate(picture.scene.boxes) if box.open and " · " in names[box.row]]
        address = picture.scene.boxes[frame].address
        groups = [group for part in picture.drawing.parts for group in part.groups if group.address == address]
        drawn = any(group.shapes for group in groups)
        assert drawn is not paper
        assert picture.scene.boxes[frame].bare is paper
        title = [text.content for text in picture.scene.texts if text.inside and text.box == frame]
        assert any(title) is not paper


def test_it_shows_each_structure_once() -> None:
    model = graphviz_tb.load(REAL.parent / "exported" / "convnext.pt2")
    stacks = {
        paper: sum(box.open and box.sheets > 0 for box in model.picture(paper=paper).scene.boxes)
        for paper in (False, True)
    }
    assert stacks == {False: 4, True: 1}
