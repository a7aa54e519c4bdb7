"""What counts of a node beyond its attributes: shapes of weights, constants that are settings, Keras configurations."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from graphviz_tb.diff.columns.hashing import Hashes, digest
from graphviz_tb.model.columns import Bools
from graphviz_tb.model.graph import Graph

CONSTANTS = ("Const", "HostConst")
READS = ("ReadVariableOp", "VariableV2", "Variable", "VarHandleOp")
CARRIERS = frozenset(
    {"Identity", "ReadVariableOp", "Cast", "Dequantize", "Enter", "Switch", "Assign", "AssignVariableOp"}
)
MOST_SETTINGS = 64  # numbers in a constant that is a setting (axes, paddings, sizes); longer ones are data
MOST_FLOATS = 8  # of type float: rates and epsilons are scalars, mean and deviation of an image three each
STRING = 7  # DataType
FLOATS = frozenset({1, 2, 14, 19})
UNTOLD = frozenset({"name", "build_config", "shared_object_id", "registered_name", "module", "seed"})

Weights = dict[int, tuple[str, str]]  # type and shape of what a node brings, by node
Configurations = dict[int, dict[str, Any]]


def settings(graph: Graph) -> Bools:
    """The constants that set what an op does (a rate, an axis, an epsilon), not what it has learned.

    Small, no strings; a weight is known by its lineage: of type float, it goes through a read, an identity or a cast.
    """
    told = np.zeros(len(graph), bool)
    ops = [at for at, op in enumerate(graph.op_types) if op in CONSTANTS]
    found = np.flatnonzero(np.isin(graph.op, ops))
    if not len(found):
        return told
    learned, seeds = _lineage(graph)
    for node in found.tolist():
        definition = graph.node_def(node)
        if definition is None or "value" not in definition.attr or node in graph.weights or seeds[node]:
            continue  # asking a message for what it has not would add it
        tensor = definition.attr["value"].tensor
        dims = [dim.size for dim in tensor.tensor_shape.dim]
        count = int(np.prod(dims, dtype=np.int64)) if dims else 1
        floating = tensor.dtype in FLOATS
        if tensor.dtype != STRING and count <= (MOST_FLOATS if floating else MOST_SETTINGS):
            told[node] = not (floating and (learned[node] or len(dims) > 1))
    return told


def _lineage(graph: Graph) -> tuple[Bools, Bools]:
    """Nodes that go through a read, an identity or a cast; nodes that are the seed of a stateless random op."""
    carrier = np.array([op in CARRIERS for op in graph.op_types])[graph.op[graph.target]]
    random = np.array([op.startswith("Stateless") for op in graph.op_types])[graph.op[graph.target]]
    learned: Bools = np.zeros(len(graph), bool)
    seeds: Bools = np.zeros(len(graph), bool)
    learned[graph.source[carrier & ~graph.control]] = True
    seeds[graph.source[random & (graph.slot == 1)]] = True
    return learned, seeds


def weights(graph: Graph) -> Weights:
    """Type and shape of every weight, where the graph knows them."""
    told = {node: (one.dtype, shape_of(one.shape)) for node, one in graph.weights.items() if one.shape is not None}
    reads = [at for at, op in enumerate(graph.op_types) if op in READS]
    for node in np.flatnonzero(np.isin(graph.op, reads)).tolist():
        definition = graph.node_def(node)
        if definition is None or node in told:
            continue
        shapes = list(definition.attr["_output_shapes"].list.shape) if "_output_shapes" in definition.attr else []
        if len(shapes) == 1 and not shapes[0].unknown_rank and definition.op == "ReadVariableOp":
            told[node] = "", shape_of([dim.size for dim in shapes[0].dim])
    return told


def shape_of(dims: Any) -> str:
    """A shape in words: `3×3×16`, `scalar`."""
    return "×".join("?" if dim is None or dim < 0 else str(dim) for dim in dims) or "scalar"


def configurations(graph: Graph) -> Configurations:
    """Class and settings of the nodes that are Keras layers."""
    told = {}
    for name, layer in graph.layers.items():
        node = graph.index[0].get(name, -1)
        if node >= 0:
            told[node] = {"class": layer.class_name, **flat(layer.config)}
    return told


def flat(config: Mapping[str, Any]) -> dict[str, Any]:
    """A configuration without names and what only says how it was built; an object is its class and its settings.

    >>> flat({"name": "a", "units": 4, "kernel_regularizer": {"class_name": "L2", "config": {"l2": 0.01}}})
    {'units': 4, 'kernel_regularizer': 'L2(l2=0.01)'}
    """
    return {key: plain_setting(value) for key, value in config.items() if key not in UNTOLD}


def plain_setting(value: Any) -> Any:
    """One setting as a reader wants it.

    >>> plain_setting({"module": "keras", "class_name": "DTypePolicy", "config": {"name": "float32"}})
    'float32'
    """
    if isinstance(value, Mapping):
        if "class_name" not in value:
            return {key: plain_setting(part) for key, part in value.items() if key not in UNTOLD}
        inner = value.get("config")
        if not isinstance(inner, Mapping):
            return inner if isinstance(inner, str) else str(value["class_name"])
        if str(value["class_name"]).endswith("Policy"):
            return inner.get("name", value["class_name"])
        words = ", ".join(f"{key}={part}" for key, part in flat(inner).items() if part is not None)
        return f"{value['class_name']}({words})" if words else str(value["class_name"])
    if isinstance(value, (list, tuple)):
        return [plain_setting(part) for part in value]
    return value


def hashed(count: int, told: Mapping[int, Any]) -> Hashes:
    """One number a node; 0 for those of which nothing is told."""
    column = np.zeros(count, np.uint64)
    for node, value in told.items():
        column[node] = digest(json.dumps(value, sort_keys=True, default=str))
    return column
