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


def test_a_picture_opens_the_way_to_what_the_text_names() -> None:
    changes = diff(trained(False), trained(True))
    ((((_, name),),),) = merge_graphs(changes).shown
    assert f"{name}/".startswith(f"{changes[0].new}/")


def test_what_makes_weights_less_is_no_average() -> None:
    # what is taken from a weight for being large: it takes weights alone, and writes them
    old, new = trained(False), trained(False)
    for weight in ("net/dense/kernel", "net/scale/gamma"):
        add(new, f"train/decay_{weight}/mul", "Mul", f"{weight}/read", "rate")
        add(new, f"train/decay_{weight}", "AssignSub", weight, f"train/decay_{weight}/mul")
    (change,) = diff(old, new)
    assert (change.kind, change.detail["training"]) == ("added", "weight decay")


def test_what_bounds_weights_is_a_constraint() -> None:
    old, new = trained(False), trained(False)
    for weight in ("net/dense/kernel", "net/scale/gamma"):
        add(new, f"train/bound_{weight}/Maximum", "Maximum", f"{weight}/read", "rate")
        add(new, f"train/bound_{weight}", "Assign", weight, f"train/bound_{weight}/Maximum")
    (change,) = diff(old, new)
    assert (change.kind, change.detail["training"]) == ("added", "constraint on weights")
