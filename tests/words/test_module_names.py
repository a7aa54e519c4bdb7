"""In a figure to print a module has one word; on a screen it has its class and its attribute."""

from __future__ import annotations

from pathlib import Path

from graphviz_tb import load
from graphviz_tb.model.drawing import Label

EXPORTED = Path(__file__).parents[2] / "fixtures/exported"


def drawn_texts(paper: bool, name: str = "vit.pt2") -> list[str]:
    drawing = load(EXPORTED / name).picture(paper=paper).drawing
    return [shape.content for shape in drawing.shapes() if isinstance(shape, Label)]


def test_a_printed_module_has_one_word() -> None:
    screen, paper = drawn_texts(False), drawn_texts(True)
    assert any("LayerNorm[" in text for text in screen)
    assert not any("[" in text or "::" in text for text in paper)
    assert {"mlp", "self_attention", "ln_1", "LayerNorm"} <= set(paper)


def test_a_legend_has_one_word_for_each_kind() -> None:
    screen, paper = drawn_texts(False), drawn_texts(True)
    assert not any("like" in text for text in [*screen, *paper])
    assert screen.count("attention") == paper.count("attention") == 1


def test_a_legend_says_what_shades_mean_where_a_kind_has_several_structures() -> None:
    # A ViT has one structure of several dense layers, and single ones; a ConvNeXt two kinds of stages.
    assert "same shade: same structure" not in drawn_texts(False)
    assert "same shade: same structure" in drawn_texts(False, "convnext.pt2")


def test_a_drawn_shape_has_no_batch() -> None:
    for texts in (drawn_texts(False), drawn_texts(True)):
        assert "3×64×64" in texts
        assert "1×3×64×64" not in texts


def test_of_equal_members_a_figure_does_not_say_which_is_shown() -> None:
    screen, paper = drawn_texts(False), drawn_texts(True)
    assert any(text.endswith(" shown") for text in screen)
    assert not any("shown" in text for text in paper if "repeated" not in text)


def test_a_printed_box_of_one_line_is_as_high_as_that() -> None:
    for paper, height in ((False, 32), (True, 24)):
        scene = load(EXPORTED / "vit.pt2").picture(paper=paper, width_mm=84 if paper else None).scene
        lines = {text.box for text in scene.texts if text.role == "second"}
        boxes = [box for at, box in enumerate(scene.boxes) if at not in lines and box.kind == "scope"]
        assert {box.height for box in boxes if not box.open and not box.sheets} == {height}
