"""Find the weights of an ONNX model: the stored tensors that arrive at a weight input of an op.

    kernel (int8) ─▶ DequantizeLinear ─▶ Conv          the table of ops says that input 1 is the kernel
    bias ─▶ Add ◀─ MatMul ◀─ kernel                    a tensor added to a product with a weight is its bias
    conv.bias ─▶ Identity ─▶ norm.bias                 equal tensors are stored once

Initialisers and `Constant` nodes are alike. Any other tensor with a name of the program ("encoder.pos_embedding") is a
weight too; other tensors are constants. `StoredNumbers` judges whether the weights of a file are the parameters of its
program.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import chain
from math import prod
from typing import NamedTuple

import numpy as np

from graphviz_tb.formats.onnx_messages import Attribute, FunctionValue, GraphValue, ModelValue, NodeValue, TensorValue
from graphviz_tb.formats.onnx_scopes import (
    FOLDED_BIAS,
    WEIGHT_ATTRIBUTES,
    has_call_record,
    is_generated_name,
    name_form_in_calls,
    parameters_of_call,
    parameters_of_program,
    stored_kind,
)
from graphviz_tb.formats.wire_nodes import Value, shortened_sizes
from graphviz_tb.limits import MAX_COMPARED_TENSOR_BYTES, MAX_FOLLOWED_CARRIERS, Meter
from graphviz_tb.model.columns import Bytes
from graphviz_tb.model.tensors import element_size
from graphviz_tb.ops.roles import Role, has_role
from graphviz_tb.ops.signatures import input_names, setting_input_name, weight_input_names
from graphviz_tb.ops.table import MAX_CACHED_OP_TYPES

CARRIERS = frozenset({
    "Cast", "CastLike", "DequantizeLinear", "Identity", "QuantizeLinear",
    "Reshape", "Squeeze", "Transpose", "Unsqueeze",
})  # fmt: skip
JOINING_OPS = frozenset(("Add", "Mul", "Sub", "Div"))
COUNTED_NAME = re.compile(r"[A-Za-z]?_?\d+", re.ASCII)  # a letter and a counter
LITERAL_NAME = re.compile(r"(?:.*/)?Constant(?:_\d+)?_output_\d+")  # a tracer's name for a number in the program
OWN_DOMAINS = frozenset(("", "ai.onnx", "ai.onnx.ml"))
NEVER_WEIGHTS = frozenset(("", "string", "bool", "int64", "uint64"))  # types
PACKED_KERNEL = "packed_kernel"
NEUTRAL_FORMS = {"scale": struct.pack("<f", 1), "offset": struct.pack("<f", 0)}  # one element of float32

FunctionKey = tuple[str, str, str]  # domain, name, overload
NodeBodies = tuple[tuple[str, GraphValue], ...]  # graphs of a node, by attribute
BlockKey = FunctionKey | None  # None: the main graph and the graphs inside of it, whose names differ


class WeightUse(NamedTuple):
    """An op that takes a stored tensor as a weight: the name of that input in the table, and the node."""

    slot: str
    node: NodeValue


def op_type(node: NodeValue) -> str:
    """Return the type of an op with its framework, whatever its domain.

    >>> op_type(NodeValue(op_type="Conv")), op_type(NodeValue(op_type="Gelu", domain="com.microsoft"))
    ('onnx::Conv', 'onnx::Gelu')
    """
    return _with_framework(node.op_type)


@lru_cache(maxsize=MAX_CACHED_OP_TYPES)  # thousands of nodes share a text, whose hash is cached
def _with_framework(own: str) -> str:
    return f"onnx::{own}"


def function_key(node: NodeValue) -> FunctionKey:
    """Return the key of the function that a node calls if the model defines it."""
    return node.domain, node.op_type, node.overload


def _graphs_of(attribute: Attribute) -> list[tuple[str, GraphValue]]:
    single = [] if attribute.g is None else [(attribute.name, attribute.g)]
    return [*single, *((f"{attribute.name}_{number}", graph) for number, graph in enumerate(attribute.graphs))]


def is_constant(node: NodeValue) -> bool:
    """Return whether the output of a node is a stored tensor."""
    return node.op_type == "Constant" and node.domain in OWN_DOMAINS


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


def _stored_tensors(graph: GraphValue | FunctionValue) -> dict[str, TensorValue]:
    found: dict[str, TensorValue] = {}
    if isinstance(graph, GraphValue):
        found |= {tensor.name: tensor for tensor in graph.initializers}
        for sparse in graph.sparse_initializers:
            values = sparse.values
            found[values.name] = TensorValue(values.name, sparse.dims, values.data_type)
    for node in graph.nodes:
        if is_constant(node) and node.outputs:
            found[node.outputs[0]] = _constant_of_node(node)
    return found


class StoredTensorUses:
    """Users of the stored tensors of a model, through carriers and into functions; `bodies` are the graphs of nodes
    with bodies."""

    def __init__(self, model: ModelValue) -> None:
        self.from_pytorch = model.producer == "pytorch"
        self.listed = parameters_of_program(model.graph) if model.graph is not None else {}
        self.functions = {(each.domain, each.name, each.overload): each for each in model.functions}
        self._users: dict[BlockKey, dict[str, list[tuple[NodeValue, int]]]] = {}
        self._makers: dict[BlockKey, dict[str, NodeValue]] = {}
        self.stored: dict[tuple[BlockKey, str], TensorValue] = {}
        self._stored_by_graph: dict[int, Mapping[str, TensorValue]] = {}
        self.bodies: dict[NodeValue, NodeBodies] = {}
        if model.graph is not None:
            self._collect(None, model.graph)
        for key, function in self.functions.items():
            self._collect(key, function)

    def _collect(self, block: BlockKey, first: GraphValue | FunctionValue) -> None:
        users, makers = self._users.setdefault(block, {}), self._makers.setdefault(block, {})
        waiting: list[GraphValue | FunctionValue] = [first]
        followed: set[str] = set()  # values whose users are recorded
        without_graphs: set[int] = set()  # ids of attributes without graphs; equal attributes are one object
        while waiting:
            graph = waiting.pop()
            found = self._stored_by_graph[id(graph)] = _stored_tensors(graph)
            self.stored |= {(block, name): tensor for name, tensor in found.items()}
            followed.update(
                found, [node.outputs[0] for node in graph.nodes if node.op_type in CARRIERS and node.outputs]
            )
            if isinstance(graph, FunctionValue):
                followed.update(graph.inputs)
            makers |= {value: node for node in graph.nodes for value in node.outputs}
            for node in graph.nodes:
                if not followed.isdisjoint(node.inputs):
                    for slot, value in enumerate(node.inputs):
                        if value and value in followed:
                            users.setdefault(value, []).append((node, slot))
                if not without_graphs.issuperset(map(id, node.attributes)):
                    without_graphs.update([id(attribute) for attribute in node.attributes if not _graphs_of(attribute)])
                    if bodies := tuple(chain.from_iterable(map(_graphs_of, node.attributes))):
                        self.bodies[node] = bodies
                        waiting += [inner for _, inner in bodies]

    def stored_in_graph(self, graph: GraphValue | FunctionValue) -> Mapping[str, TensorValue]:
        """Return the stored tensors of a graph by value, without those of inner graphs."""
        return self._stored_by_graph[id(graph)]

    def _first_users(self, block: BlockKey, value: str) -> Sequence[tuple[NodeValue, int]]:
        """Return the first nodes that use a value, each with the number of the input."""
        users = self._users[block].get(value, ())
        return users if len(users) <= MAX_FOLLOWED_CARRIERS else users[:MAX_FOLLOWED_CARRIERS]

    def weight_use(self, block: BlockKey, value: str, tensor: TensorValue) -> WeightUse | None:
        """Return the first use of a stored tensor as a weight; None if it is a constant."""
        dtype = tensor.dtype
        if dtype in NEVER_WEIGHTS:
            return None
        quantized = "float" not in dtype
        waiting, seen = [(block, value, False)], {(block, value)}
        while waiting and len(seen) < MAX_FOLLOWED_CARRIERS:
            current_block, name, dequantized = waiting.pop(0)
            for node, slot in self._first_users(current_block, name):
                function = self.functions.get(function_key(node)) if self.functions else None
                if function is not None:
                    if slot < len(function.inputs):
                        self._follow(waiting, seen, (function_key(node), function.inputs[slot], dequantized))
                    continue
                op = op_type(node)
                names = weight_input_names(op)
                if (
                    slot in names
                    and (dequantized or not quantized or _takes_quantized(op))
                    and not _is_neutral(value, names[slot], tensor)
                ):
                    return WeightUse(_recorded_slot(node, value) or names[slot], node)
                if slot == 0 and node.op_type in CARRIERS and node.outputs:
                    is_dequantized = dequantized or node.op_type == "DequantizeLinear"
                    self._follow(waiting, seen, (current_block, node.outputs[0], is_dequantized))
                elif node.op_type in JOINING_OPS and not quantized and self._joins(current_block, node, slot, tensor):
                    joined = "bias" if node.op_type in ("Add", "Sub") else "scale"
                    return WeightUse(_recorded_slot(node, value) or joined, node)
        numbered = prod(tensor.dims) < 2 and COUNTED_NAME.fullmatch(value)  # a number of the program
        return self._use_by_name(value) if block is None and not quantized and not numbered else None

    def captured_values(self, graph: GraphValue, stored: Mapping[str, object]) -> list[str]:
        """Return the values from outside that a graph and its inner graphs use, in the order of their use, without
        stored tensors."""
        given: set[str] = set()
        taken: dict[str, None] = {}
        waiting: list[GraphValue] = [graph]
        while waiting:
            inner = waiting.pop()
            given |= {value.name for value in inner.inputs} | self.stored_in_graph(inner).keys()
            taken.update(dict.fromkeys(output.name for output in inner.outputs))
            for node in inner.nodes:
                given.update(node.outputs)
                taken.update(dict.fromkeys(filter(None, node.inputs)))
                waiting += [more for _, more in self.bodies.get(node, ())]
        return [value for value in taken if value not in given and value not in stored]

    def is_in_calls(self, value: str) -> bool:
        """Return whether the exporter recorded the calls of the ops that use a value."""
        return any(has_call_record(node) for node, _ in self._first_users(None, value))

    def is_operand(self, block: BlockKey, value: str) -> bool:
        """Return whether an op computes with a value, which is not only a setting: a scale, or the limit of a clip."""
        return any(not setting_input_name(op_type(node), slot) for node, slot in self._first_users(block, value))

    def is_looked_up(self, block: BlockKey, value: str) -> bool:
        """Return whether an op looks up rows of a stored tensor."""
        users = self._first_users(block, value)
        return any(slot == 0 and has_role(op_type(node), Role.LOOKUP) for node, slot in users)

    @staticmethod
    def _follow(
        waiting: list[tuple[BlockKey, str, bool]], seen: set[tuple[BlockKey, str]], step: tuple[BlockKey, str, bool]
    ) -> None:
        if step[:2] not in seen:
            seen.add(step[:2])
            waiting.append(step)

    def _use_by_name(self, value: str) -> WeightUse | None:
        """Return the use of a tensor that has a name in the program: the exporter recorded or did not generate it."""
        taken = self._first_users(None, value)
        users = [node for node, slot in taken if not setting_input_name(op_type(node), slot)]
        if not users or is_generated_name(value):
            return None
        said = next((node for node in users if stored_kind(node, value)), None)
        named = "." in value or (self.from_pytorch and "/" not in value and not any(map(has_call_record, users)))
        return WeightUse(_recorded_slot(said, value) if said else "", users[0]) if said or named else None

    def _joins(self, block: BlockKey, node: NodeValue, slot: int, tensor: TensorValue) -> bool:
        """Return whether an op joins a vector to the result of a product or a norm that has weights."""
        if sum(size > 1 for size in tensor.dims) > 1 or not tensor.dims or len(node.inputs) != 2:
            return False
        if prod(tensor.dims) < 2 and node.op_type not in ("Add", "Sub"):
            return False
        value = node.inputs[1 - slot]
        for _ in range(MAX_FOLLOWED_CARRIERS):
            maker = self._makers[block].get(value)
            if maker is None or not maker.inputs:
                return False
            if has_role(op_type(maker), Role.CONVOLUTION, Role.PRODUCT, Role.NORMALIZATION):
                slots = weight_input_names(op_type(maker))
                return any(self._may_be_stored(block, maker.inputs[at]) for at in slots if at < len(maker.inputs))
            if maker.op_type not in CARRIERS and maker.op_type not in JOINING_OPS:
                return False
            value = maker.inputs[0]
        return False

    def _may_be_stored(self, block: BlockKey, value: str) -> bool:
        """Return whether a value is a stored tensor, possibly dequantized or transposed, or an argument of a
        function."""
        for _ in range(MAX_FOLLOWED_CARRIERS):
            maker = self._makers[block].get(value)
            if maker is None or maker.op_type not in CARRIERS or not maker.inputs:
                break
            value = maker.inputs[0]
        return (block, value) in self.stored or (block is not None and value in self.functions[block].inputs)


@lru_cache(maxsize=MAX_CACHED_OP_TYPES)
def kernel_slot(op: str) -> int:
    """Return the number of an op's kernel input; -1 if it has none."""
    return next((slot for slot, name in weight_input_names(op).items() if name == "kernel"), -1)


@lru_cache(maxsize=MAX_CACHED_OP_TYPES)
def _takes_quantized(op: str) -> bool:
    """Return whether an op accepts quantised weights as they are stored, with their zero points."""
    return any("zero_point" in setting_input_name(op, slot) for slot in input_names(op))


def stored_kind_of(tensor: TensorValue, use: WeightUse | None) -> Value:
    """Return shape and type of a stored tensor; if a byte packs several numbers, the op states the sizes.

    >>> from graphviz_tb.formats.onnx_messages import Attribute
    >>> sizes = tuple(Attribute(name, i=size) for name, size in (("K", 32), ("N", 8), ("bits", 4)))
    >>> packed = NodeValue(op_type="MatMulNBits", attributes=sizes)
    >>> stored_kind_of(TensorValue("w", (8, 2, 8), 2), WeightUse("packed_kernel", packed))
    Value(sizes=(8, 32), dtype='uint4')
    """
    if use is not None and use.slot == PACKED_KERNEL:
        stated = {attribute.name: attribute.i for attribute in use.node.attributes}
        return Value((stated.get("N"), stated.get("K")), f"uint{stated.get('bits') or 4}")
    return Value(shortened_sizes(tensor.dims), tensor.dtype)


def _recorded_slot(node: NodeValue, value: str) -> str:
    """Return "buffer" for a stored value if the recorded call of a node says that it is not a parameter. Constant
    tensors are buffers, as in programs of torch.export: a computed table is not a parameter."""
    return "buffer" if node.metadata and stored_kind(node, value) in ("b", "c") else ""


def _is_neutral(value: str, slot: str, tensor: TensorValue) -> bool:
    """Return whether a vector with a generated name has no effect on a normalised value: a scale of ones, or an offset
    of zeros; or whether a literal repeats one number, like an initial state of zeros."""
    if LITERAL_NAME.fullmatch(value):
        numbers, size = tensor.content() or b"", element_size(tensor.dtype)
        return 0 < size < len(numbers) and numbers == numbers[:size] * (len(numbers) // size)
    form = NEUTRAL_FORMS.get(slot)
    content = tensor.content() if form is not None and is_generated_name(value) else None
    return content is not None and form is not None and content == form * (len(content) // len(form))


# Judge whether the stored tensors of an ONNX model are the parameters of its program. Exporters fold, compute, copy and
# drop parameters; then the program has at least, or at most, as many parameters as the file has weights:
#
#   is_folded          bn.weight, bn.bias ─▶ conv.weight        the norm's parameters are in the kernel        at least
#   is_norm_bias       bn (no weights) ─▶ conv.weight_bias      its call has no bias: a buffer                 exactly
#   may_be_norm_bias   the same without recorded calls          a parameter or a buffer                        at most
#   may_hold_weights   wpe.weight ─▶ onnx::Add_900              computed from weights or from literals         at least
#   shared_table       wte.weight [V, D] ─▶ MatMul_955 [D, V]   a copy; exactly if equal values prove it       at most
#   may_be_buffer      pos ─▶ Add, without recorded calls       a parameter, or a table that was computed      at most
#   is_computed        w ─▶ t ─▶ MatMul, not in a call          computed, maybe from weights that are kept     at most
#   may_lack_unused    head.weight ─▶ no output                 dropped; only newer exporters list parameters  at least

PARAMETER_NAMES = frozenset(("weight", "bias", "in_proj_weight", "in_proj_bias"))
MIN_WEIGHT_ELEMENTS = 2
ROWS_COMPARED_AT_ONCE = 1024


class StoredNumbers:
    """Judges stored tensors by their uses and their numbers, which are compared in place: `data` are the bytes of the
    file."""

    def __init__(self, data: bytes, uses: StoredTensorUses) -> None:
        self.data, self.uses = data, uses
        self._meter = Meter(MAX_COMPARED_TENSOR_BYTES)

    def may_hold_weights(self, block: BlockKey, value: str, tensor: TensorValue) -> bool:
        """Return whether a constant may be a weight, or computed from weights: it has more than two distinct values (a
        mask has one or two), and no name in a program of PyTorch, whose named tensors are known."""
        if "float" not in tensor.dtype or prod(tensor.dims) < MIN_WEIGHT_ELEMENTS or LITERAL_NAME.fullmatch(value):
            return False
        # An exporter that records calls names a computed constant after a call: `neg_1`.
        is_named = self.uses.from_pytorch and not is_generated_name(value) and not self.uses.is_in_calls(value)
        if is_named or not self.uses.is_operand(block, value):
            return False
        elements = self._elements(tensor)
        if elements is None:
            return True
        unlike_first = elements[(elements != elements[0]).any(axis=1)]
        return bool((unlike_first != unlike_first[:1]).any())

    def may_lack_unused(self, listed: Mapping[str, str]) -> bool:
        """Return whether the program may have parameters that no output needs: PyTorch's exporters leave them out, and
        only the newer exporter lists all parameters."""
        return self.uses.from_pytorch and not listed

    def is_folded(self, value: str, use: WeightUse) -> bool:
        """Return whether the kernel of a convolution has another name than in the program: a norm is folded into it."""
        return self.uses.from_pytorch and is_generated_name(value) and has_role(op_type(use.node), Role.CONVOLUTION)

    def is_norm_bias(self, value: str, use: WeightUse) -> bool:
        """Return whether a bias is that of a norm without weights, folded into a convolution without a bias."""
        if not FOLDED_BIAS.search(value) or not has_call_record(use.node):
            return False
        return not any(name.endswith(WEIGHT_ATTRIBUTES["offset"]) for name in parameters_of_call(use.node))

    def may_be_norm_bias(self, value: str, use: WeightUse) -> bool:
        """Return whether a bias may be that of a norm without weights: the exporter recorded no call."""
        return use.slot == "bias" and self.is_folded(value, use) and not has_call_record(use.node)

    def may_be_buffer(self, value: str, use: WeightUse) -> bool:
        """Return whether a stored tensor may be a table that the program computed: neither the input, nor the name, nor
        the exporter says that it is a parameter. A named tensor that PyTorch's older exporter joins to a product may be
        a bias or a buffer."""
        if has_call_record(use.node) or value.rpartition(".")[2] in PARAMETER_NAMES:
            return False
        is_weight_input = use.slot in weight_input_names(op_type(use.node)).values()
        is_named_by_pytorch = self.uses.from_pytorch and not is_generated_name(value)
        return not use.slot or (is_named_by_pytorch and not is_weight_input)

    def may_count_too_much(self, value: str, use: WeightUse) -> bool:
        """Return whether a stored tensor may be no parameter of the program."""
        return any(doubt(value, use) for doubt in (self.may_be_norm_bias, self.may_be_buffer, self.is_computed))

    def is_computed(self, value: str, use: WeightUse) -> bool:
        """Return whether an exporter computed a stored tensor, maybe from weights that the file has as well: it is a
        literal, or has the name of a call (`t`), and the recorded call of its user has no such parameter."""
        if LITERAL_NAME.fullmatch(value):
            return True
        if not self.uses.listed or not has_call_record(use.node) or "." in value:
            return False
        if is_generated_name(value):
            return not parameters_of_call(use.node)
        return name_form_in_calls(value) not in self.uses.listed and not stored_kind(use.node, value)

    def shared_table(self, value: str, tensor: TensorValue, use: WeightUse) -> tuple[str, bool] | None:
        """Return the name of a lookup's table that a product uses as a second copy, possibly transposed, and whether
        equal values prove it; None if no table has this size, or the values differ."""
        if len(tensor.dims) != 2 or not is_generated_name(value) or not has_role(op_type(use.node), Role.PRODUCT):
            return None
        unproven: tuple[str, bool] | None = None
        for block, name in self._tables_by_size.get((tensor.dtype, tuple(sorted(tensor.dims))), ()):
            equal = self._are_equal(self.uses.stored[block, name], tensor)
            if equal:
                return name, True
            if equal is None and unproven is None:
                unproven = name, False
        return unproven

    @cached_property
    def _tables_by_size(self) -> Mapping[tuple[str, tuple[int, ...]], list[tuple[BlockKey, str]]]:
        """The tables of lookups, by type and sorted sizes."""
        tables: dict[tuple[str, tuple[int, ...]], list[tuple[BlockKey, str]]] = {}
        for key, tensor in self.uses.stored.items():
            if len(tensor.dims) == 2 and "float" in tensor.dtype and self.uses.is_looked_up(*key):
                tables.setdefault((tensor.dtype, tuple(sorted(tensor.dims))), []).append(key)
        return tables

    def _are_equal(self, table: TensorValue, copy: TensorValue) -> bool | None:
        """Return whether two matrices have the same numbers, perhaps transposed; None if the values are missing from
        the file, or all equal."""
        numbers, copied = self._elements(table), self._elements(copy)
        if numbers is None or copied is None or not (numbers != numbers[0]).any():
            return None
        if copy.dims == table.dims and np.array_equal(numbers, copied):
            return True
        if copy.dims != table.dims[::-1]:
            return False
        matrix, transposed = numbers.reshape(*table.dims, -1), copied.reshape(*copy.dims, -1).transpose(1, 0, 2)
        rows = range(0, table.dims[0], ROWS_COMPARED_AT_ONCE)
        parts = (slice(start, start + ROWS_COMPARED_AT_ONCE) for start in rows)
        return all(np.array_equal(matrix[part], transposed[part]) for part in parts)

    def _elements(self, tensor: TensorValue) -> Bytes | None:
        """Return the bytes of the elements, one row per element; None if the file does not contain them, or too many
        were compared before."""
        content: memoryview | bytes | None = tensor.content()
        if content is None and tensor.span and not tensor.is_external:
            content = memoryview(self.data)[slice(*tensor.span[:2])]
        size = element_size(tensor.dtype)
        if not content or len(content) != size * prod(tensor.dims) or not self._meter.take(len(content)):
            return None
        return np.frombuffer(content, np.uint8).reshape(-1, size)
