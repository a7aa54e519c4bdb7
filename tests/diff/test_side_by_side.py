"""Edits side by side: an exchange hides no op next to it, and layers of branches keep their partners in any order."""

from __future__ import annotations

import json
from typing import Any

import pytest

from graphviz_tb.diff import diff
from tests.diff.test_causes import graph


@pytest.mark.parametrize("turned", [False, True])
def test_an_op_behind_a_module_of_another_class_is_an_edit(turned: bool) -> None:
    own = ("x Placeholder", "w Const", "v Const", "Net/Linear[a]/MatMul MatMul x w")
    squares = ("Net/RMS[nm]/Square Square Net/Linear[a]/MatMul", "Net/RMS[nm]/Mean Mean Net/RMS[nm]/Square",
               "Net/RMS[nm]/Rsqrt Rsqrt Net/RMS[nm]/Mean", "Net/RMS[nm]/Mul Mul Net/Linear[a]/MatMul Net/RMS[nm]/Rsqrt",
               "Net/Linear[b]/MatMul MatMul Net/RMS[nm]/Mul v")  # fmt: skip
    whole = ("Net/LayerNorm[nm]/Norm Norm Net/Linear[a]/MatMul", "Net/reversed ReverseV2 Net/LayerNorm[nm]/Norm",
             "Net/Linear[b]/MatMul MatMul Net/reversed v")  # fmt: skip
    pair = graph(*own, *squares), graph(*own, *whole)
    changes = diff(*(pair[::-1] if turned else pair))
    assert changes.kinds == {"changed": 1, "removed" if turned else "added": 1}
    assert {change.name for change in changes if change.kind != "changed"} == {"Net/reversed"}


def two_ways(order: str, *merge: str) -> bytes:
    """x ─▶ dense ─▶ dense_1 ─▶ dense · dense_1, beside a way of convolutions; the file has the layers in `order`."""
    ends = {"x": "", "y": "", "dense": "x", "dense_1": "dense", "multiply": "dense dense_1", "conv": "y",
            "flat": "conv", "act": "flat", merge[0]: "multiply act"}  # fmt: skip
    kinds = {"x": "InputLayer", "y": "InputLayer", "dense": "Dense", "dense_1": "Dense", "conv": "Conv1D"}
    layers: list[dict[str, Any]] = []
    for name in (*order.split(), merge[0]):
        kind = kinds.get(name, {"flat": "Flatten", "act": "ReLU", "multiply": "Multiply"}.get(name, name.capitalize()))
        config = {"name": name, **({"units": 6} if kind == "Dense" else {"filters": 2} if kind == "Conv1D" else {})}
        calls = [[[source, 0, 0, {}] for source in ends[name].split()]] if ends[name] else []
        layers.append({"class_name": kind, "name": name, "config": config, "inbound_nodes": calls})
    config = {"name": "m", "layers": layers, "input_layers": [["x", 0, 0], ["y", 0, 0]]}
    return json.dumps({"class_name": "Functional", "config": {**config, "output_layers": [[merge[0], 0, 0]]}}).encode()


@pytest.mark.parametrize("turned", [False, True])
def test_layers_made_from_the_same_ones_are_the_same_in_another_order_of_the_file(turned: bool) -> None:
    pair = (
        two_ways("x y conv flat dense act dense_1 multiply", "add"),
        two_ways("x y dense conv flat dense_1 act multiply", "maximum"),
    )
    changes = diff(*(pair[::-1] if turned else pair))
    assert {change.name for change in changes} == {"m/add", "m/maximum"}


@pytest.mark.parametrize("turned", [False, True])
def test_the_filters_of_a_transposed_convolution_are_not_its_inputs(turned: bool) -> None:
    # kernel: window×outputs×inputs        kernel: window×inputs×outputs
    def made(*ops: str, sizes: tuple[int, ...]) -> Any:
        built = graph(
            "x Placeholder", "m/up/kernel VarHandleOp", "m/up/Read ReadVariableOp m/up/kernel", "size Const", *ops
        )
        shape = next(node for node in built.node if node.op == "VarHandleOp").attr["shape"].shape
        for size in sizes:
            shape.dim.add(size=size)
        return built

    old = made("m/up/Conv Conv2DBackpropInput size m/up/Read x", "m/end Relu m/up/Conv", sizes=(4, 4, 3, 6))
    plain = made("m/up/Conv Conv2DBackpropInput size m/up/Read x", "m/end Relu m/up/Conv", sizes=(4, 4, 5, 6))
    other = made("m/up/Conv Conv2D x m/up/Read", "m/end Relu m/up/Conv", sizes=(4, 4, 6, 3))
    text = (diff(plain, old) if turned else diff(old, plain)).explain()
    assert "filters 5 → 3" in text if turned else "filters 3 → 5" in text
    assert "filters" not in (diff(other, old) if turned else diff(old, other)).explain()
