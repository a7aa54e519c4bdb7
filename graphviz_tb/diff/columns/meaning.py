"""Properties of nodes besides attributes: shapes of weights, constants that are settings, Keras configurations."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from graphviz_tb.diff.columns.hashing import Hashes, digest
from graphviz_tb.diff.columns.ids import exists
from graphviz_tb.diff.columns.values import tidy
from graphviz_tb.limits import MAX_SETTING_FLOATS, MAX_SETTING_NUMBERS
from graphviz_tb.model.columns import Bools
from graphviz_tb.model.graph import Graph
from graphviz_tb.model.layers import TENSOR_ARGUMENTS, Layer
from graphviz_tb.model.tensors import STRING_DTYPE_NUMBER, shape_text
from graphviz_tb.ops.roles import (
    ASSIGN_OPS,
    CAST_OPS,
    CONSTANT_OPS,
    FRAME_ENTER_OPS,
    FRAME_SWITCH_OPS,
    IDENTITY_OPS,
    VARIABLE_READ_OPS,
)
from graphviz_tb.ops.signatures import is_seed_input

# TensorFlow freezes a variable `w` to a `Const` w and the `Identity` w/read that has read it.
CARRIERS = IDENTITY_OPS | VARIABLE_READ_OPS | CAST_OPS | FRAME_ENTER_OPS | FRAME_SWITCH_OPS | ASSIGN_OPS
FLOATS = frozenset({1, 2, 14, 19})
# What Keras writes to build an object again: its name, its Python module, the shapes it was built with.
NO_SETTINGS = frozenset(
    {"name", "build_config", "build_input_shape", "build_shapes_dict", "shared_object_id", "registered_name", "module",
     "seed"}
)  # fmt: skip

CALLS = "calls of the layer"  # beside its settings: no option of Python has blanks

OF_LAYERS = frozenset({"trainable", "dtype"})  # what the configuration of every layer has
WeightTypes = dict[int, tuple[str, str]]  # type and shape of what a node brings, by node
Configurations = dict[int, dict[str, Any]]


def settings(graph: Graph) -> Bools:
    """The constants that set what an op does (a rate, an axis, an epsilon), not what it has learned.

    Small, no strings; a weight is known by its lineage: of type float, it goes through a read, an identity or a cast.
    """
    counted = np.zeros(len(graph), bool)
    nodes = np.flatnonzero(graph.nodes_of_types(CONSTANT_OPS.__contains__))
    learned, seeds = _lineage(graph)
    for node in nodes.tolist():
        definition = graph.node_def(node)
        if definition is None or "value" not in definition.attr or node in graph.meaning.weights or seeds[node]:
            continue  # asking a message for what it has not would add it
        tensor = definition.attr["value"].tensor
        dims = [dim.size for dim in tensor.tensor_shape.dim]
        count = int(np.prod(dims, dtype=np.int64)) if dims else 1
        floating = tensor.dtype in FLOATS
        if tensor.dtype != STRING_DTYPE_NUMBER and count <= (MAX_SETTING_FLOATS if floating else MAX_SETTING_NUMBERS):
            # Of type float, what has two dimensions is a matrix of weights however small it is.
            counted[node] = not (floating and (learned[node] or len(dims) > 1))
    return counted


def _lineage(graph: Graph) -> tuple[Bools, Bools]:
    """Nodes that go through a read, an identity or a cast; nodes that are the seed of a stateless random op."""
    carrier = graph.nodes_of_types(CARRIERS.__contains__)[graph.target]
    # StatelessRandomUniform(shape, seed), and StatelessRandomUniformV2(shape, key, counter, alg).
    random = graph.nodes_of_types(lambda op: is_seed_input(op, 1))[graph.target]
    learned: Bools = np.zeros(len(graph), bool)
    seeds: Bools = np.zeros(len(graph), bool)
    learned[graph.source[carrier & ~graph.control]] = True
    seeds[graph.source[random & (graph.slot == 1)]] = True
    return learned, seeds


def weights(graph: Graph) -> WeightTypes:
    """Type and shape of every weight, where the graph knows them."""
    known = {
        node: (weight.dtype, shape_text(weight.shape))
        for node, weight in graph.meaning.weights.items()
        if weight.shape is not None
    }
    for node in np.flatnonzero(graph.nodes_of_types(VARIABLE_READ_OPS.__contains__)).tolist():
        definition = graph.node_def(node)
        if definition is None or node in known:
            continue
        shapes = list(definition.attr["_output_shapes"].list.shape) if "_output_shapes" in definition.attr else []
        # The shape that a variable is read with; its type needs no word here, it is the attribute `dtype`.
        if len(shapes) == 1 and not shapes[0].unknown_rank:
            known[node] = "", shape_text([dim.size for dim in shapes[0].dim])
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
    """Class and settings of a layer, and what each call of it is given."""
    return {"class": layer.class_name, **layer.config, **({CALLS: list(layer.arguments)} if layer.arguments else {})}


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
        for key in sorted(setting_keys(mine, before) | setting_keys(other, before)):
            old, new = unpacked(mine.get(key)), unpacked(other.get(key))
            if old == new or plain_setting(old) == plain_setting(new):
                continue
            if key == CALLS and not before:
                yield from call_differences(old or (), new or ())
            elif (parts := _parts(old, new)) is not None:
                waiting.append((f"{before}{key}.", *parts))
            else:
                yield f"{before}{key}", _shown(old, new), _shown(new, old)


def call_differences(
    old: Sequence[Mapping[str, Any]], new: Sequence[Mapping[str, Any]]
) -> Iterator[tuple[str, Any, Any]]:
    """Each argument that is another in the calls of a layer; which tensors they take is the matter of its edges, and so
    are calls that came or went.

    >>> list(call_differences([{"y": 2.0, "tensors": [0]}], [{"y": 3.0, "tensors": [0]}]))
    [('argument y', 2.0, 3.0)]
    >>> list(call_differences([{"tensors": [0, "mask"]}], [{"tensors": [0, "key"]}]))
    [('tensor arguments', [0, 'mask'], [0, 'key'])]
    """
    if len(old) != len(new):
        return
    found: dict[str, list[tuple[str, Any, Any]]] = defaultdict(list)
    for number, (mine, other) in enumerate(zip(old, new, strict=True), 1):
        taken = mine.get(TENSOR_ARGUMENTS, ()), other.get(TENSOR_ARGUMENTS, ())
        if len(taken[0]) == len(taken[1]) and taken[0] != taken[1]:
            found[repr(taken)].append((f"call {number}: tensor arguments", *taken))
        for key, *pair in setting_differences({"argument": values_of(mine)}, {"argument": values_of(other)}):
            word = key.replace("argument.", "argument ", 1)
            found[repr((word, *pair))].append((f"call {number}: {word}", *pair))
    for alike in found.values():
        # The same in all calls is said once, without their numbers.
        whole = len(alike) == len(old)
        for word, before, after in alike[:1] if whole else alike:
            yield word.partition(": ")[2] if whole else word, before, after


def values_of(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a call that are not tensors."""
    return {key: value for key, value in arguments.items() if key != TENSOR_ARGUMENTS}


def setting_keys(value: Mapping[str, Any], before: str) -> set[str]:
    """The settings that count of an object. In a plain one within a configuration, a name is a setting like others,
    unless it is the configuration of a layer."""
    plain = before and value.keys().isdisjoint(OF_LAYERS)
    return value.keys() - (NO_SETTINGS - {"name"} if plain else NO_SETTINGS)


def _parts(old: Any, new: Any) -> tuple[Mapping[str, Any], Mapping[str, Any]] | None:
    """Split two values into parts to compare: objects of one class, plain ones, lists of equal length; else None."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        # A dtype policy is one word ("mixed_float16") and reported as such, not by the settings inside.
        if _class(old) != _class(new) or str(_class(old)).endswith("Policy"):
            return None
        return (old, new) if _class(old) is None else (_inside(old), _inside(new))
    lists = isinstance(old, list) and isinstance(new, list) and len(old) == len(new)
    if lists and any(isinstance(unpacked(part), Mapping) for part in (*old, *new)):
        keys = [str(place) for place in range(len(old))]
        return dict(zip(keys, old, strict=True)), dict(zip(keys, new, strict=True))
    return None


def unpacked(value: Any) -> Any:
    """A tuple of Keras 3 as a list.

    >>> unpacked({"class_name": "__tuple__", "items": [1, 2]})
    [1, 2]
    """
    items = value.get("items") if _class(value) == "__tuple__" else None
    return items if isinstance(items, list) else value


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
    value = unpacked(value)
    if isinstance(value, Mapping):
        if _class(value) is None:
            return {key: plain_setting(value[key]) for key in sorted(setting_keys(value, "in"))}
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


def settings_alone(configuration: Any) -> Any:
    """A whole configuration without names, as plain values."""
    if not isinstance(configuration, Mapping):
        return plain_setting(configuration)
    return {key: plain_setting(configuration[key]) for key in setting_keys(configuration, "")}


def hashed(count: int, values: Mapping[int, Any]) -> Hashes:
    """One number a node; 0 for those of which nothing is known."""
    column = np.zeros(count, np.uint64)
    for node, value in values.items():
        column[node] = digest(json.dumps(settings_alone(value), sort_keys=True, default=str))
    return column
