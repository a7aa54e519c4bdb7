"""What a model promises, in forms that declare no shapes of outputs: those that are inferred."""

from __future__ import annotations

import json
from typing import Any

import pytest

from graphviz_tb.diff import diff
from graphviz_tb.proto import GraphDef

FLOAT, HALF = 1, 19


def dense(*units: int, kind: int = FLOAT, activation: str = "Relu") -> Any:
    """x ─▶ m/dense_0 ─▶ m/dense_1 …, as freezing leaves it: nothing is said of the outputs."""
    made = GraphDef()
    node = made.node.add(name="x", op="Placeholder")
    node.attr["dtype"].type = kind
    for size in (-1, 8):
        node.attr["shape"].shape.dim.add(size=size)
    before, width = "x", 8
    for at, size in enumerate(units):
        tensor = made.node.add(name=f"m/dense_{at}/kernel", op="Const").attr["value"].tensor
        tensor.dtype = made.node[-1].attr["dtype"].type = kind
        tensor.float_val.extend([0.5]) if kind == FLOAT else tensor.half_val.extend([14336])
        for each in (width, size):
            tensor.tensor_shape.dim.add(size=each)
        made.node.add(name=f"m/dense_{at}/MatMul", op="MatMul", input=[before, f"m/dense_{at}/kernel"])
        made.node[-1].attr["T"].type = kind
        made.node.add(name=f"m/dense_{at}/{activation}", op=activation, input=[f"m/dense_{at}/MatMul"])
        made.node[-1].attr["T"].type = kind
        before, width = f"m/dense_{at}/{activation}", size
    return made


def test_another_number_of_classes_is_one_of_the_signature() -> None:
    (change,) = diff(dense(16, 10), dense(16, 12))
    assert (change.severity, change.detail["key"], change.detail["new"]) == ("signature", "units", "12")
    (port,) = change.consequences[-1].detail["ports"]
    assert (port["side"], port["old"], port["new"]) == ("output", "float32 ?×10", "float32 ?×12")


def test_what_only_the_model_sees_is_none() -> None:
    (change,) = diff(dense(16, 10), dense(24, 10))
    assert change.severity == "attribute"
    (change,) = diff(dense(16, 10), dense(16, 10, activation="Tanh"))
    assert change.severity == "op"


def test_what_is_left_over_is_no_output() -> None:
    # ─▶ Identity is what TensorFlow gives back; of a layer before it a result is left that nobody uses
    def ended(*units: int) -> Any:
        made = dense(*units)
        made.node.add(name="Identity", op="Identity", input=[made.node[-1].name])
        made.node.add(name="m/dense_0/Neg", op="Neg", input=["m/dense_0/Relu"])
        return made

    (change,) = diff(ended(16, 10), ended(24, 10))
    assert change.severity == "attribute"
    (change,) = diff(ended(16, 10), ended(16, 12))
    assert [port["key"] for port in change.consequences[-1].detail["ports"]] == ["Identity"]


def test_of_two_edits_outputs_follow_the_last_layer_that_is_wider() -> None:
    changes = diff(dense(16, 10), dense(24, 12))
    assert [(change.kind, change.severity) for change in changes] == [
        ("changed", "signature"),
        ("changed", "attribute"),
    ]
    (ports,) = [inner for inner in changes[0].consequences if inner.kind == "signature-changed"]
    assert (changes[0].detail["new"], ports.severity) == ("12", "signature")
    assert diff(dense(24, 12), dense(16, 10)).items == changes.inverse().items


def test_outputs_follow_no_width_that_they_do_not_have() -> None:
    # ─▶ m/dense_1 ─▶ Mean ─▶ Tanh: the axis is kept now, and nothing of that follows from a wider layer
    def averaged(hidden: int, keep: bool) -> GraphDef:
        made: GraphDef = dense(hidden, 10)
        axis = made.node.add(name="m/axis", op="Const")
        axis.attr["dtype"].type = axis.attr["value"].tensor.dtype = 3
        axis.attr["value"].tensor.int_val.append(1)
        made.node.add(name="m/mean", op="Mean", input=["m/dense_1/Relu", "m/axis"])
        made.node[-1].attr["T"].type = FLOAT
        made.node[-1].attr["keep_dims"].b = keep
        made.node.add(name="m/end", op="Tanh", input=["m/mean"])
        made.node[-1].attr["T"].type = FLOAT
        return made

    changes = diff(averaged(16, False), averaged(24, True))
    assert [change.kind for change in changes] == ["signature-changed", "changed", "changed"]
    assert {change.severity for change in changes if change.kind == "changed"} == {"attribute"}


def test_another_type_of_numbers_is_one_change() -> None:
    new = dense(16, 10, kind=HALF)
    new.node[0].attr["dtype"].type = FLOAT
    new.node.add(name="m/Cast", op="Cast", input=["x"])
    new.node[-1].attr["SrcT"].type, new.node[-1].attr["DstT"].type = FLOAT, HALF
    next(node for node in new.node if node.name == "m/dense_0/MatMul").input[0] = "m/Cast"
    (change,) = diff(dense(16, 10), new)
    assert (change.severity, change.detail["key"], change.detail["new"]) == ("signature", "dtype", "float16")
    assert change.consequences[-1].detail["ports"][0]["new"] == "float16 ?×10"


@pytest.mark.parametrize(("units", "severity"), [((8, 12), "signature"), ((9, 10), "attribute")])
def test_layers_of_keras(units: tuple[int, int], severity: str) -> None:
    def model(*sizes: int) -> bytes:
        layers: list[dict[str, Any]] = [
            {"class_name": "InputLayer", "config": {"name": "in", "batch_shape": [None, 4]}}
        ]
        layers += [{"class_name": "Dense", "config": {"name": f"d{at}", "units": n}} for at, n in enumerate(sizes)]
        return json.dumps({"class_name": "Sequential", "config": {"name": "m", "layers": layers}}).encode()

    (change,) = diff(model(8, 10), model(*units))
    assert (change.severity, change.detail["key"]) == (severity, "units")
