"""The legend of a page lists the same rows, in the same order, as that of a picture."""

from __future__ import annotations

import pytest

from graphviz_tb import Model, load
from graphviz_tb.color import make_colouring
from graphviz_tb.model.theme import THEMES
from graphviz_tb.page.blocks import TextTable
from graphviz_tb.page.colours import row_looks
from graphviz_tb.proto import GraphDef
from tests.conftest import FIXTURES


def _compare_orders(model: Model, scheme: str) -> None:
    """Compare the first rows of the legend of all rows with those of the page."""
    hierarchy = model.hierarchy
    painters = [make_colouring(hierarchy, model.facts, scheme, theme) for theme in THEMES]
    told, _ = row_looks(painters, TextTable(), range(len(hierarchy)))
    page = [label for _, (label, *_) in sorted(zip(told["order"], told["legend"], strict=True))]
    picture = painters[0].legend_rows([(row,) for row in range(len(hierarchy))])
    expected = [row.label for row in picture if row.shape != "rest"]
    assert page[: len(expected)] == expected


@pytest.mark.parametrize("scheme", ["structure", "op-type", "device"])
def test_legend_rows_are_in_the_order_of_a_picture(scheme: str) -> None:
    _compare_orders(load(FIXTURES / "real" / "mnist_cnn.pbtxt"), scheme)


def test_categories_beyond_the_first_turn_through_the_hues_come_after_it() -> None:
    _compare_orders(_model_of_forty_types(), "op-type")


def test_the_legend_of_a_group_has_all_its_categories() -> None:
    hierarchy = _model_of_forty_types().hierarchy
    painter = make_colouring(hierarchy, _model_of_forty_types().facts, "op-type", "light")
    told, (*_, starts, entries) = row_looks([painter], TextTable(), range(len(hierarchy)))
    assert len(entries[starts[0] : starts[1]]) == len(told["legend"]) == 40


def _model_of_forty_types() -> Model:
    return load(GraphDef(node=[{"name": f"n{at}", "op": f"Op{at % 40}"} for at in range(120)]))
