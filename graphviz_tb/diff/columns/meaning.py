"""What counts of a node beyond its attributes: shapes of weights, constants that are settings, Keras configurations."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from graphviz_tb.diff.columns.hashing import Hashes, digest
from graphviz_tb.diff.columns.ids import exists
from graphviz_tb.diff.columns.kinds import nodes_of
from graphviz_tb.diff.columns.values import tidy
from graphviz_tb.limits import FLOATS_OF_SETTING, NUMBERS_OF_SETTING
from graphviz_tb.model.columns import Bools
from graphviz_tb.model.graph import Graph
from graphviz_tb.model.layers import Layer
from graphviz_tb.model.tensors import shape_word
from graphviz_tb.ops.inputs import is_seed
from graphviz_tb.ops.roles import ASSIGNS, CASTS, CONSTANTS, FRAME_ENTERS, FRAME_SWITCHES, PASS_THROUGH, READS

# TensorFlow freezes a variable `w` to a `Const` w and the `Identity` w/read that has read it.
CARRIERS = PASS_THROUGH | READS | CASTS | FRAME_ENTERS | FRAME_SWITCHES | ASSIGNS
STRING = 7  # DataType
FLOATS = frozenset({1, 2, 14, 19})
# What Keras writes to build an object again: its name, its Python module, the shapes it was built with.
NO_SETTINGS = frozenset(
    {"name", "build_config", "build_input_shape", "build_shapes_dict", "shared_object_id", "registered_name", "module",
     "seed"}
)  # fmt: skip

WeightTypes = dict[int, tuple[str, str]]  # type and shape of what a node brings, by node
Configurations = dict[int, dict[str, Any]]


def settings(graph: Graph) -> Bools:
    """The constants that set what an op does (a rate, an axis, an epsilon), not what it has learned.

    Small, no strings; a weight is known by its lineage: of type float, it goes through a read, an identity or a cast.
    """
    counted = np.zeros(len(graph), bool)
    nodes = np.flatnonzero(nodes_of(graph, CONSTANTS.__contains__))
    learned, seeds = _lineage(graph)
    for node in nodes.tolist():
        definition = graph.node_def(node)
        if definition is None or "value" not in definition.attr or node in graph.meaning.weights or seeds[node]:
            continue  # asking a message for what it has not would add it
        tensor = definition.attr["value"].tensor
        dims = [dim.size for dim in tensor.tensor_shape.dim]
        count = int(np.prod(dims, dtype=np.int64)) if dims else 1
        floating = tensor.dtype in FLOATS
        if tensor.dtype != STRING and count <= (FLOATS_OF_SETTING if floating else NUMBERS_OF_SETTING):
            # Of type float, what has two dimensions is a matrix of weights however small it is.
            counted[node] = not (floating and (learned[node] or len(dims) > 1))
    return counted


def _lineage(graph: Graph) -> tuple[Bools, Bools]:
    """Nodes that go through a read, an identity or a cast; nodes that are the seed of a stateless random op."""
    carrier = nodes_of(graph, CARRIERS.__contains__)[graph.target]
    # StatelessRandomUniform(shape, seed), and StatelessRandomUniformV2(shape, key, counter, alg).
    random = nodes_of(graph, lambda op: is_seed(op, 1))[graph.target]
    learned: Bools = np.zeros(len(graph), bool)
    seeds: Bools = np.zeros(len(graph), bool)
    learned[graph.source[carrier & ~graph.control]] = True
    seeds[graph.source[random & (graph.slot == 1)]] = True
    return learned, seeds


def weights(graph: Graph) -> WeightTypes:
    """Type and shape of every weight, where the graph knows them."""
    known = {
        node: (weight.dtype, shape_word(weight.shape))
        for node, weight in graph.meaning.weights.items()
        if weight.shape is not None
    }
    for node in np.flatnonzero(nodes_of(graph, READS.__contains__)).tolist():
        definition = graph.node_def(node)
        if definition is None or node in known:
            continue
        shapes = list(definition.attr["_output_shapes"].list.shape) if "_output_shapes" in definition.attr else []
        # The shape that a variable is read with; its type needs no word here, it is the attribute `dtype`.
        if len(shapes) == 1 and not shapes[0].unknown_rank:
            known[node] = "", shape_word([dim.size for dim in shapes[0].dim])
    return known


def configurations(graph: Graph) -> Configurations:
    """Class and settings of the nodes that are Keras layers."""
    by_node = {}
    for name, layer in graph.layers.items():
        node = graph.index[0].get(name, -1)
        if exists(node):
            by_node[node] = configuration(layer)
    return by_node


def configuration(layer: Layer) -> dict[str, Any]:
    """Class and settings of a layer."""
    return {"class": layer.class_name, **layer.config}


def setting_differences(mine: Mapping[str, Any], other: Mapping[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    """Each setting that is another: its name, the old and the new value.

    What has another class is reported as a whole; of one class the settings inside. Names, and what only says how
    something was built, are left out.

    >>> old = {"units": 4, "optimizer": {"class_name": "Adam", "config": {"learning_rate": 0.1}}}
    >>> new = {"units": 8, "optimizer": {"class_name": "Adam", "config": {"learning_rate": 0.2}}}
    >>> sorted(setting_differences(old, new))
    [('optimizer.learning_rate', 0.1, 0.2), ('units', 4, 8)]
    """
    # Objects still to be compared: the dotted prefix of their settings, and the settings of either side.
    waiting = [("", mine, other)]
    while waiting:
        before, mine, other = waiting.pop()
        for key in sorted({*mine, *other} - NO_SETTINGS):
            old, new = mine.get(key), other.get(key)
            if old == new or plain_setting(old) == plain_setting(new):
                continue
            # A dtype policy is one word ("mixed_float16") and reported as such, not by the settings inside.
            if _class(old) is not None and _class(old) == _class(new) and not _class(old).endswith("Policy"):
                waiting.append((f"{before}{key}.", _inside(old), _inside(new)))
            else:
                yield f"{before}{key}", _shown(old, new), _shown(new, old)


def _class(value: Any) -> Any:
    return value["class_name"] if isinstance(value, Mapping) and isinstance(value.get("class_name"), str) else None


def _inside(value: Any) -> Mapping[str, Any]:
    inner = value.get("config")
    # Keras writes a Python function as {"class_name": "function", "config": "relu"}.
    return inner if isinstance(inner, Mapping) else {"config": inner}


def _shown(value: Any, other: Any) -> Any:
    """A value; of an object in the place of another one only the class."""
    return _class(value) if _class(value) and _class(other) and _class(value) != _class(other) else plain_setting(value)


def plain_setting(value: Any) -> Any:
    """One setting as a reader wants it.

    >>> plain_setting({"module": "keras", "class_name": "DTypePolicy", "config": {"name": "float32"}})
    'float32'
    >>> plain_setting({"class_name": "L2", "config": {"l2": 0.01}})
    'L2(l2=0.01)'
    """
    if isinstance(value, Mapping):
        if _class(value) is None:
            return {key: plain_setting(part) for key, part in value.items() if key not in NO_SETTINGS}
        inner = _inside(value)
        if _class(value).endswith("Policy"):
            return inner.get("name", _class(value))
        words = ", ".join(
            f"{key}={plain_setting(part)}" for key, part in inner.items() if part is not None and key not in NO_SETTINGS
        )
        return f"{_class(value)}({words})" if words else _class(value)
    if isinstance(value, (list, tuple)):
        return [plain_setting(part) for part in value]
    return tidy(value)


def hashed(count: int, values: Mapping[int, Any]) -> Hashes:
    """One number a node; 0 for those of which nothing is known."""
    column = np.zeros(count, np.uint64)
    for node, value in values.items():
        column[node] = digest(json.dumps(plain_setting(value), sort_keys=True, default=str))
    return column
