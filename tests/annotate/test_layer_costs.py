"""What Keras layers take: by hand, and as much as the op graph of the same model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from graphviz_tb import load
from graphviz_tb.annotate.costs.formulas import OpCost
from graphviz_tb.annotate.costs.layers import layer_cost
from graphviz_tb.model.layers import Layer, LayerCall
from tests.each import each

EDITS = sorted((Path(__file__).parents[2] / "fixtures" / "edits").glob("*.json"))
Dims = tuple[int | None, ...]


@each("path", EDITS, ids=lambda path: path.stem)
def test_products_are_those_of_the_frozen_graph(path: Path) -> None:
    layers, ops = load(path).cost, load(path.with_name(f"{path.stem}.frozen.pb")).cost
    assert layers.under(0).macs == ops.under(0).macs > 0
    assert layers.under(0).flops == pytest.approx(ops.under(0).flops, rel=0.01)  # ops scale a norm's weights first
    assert not layers.uncounted


def took(
    kind: str, config: dict[str, Any], takes: list[Dims], out: Dims, calls: int = 1, batch: int = 1
) -> OpCost | None:
    call = LayerCall(tuple(takes), (out,))
    return layer_cost(Layer(kind, config, outputs=(out,), calls=(call,) * calls), batch)


INT8: dict[str, Any] = {"dtype": {"config": {"mode": "int8"}}}
SAMPLES: list[tuple[str, dict[str, Any], list[Dims], Dims, int]] = [
    # a product with the kernel for each element of the result
    ("Dense", {"units": 5}, [(None, 7, 3)], (None, 7, 5), 7 * 5 * 3),
    ("Conv2D", {"filters": 4, "kernel_size": [3, 3]}, [(None, 8, 8, 2)], (None, 6, 6, 4), 6 * 6 * 4 * 3 * 3 * 2),
    ("Conv2D", {"filters": 4, "kernel_size": 3, "groups": 2}, [(1, 8, 8, 2)], (1, 6, 6, 4), 6 * 6 * 4 * 3 * 3),
    ("Conv1D", {"filters": 4, "kernel_size": [3]}, [(None, 8, 2)], (None, 6, 4), 6 * 4 * 3 * 2),
    ("Conv2DTranspose", {"filters": 4, "kernel_size": [3, 3]}, [(1, 5, 5, 2)], (1, 7, 7, 4), 5 * 5 * 2 * 3 * 3 * 4),
    ("DepthwiseConv2D", {"kernel_size": [3, 3]}, [(1, 8, 8, 2)], (1, 6, 6, 2), 6 * 6 * 2 * 3 * 3),
    (
        "SeparableConv2D",
        {"filters": 4, "kernel_size": [3, 3]},
        [(1, 8, 8, 2)],
        (1, 6, 6, 4),
        6 * 6 * 2 * 3 * 3 + 6 * 6 * 4 * 2,
    ),
    # eight gates' products at each of six steps
    ("LSTM", {"units": 5}, [(None, 6, 3)], (None, 5), 6 * 4 * (3 * 5 + 5 * 5)),
    ("RNN", {"cell": {"class_name": "LSTMCell", "config": {"units": 5}}}, [(1, 6, 3)], (1, 5), 6 * 4 * (3 * 5 + 5 * 5)),
    # at each of five steps: kernels of the image and of the state, for four gates
    (
        "ConvLSTM2D",
        {"filters": 4, "kernel_size": [3, 3], "return_sequences": True},
        [(None, 5, 8, 8, 2)],
        (None, 5, 6, 6, 4),
        5 * 6 * 6 * 3 * 3 * (2 + 4) * 4 * 4,
    ),
    ("Bidirectional", {"layer": {"class_name": "GRU", "config": {"units": 5}}}, [(1, 6, 3)], (1, 10), 2 * 6 * 3 * 40),
    # three gates of 5 units in one direction, four of 2 in the other
    (
        "Bidirectional",
        {
            "layer": {"class_name": "GRU", "config": {"units": 5}},
            "backward_layer": {"class_name": "LSTM", "config": {"units": 2}},
        },
        [(1, 6, 3)],
        (1, 7),
        6 * (3 * 40 + 4 * 10),
    ),
    (
        "TimeDistributed",
        {"layer": {"class_name": "Dense", "config": {"units": 2}}},
        [(None, 6, 3)],
        (None, 6, 2),
        6 * 3 * 2,
    ),
    # query, key, value and result, then scores and their sums
    (
        "MultiHeadAttention",
        {"num_heads": 2, "key_dim": 5},
        [(1, 6, 4), (1, 7, 4)],
        (1, 6, 4),
        6 * 4 * 10 + 2 * 7 * 4 * 10 + 2 * 6 * 7 * 10 + 6 * 10 * 4,
    ),
    # along the second axis alone: each of 4 rows has its own scores
    (
        "MultiHeadAttention",
        {"num_heads": 2, "key_dim": 3, "attention_axes": [2], "use_gate": True},
        [(1, 4, 5, 6)] * 2,
        (1, 4, 5, 6),
        4 * 20 * 6 * 6 + 2 * 4 * 5 * 5 * 6 + 20 * 6 * 6,
    ),
    # a sum of tanh, then the sum of the values
    ("Attention", {"score_mode": "concat"}, [(1, 5, 8), (1, 7, 8)], (1, 5, 8), 5 * 7 * 8),
    # the product of two factors is added to the kernel, the table; a quantised one stays as it is
    ("Dense", {"units": 10, "lora_rank": 3}, [(1, 6, 8)], (1, 6, 10), 6 * 8 * 10 + 8 * 3 * 10),
    ("Dense", {"units": 10, "lora_rank": 3, **INT8}, [(1, 6, 8)], (1, 6, 10), 6 * 8 * 10 + 6 * (8 + 10) * 3),
    ("Embedding", {"input_dim": 20, "lora_rank": 3}, [(1, 6)], (1, 6, 8), 20 * 3 * 8),
    ("Embedding", {"input_dim": 20, "lora_rank": 3, **INT8}, [(1, 6)], (1, 6, 8), 6 * 3 * 8),
    ("Embedding", {"input_dim": 20}, [(1, 6)], (1, 6, 8), 0),
    (
        "EinsumDense",
        {"equation": "abc,cde->abde", "lora_rank": 3, **INT8},
        [(1, 6, 8)],
        (1, 6, 2, 5),
        6 * 8 * 10 + 6 * 2 * 8 * 3 + 6 * 2 * 3 * 5,
    ),
    # 3 × 3 places of 2 channels and of 3, into 4 gates of 3 filters: two steps of 3 × 3 results, in both directions
    (
        "Bidirectional",
        {"layer": {"class_name": "ConvLSTM2D", "config": {"filters": 3, "kernel_size": 3}}},
        [(1, 2, 5, 5, 2)],
        (1, 3, 3, 6),
        2 * 2 * 9 * 9 * (2 + 3) * 4 * 3,
    ),
    ("EinsumDense", {"equation": "ab,bc->ac", "output_shape": 5}, [(None, 3)], (None, 5), 3 * 5),
    ("Dot", {"axes": 1}, [(None, 9), (None, 9)], (None, 1), 9),
    ("Flatten", {}, [(None, 3, 3)], (None, 9), 0),
]


@each("sample", SAMPLES, ids=lambda sample: sample[0])
def test_multiply_adds_by_hand(sample: tuple[str, dict[str, Any], list[Dims], Dims, int]) -> None:
    kind, config, takes, out, macs = sample
    once, twice = took(kind, config, takes, out), took(kind, config, takes, out, calls=2)
    assert once is not None
    assert twice is not None
    assert once.macs == macs
    assert twice == OpCost(2 * once.macs, 2 * once.flops)
    assert once.flops >= 2 * macs


def test_operations_by_hand() -> None:
    # a product, a bias and relu for each of ten
    assert took("Dense", {"units": 10, "activation": "relu"}, [(None, 4)], (None, 10)) == OpCost(40, 2 * 40 + 10 + 10)
    assert took("Add", {}, [(None, 4)] * 3, (None, 4), batch=8) == OpCost(0, 2 * 8 * 4)
    assert took("MaxPooling2D", {"pool_size": [2, 2]}, [(1, 4, 4, 3)], (1, 2, 2, 3)) == OpCost(0, 2 * 2 * 3 * 4)


@pytest.mark.parametrize(
    ("kind", "config", "takes"),
    [
        ("Mine", {}, [(None, 3)]),
        ("Dense", {"units": 3}, [None]),
        ("Conv2D", {"kernel_size": "x"}, [(1, 2, 2, 1)]),
        ("Bidirectional", {"layer": {"class_name": "Mine", "config": {}}}, [(1, 2, 3)]),
        ("MultiHeadAttention", {"num_heads": None, "key_dim": 2}, [(1, 2, 3)]),
    ],
)
def test_what_is_not_known_is_not_guessed(kind: str, config: dict[str, Any], takes: list[Any]) -> None:
    assert took(kind, config, takes, (1, 2, 2)) is None


def test_a_shared_layer_counts_each_call() -> None:
    path = Path(__file__).parents[2] / "fixtures" / "models" / "keras3"
    model = load(path / "siamese.json")
    assert model.costs()["siamese/tower"].macs == 2 * 10 * 8


def test_wrappers_of_wrappers_end() -> None:
    config: dict[str, Any] = {"class_name": "Dense", "config": {"units": 3}}
    for _ in range(3000):
        config = {"class_name": "Bidirectional", "config": {"layer": config}}
    assert took("Bidirectional", config["config"], [(1, 3)], (1, 3)) == OpCost(2**63 - 1, 2**63 - 1)


def test_sizes_that_no_tensor_has_are_unknown() -> None:
    layer = {"class_name": "UpSampling1D", "config": {"name": "u", "size": 2**62}}
    given = {"class_name": "InputLayer", "config": {"name": "i", "batch_shape": [None, 8, 4]}}
    model = load(json.dumps({"class_name": "Sequential", "config": {"name": "m", "layers": [given, layer]}}).encode())
    assert model.shapes()["m/u", 0] == (None, None, 4)


def test_the_last_layer_has_a_shape_too() -> None:
    model = load(EDITS[0])
    assert {name for name, _ in model.shapes()} == {node.name for node in model.loaded.graph_def.node}  # type: ignore[union-attr]
