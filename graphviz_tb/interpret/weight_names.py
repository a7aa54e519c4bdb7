"""The facts of each weight: its variable, dtype, shape, and how many ops use it."""

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
    from graphviz_tb.proto import AttrValue, NodeDef

    Attributes = Mapping[str, AttrValue]

SAYS_NOTHING = re.compile(
    r"unknown(_\d+)?|.*resource(_\d+)?|args_\d+|ReadVariableOp.*|Const(_\d+)?", re.IGNORECASE | re.DOTALL
)
# Numbers of `DataType` in TensorFlow's types.proto: those that weights have.
DTYPES = {1: "float32", 2: "float64", 14: "bfloat16", 19: "float16"}


def name_weights(graph: Graph, carried: ValueOrigins) -> Mapping[int, Weight]:
    """Before: which marks are where. After: a weight for each mark of that kind that is drawn beside an op."""
    ends = distinct(graph.beside.mark[graph.mark[graph.beside.mark] == Mark.WEIGHT]).tolist()
    variable = variables_of(carried)

    # Both need all edges: they are worked out when the first weight is asked for, and once.
    @cache
    def around() -> tuple[dict[int, str], Longs]:
        return roles_of(graph), count_uses(graph, variable)

    @cache
    def by_use() -> Mapping[int, Shape]:
        return used_shapes(graph, {int(carried.origin[end]) for end in ends})

    # Once for each variable: thousands of ops may read one, whose name may be long.
    @cache
    def told(maker: int) -> tuple[str, str, Shape, bool]:
        name, dtype, shape = declared(graph, maker)
        # "dense/kernel" says itself what it is; "args_3" does not, and what its users call it must do.
        return name, dtype, shape, SAYS_NOTHING.fullmatch(last_segment(name) or name) is not None

    def tell(end: int) -> Weight:
        roles, uses = around()
        origin, maker = int(carried.origin[end]), int(variable[end])
        name, dtype, shape, vague = told(maker if maker >= 0 else origin)
        read_dtype, read_shape = read(graph.node_def(end))
        role = roles.get(end, "weight") if vague else ""
        role = carried.roles.get(origin, role)
        shape = shape if shape is not None else read_shape
        shape = shape if shape is not None else by_use().get(origin)
        # What a cast or a read gives is what the op gets.
        return Weight(name, read_dtype or dtype, shape, role, max(1, int(uses[maker])) if maker >= 0 else 1)

    return Lazily(ends, tell)


def variables_of(carried: ValueOrigins) -> Ints:
    """By node the one variable that a weight is; -1 for an argument that calls give different ones, or none."""
    made = np.arange(-1, len(carried.origin), dtype=np.int32)  # by maker, from -1 on
    for argument, variable in carried.bound.items():
        made[argument + 1] = variable[0] if len(variable) == 1 else -1
    return made[carried.origin + 1]


def roles_of(graph: Graph) -> dict[int, str]:
    """Return the role of each weight: the name that the first op with a name for this input gives it."""
    roles: dict[int, str] = {}
    into = (graph.mark[graph.source] == Mark.WEIGHT) & (graph.mark[graph.target] == Mark.NONE) & in_weight_slots(graph)
    for edge in np.flatnonzero(into).tolist():
        # The first op in file order decides.
        word = weight_names(graph.op_types[graph.op[graph.target[edge]]])[int(graph.slot[edge])]
        if word:
            roles.setdefault(int(graph.source[edge]), word)
    return roles


def count_uses(graph: Graph, variable: Ints) -> Longs:
    """How many ops use each variable; what writes, saves or hands it on to a function does not."""
    writes = graph.of_types(lambda op: WRITES.fullmatch(op) or op in CALLS)
    used = variable[graph.source]
    into = (graph.mark[graph.source] == Mark.WEIGHT) & (graph.mark[graph.target] == Mark.NONE) & (used >= 0)
    into &= ~graph.control & ~writes[graph.target]
    # As one number each: an op that reads a variable twice uses it once.
    pairs = distinct(used[into].astype(np.int64) << 32 | graph.target[into])
    return np.bincount(pairs >> 32, minlength=len(graph))


def declared(graph: Graph, maker: int) -> tuple[str, str, Shape]:
    """Name, dtype and shape as the variable, its handle, the constant or the argument states them."""
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
    # `_variable` is what `read/` found in the object graph: the name that the program uses.
    given = next((attrs[key].s for key in ("_variable", "shared_name") if key in attrs and attrs[key].s), b"")
    return given.decode("utf-8", "replace") or definition.name, type_in(attrs, "dtype"), shape


def read(definition: NodeDef | None) -> tuple[str, Shape]:
    """Return dtype and shape of the output of a read or a cast; "" and None where unknown."""
    if definition is None or definition.op in HANDLES or definition.op in HANDED_IN:
        return "", None
    attrs = definition.attr
    key = next((key for key in ("DstT", "dtype", "T") if key in attrs), "")
    shapes = list(attrs["_output_shapes"].list.shape) if "_output_shapes" in attrs else []
    return type_in(attrs, key), shape_of(shapes[0]) if shapes else None


def handled_dtype(attrs: Attributes) -> str:
    """The dtype behind a handle, where TensorFlow wrote it beside the argument."""
    types = list(attrs["_handle_dtypes"].list.type) if "_handle_dtypes" in attrs else []
    return dtype_of(types[0]) if types else ""


def type_in(attrs: Attributes, key: str) -> str:
    """The dtype that an attribute names."""
    return dtype_of(attrs[key].type) if key in attrs else ""


def dtype_of(number: int) -> str:
    """The name of a dtype as NumPy has it.

    >>> dtype_of(1), dtype_of(9), dtype_of(0), dtype_of(101)
    ('float32', 'int64', '', 'float32')
    """
    from graphviz_tb.proto import DataType

    # DT_FLOAT_REF is 101.
    number = number - 100 if number > 100 else number  # a reference to the same type
    if number in DTYPES or not number:
        return DTYPES.get(number, "")
    return DataType.Name(number).removeprefix("DT_").lower() if number in DataType.values() else ""
