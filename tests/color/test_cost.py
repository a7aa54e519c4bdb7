"""Colours by what ops cost: the words on boxes, the scale, the legend."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from graphviz_tb import load
from graphviz_tb.api.pipeline import Model
from graphviz_tb.color.cost import CostColouring, activations_colouring, flops_colouring, parameters_colouring
from graphviz_tb.errors import MissingFacts
from graphviz_tb.model.costs import Cost
from graphviz_tb.model.paths import RowPath
from graphviz_tb.model.theme import THEMES
from graphviz_tb.proto import GraphDef

FIXTURES = Path(__file__).parents[2] / "fixtures"
FLOAT = {"type": 1}
LIGHT = THEMES["light"]


def tensor(name: str, op: str, *sizes: int) -> dict[str, Any]:
    shape = {"shape": {"dim": [{"size": size} for size in sizes]}}
    return {"name": name, "op": op, "attr": {"dtype": FLOAT, "shape": shape}}


def node(name: str, op: str, *inputs: str) -> dict[str, Any]:
    return {"name": name, "op": op, "input": inputs, "attr": {"T": FLOAT, "dtype": FLOAT}}


@pytest.fixture
def model() -> Model:
    """small: x [4, 6] · w [6, 5], 240 operations; large: the result · v [5, 40], 1600 operations; m: nobody counts."""
    return load(
        GraphDef(
            node=[
                *(tensor("x", "Placeholder", 4, 6), tensor("w", "VariableV2", 6, 5), node("small", "MatMul", "x", "w")),
                *(tensor("v", "VariableV2", 5, 40), node("large", "MatMul", "small", "v")),
                *(node("m1", "Mystery", "large"), node("m2", "Mystery", "large"), node("r", "Riddle", "large")),
            ]
        )
    )


def colouring(model: Model, make: Any) -> CostColouring:
    found: CostColouring = make(model.hierarchy, LIGHT, model.facts)
    return found


def path(model: Model, name: str) -> RowPath:
    return (0, model.hierarchy.name.index(name))


def test_the_second_line_is_what_an_op_costs(model: Model) -> None:
    by_flops, by_activations = colouring(model, flops_colouring), colouring(model, activations_colouring)
    assert by_flops.second_line(path(model, "small")) == "30 parameters · 240 FLOPs"
    assert by_flops.second_line(path(model, "x")) is None  # the usual line
    assert by_activations.second_line(path(model, "small")) == "80 B"
    assert by_activations.second_line(path(model, "m1")) is None


def test_weights_of_a_trace_without_shapes_have_no_colours() -> None:
    with pytest.raises(MissingFacts, match="no shapes of weights"):
        load(FIXTURES / "logdirs/torch_transformer").picture(color_by="parameters")


def test_what_is_unknown_is_not_0(model: Model) -> None:
    by_flops = colouring(model, flops_colouring)
    mystery = path(model, "m1")
    assert by_flops.fill_of(mystery).hatch
    assert not by_flops.fill_of(path(model, "x")).hatch
    alone = [row.label for row in by_flops.scaled_to([mystery]).legend_rows([mystery]) if row.shape != "rest"]
    assert alone == ["unknown"]
    assert by_flops.number_values([]).values[model.hierarchy.name.index("m1")] == -1
    assert by_flops.number_values([]).values[model.hierarchy.name.index("x")] == 0


def test_nothing_is_lightest_and_the_largest_is_darkest(model: Model) -> None:
    by_flops = colouring(model, flops_colouring)
    closed = [path(model, name) for name in ("x", "small", "large")]
    scaled = by_flops.scaled_to(closed)
    assert scaled.top == 1600
    fills = [scaled.fill_of(each).fill for each in closed]
    assert len(set(fills)) == 3
    assert fills[0] == scaled.shade_of(0).fill
    assert fills[2] == scaled.shade_of(scaled.top).fill == scaled.shade_of(2 * scaled.top).fill
    assert scaled.shade_of(0).fill not in fills[1:]


def test_before_a_picture_sets_its_own_the_scale_is_of_the_whole_graph(model: Model) -> None:
    by_flops = colouring(model, flops_colouring)
    assert by_flops.top == 240 + 1600
    assert by_flops.fill_of((0,)).fill == by_flops.shade_of(by_flops.top).fill


def test_a_share_is_told_of_what_costs_something(model: Model) -> None:
    by_flops = colouring(model, flops_colouring)
    assert by_flops.tooltip_text(path(model, "large")) == "87.0\N{THIN SPACE}% of all"
    assert by_flops.tooltip_text(path(model, "x")) == ""


def test_the_legend_has_round_ticks_and_names_what_is_not_counted(model: Model) -> None:
    rows = colouring(model, flops_colouring).scaled_to([path(model, "large")]).legend_rows([])
    assert [row.label for row in rows] == [
        *("0 FLOPs", "50 FLOPs", "200 FLOPs", "500 FLOPs", "1 kFLOPs"),  # of 1,600
        "3 ops not counted (Mystery, Riddle)",
    ]
    rows = colouring(model, parameters_colouring).scaled_to([path(model, "large")]).legend_rows([])
    assert [row.label for row in rows][-1] == "200 parameters"


def test_a_model_without_costs_has_one_tick() -> None:
    nothing = load(GraphDef(node=[node("m", "Mystery")]))
    by_parameters = colouring(nothing, parameters_colouring)
    assert [row.label for row in by_parameters.legend_rows([])] == ["0 parameters"]
    assert by_parameters.costs.under(0) == Cost(uncounted=1, unshaped=1)
