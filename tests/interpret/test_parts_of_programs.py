"""What each node is for."""

from __future__ import annotations

import pytest

from graphviz_tb.api.pipeline import Model
from graphviz_tb.model.interpretation import Part
from tests.interpret.programs import constant, model, node, placeholder, sized, trained, variable
from tests.interpret.test_variables import FORWARD


def parts(found: Model) -> dict[str, str]:
    graph = found.hierarchy.graph
    return {name: Part(part).name for name, part in zip(graph.name, graph.meaning.part().tolist(), strict=True)}


def test_a_second_forward_pass_with_the_same_weights_is_a_copy() -> None:
    # x ─▶ y = x · w ─▶ loss trains w; z = x_1 · w ─▶ prediction evaluates
    tower = [placeholder("x_1", 2, 8), node("z", "MatMul", "x_1", "w/read"), node("prediction", "Softmax", "z")]
    found = parts(model(FORWARD, trained("w", "gradients/y_grad/MatMul"), tower))
    assert {found[name] for name in ("x_1", "z", "prediction")} == {"COPY"}
    assert (found["x"], found["y"], found["loss"]) == ("MODEL", "MODEL", "LOSS")
    assert (found["gradients/y_grad/MatMul"], found["train/update_w"]) == ("GRADIENT", "UPDATE")


def test_a_prediction_of_the_trained_model_is_no_copy() -> None:
    found = parts(model(FORWARD, trained("w", "gradients/y_grad/MatMul"), node("prediction", "Softmax", "y")))
    assert found["prediction"] == "MODEL"


def test_an_initialiser_is_bookkeeping() -> None:
    found = parts(model(FORWARD, constant("zeros", 8, 4), node("w/Assign", "Assign", "w", "zeros")))
    assert found["w/Assign"] == "BOOKKEEPING"


@pytest.mark.parametrize("scope", ["gradients", "gradients_1", "gradient_tape", "gradient_tape_1"])
def test_gradients_are_gradients_however_often_they_are_taken(scope: str) -> None:
    # The product of a gradient has the type of a product of the model: its scope says what it is.
    product = node(f"{scope}/y/MatMul", "MatMul", "x", "y", transpose_a={"b": True})
    found = model(FORWARD[:5], product, trained("w", f"{scope}/y/MatMul"))
    assert parts(found)[f"{scope}/y/MatMul"] == "GRADIENT"
    assert found.cost.under(0, "gradient").flops == 2 * 8 * 2 * 4


def test_a_step_that_is_taken_from_a_slot_is_an_update() -> None:
    # The slot m takes the gradient; w takes what is read of m again, as Keras 3 writes Adam.
    step = [
        node("m", "VarHandleOp", shape=sized(8, 4)),
        node("sum", "AssignAddVariableOp", "m", "gradients/y_grad/MatMul"),
        node("m/again", "ReadVariableOp", "m", "^sum"),
        node("scaled", "Mul", "m/again", "rate"),
        node("train", "AssignSub", "w", "scaled"),
    ]
    found = model(FORWARD, trained("w", "gradients/y_grad/MatMul")[:0], step)
    assert {parts(found)[name] for name in ("sum", "scaled", "train")} == {"UPDATE"}
    before = model(FORWARD).cost.under(0, "forward").flops
    assert found.cost.under(0, "forward").flops == before
    assert found.cost.under(0, "optimizer").flops == 3 * 8 * 4  # sum, scaled, train


def test_an_average_that_reads_a_trained_weight_is_no_update() -> None:
    # kept = kept + rate · w: the weight is written by training, and the model reads it
    average = [
        *variable("kept", 8, 4),
        node("more", "Mul", "w/read", "rate"),
        node("average", "AssignAdd", "kept", "more"),
    ]
    assert parts(model(FORWARD, trained("w", "gradients/y_grad/MatMul"), average))["more"] == "BOOKKEEPING"


def test_a_transposed_convolution_of_a_model_is_forward() -> None:
    nodes = [
        placeholder("image", 1, 4, 4, 3),
        constant("size", 4, dtype=3),
        *variable("kernel", 2, 2, 5, 3),
        node("up", "Conv2DBackpropInput", "size", "kernel/read", "image", strides={"list": {"i": [1, 2, 2, 1]}}),
    ]
    found = model(nodes)
    assert parts(found)["up"] == "MODEL"
    assert found.cost.under(0, "gradient").flops == 0


def test_a_metric_that_reads_its_counter_is_no_copy() -> None:
    metric = [*variable("total"), node("count", "AssignAdd", "total", "loss"), node("shown", "Neg", "total/read")]
    assert parts(model(FORWARD, trained("w", "gradients/y_grad/MatMul"), metric))["shown"] == "MODEL"


def test_an_evaluation_is_a_box_beside_the_model_and_no_bookkeeping() -> None:
    steps = [node(f"step_{number}", "Relu", f"step_{number - 1}" if number else "z") for number in range(4)]
    tower = [placeholder("x_1", 2, 8), node("z", "MatMul", "x_1", "w/read"), *steps]
    hierarchy = model(FORWARD, trained("w", "gradients/y_grad/MatMul"), tower).hierarchy
    [row] = [row for row in range(len(hierarchy)) if hierarchy.name[row] == "evaluation"]
    assert {hierarchy.name[child] for child in hierarchy.children(row).tolist()} >= {"x_1", "z"}
    assert "bookkeeping" not in hierarchy.name


def test_an_average_of_weights_is_no_evaluation() -> None:
    # kept = 0.9 · kept + 0.1 · w: it takes the trained weight and changes a variable
    average = [
        *variable("kept"),
        *(
            node("less", "Mul", "kept/read", "rate"),
            node("more", "Mul", "w/read", "rate"),
            node("mean", "Add", "less", "more"),
        ),
        node("keep", "Assign", "kept", "mean"),
        {"name": "rate", "op": "Const"},
    ]
    found = model(FORWARD, trained("w", "gradients/y_grad/MatMul"), average)
    assert "COPY" not in parts(found).values()
    assert "evaluation" not in found.hierarchy.name
