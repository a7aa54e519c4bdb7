"""Models of thousands of layers, inputs and outputs: time follows their number, not its square."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from graphviz_tb.diff import diff
from graphviz_tb.graphs.layer_rows import match_layers_to_scopes
from graphviz_tb.proto import GraphDef
from tests.conftest import cpu_seconds

Pair = tuple[Any, Any]


def word(number: int) -> str:
    """A name of letters alone, so that names are no series."""
    return "".join(chr(ord("a") + int(digit)) for digit in str(number))


def layer(kind: str, name: str, **config: Any) -> dict[str, Any]:
    return {"class_name": kind, "name": name, "config": {"name": name, **config}, "inbound_nodes": []}


def model(*layers: Any, outputs: list[str], name: str = "m") -> dict[str, Any]:
    inputs = layer("InputLayer", "q", batch_shape=[None, 3])
    results = [[output, 0, 0] for output in outputs]
    return layer("Functional", name, layers=[inputs, *layers], input_layers=[["q", 0, 0]], output_layers=results)


def used_by_all(count: int) -> Pair:
    """Many casts feed one op, which many use: each cast is of the layer of one of these."""

    def graph(value: int) -> GraphDef:
        made = GraphDef(node=[{"name": "q", "op": "Placeholder"}])
        for number in range(count):
            made.node.add(name=f"c{number}", op="Cast", input=["q"]).attr["DstT"].type = value
        made.node.add(name="h", op="Identity", input=[f"c{number}" for number in range(count)])
        for number in range(count):
            made.node.add(name=f"u{number}", op="Relu", input=["h"])
        return made

    return graph(1), graph(2)


def turned_round(count: int) -> Pair:
    """A chain of layers, and the same from its end to its beginning."""

    def graph(order: list[int]) -> GraphDef:
        before = dict(zip(order, ["q", *(f"{word(number)}z/op" for number in order)], strict=False))
        made = GraphDef(node=[{"name": "q", "op": "Placeholder"}])
        for number in range(count):
            node = made.node.add(name=f"{word(number)}z/op", op="MatMul", input=[before[number]])
            node.attr["k"].i = number
        return made

    return graph(list(range(count))), graph(list(range(count))[::-1])


def sequences(count: int) -> Pair:
    """A model whose outputs are those of many sequences in it."""

    def of(units: int) -> bytes:
        dense = layer("Dense", "d", units=units)
        inner = [layer("Sequential", f"m{number}", layers=[dense]) for number in range(count)]
        inner[0]["config"]["layers"] = [layer("Flatten", f"f{number}") for number in range(3 * count)]
        return json.dumps(model(*inner, outputs=[f"m{number}" for number in range(count)])).encode()

    return of(3), of(4)


def many_outputs(count: int) -> Pair:
    """A model of many models, one of which is named by very many outputs."""
    inner = [layer("Functional", f"m{number}", layers=[layer("Dense", "d")]) for number in range(count)]
    outputs = [f"m{count - 1}"] * 10 * count
    return tuple(json.dumps(model(*inner, outputs=outputs + more)).encode() for more in ([], ["q"]))  # type: ignore[return-value]


@pytest.mark.slow
@pytest.mark.parametrize("pair", [used_by_all, turned_round, sequences, many_outputs])
def test_layers_are_not_compared_with_all_others(pair: Callable[[int], Pair]) -> None:
    few, many = pair(200), pair(3200)
    assert cpu_seconds(lambda: diff(*many)) < 48 * cpu_seconds(lambda: diff(*few))  # 16 times as many


def test_outputs_that_name_models_in_models_again_and_again() -> None:
    """Each of 40 models names the one in it as its output 20 times: 20⁴⁰ ways lead to one layer."""

    def of(units: int) -> bytes:
        inner = model(layer("Dense", "d", units=units), outputs=["d"] * 20, name="z")
        for depth in range(40):
            inner = model(inner, outputs=[inner["name"]] * 20, name=f"z{depth}")
        return json.dumps(inner).encode()

    (change,) = diff(of(3), of(4))
    assert change.detail == {"key": "units", "old": 3, "new": 4}


@pytest.mark.slow
@pytest.mark.parametrize("op", ["m_{}/d0/MatMul", "m/d{}/MatMul"], ids=["scopes", "layers"])
def test_scopes_of_a_model_are_not_all_compared_with_its_layers(op: str) -> None:
    def seconds(count: int) -> float:
        layers = ["m", *(f"m/d{number}" for number in range(count))]
        return cpu_seconds(lambda: match_layers_to_scopes(map(op.format, range(count)), layers))

    assert seconds(8000) < 48 * seconds(500)
