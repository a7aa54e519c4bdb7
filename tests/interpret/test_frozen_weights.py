"""Weights of frozen graphs: behind what turns or reshapes them, and where no slot names them; drawn as counted."""

from __future__ import annotations

from typing import Any

from graphviz_tb import load
from graphviz_tb.api.pipeline import Model
from graphviz_tb.model.graph import Mark
from graphviz_tb.proto import GraphDef
from tests.annotate.test_costs import model, node, placeholder, weights
from tests.each import each


def vector(name: str, *numbers: int) -> dict[str, Any]:
    tensor = {"dtype": 3, "tensor_shape": {"dim": [{"size": len(numbers)}]}, "int_val": numbers}
    return {"name": name, "op": "Const", "attr": {"dtype": {"type": 3}, "value": {"tensor": tensor}}}


def drawn(found: Model) -> set[str]:
    """The constants that are drawn as weights."""
    graph = found.hierarchy.graph
    return {
        graph.name[at]
        for at in range(len(graph))
        if graph.mark[at] == Mark.WEIGHT and graph.op_types[graph.op[at]] == "Const"
    }


def counted(found: Model) -> dict[str, int]:
    """The parameters that count at each op."""
    hierarchy = found.hierarchy
    return {hierarchy.name[row]: cost.parameters for row, cost in enumerate(found.cost.counted) if cost.parameters}


def test_a_kernel_that_is_turned_on_its_way_counts_at_its_product() -> None:
    # kernel [10, 84] ─▶ transpose ─▶ y = x [1, 84] · kernelᵀ ─▶ + bias [10]
    found = model(
        *(placeholder("x", 1, 84), weights("kernel", 10, 84), vector("perm", 1, 0), weights("bias", 10)),
        *(node("turn", "Transpose", "kernel", "perm"), node("y", "MatMul", "x", "turn"), node("z", "Add", "y", "bias")),
    )
    assert counted(found) == {"y": 840, "z": 10}
    assert drawn(found) == {"kernel", "bias"}


def test_a_filter_that_is_reshaped_counts_at_its_convolution() -> None:
    strides = {"strides": {"list": {"i": [1, 1, 1, 1]}}, "padding": {"s": b"SAME"}}
    found = model(
        *(placeholder("x", 1, 8, 8, 3), weights("flat", 5 * 5 * 3, 7), vector("shape", 5, 5, 3, 7)),
        *(node("filter", "Reshape", "flat", "shape"), node("y", "Conv2D", "x", "filter", **strides)),
    )
    assert counted(found) == {"y": 5 * 5 * 3 * 7}


def convolved(*nodes: dict[str, Any]) -> Model:
    """x [1, 8, 8, 1] ─▶ conv, 56 filters of 5×5; `nodes` go on."""
    strides = {"strides": {"list": {"i": [1, 1, 1, 1]}}, "padding": {"s": b"SAME"}}
    first = (placeholder("x", 1, 8, 8, 1), weights("f", 5, 5, 1, 56), node("conv", "Conv2D", "x", "f", **strides))
    return model(*first, *nodes)


def test_biases_that_are_added_and_slopes_that_are_multiplied_are_weights() -> None:
    # PReLU: relu(a) + alpha · (a - |a|) / 2
    found = convolved(
        *(weights("b", 56), node("a", "Add", "conv", "b"), node("relu", "Relu", "a"), node("abs", "Abs", "a")),
        *(node("sub", "Sub", "a", "abs"), weights("alpha", 56), node("slope", "Mul", "alpha", "sub")),
        *(weights("half"), node("halved", "Mul", "slope", "half"), node("out", "Add", "relu", "halved")),
    )
    assert counted(found) == {"conv": 5 * 5 * 56, "a": 56, "slope": 56}
    assert drawn(found) == {"f", "b", "alpha"}


def test_what_is_no_number_for_each_channel_is_no_weight() -> None:
    # a mean that is taken from the image, scales of another size, coordinates behind a reshape
    found = model(
        *(placeholder("image", 1, 8, 8, 3), weights("mean", 3), node("centred", "Sub", "image", "mean")),
        *(weights("f", 1, 1, 3, 6), node("conv", "Conv2D", "centred", "f"), weights("map", 8, 8, 6)),
        *(node("masked", "Mul", "conv", "map"), vector("rows", -1, 4), node("boxes", "Reshape", "masked", "rows")),
        *(weights("scale", 6), node("scaled", "Mul", "boxes", "scale")),
    )
    assert drawn(found) == {"f"}


def test_a_turned_constant_that_others_use_stays_an_op() -> None:
    found = model(
        *(placeholder("x", 1, 84), weights("kernel", 10, 84), vector("perm", 1, 0)),
        *(node("turn", "Transpose", "kernel", "perm"), node("y", "MatMul", "x", "turn"), node("other", "Abs", "turn")),
    )
    assert "turn" in found.hierarchy.name
    assert found.cost.under(0).parameters == 840


def test_a_graph_with_no_weight_in_it_has_none() -> None:
    nodes = (placeholder("x", 4), weights("c", 4), node("y", "Add", "x", "c"))
    assert load(GraphDef(node=nodes)).cost.under(0).parameters == 0


def stored(name: str, numbers: list[float], *sizes: int) -> dict[str, Any]:
    """A constant of these numbers."""
    shape = {"dim": [{"size": size} for size in sizes]}
    attr = {"dtype": {"type": 1}, "value": {"tensor": {"dtype": 1, "tensor_shape": shape, "float_val": numbers}}}
    return {"name": name, "op": "Const", "attr": attr}


SCATTERED = [(number * 0.6180339) % 1 - 0.4 for number in range(96)]
SEVENTHS = [number % 7 / 7 - 0.4 for number in range(24)]


def test_what_is_joined_to_a_product_a_norm_or_a_slope_is_a_weight() -> None:
    found = model(
        *(placeholder("x", 5, 4), stored("kernel", SEVENTHS, 4, 6), stored("bias", SEVENTHS[:6], 2, 3)),
        *(vector("shape", 5, 2, 3), node("y", "MatMul", "x", "kernel"), node("heads", "Reshape", "y", "shape")),
        *(node("z", "AddV2", "heads", "bias"), stored("gamma", SEVENTHS[:3], 3), vector("wide", 1, 1, 3)),
        *(node("turned", "Reshape", "gamma", "wide"), node("scaled", "Mul", "z", "turned")),
        *(stored("slope", SEVENTHS[:3], 1, 1, 3), node("minus", "Neg", "slope"), node("r", "Mul", "scaled", "minus")),
    )
    assert found.cost.under(0).parameters == 24 + 6 + 3 + 3
    assert not found.cost.under(0).is_lower_bound("parameters")


def test_a_mask_is_none_and_a_first_factor_is_doubtful() -> None:
    found = model(
        *(placeholder("x", 5, 4), stored("kernel", SEVENTHS, 4, 6), stored("mask", [0.0, 1.0] * 12, 4, 6)),
        *(node("masked", "Mul", "kernel", "mask"), node("y", "MatMul", "x", "masked")),
        *(stored("near", SEVENTHS[:10], 2, 5), node("z", "MatMul", "near", "y")),
    )
    assert found.cost.under(0).parameters == 24
    assert found.cost.under(0).is_lower_bound("parameters")


def perceptron(first: str, *more: dict[str, Any]) -> Model:
    """`first` [5, 8] ─▶ · [8, 12] + bias ─▶ · [12, 4] + bias"""
    return model(
        *(*more, stored("k1", SCATTERED, 8, 12), stored("b1", SCATTERED[:12], 12), node("p1", "MatMul", first, "k1")),
        *(node("s1", "AddV2", "p1", "b1"), node("r", "Relu", "s1"), stored("k2", SCATTERED[:48], 12, 4)),
        *(node("p2", "MatMul", "r", "k2"), stored("b2", SCATTERED[:4], 4), node("s2", "AddV2", "p2", "b2")),
    )


PERCEPTRON = 8 * 12 + 12 + 12 * 4 + 4


def test_a_transform_that_a_program_works_out_is_doubtful() -> None:
    # Its numbers repeat, those of the kernels do not.
    transform = stored("t", [float(row * column % 4) for row in range(8) for column in range(8)], 8, 8)
    cost = perceptron("x", placeholder("raw", 5, 8), transform, node("x", "MatMul", "raw", "t")).cost.under(0)
    assert (cost.parameters, cost.is_lower_bound("parameters")) == (PERCEPTRON, True)


def test_a_projection_of_the_input_without_a_bias_is_doubtful() -> None:
    # raw ─▶ · 2π ─▶ MatMul ◀─ numbers by chance
    #                  └─▶ Sin ─▶ kernels with biases
    turns = (stored("turn", [6.2831855]), node("turned", "Mul", "raw", "turn"))
    projection = (stored("t", SCATTERED[:24], 3, 8), node("p", "MatMul", "turned", "t"), node("x", "Sin", "p"))
    cost = perceptron("x", placeholder("raw", 5, 3), *turns, *projection).cost.under(0)
    assert (cost.parameters, cost.is_lower_bound("parameters")) == (PERCEPTRON, True)


def test_a_product_without_a_bias_that_is_scaled_has_a_weight() -> None:
    scaled = (stored("g", SCATTERED[:8], 8), node("y", "Mul", "p", "g"))
    projection = (stored("t", SCATTERED[:24], 3, 8), node("p", "MatMul", "raw", "t"), *scaled, node("x", "Sin", "y"))
    cost = perceptron("x", placeholder("raw", 5, 3), *projection).cost.under(0)
    assert (cost.parameters, cost.is_lower_bound("parameters")) == (PERCEPTRON + 24 + 8, False)


@each("case", [(0.07, True), (1.3, True), (0.5, False), (1e-5, False), (6.0, False), (127.5, False)])
def test_a_single_number_is_doubtful_if_no_formula_has_it(case: tuple[float, bool]) -> None:
    number, doubtful = case
    factor = (placeholder("raw", 5, 8), stored("n", [number]), node("x", "Mul", "raw", "n"))
    cost = perceptron("x", *factor).cost.under(0)
    assert (cost.parameters, cost.is_lower_bound("parameters")) == (PERCEPTRON, doubtful)


def test_a_vector_behind_a_reshaped_product_is_a_weight_of_its_channels() -> None:
    # a dense layer on sequences joins two dimensions and parts them again
    found = model(
        *(placeholder("x", 5, 8), stored("k", SCATTERED[:32], 8, 4), node("p", "MatMul", "x", "k")),
        *(vector("shape", 1, 5, 4), node("parted", "Reshape", "p", "shape"), stored("b", SCATTERED[:4], 4)),
        *(node("s", "AddV2", "parted", "b"), weights("gamma", 4), node("z", "Mul", "s", "gamma")),
    )
    assert found.cost.under(0).parameters == 32 + 4 + 4
    assert not found.cost.under(0).is_lower_bound("parameters")


def test_a_vector_behind_looked_up_rows_is_a_weight_of_their_width() -> None:
    found = model(
        *(placeholder("ids", 5), stored("table", SCATTERED[:40], 10, 4), vector("axis", 0)),
        *(node("rows", "GatherV2", "ids", "ids"), weights("gamma", 4), node("z", "Mul", "rows", "gamma")),
    )
    assert found.cost.under(0).parameters == 0  # rows of data have no width of a table
    found = model(
        *(placeholder("ids", 5), stored("table", SCATTERED[:40], 10, 4), vector("axis", 0)),
        *(node("rows", "GatherV2", "table", "ids", "axis"), weights("gamma", 4), node("z", "Mul", "rows", "gamma")),
    )
    assert found.cost.under(0).parameters == 40 + 4


def test_what_scales_and_shifts_a_norm_of_the_input_is_a_weight() -> None:
    # x · Rsqrt(Mean(x²) + ε) · gamma + beta; a table of positions is none
    found = model(
        *(placeholder("x", 5, 4), node("squares", "Square", "x"), vector("axes", 1)),
        *(node("mean", "Mean", "squares", "axes", keep_dims={"b": True}), stored("e", [1e-5])),
        *(node("more", "AddV2", "mean", "e"), node("root", "Rsqrt", "more"), node("n", "Mul", "x", "root")),
        *(weights("gamma", 4), node("scaled", "Mul", "n", "gamma"), weights("beta", 4)),
        *(
            node("y", "AddV2", "scaled", "beta"),
            stored("table", SCATTERED[:20], 5, 4),
            node("z", "AddV2", "y", "table"),
        ),
    )
    assert found.cost.under(0).parameters == 4 + 4
    assert found.cost.under(0).is_lower_bound("parameters")


def test_axes_and_shapes_between_a_kernel_and_its_norm_are_no_weights() -> None:
    # the norm of spectral normalisation: n = u [1, 7] · kernelᵀ, kernel [3, 3, 2, 7] as [18, 7]; v = n · rsqrt(Σ n²)
    strides = {"strides": {"list": {"i": [1, 1, 1, 1]}}, "padding": {"s": b"SAME"}}
    found = model(
        *(placeholder("x", 1, 8, 8, 2), weights("kernel", 3, 3, 2, 7), weights("u", 1, 7)),
        *(vector("flat", 18, 7), vector("shape", 3, 3, 2, 7), vector("axes", 0, 1)),
        *(node("w", "Reshape", "kernel", "flat"), node("n", "MatMul", "u", "w", transpose_b={"b": True})),
        *(node("square", "Square", "n"), node("sum", "Sum", "square", "axes", keep_dims={"b": True})),
        *(node("root", "Rsqrt", "sum"), node("v", "Mul", "n", "root"), node("s", "MatMul", "v", "w")),
        *(node("scaled", "RealDiv", "w", "s"), node("filter", "Reshape", "scaled", "shape")),
        node("y", "Conv2D", "x", "filter", **strides),
    )
    assert found.cost.under(0).parameters == 3 * 3 * 2 * 7 + 7


@each("read", ["scale/read", "block/ReadVariableOp"])
def test_a_single_number_with_a_named_read_is_a_weight_without_any_kernel(read: str) -> None:
    scale = (stored("scale", [1.3]), node(read, "Identity", "scale"), node("y", "Mul", "x", read))
    cost = load(GraphDef(node=(placeholder("x", 5, 8), *scale))).cost.under(0)
    assert cost.parameters == 1
