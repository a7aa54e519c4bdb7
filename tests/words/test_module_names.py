"""In a figure to print a module has one word; on a screen it has its class and its attribute."""

from __future__ import annotations

from pathlib import Path

from graphviz_tb import load
from graphviz_tb.model.drawing import Label

EXPORTED = Path(__file__).parents[2] / "fixtures/exported"


def drawn_texts(paper: bool) -> list[str]:
    drawing = load(EXPORTED / "vit.pt2").picture(paper=paper).drawing
    return [shape.content for shape in drawing.shapes() if isinstance(shape, Label)]


def test_a_printed_module_has_one_word() -> None:
    screen, paper = drawn_texts(False), drawn_texts(True)
    assert any("LayerNorm[" in text for text in screen)
    assert not any("[" in text or "::" in text for text in paper)
    assert {"mlp", "self_attention", "ln_1", "LayerNorm"} <= set(paper)


def test_the_legend_of_a_figure_has_one_word_for_each_kind() -> None:
    screen, paper = drawn_texts(False), drawn_texts(True)
    assert any("like" in text for text in screen)
    assert not any("like" in text for text in paper)
    assert paper.count("attention") == 1


def test_a_printed_shape_has_no_batch() -> None:
    screen, paper = drawn_texts(False), drawn_texts(True)
    assert "1×3×64×64" in screen
    assert "3×64×64" in paper
