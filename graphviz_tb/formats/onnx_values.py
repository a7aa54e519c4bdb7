"""The values of an ONNX model, numbered once: all that is known about a value is in lists, at its number.

    x ─▶ Conv ─▶ y ─▶ If { y ─▶ Relu ─▶ z }      number     0   1   2       3   4
           ▲                                     name       ""  x   kernel  y   z
         kernel                                  tensor             [3, 3]
                                                 maker                      Conv Relu

A body has the numbers of the values around it; equal names in two bodies or functions have two numbers.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain, count
from typing import Any

from graphviz_tb.formats.onnx_messages import (
    FORM_BY_DTYPE,
    Attribute,
    FunctionValue,
    GraphValue,
    ModelValue,
    NamedValue,
    NodeValue,
    TensorValue,
)
from graphviz_tb.formats.wire_nodes import DTYPE_NUMBERS, Value, shortened_sizes
from graphviz_tb.limits import MAX_SHOWN_NUMBERS
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.ops.signatures import is_size_input, setting_input_name
from graphviz_tb.ops.table import MAX_CACHED_OP_TYPES
from graphviz_tb.proto import AttrValue

OWN_DOMAINS = frozenset(("", "ai.onnx", "ai.onnx.ml"))
UNKNOWN = Value()
OMITTED = 0  # the number of an input or output that is left out
FunctionKey = tuple[str, str, str]  # domain, name, overload


@dataclass(frozen=True, slots=True, eq=False)
class OnnxNode:
    """An op: its message, its type with the framework (whatever its domain), and the numbers of its values. Nodes
    compare by identity."""

    message: NodeValue
    op: str
    inputs: tuple[int, ...] = ()
    outputs: tuple[int, ...] = ()

    @property
    def function_key(self) -> FunctionKey:
        """Return the key of the function that the node calls, if the model defines one."""
        return self.message.domain, self.message.op_type, self.message.overload


@dataclass(frozen=True, slots=True, eq=False)
class OnnxBlock:
    """A graph, a body or a function: its nodes except constants, the numbers of its inputs and outputs, and the number
    of its first own value."""

    name: str
    opset: int
    nodes: Sequence[OnnxNode]
    inputs: Sequence[int]
    outputs: Sequence[int]
    first: int


class BlockNumbers(dict[str, int]):
    """Numbers of values by name in a block; a name that it does not define is a value `around` it."""

    def __init__(self, own: Iterable[str], first: int, around: Mapping[str, int]) -> None:
        super().__init__(zip(own, count(first)))
        self[""], self._around = OMITTED, around

    def __missing__(self, name: str) -> int:
        self[name] = number = self._around[name]
        return number


class ModelValues(dict[str, int]):
    """The values of a model, as lists by number; itself the numbers of names that no block defines."""

    def __init__(self, model: ModelValue) -> None:
        super().__init__()
        self.names: list[str] = []
        self.kinds: list[Value | None] = []  # shapes and types; None: nothing states that there is such a value
        self.tensors: list[TensorValue | None] = []  # stored tensors
        self.makers: list[OnnxNode | None] = []
        self.users: list[list[tuple[OnnxNode, int]]] = []  # the nodes that use a value, with the number of the input
        self._append([""])
        self.alias: dict[int, int] = {}  # value → the value that it equals
        self.stored: dict[int, TensorValue] = {}  # without copies
        self.bodies: dict[OnnxNode, list[tuple[str, OnnxBlock]]] = {}  # by attribute
        self._kind_by_type: dict[int, Value] = {}  # by id: equal types are one object
        self.main = self._add_blocks(model.graph, _standard_opset(model)) if model.graph is not None else None
        self.first_of_functions = len(self.names)
        self.functions = {
            (each.domain, each.name, each.overload): self._add_blocks(each, _standard_opset(each))
            for each in model.functions
        }
        self.arguments = {value for function in self.functions.values() for value in function.inputs}

    def __missing__(self, name: str) -> int:
        self[name] = number = len(self.names)
        self._append([name])
        return number

    def _append(self, names: Iterable[str]) -> None:
        before = len(self.names)
        self.names += names
        more = len(self.names) - before
        for column in (self.kinds, self.tensors, self.makers):
            column += [None] * more
        self.users += [[] for _ in range(more)]

    def _add_blocks(self, outermost: GraphValue | FunctionValue, opset: int) -> OnnxBlock:
        """Number a graph or a function, and the bodies in it; return it."""
        block, waiting = self._add_block(outermost, opset, self)
        bodies: dict[OnnxNode, list[tuple[str, OnnxBlock]]] = {}  # the last of a node first
        while waiting:
            node, attribute, graph, around = waiting.pop()
            body, more = self._add_block(graph, opset, around)
            bodies.setdefault(node, []).append((attribute, body))
            waiting += more
        self.bodies |= {node: found[::-1] for node, found in bodies.items()}
        return block

    def _add_block(
        self, graph: GraphValue | FunctionValue, opset: int, around: Mapping[str, int]
    ) -> tuple[OnnxBlock, list[tuple[OnnxNode, str, GraphValue, Mapping[str, int]]]]:
        """Number the values of a graph; return it, and the graphs inside of its nodes."""
        constants = [node for node in graph.nodes if is_constant(node)]
        nodes = [node for node in graph.nodes if not is_constant(node)] if constants else graph.nodes
        tensors = _stored_tensors(graph, constants)
        is_function = isinstance(graph, FunctionValue)
        stated = graph.values if is_function else (*graph.values, *graph.inputs, *graph.outputs)
        inputs, outputs = (
            [each if isinstance(each, str) else each.name for each in ports] for ports in (graph.inputs, graph.outputs)
        )
        own = dict.fromkeys(chain(inputs, tensors, chain.from_iterable([node.outputs for node in nodes])))
        own.pop("", None)
        first = len(self.names)
        numbers = BlockNumbers(own, first, around)
        self._append(own)
        for name, tensor in tensors.items():
            self.tensors[numbers[name]] = self.stored[numbers[name]] = tensor
        for name in inputs if is_function else ():
            self.kinds[numbers[name]] = UNKNOWN
        for value in stated:
            if (number := numbers[value.name]) >= first:
                self.kinds[number] = self._kind_of(value)
        number_of = numbers.__getitem__
        made = [
            OnnxNode(
                node, op_type(node.op_type), tuple(map(number_of, node.inputs)), tuple(map(number_of, node.outputs))
            )
            for node in nodes
        ]
        self._connect(made)
        block = OnnxBlock(graph.name, opset, made, list(map(number_of, inputs)), list(map(number_of, outputs)), first)
        with_graphs = {id(each) for node in nodes for each in node.attributes if each.g is not None or each.graphs}
        inner = [(node, each) for node in made if with_graphs for each in node.message.attributes]
        return block, [
            (node, name, body, numbers)
            for node, each in inner
            if id(each) in with_graphs
            for name, body in _graphs_of(each)
        ]

    def _kind_of(self, value: NamedValue) -> Value:
        """Return shape and type of a value that the file describes."""
        kind = self._kind_by_type.get(id(value.type))
        if kind is None:
            kind = self._kind_by_type[id(value.type)] = Value(shortened_sizes(value.dims), value.dtype)
        return kind

    def _connect(self, nodes: Sequence[OnnxNode]) -> None:
        makers, users = self.makers, self.users
        for node in nodes:
            for value in node.outputs:
                makers[value] = node
            for slot, value in enumerate(node.inputs):
                users[value].append((node, slot))
        makers[OMITTED], users[OMITTED] = None, []

    def captured_values(self, block: OnnxBlock) -> list[int]:
        """Return the values from outside that a block and the bodies in it use, in the order of their use, without
        stored tensors."""
        taken: dict[int, None] = {}
        waiting = [block]
        while waiting:
            inner = waiting.pop()
            taken |= dict.fromkeys(inner.outputs)
            for node in inner.nodes:
                taken |= dict.fromkeys(node.inputs)
                waiting += [body for _, body in self.bodies.get(node, ())]
        return [value for value in taken if OMITTED < value < block.first and self.tensors[value] is None]


def _standard_opset(model: ModelValue | FunctionValue) -> int:
    """Return the version of ONNX's standard ops in a model or a function; 0 if it states none."""
    return next((opset.version for opset in model.opsets if opset.domain in ("", "ai.onnx")), 0)


@lru_cache(maxsize=MAX_CACHED_OP_TYPES)
def op_type(own: str) -> str:
    """Return the type of an op with its framework."""
    return f"onnx::{own}"


def is_constant(node: NodeValue) -> bool:
    """Return whether the output of a node is a stored tensor."""
    return node.op_type == "Constant" and node.domain in OWN_DOMAINS


def _graphs_of(attribute: Attribute) -> list[tuple[str, GraphValue]]:
    single = [] if attribute.g is None else [(attribute.name, attribute.g)]
    return [*single, *((f"{attribute.name}_{number}", graph) for number, graph in enumerate(attribute.graphs))]


def _constant_of_node(node: NodeValue) -> TensorValue:
    """Return the tensor of a `Constant` node."""
    for attribute in node.attributes:
        if attribute.name == "value" and attribute.t is not None:
            return attribute.t
        if attribute.name == "sparse_value" and attribute.sparse is not None:
            values = attribute.sparse.values
            return TensorValue(dims=attribute.sparse.dims, data_type=values.data_type)
        if attribute.name == "value_float":
            return TensorValue(data_type=1, float_data=(attribute.f or 0.0,))
        if attribute.name == "value_int":
            return TensorValue(data_type=7, int64_data=(attribute.i or 0,))
        if attribute.name == "value_floats":
            return TensorValue(dims=(len(attribute.floats),), data_type=1, float_data=attribute.floats)
        if attribute.name == "value_ints":
            return TensorValue(dims=(len(attribute.ints),), data_type=7, int64_data=attribute.ints)
        if attribute.name in ("value_string", "value_strings"):
            return TensorValue(dims=(len(attribute.strings),) if attribute.strings else (), data_type=8)
    return TensorValue()


def _stored_tensors(graph: GraphValue | FunctionValue, constants: Iterable[NodeValue]) -> dict[str, TensorValue]:
    found: dict[str, TensorValue] = {}
    if isinstance(graph, GraphValue):
        found |= {tensor.name: tensor for tensor in graph.initializers}
        for sparse in graph.sparse_initializers:
            values = sparse.values
            found[values.name] = TensorValue(values.name, sparse.dims, values.data_type)
    found |= {node.outputs[0]: _constant_of_node(node) for node in constants if node.outputs}
    found.pop("", None)
    return found


# Settings of ops as plain values: attributes, and small stored tensors at inputs that are settings.
#
# Conv   kernel_shape = [3, 3]      attribute       ─▶ kernel_shape = [3, 3]
# Clip   x, min, max                stored numbers  ─▶ min = 0.0, max = 6.0
# If     then_branch                a graph         ─▶ none: it is a body

LIST_SETTINGS = frozenset(
    ("axes", "pads", "split", "starts", "ends", "steps", "repeats", "roi", "scales", "sizes", "shape", "image_shape")
)
SIZE_SETTING = "shape"  # name of the setting at a size input
EMPTY_LIST_TYPES = frozenset((6, 7, 8))  # types of attributes: lists of floats, whole numbers, texts


def input_as_setting(op: str, slot: int, numbers: Sequence[Any]) -> tuple[str, Any] | None:
    """Return name and value of the setting at an input with these numbers; None if it is not a setting, or too long.

    >>> input_as_setting("onnx::Reshape", 1, [1, -1])
    ('shape', [1, -1])
    """
    name = setting_input_name(op, slot) or (SIZE_SETTING if is_size_input(op, slot) else "")
    if not name or len(numbers) > MAX_SHOWN_NUMBERS:
        return None
    if name in LIST_SETTINGS:
        return name, numbers
    return (name, numbers[0] if len(numbers) == 1 else numbers) if numbers else None


def attribute_value(attribute: Attribute) -> Any:
    """Return the value of an attribute; None for a graph, and for a reference to an attribute of the function
    around."""
    if attribute.ref_name or attribute.g is not None or attribute.graphs:
        return None
    for single in (attribute.i, attribute.f):
        if single is not None:
            return single
    if attribute.s is not None:
        return attribute.s.decode("utf-8", "replace")
    if attribute.t is not None:
        return _tensor_attribute(attribute.t)
    for several in (attribute.ints, attribute.floats, attribute.strings):
        if several:
            return (
                [each.decode("utf-8", "replace") if isinstance(each, bytes) else each for each in several]
                if len(several) <= MAX_SHOWN_NUMBERS
                else f"{len(several):,} values"
            )
    return [] if attribute.type in EMPTY_LIST_TYPES else None


def _tensor_attribute(tensor: TensorValue) -> AttrValue:
    """Return an attribute that is a tensor, with its elements if they are few."""
    made = AttrValue()
    made.tensor.dtype = DTYPE_NUMBERS.get(tensor.dtype, 0)
    for size in tensor.dims:
        made.tensor.tensor_shape.dim.add(size=max(-1, size))
    content = tensor.content()
    if content is not None:
        made.tensor.tensor_content = content
    return made


def small_tensor_elements(tensor: TensorValue) -> list[Any] | None:
    """Return the integers, floats or bools of a small tensor.

    >>> small_tensor_elements(TensorValue(dims=(2,), data_type=7, int64_data=(3, -1)))
    [3, -1]
    """
    content, form = tensor.content(), FORM_BY_DTYPE.get(tensor.dtype)
    if content is None or form is None or tensor.dtype in ("float16", "bfloat16"):
        return None
    numbers = [each for (each,) in struct.iter_unpack(form, content)]
    return [bool(number) for number in numbers] if tensor.dtype == "bool" else numbers
