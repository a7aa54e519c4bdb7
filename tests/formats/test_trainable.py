"""Trainable and non-trainable parameters, of Keras models and of graphs, and what LoRA and grouped heads cost."""

from __future__ import annotations

import json
from typing import Any

from graphviz_tb import load
from graphviz_tb.api.nodes import layer_table
from graphviz_tb.api.pipeline import Model
from graphviz_tb.color.cost import _format_work
from graphviz_tb.commands.costs import cost_lines, cost_report
from graphviz_tb.commands.table import TextStyle
from graphviz_tb.model.costs import Cost
from tests.annotate.test_costs import model, node, placeholder, weights


def chain(*layers: tuple[str, dict[str, Any]], shape: tuple[int, ...] = (4, 8)) -> Model:
    """An input of this shape, then one layer after the other, as Keras 3 writes it."""
    first = {"class_name": "InputLayer", "config": {"batch_shape": [None, *shape], "name": "x"}}
    listed = [first, *({"class_name": kind, "config": {"name": kind, **config}} for kind, config in layers)]
    config = {"name": "net", "layers": listed}
    return load(json.dumps({"class_name": "Sequential", "config": config}).encode())


def kept(*layers: tuple[str, dict[str, Any]]) -> tuple[int, int]:
    """All parameters, and how many of them are not trained."""
    cost = chain(*layers).cost.under(0)
    assert not cost.is_lower_bound("non_trainable")
    return cost.parameters, cost.non_trainable


def test_what_a_layer_keeps_and_does_not_train_is_counted_apart() -> None:
    assert kept(("BatchNormalization", {})) == (4 * 8, 2 * 8)
    assert kept(("Dense", {"units": 3})) == (8 * 3 + 3, 0)
    assert kept(("Dense", {"units": 3, "trainable": False})) == (8 * 3 + 3, 8 * 3 + 3)
    # The kernel is kept, its two factors and the bias are trained.
    assert kept(("Dense", {"units": 3, "lora_rank": 2})) == (8 * 3 + 3 + 2 * (8 + 3), 8 * 3)
    inner = {"class_name": "BatchNormalization", "config": {}}
    assert kept(("TimeDistributed", {"layer": inner})) == (4 * 8, 2 * 8)


def test_a_class_of_the_program_leaves_open_what_it_trains() -> None:
    weights = {"trainable": True, "name": "mine"}
    json_of = {"class_name": "Mine", "module": "mine", "config": weights, "kept": [[8, 8]]}
    first = {"class_name": "InputLayer", "config": {"batch_shape": [None, 8], "name": "x"}}
    config = {"name": "net", "layers": [first, json_of, {"class_name": "BatchNormalization", "config": {"name": "b"}}]}
    cost = load(json.dumps({"class_name": "Sequential", "config": config}).encode()).cost.under(0)
    assert cost.parameters >= 8 * 8
    assert cost.is_lower_bound("non_trainable")


def test_trainable_and_non_trainable_are_said_wherever_parameters_are() -> None:
    found = chain(("BatchNormalization", {}), ("Dense", {"units": 3}))
    report = cost_report(found.hierarchy, found.cost)
    assert report is not None
    assert report.whole.non_trainable == 16
    assert any("16 not trainable" in line for line in cost_lines(report, 9, 100, TextStyle(False)))
    assert "Parameters: 59 (236 B) · trainable: 43 · non-trainable: 16" in layer_table(found)
    layer = next(layer for name, layer in found.hierarchy.graph.layers.items() if name.endswith("BatchNormalization"))
    assert "32 parameters, 16 of them not trainable" in layer.tooltip_text
    assert _format_work(Cost(59, non_trainable=16)) == "59 parameters (16 not trainable)"
    assert _format_work(Cost(59, non_trainable=16, undecided=1)) == "59 parameters (at least 16 not trainable)"


def test_in_a_graph_that_does_not_train_only_statistics_are_known_to_be_fixed() -> None:
    names = ("bn/gamma", "bn/beta", "bn/moving_mean", "bn/moving_variance")
    found = model(
        placeholder("x", 2, 4, 4, 8),
        *(weights(name, 8) for name in names),
        node("bn/y", "FusedBatchNormV3", "x", *names, is_training={"b": False}),
    )
    cost = found.cost.under(0)
    assert (cost.parameters, cost.non_trainable, cost.is_lower_bound("non_trainable")) == (32, 16, True)


def test_grouped_heads_keep_and_cost_what_their_projections_and_scores_do() -> None:
    # 4 heads of 2 for queries, 2 for keys and values; the model is 8 wide, 4 steps long
    config = {"head_dim": 2, "num_query_heads": 4, "num_key_value_heads": 2, "use_bias": False}
    first = {"class_name": "InputLayer", "config": {"batch_shape": [None, 4, 8], "name": "x"}, "name": "x"}
    x = {"class_name": "__keras_tensor__", "config": {"shape": [None, 4, 8], "keras_history": ["x", 0, 0]}}
    heads = {
        "class_name": "GroupedQueryAttention",
        "name": "heads",
        "config": {"name": "heads", **config},
        "inbound_nodes": [{"args": [x, x], "kwargs": {}}],
    }
    whole = {"name": "net", "layers": [first, heads], "input_layers": ["x", 0, 0], "output_layers": ["heads", 0, 0]}
    cost = load(json.dumps({"class_name": "Functional", "config": whole}).encode()).cost.under(0)
    assert cost.parameters == 8 * 8 + 2 * (8 * 4) + 8 * 8
    assert cost.macs == 4 * cost.parameters + 2 * (4 * 4 * 4 * 2)


def test_a_graph_that_trains_says_which_variables_it_trains_and_which_scalars_only_count() -> None:
    # x ─▶ first ─▶ second ─▶ gradients ─▶ slot ┄▶ (slot · rate) ─▶ second; `first` is frozen, `seen` counts
    handles = ("first", "second", "slot", "seen")
    shapes = ((4, 4), (4, 4), (4, 4), ())
    reads = [node(f"{name}/read", "ReadVariableOp", name, dtype={"type": 1}) for name in handles]
    found = model(
        placeholder("x", 2, 4),
        *(variable(name, *shape) for name, shape in zip(handles, shapes, strict=True)),
        *reads,
        node("y", "MatMul", "x", "first/read"),
        node("z", "MatMul", "y", "second/read"),
        node("gradients/grad", "MatMul", "y", "z", transpose_a={"b": True}),
        node("adam/up", "AssignAddVariableOp", "slot", "gradients/grad"),
        node("adam/again", "ReadVariableOp", "slot", "^adam/up", dtype={"type": 1}),
        node("adam/scaled", "Mul", "adam/again", "adam/again"),
        node("adam/step", "AssignSubVariableOp", "second", "adam/scaled"),
        node("one", "Sum", "z", "z"),
        node("more", "AddV2", "seen/read", "one"),
        node("count", "AssignVariableOp", "seen", "more"),
        node("metric", "DivNoNan", "seen/read", "one"),
    )
    cost = found.cost.under(0)
    assert (cost.parameters, cost.non_trainable, cost.is_lower_bound("non_trainable")) == (32, 16, False)


def variable(name: str, *shape: int) -> dict[str, Any]:
    attrs = {"dtype": {"type": 1}, "shape": {"shape": {"dim": [{"size": size} for size in shape]}}}
    return {"name": name, "op": "VarHandleOp", "attr": {**attrs, "shared_name": {"s": name.encode()}}}


def test_spectral_normalisation_is_the_layer_inside_and_a_vector() -> None:
    inner = {"class_name": "Conv2D", "config": {"filters": 6, "kernel_size": [3, 3], "strides": [2, 2]}}
    found = chain(("SpectralNormalization", {"layer": inner}), ("Flatten", {}), shape=(9, 9, 2))
    cost = found.cost.under(0)
    assert (cost.parameters, cost.non_trainable) == (3 * 3 * 2 * 6 + 6 + 6, 6)
    assert cost.macs == 4 * 4 * 6 * (3 * 3 * 2)


def test_operations_of_keras_keep_nothing_and_count_each_element() -> None:
    x = {"class_name": "__keras_tensor__", "config": {"shape": [None, 4, 8], "keras_history": ["x", 0, 0]}}
    first = {"class_name": "InputLayer", "config": {"batch_shape": [None, 4, 8], "name": "x"}, "name": "x"}
    layers = [
        {"class_name": kind, "module": "keras.src.ops.numpy", "name": kind, "config": {"name": kind},
         "inbound_nodes": [{"args": [x, *more], "kwargs": {}}]}
        for kind, more in (("NotEqual", [0]), ("Add", [1.0]), ("Silu", []))
    ]  # fmt: skip
    outputs = [[kind["name"], 0, 0] for kind in layers]
    config = {"name": "net", "layers": [first, *layers], "input_layers": ["x", 0, 0], "output_layers": outputs}
    cost = load(json.dumps({"class_name": "Functional", "config": config}).encode()).cost.under(0)
    assert (cost.parameters, cost.flops, cost.lower_bounds()) == (0, 4 * 32, ())
