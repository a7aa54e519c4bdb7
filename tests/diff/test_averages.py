"""Averages of weights that came or went: they are no parameters, whatever took their place."""

from __future__ import annotations

import pytest

from graphviz_tb.diff import diff
from graphviz_tb.diff.picture.merge import merge_graphs
from graphviz_tb.proto import GraphDef

FLOAT = 1


def add(graph: GraphDef, name: str, op: str, *inputs: str, shape: tuple[int, ...] | None = None) -> None:
    """Add an op of single precision; a variable with its shape."""
    node = graph.node.add(name=name, op=op, input=list(inputs))
    node.attr["dtype" if shape is not None else "T"].type = FLOAT
    if shape is not None:
        node.attr["shape"].shape.SetInParent()
        for size in shape:
            node.attr["shape"].shape.dim.add(size=size)


def add_variable(graph: GraphDef, name: str, shape: tuple[int, ...]) -> None:
    """A variable with its first value, which `init` waits for."""
    add(graph, name, "VariableV2", shape=shape)
    add(graph, f"{name}/Initializer/zeros", "Const", shape=None)
    add(graph, f"{name}/Assign", "Assign", name, f"{name}/Initializer/zeros")
    add(graph, f"{name}/read", "Identity", name)


def trained(averages: bool, scale: bool = True) -> GraphDef:
    """x ─▶ MatMul(w) ─▶ Mul(gamma)? ─▶ loss, trained by gradient descent, with averages of w that begin with its first
    value: `initialized_value` asks whether it was set."""
    graph = GraphDef()
    add(graph, "x", "Placeholder")
    add_variable(graph, "net/dense/kernel", (8, 8))
    add(graph, "net/dense/MatMul", "MatMul", "x", "net/dense/kernel/read")
    out, weights = "net/dense/MatMul", ["net/dense/kernel"]
    if scale:
        add_variable(graph, "net/scale/gamma", (8,))
        add(graph, "net/scale/mul", "Mul", out, "net/scale/gamma/read")
        out, weights = "net/scale/mul", ["net/dense/kernel", "net/scale/gamma"]
    add(graph, "loss", "Mean", out)
    add(graph, "rate", "Const")
    for weight in weights:
        leaf = weight.rpartition("/")[2]
        add(graph, f"gradients/{out}_grad/{leaf}", "Mul", out, "loss")
        add(graph, f"train/update_{weight}", "ApplyGradientDescent", weight, "rate", f"gradients/{out}_grad/{leaf}")
    for weight in weights if averages else ():
        name = f"{weight}/ExponentialMovingAverage"
        add(graph, f"train/Is_{weight}", "IsVariableInitialized", weight)
        for branch in (f"train/cond_{weight}", f"{name}/cond"):  # nobody takes the first one
            add(graph, branch, "StatelessIf", f"train/Is_{weight}", weight, f"{weight}/Initializer/zeros")
            add(graph, f"{branch}/Identity", "Identity", branch)
        add(graph, name, "VariableV2", shape=(8, 8) if "kernel" in weight else (8,))
        add(graph, f"{name}/Assign", "Assign", name, f"{name}/cond/Identity")
        add(graph, f"{name}/read", "Identity", name)
        add(graph, f"train/average_{weight}/sub", "Sub", f"{name}/read", f"{weight}/read")
        add(graph, f"train/average_{weight}", "AssignSub", name, f"train/average_{weight}/sub")
    graph.node.add(
        name="init", op="NoOp", input=[f"^{node.name}" for node in graph.node if node.name.endswith("/Assign")]
    )
    return graph


def test_averages_are_called_so_where_they_ask_for_first_values() -> None:
    (change,) = diff(trained(False), trained(True))
    assert (change.kind, change.detail["training"]) == ("added", "moving averages of weights")


@pytest.mark.parametrize("turned", [False, True])
def test_a_removed_layer_is_whole_beside_new_averages(turned: bool) -> None:
    old, new = trained(False), trained(True, scale=False)
    changes = diff(new, old).inverse() if turned else diff(old, new)
    removed = [change for change in changes if change.kind == "removed"]
    assert [change.name for change in removed] == ["net/scale"]
    assert [change.detail.get("training") for change in changes if change.kind == "added"] == [
        "moving averages of weights"
    ]


@pytest.mark.parametrize("turned", [False, True])
def test_new_averages_stand_beside_a_new_layer_whose_weights_they_keep_too(turned: bool) -> None:
    old, new = trained(False, scale=False), trained(True)
    changes = diff(new, old).inverse() if turned else diff(old, new)
    assert [change.detail.get("training") for change in changes] == [None, "moving averages of weights"]
    assert changes[0].name == "net/scale"


def test_a_picture_opens_the_way_to_what_the_text_names() -> None:
    changes = diff(trained(False), trained(True))
    ((((_, name),),),) = merge_graphs(changes).shown
    assert f"{name}/".startswith(f"{changes[0].new}/")


@pytest.mark.parametrize(
    ("made", "written", "training"),
    [
        ("Mul", "AssignSub", "weight decay"),  # taken from a weight for being large
        ("Maximum", "Assign", "constraint on weights"),  # bounds a weight
        ("RealDiv", "Assign", None),  # divides a weight by a norm
    ],
)
def test_what_is_worked_out_from_weights_alone_is_no_average(made: str, written: str, training: str | None) -> None:
    old, new = trained(False), trained(False)
    for weight in ("net/dense/kernel", "net/scale/gamma"):
        add(new, f"train/for_{weight}/{made}", made, f"{weight}/read", "rate")
        add(new, f"train/for_{weight}", written, weight, f"train/for_{weight}/{made}")
    (change,) = diff(old, new)
    assert (change.kind, change.detail.get("training")) == ("added", training)


def stepped(optimizer: str, layers: int = 2) -> GraphDef:
    """x ─▶ layers ─▶ loss ─▶ gradients ─▶ updates with slots, which are set to zero in another way and restored."""
    graph, out = GraphDef(), "x"
    add(graph, "x", "Placeholder", shape=(4, 8))
    names = [f"net/dense_{number}/kernel" for number in range(layers)]
    for name in names:
        add_variable(graph, name, (8, 8))
        add(graph, f"{name.rpartition('/')[0]}/MatMul", "MatMul", out, f"{name}/read")
        out = f"{name.rpartition('/')[0]}/MatMul"
    add(graph, "loss", "Mean", out)
    slots = {"Adam": ("Adam", "Adam_1"), "Momentum": ("Momentum",)}[optimizer]
    saved = [*names, *(f"{name}/{slot}" for name in names for slot in slots)]
    powers = ("beta1_power", "beta2_power") if optimizer == "Adam" else ()
    for power in powers:
        add(graph, power, "VariableV2", shape=())
        add(graph, f"{power}/read", "Identity", power)
        add(graph, f"{power}/initial_value", "Const")
        add(graph, f"{power}/Assign", "Assign", power, f"{power}/initial_value")
    for name in names:
        for slot in slots:
            add(graph, f"{name}/{slot}", "VariableV2", shape=(8, 8))
            add(graph, f"{name}/{slot}/Initializer/zeros", "Fill" if optimizer == "Adam" else "Const")
            add(graph, f"{name}/{slot}/Assign", "Assign", f"{name}/{slot}", f"{name}/{slot}/Initializer/zeros")
            add(graph, f"{name}/{slot}/read", "Identity", f"{name}/{slot}")
        add(graph, f"gradients/{name}_grad", "MatMul", "x", "loss")
        ends = (*(f"{name}/{slot}" for slot in slots), *(f"{power}/read" for power in powers), f"gradients/{name}_grad")
        add(graph, f"{optimizer}/update_{name}/Apply{optimizer}", f"Apply{optimizer}", name, *ends)
    for power in powers:
        add(graph, f"{optimizer}/mul_{power}", "Mul", f"{power}/read", f"{optimizer}/beta")
        add(graph, f"{optimizer}/Assign_{power}", "Assign", power, f"{optimizer}/mul_{power}")
    if powers:
        add(graph, f"{optimizer}/beta", "Const")
    waits = [f"^{node.name}" for node in graph.node if node.name.startswith(f"{optimizer}/")]
    add(graph, f"{optimizer}/update", "NoOp", *waits)
    add(graph, "save/RestoreV2", "RestoreV2")
    for number, name in enumerate(sorted(saved)):
        add(graph, f"save/Assign_{number}", "Assign", name, f"save/RestoreV2:{number}")
    add(graph, "save/restore_all", "NoOp", *(f"^save/Assign_{number}" for number in range(len(saved))))
    return graph


@pytest.mark.parametrize("turned", [False, True])
def test_another_optimizer_comes_with_its_slots_and_their_first_values(turned: bool) -> None:
    old, new = stepped("Adam"), stepped("Momentum")
    (change,) = diff(new, old) if turned else diff(old, new)
    assert change.detail["key"] == "optimizer"


@pytest.mark.parametrize("turned", [False, True])
def test_what_restores_the_slots_of_a_removed_layer_follows(turned: bool) -> None:
    old, new = stepped("Adam", 3), stepped("Adam", 2)
    (change,) = diff(new, old) if turned else diff(old, new)
    assert (change.kind, change.name) == ("added" if turned else "removed", "net/dense_2")


def scheduled(optimizer: str) -> GraphDef:
    """A step whose learning rate comes from a schedule."""
    graph = stepped(optimizer)
    add(graph, "step", "VariableV2", shape=())
    add(graph, "step/read", "Identity", "step")
    add(graph, "decay/base", "Const")
    add(graph, "decay/Pow", "Pow", "decay/base", "step/read")
    for node in graph.node:
        if node.op == f"Apply{optimizer}":
            node.input.insert(len(node.input) - 1, "decay/Pow")
    return graph


@pytest.mark.parametrize("turned", [False, True])
def test_what_follows_another_optimizer_follows_from_it_and_not_from_its_rate(turned: bool) -> None:
    old, new = stepped("Adam"), scheduled("Momentum")
    changes = {change.detail["key"]: change for change in (diff(new, old) if turned else diff(old, new))}
    assert changes.keys() == {"optimizer", "learning rate"}
    assert changes["optimizer"].consequences
    assert not changes["learning rate"].consequences


def resource_step(
    averages: bool = False, decay: bool = False, schedule: bool = False, activation: str = "Relu"
) -> GraphDef:
    """Two layers and their updates as a traced step has them: variables are arguments whose shapes the file lacks. A
    schedule is that of the decay."""
    graph, out = GraphDef(), "x"
    add(graph, "x", "Placeholder")
    add(graph, "adam/rate", "Const")

    def add_variable(name: str) -> None:
        graph.node.add(name=name, op="Placeholder").attr["dtype"].type = 20

    def read(variable: str, name: str) -> str:
        add(graph, name, "ReadVariableOp", variable)
        return name

    def rate(name: str) -> str:
        if not schedule:
            return "adam/rate"
        add(graph, f"{name}/Minimum", "Minimum", read("adam/step", f"{name}/ReadVariableOp"), "adam/rate")
        add(graph, f"{name}/Cos", "Cos", f"{name}/Minimum")
        return f"{name}/Cos"

    add_variable("adam/step")
    add(graph, "adam/count", "AssignAddVariableOp", "adam/step", "adam/rate")
    weights = ["net/one/kernel", "net/two/kernel"]
    for weight in weights:
        add_variable(weight)
        scope = weight.rpartition("/")[0]
        add(graph, f"{scope}/MatMul", "MatMul", out, read(weight, f"{scope}/ReadVariableOp"))
        out = f"{scope}/{activation}"
        add(graph, out, activation, f"{scope}/MatMul")
    add(graph, "loss", "Mean", out)
    for number, weight in enumerate(weights):
        gradient = f"gradient_tape/{weight.rpartition('/')[0]}/MatMul"
        add(graph, gradient, "MatMul", "x", "loss")
        if decay:
            name = f"adam/decay_{number}"
            add(graph, f"{name}/Mul", "Mul", read(weight, f"{name}/Read"), "adam/rate")
            add(graph, f"{name}/Mul_1", "Mul", f"{name}/Mul", rate(f"{name}/Cosine"))
            add(graph, f"{name}/Assign", "AssignSubVariableOp", weight, f"{name}/Mul_1")
        add(graph, f"adam/Mul_{number}", "Mul", gradient, "adam/rate")
        add(graph, f"adam/Assign_{number}", "AssignSubVariableOp", weight, f"adam/Mul_{number}")
        if averages:
            name = f"adam/average_{number}"
            add_variable(f"{name}/resource")
            graph.node.add(name=f"{name}/Read", op="ReadVariableOp", input=[weight, f"^adam/Assign_{number}"])
            add(graph, f"{name}/Mul", "Mul", read(f"{name}/resource", f"{name}/Read_1"), "adam/rate")
            add(graph, f"{name}/Mul_1", "Mul", f"{name}/Read", "adam/rate")
            add(graph, f"{name}/Add", "AddV2", f"{name}/Mul", f"{name}/Mul_1")
            add(graph, f"{name}/Assign", "AssignVariableOp", f"{name}/resource", f"{name}/Add")
    return graph


@pytest.mark.parametrize("turned", [False, True])
def test_averages_of_weights_of_unknown_shape_are_told_beside_an_edit_of_the_model(turned: bool) -> None:
    old, new = resource_step(), resource_step(averages=True, activation="Elu")
    changes = diff(new, old) if turned else diff(old, new)
    assert sorted(change.detail.get("training", change.name) for change in changes) == [
        "moving averages of weights",
        "net/one",
    ]


def test_averages_and_a_decay_that_came_together_are_two_changes() -> None:
    changes = diff(resource_step(), resource_step(averages=True, decay=True))
    assert {change.detail.get("training") for change in changes} == {"moving averages of weights", "weight decay"}


def test_the_bound_of_a_schedule_makes_a_decay_no_constraint() -> None:
    (change,) = diff(resource_step(), resource_step(decay=True, schedule=True))
    assert change.detail["training"] == "weight decay"
