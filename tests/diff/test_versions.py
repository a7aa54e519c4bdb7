"""Exports of one model in two versions of ONNX are the same; a chain that computes anything else is an edit."""

from __future__ import annotations

import struct
from typing import Any

import pytest

from graphviz_tb.diff import diff
from graphviz_tb.formats.onnx_messages import (
    Attribute,
    Dimension,
    GraphValue,
    ModelValue,
    NamedValue,
    NodeValue,
    Opset,
    ShapeOfType,
    TensorType,
    TensorValue,
    ValueType,
)
from tests.formats.onnx_bytes import encode_message

ROOT2 = 2**0.5
# Each line is an op, its inputs and its output; numbers are constants.
GELU = ("Gelu h y",)
GELU_CHAINS = (
    (f"Div h {ROOT2} a", "Erf a b", "Add b 1.0 c", "Mul h c d", "Mul d 0.5 y"),
    (f"Div h {ROOT2} a", "Erf a b", "Add b 1.0 c", "Mul 0.5 c d", "Mul h d y"),
    (f"Mul h {1 / ROOT2} a", "Erf a b", "Add 1.0 b c", "Mul h 0.5 d", "Mul d c y"),
)
OTHER_CHAINS = (
    (f"Div h {ROOT2} a", "Erf a b", "Add b 1.0 c", "Mul h c d", "Mul d 0.6 y"),
    ("Erf h b", "Add b 1.0 c", "Mul h c d", "Mul d 0.5 y"),
)
NORM = ("LayerNormalization h scale offset y",)
NORM_CHAIN = (
    *("ReduceMean h m", "Sub h m s", "Pow s 2.0 p", "ReduceMean p v", "Add v 1e-05 e", "Sqrt e r", "Div s r n"),
    *("Mul n scale w", "Add w offset y"),
)
SILU_CHAIN = ("Sigmoid h a", "Mul a h y")


def kind(*sizes: int) -> ValueType:
    return ValueType(TensorType(1, ShapeOfType(tuple(map(Dimension, sizes)))))


def network(lines: tuple[str, ...], version: int = 17) -> bytes:
    """x ─▶ MatMul ─▶ h ─▶ … lines … ─▶ y"""
    nodes = [NodeValue("/fc/MatMul", "MatMul", inputs=("x", "fc.weight"), outputs=("h",))]
    tensors = {"fc.weight": (4, 4), "scale": (4,), "offset": (4,)}
    stored = [
        TensorValue(name, sizes, 1, struct.pack(f"<{4 ** len(sizes)}f", *range(4 ** len(sizes))))
        for name, sizes in tensors.items()
    ]
    for place, line in enumerate(lines):
        op, *values, output = line.split()
        inputs = []
        for number, text in enumerate(values):
            constant = text[0].isdecimal()
            inputs.append(f"/act/c{place}_{number}" if constant else text)
            if constant:
                stored.append(TensorValue(inputs[-1], (), 1, struct.pack("<f", float(text))))
        settings = (Attribute("axes", ints=(-1,), type=7),) if op == "ReduceMean" else ()
        nodes.append(NodeValue(f"/act/{op}_{place}", op, inputs=tuple(inputs), outputs=(output,), attributes=settings))
    used = {value for node in nodes for value in node.inputs}
    graph = GraphValue(
        nodes=tuple(nodes),
        initializers=tuple(each for each in stored if each.name in used),
        inputs=(NamedValue("x", kind(2, 4)),),
        outputs=(NamedValue("y", kind(2, 4)),),
    )
    return encode_message(ModelValue(ir_version=8, opsets=(Opset("", version),), graph=graph))


def changes(old: tuple[str, ...], new: tuple[str, ...]) -> Any:
    return diff(network(old), network(new, 20))


@pytest.mark.parametrize(("chain", "op"), [*((chain, GELU) for chain in GELU_CHAINS), (NORM_CHAIN, NORM)])
def test_a_chain_that_computes_what_an_op_does_is_that_op(chain: tuple[str, ...], op: tuple[str, ...]) -> None:
    assert not list(changes(chain, op))
    assert not list(changes(op, chain))


@pytest.mark.parametrize("chain", [*OTHER_CHAINS, SILU_CHAIN])
def test_a_chain_that_computes_anything_else_is_an_edit(chain: tuple[str, ...]) -> None:
    assert "Gelu" in changes(chain, GELU).explain()


def test_a_value_inside_of_a_chain_that_is_used_elsewhere_keeps_it() -> None:
    assert list(changes((*GELU_CHAINS[0][:-1], "Mul d 0.5 z", "Add z b y"), ("Gelu h z", "Add z h y")))


def test_the_number_that_keeps_a_root_from_zero_is_compared() -> None:
    larger = tuple(line.replace("1e-05", "0.001") for line in NORM_CHAIN)
    assert "epsilon 0.001 → 1e-05" in changes(larger, NORM).explain()
