"""Facts of each weight: variable name, dtype, shape, and number of uses."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from graphviz_tb.interpret.lazily import LazyMapping
from graphviz_tb.interpret.origins import (
    ARGUMENT_OPS,
    VARIABLE_WRITER,
    ValueOrigins,
    argument_position,
    weight_slot_edges,
)
from graphviz_tb.interpret.weight_shapes import constant_value_shape, handle_shape, shapes_implied_by_uses
from graphviz_tb.model.columns import Ints, Longs, distinct_values
from graphviz_tb.model.graph import Graph, Mark
from graphviz_tb.model.paths import last_segment
from graphviz_tb.model.tensors import Shape, shape_from_proto
from graphviz_tb.model.weights import Weight
from graphviz_tb.ops.inputs import weight_input_names
from graphviz_tb.ops.roles import CALL_OPS, CONSTANT_OPS, HANDLE_OPS

if TYPE_CHECKING:
    from graphviz_tb.interpret.weight_shapes import Attributes
    from graphviz_tb.proto import NodeDef

VAGUE_NAME = re.compile(
    r"unknown(_\d+)?|.*resource(_\d+)?|args_\d+|ReadVariableOp.*|Const(_\d+)?", re.IGNORECASE | re.DOTALL
)
# `DataType` numbers in TensorFlow's types.proto of the usual dtypes of weights.
WEIGHT_DTYPES = {1: "float32", 2: "float64", 14: "bfloat16", 19: "float16"}


def describe_weights(graph: Graph, carried: ValueOrigins) -> Mapping[int, Weight]:
    """Return a weight for each weight mark that is drawn next to an op."""
    ends = distinct_values(graph.beside.mark[graph.mark[graph.beside.mark] == Mark.WEIGHT]).tolist()
    variable = variable_by_node(carried)

    # Both need all edges: computed once, with the first weight.
    @cache
    def roles_and_uses() -> tuple[dict[int, str], Longs]:
        return weight_roles(graph), count_variable_uses(graph, variable)

    @cache
    def shapes_by_use() -> Mapping[int, Shape]:
        return shapes_implied_by_uses(graph, {int(carried.origin[end]) for end in ends})

    # Once per variable: thousands of ops may read one, and its name may be long.
    @cache
    def facts_of_maker(maker: int) -> tuple[str, str, Shape, bool]:
        name, dtype, shape = declared_weight_facts(graph, maker)
        # "dense/kernel" is a telling name; for "args_3", use the input name of its users.
        return name, dtype, shape, VAGUE_NAME.fullmatch(last_segment(name) or name) is not None

    def describe(end: int) -> Weight:
        roles, uses = roles_and_uses()
        origin, maker = int(carried.origin[end]), int(variable[end])
        name, dtype, shape, vague = facts_of_maker(maker if maker >= 0 else origin)
        read_dtype, read_shape = read_output_facts(graph.node_def(end))
        role = roles.get(end, "weight") if vague else ""
        role = carried.roles.get(origin, role)
        shape = shape if shape is not None else read_shape
        shape = shape if shape is not None else shapes_by_use().get(origin)
        # The op gets the output of a cast or a read.
        return Weight(name, read_dtype or dtype, shape, role, max(1, int(uses[maker])) if maker >= 0 else 1)

    return LazyMapping(ends, describe)


def variable_by_node(carried: ValueOrigins) -> Ints:
    """Return, by node, its only variable; -1 for none, or for an argument that calls bind to different ones."""
    made = np.arange(-1, len(carried.origin), dtype=np.int32)  # index: maker + 1
    for argument, variable in carried.bound.items():
        made[argument + 1] = variable[0] if len(variable) == 1 else -1
    return made[carried.origin + 1]


def weight_roles(graph: Graph) -> dict[int, str]:
    """Return the role of each weight: the input name of the first op that has one for this slot."""
    roles: dict[int, str] = {}
    into = (
        (graph.mark[graph.source] == Mark.WEIGHT) & (graph.mark[graph.target] == Mark.NONE) & weight_slot_edges(graph)
    )
    for edge in np.flatnonzero(into).tolist():
        # The first op in file order wins.
        word = weight_input_names(graph.op_types[graph.op[graph.target[edge]]])[int(graph.slot[edge])]
        if word:
            roles.setdefault(int(graph.source[edge]), word)
    return roles


def count_variable_uses(graph: Graph, variable: Ints) -> Longs:
    """Count the ops that use each variable, except writers, savers and calls."""
    writes = graph.nodes_of_types(lambda op: VARIABLE_WRITER.fullmatch(op) or op in CALL_OPS)
    used = variable[graph.source]
    into = (graph.mark[graph.source] == Mark.WEIGHT) & (graph.mark[graph.target] == Mark.NONE) & (used >= 0)
    into &= ~graph.control & ~writes[graph.target]
    # One number per pair: an op that reads a variable twice uses it once.
    pairs = distinct_values(used[into].astype(np.int64) << 32 | graph.target[into])
    return np.bincount(pairs >> 32, minlength=len(graph))


def declared_weight_facts(graph: Graph, maker: int) -> tuple[str, str, Shape]:
    """Return name, dtype and shape as declared by the variable, handle, constant or argument."""
    definition = graph.node_def(maker)
    if definition is None:
        function, argument = argument_position(graph, maker)
        arguments = graph.graph_def.library.function[function].arg_attr
        own = arguments[argument].attr if argument in arguments else {}
        return graph.name[maker], handle_dtype(own), handle_shape(own)
    attrs = definition.attr
    if definition.op in CONSTANT_OPS:
        return definition.name, attribute_dtype_name(attrs, "dtype"), constant_value_shape(attrs)
    if definition.op in ARGUMENT_OPS:
        called = attrs["_variable"].s.decode("utf-8", "replace") if "_variable" in attrs else ""
        return called or definition.name, handle_dtype(attrs), handle_shape(attrs)
    shape = shape_from_proto(attrs["shape"].shape) if "shape" in attrs else None
    # `_variable` is the program's name, as the reader found it in the object graph.
    given = next((attrs[key].s for key in ("_variable", "shared_name") if key in attrs and attrs[key].s), b"")
    return given.decode("utf-8", "replace") or definition.name, attribute_dtype_name(attrs, "dtype"), shape


def read_output_facts(definition: NodeDef | None) -> tuple[str, Shape]:
    """Return dtype and shape of the output of a read or a cast; "" and None if unknown."""
    if definition is None or definition.op in HANDLE_OPS or definition.op in ARGUMENT_OPS:
        return "", None
    attrs = definition.attr
    key = next((key for key in ("DstT", "dtype", "T") if key in attrs), "")
    shapes = list(attrs["_output_shapes"].list.shape) if "_output_shapes" in attrs else []
    return attribute_dtype_name(attrs, key), shape_from_proto(shapes[0]) if shapes else None


def handle_dtype(attrs: Attributes) -> str:
    """Return the dtype behind a handle, if TensorFlow wrote it with the argument."""
    types = list(attrs["_handle_dtypes"].list.type) if "_handle_dtypes" in attrs else []
    return numpy_dtype_name(types[0]) if types else ""


def attribute_dtype_name(attrs: Attributes, key: str) -> str:
    """Return the dtype in an attribute."""
    return numpy_dtype_name(attrs[key].type) if key in attrs else ""


def numpy_dtype_name(number: int) -> str:
    """Return the NumPy name of a dtype.

    >>> numpy_dtype_name(1), numpy_dtype_name(9), numpy_dtype_name(0), numpy_dtype_name(101)
    ('float32', 'int64', '', 'float32')
    """
    from graphviz_tb.proto import DataType

    # DT_FLOAT_REF is 101.
    number = number - 100 if number > 100 else number  # a reference to the same type
    if number in WEIGHT_DTYPES or not number:
        return WEIGHT_DTYPES.get(number, "")
    return DataType.Name(number).removeprefix("DT_").lower() if number in DataType.values() else ""
