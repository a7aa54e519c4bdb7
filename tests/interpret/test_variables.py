"""Which variables are parameters: each once, and none that only serves training."""

from __future__ import annotations

from graphviz_tb.api.pipeline import Model
from graphviz_tb.model.interpretation import VariableUse
from tests.interpret.programs import Node, constant, model, node, placeholder, trained, variable

# x [2, 8] ─▶ y = x · w [8, 4] ─▶ loss, whose gradient trains w
FORWARD: list[Node] = [
    placeholder("x", 2, 8),
    *variable("w", 8, 4),
    node("y", "MatMul", "x", "w/read"),
    node("loss", "L2Loss", "y"),
    node("gradients/loss_grad/mul", "Mul", "y", "y"),
    node("gradients/y_grad/MatMul", "MatMul", "x", "gradients/loss_grad/mul", transpose_a={"b": True}),
]


def uses(found: Model) -> dict[str, str]:
    return {each.name: each.use.name for each in found.hierarchy.graph.meaning.variables()}


def test_slots_of_an_optimizer_count_neither_as_parameters_nor_in_their_bytes() -> None:
    slots = [each for name in ("w/m", "w/v") for each in variable(name, 8, 4)]
    found = model(FORWARD, slots, trained("w", "gradients/y_grad/MatMul", "w/m", "w/v"))
    assert uses(found) == {"w": "PARAMETER", "w/m": "STATE", "w/v": "STATE"}
    cost = found.cost.under(0)
    assert (cost.parameters, cost.weight_bytes) == (8 * 4, 8 * 4 * 4)


def test_an_average_of_weights_is_counted_with_them() -> None:
    # shadow -= (shadow - w) · decay
    average = [
        *variable("shadow", 8, 4),
        constant("decay"),
        node("ema/sub", "Sub", "shadow/read", "w/read"),
        node("ema/mul", "Mul", "ema/sub", "decay"),
        node("ema/assign", "AssignSub", "shadow", "ema/mul"),
    ]
    found = model(FORWARD, trained("w", "gradients/y_grad/MatMul"), average)
    assert uses(found) == {"w": "PARAMETER", "shadow": "COPY"}
    cost = found.cost.under(0)
    assert (cost.parameters, cost.copied) == (8 * 4, 8 * 4)


def test_the_statistics_of_a_normalization_are_parameters_though_only_updates_use_them() -> None:
    # mean -= (mean - mean of y) · decay
    moving = [
        *variable("mean", 4),
        constant("axis", 1, dtype=3),
        constant("decay"),
        node("of_batch", "Mean", "y", "axis"),
        node("ema/sub", "Sub", "mean/read", "of_batch"),
        node("ema/mul", "Mul", "ema/sub", "decay"),
        node("ema/assign", "AssignSub", "mean", "ema/mul"),
    ]
    found = model(FORWARD, trained("w", "gradients/y_grad/MatMul"), moving)
    assert found.cost.under(0).parameters == 8 * 4 + 4


def test_what_a_second_device_holds_of_the_same_variable_is_counted_once() -> None:
    # replica 0 computes y = x · w, replica 1 the same with its own copy of w
    second = [
        placeholder("x_1", 2, 8),
        *variable("w/replica_1", 8, 4),
        node("replica_1/y", "MatMul", "x_1", "w/replica_1/read"),
        node("sum", "AddN", "y", "replica_1/y"),
    ]
    found = model(FORWARD[:4], second)
    assert uses(found) == {"w": "PARAMETER", "w/replica_1": "COPY"}
    assert found.cost.under(0).parameters == 8 * 4


def test_two_towers_with_weights_of_their_own_are_both_counted() -> None:
    second = [*variable("v", 8, 4), node("z", "MatMul", "x", "v/read"), node("sum", "Add", "y", "z")]
    assert model(FORWARD[:4], second).cost.under(0).parameters == 2 * 8 * 4


def test_whole_numbers_and_metrics_are_no_parameters() -> None:
    whole = {"dtype": {"type": 9}, "T": {"type": 9}}
    steps = [
        *variable("global_step", **whole),
        constant("one", dtype=9),
        node("add", "AssignAdd", "global_step", "one"),
    ]
    metric = [*variable("total"), node("count", "AssignAdd", "total", "loss"), node("shown", "Neg", "total/read")]
    found = model(FORWARD, trained("w", "gradients/y_grad/MatMul"), steps, metric)
    assert found.cost.under(0).parameters == 8 * 4
    assert uses(found)["total"] == VariableUse.STATE.name


def test_variables_count_the_same_whether_they_are_drawn_as_weights_or_as_ops() -> None:
    assert model(FORWARD, show_variables=True).cost.under(0).parameters == 8 * 4


def test_a_weight_that_waits_for_its_last_read_before_it_is_written_is_trained() -> None:
    # m takes the gradient; w takes what is read of m, once the loop that reads w is done.
    step = [
        *variable("m", 8, 4),
        node("sum", "AssignAdd", "m", "gradients/y_grad/MatMul"),
        node("rate", "Placeholder"),
        node("waiting", "Mul", "x", "rate"),
        node("train", "AssignSub", "w", "m/read", "^waiting", "^y"),
    ]
    found = model(FORWARD, step)
    assert {each.name: each.trainable for each in found.hierarchy.graph.meaning.variables()}["w"] is True
    assert found.cost.under(0).non_trainable == 0
