"""Facts of each weight: variable name, dtype, shape, and number of uses."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from graphviz_tb.interpret.lazily import Lazily
from graphviz_tb.interpret.origins import HANDED_IN, WRITES, ValueOrigins, argument_of, in_weight_slots
from graphviz_tb.interpret.weight_shapes import constant_shape, handled_shape, used_shapes
from graphviz_tb.model.columns import Ints, Longs, distinct
from graphviz_tb.model.graph import Graph, Mark
from graphviz_tb.model.paths import last_segment
from graphviz_tb.model.tensors import Shape, shape_of
from graphviz_tb.model.weights import Weight
from graphviz_tb.ops.inputs import weight_names
from graphviz_tb.ops.roles import CALLS, CONSTANTS, HANDLES

if TYPE_CHECKING:
    from graphviz_tb.interpret.weight_shapes import Attributes
    from graphviz_tb.proto import NodeDef

SAYS_NOTHING = re.compile(
    r"unknown(_\d+)?|.*resource(_\d+)?|args_\d+|ReadVariableOp.*|Const(_\d+)?", re.IGNORECASE | re.DOTALL
)
# `DataType` numbers in TensorFlow's types.proto of the usual dtypes of weights.
DTYPES = {1: "float32", 2: "float64", 14: "bfloat16", 19: "float16"}


def name_weights(graph: Graph, carried: ValueOrigins) -> Mapping[int, Weight]:
    """Return a weight for each weight mark that is drawn next to an op."""
    ends = distinct(graph.beside.mark[graph.mark[graph.beside.mark] == Mark.WEIGHT]).tolist()
    variable = variables_of(carried)

    # Both need all edges: computed once, with the first weight.
    @cache
    def roles_and_uses() -> tuple[dict[int, str], Longs]:
        return roles_of(graph), count_uses(graph, variable)

    @cache
    def shapes_by_use() -> Mapping[int, Shape]:
        return used_shapes(graph, {int(carried.origin[end]) for end in ends})

    # Once per variable: thousands of ops may read one, and its name may be long.
    @cache
    def facts_of_maker(maker: int) -> tuple[str, str, Shape, bool]:
        name, dtype, shape = declared(graph, maker)
        # "dense/kernel" is a telling name; for "args_3", use the input name of its users.
        return name, dtype, shape, SAYS_NOTHING.fullmatch(last_segment(name) or name) is not None

    def describe(end: int) -> Weight:
        roles, uses = roles_and_uses()
        origin, maker = int(carried.origin[end]), int(variable[end])
        name, dtype, shape, vague = facts_of_maker(maker if maker >= 0 else origin)
        read_dtype, read_shape = read(graph.node_def(end))
        role = roles.get(end, "weight") if vague else ""
        role = carried.roles.get(origin, role)
        shape = shape if shape is not None else read_shape
        shape = shape if shape is not None else shapes_by_use().get(origin)
        # The op gets the output of a cast or a read.
        return Weight(name, read_dtype or dtype, shape, role, max(1, int(uses[maker])) if maker >= 0 else 1)

    return Lazily(ends, describe)


def variables_of(carried: ValueOrigins) -> Ints:
    """Return, by node, its only variable; -1 for none, or for an argument that calls bind to different ones."""
    made = np.arange(-1, len(carried.origin), dtype=np.int32)  # index: maker + 1
    for argument, variable in carried.bound.items():
        made[argument + 1] = variable[0] if len(variable) == 1 else -1
    return made[carried.origin + 1]


def roles_of(graph: Graph) -> dict[int, str]:
    """Return the role of each weight: the input name of the first op that has one for this slot."""
    roles: dict[int, str] = {}
    into = (graph.mark[graph.source] == Mark.WEIGHT) & (graph.mark[graph.target] == Mark.NONE) & in_weight_slots(graph)
    for edge in np.flatnonzero(into).tolist():
        # The first op in file order wins.
        word = weight_names(graph.op_types[graph.op[graph.target[edge]]])[int(graph.slot[edge])]
        if word:
            roles.setdefault(int(graph.source[edge]), word)
    return roles


def count_uses(graph: Graph, variable: Ints) -> Longs:
    """Count the ops that use each variable, except writers, savers and calls."""
    writes = graph.of_types(lambda op: WRITES.fullmatch(op) or op in CALLS)
    used = variable[graph.source]
    into = (graph.mark[graph.source] == Mark.WEIGHT) & (graph.mark[graph.target] == Mark.NONE) & (used >= 0)
    into &= ~graph.control & ~writes[graph.target]
    # One number per pair: an op that reads a variable twice uses it once.
    pairs = distinct(used[into].astype(np.int64) << 32 | graph.target[into])
    return np.bincount(pairs >> 32, minlength=len(graph))


def declared(graph: Graph, maker: int) -> tuple[str, str, Shape]:
    """Return name, dtype and shape as declared by the variable, handle, constant or argument."""
    definition = graph.node_def(maker)
    if definition is None:
        function, argument = argument_of(graph, maker)
        arguments = graph.graph_def.library.function[function].arg_attr
        own = arguments[argument].attr if argument in arguments else {}
        return graph.name[maker], handled_dtype(own), handled_shape(own)
    attrs = definition.attr
    if definition.op in CONSTANTS:
        return definition.name, type_in(attrs, "dtype"), constant_shape(attrs)
    if definition.op in HANDED_IN:
        called = attrs["_variable"].s.decode("utf-8", "replace") if "_variable" in attrs else ""
        return called or definition.name, handled_dtype(attrs), handled_shape(attrs)
    shape = shape_of(attrs["shape"].shape) if "shape" in attrs else None
    # `_variable` is the program's name, as the reader found it in the object graph.
    given = next((attrs[key].s for key in ("_variable", "shared_name") if key in attrs and attrs[key].s), b"")
    return given.decode("utf-8", "replace") or definition.name, type_in(attrs, "dtype"), shape


def read(definition: NodeDef | None) -> tuple[str, Shape]:
    """Return dtype and shape of the output of a read or a cast; "" and None if unknown."""
    if definition is None or definition.op in HANDLES or definition.op in HANDED_IN:
        return "", None
    attrs = definition.attr
    key = next((key for key in ("DstT", "dtype", "T") if key in attrs), "")
    shapes = list(attrs["_output_shapes"].list.shape) if "_output_shapes" in attrs else []
    return type_in(attrs, key), shape_of(shapes[0]) if shapes else None


def handled_dtype(attrs: Attributes) -> str:
    """Return the dtype behind a handle, if TensorFlow wrote it with the argument."""
    types = list(attrs["_handle_dtypes"].list.type) if "_handle_dtypes" in attrs else []
    return dtype_of(types[0]) if types else ""


def type_in(attrs: Attributes, key: str) -> str:
    """Return the dtype in an attribute."""
    return dtype_of(attrs[key].type) if key in attrs else ""


def dtype_of(number: int) -> str:
    """Return the NumPy name of a dtype.

    >>> dtype_of(1), dtype_of(9), dtype_of(0), dtype_of(101)
    ('float32', 'int64', '', 'float32')
    """
    from graphviz_tb.proto import DataType

    # DT_FLOAT_REF is 101.
    number = number - 100 if number > 100 else number  # a reference to the same type
    if number in DTYPES or not number:
        return DTYPES.get(number, "")
    return DataType.Name(number).removeprefix("DT_").lower() if number in DataType.values() else ""
