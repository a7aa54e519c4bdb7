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
from collections.abc import Mapping, Sequence, Set
from functools import cached_property, lru_cache
from math import prod
from typing import NamedTuple

import numpy as np

from graphviz_tb.formats.onnx_messages import ModelValue, TensorValue
from graphviz_tb.formats.onnx_scopes import (
    FOLDED_BIAS,
    WEIGHT_ATTRIBUTES,
    has_call_record,
    is_generated_name,
    is_literal_name,
    name_form_in_calls,
    parameters_of_call,
    parameters_of_program,
    stored_kind,
)
from graphviz_tb.formats.onnx_values import ModelValues, OnnxNode
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
PASSED_OPS = CARRIERS | JOINING_OPS  # between a product and the vectors that are joined to its result
COUNTED_NAME = re.compile(r"[A-Za-z]?_?\d+", re.ASCII)  # a letter and a counter
NEVER_WEIGHTS = frozenset(("", "string", "bool", "int64", "uint64"))  # types
PACKED_KERNEL = "packed_kernel"
NEUTRAL_FORMS = {"scale": struct.pack("<f", 1), "offset": struct.pack("<f", 0)}  # one element of float32


class WeightUse(NamedTuple):
    """An op that takes a stored tensor as a weight: the name of that input in the table, and the node."""

    slot: str
    node: OnnxNode


class StoredTensorUses:
    """Uses of the stored tensors of a model, through carriers and into functions."""

    def __init__(self, model: ModelValue, values: ModelValues) -> None:
        self.values = values
        self.from_pytorch = model.producer == "pytorch"
        self.listed = parameters_of_program(model.graph) if model.graph is not None else {}
        self._weight_uses: dict[int, WeightUse | None] = {}

    def _first_users(self, value: int) -> Sequence[tuple[OnnxNode, int]]:
        """Return the first nodes that use a value, each with the number of the input."""
        users = self.values.users[value]
        return users if len(users) <= MAX_FOLLOWED_CARRIERS else users[:MAX_FOLLOWED_CARRIERS]

    def weight_use(self, value: int, tensor: TensorValue) -> WeightUse | None:
        """Return the first use of a stored tensor as a weight; None if it is a constant."""
        if value not in self._weight_uses:
            self._weight_uses[value] = self._find_weight_use(value, tensor)
        return self._weight_uses[value]

    def _find_weight_use(self, value: int, tensor: TensorValue) -> WeightUse | None:
        dtype, own_name, functions = tensor.dtype, self.values.names[value], self.values.functions
        if dtype in NEVER_WEIGHTS:
            return None
        quantized = "float" not in dtype
        waiting = [(value, False)]
        seen = {value}
        for reached, dequantized in waiting:  # which grows
            if len(seen) >= MAX_FOLLOWED_CARRIERS:
                break
            for node, slot in self._first_users(reached):
                function = functions.get(node.function_key) if functions else None
                following = -1  # a value that equals this one
                if function is not None:
                    following = function.inputs[slot] if slot < len(function.inputs) else -1
                elif (
                    (name := weight_input_names(node.op).get(slot)) is not None
                    and (dequantized or not quantized or _takes_quantized(node.op))
                    and not _is_neutral(own_name, name, tensor)
                ):
                    return WeightUse(_recorded_slot(node, own_name) or name, node)
                elif slot == 0 and node.message.op_type in CARRIERS and node.outputs:
                    following = node.outputs[0]
                elif node.message.op_type in JOINING_OPS and not quantized and self._joins(node, slot, tensor):
                    joined = "bias" if node.message.op_type in ("Add", "Sub") else "scale"
                    return WeightUse(_recorded_slot(node, own_name) or joined, node)
                if following >= 0 and following not in seen:
                    seen.add(following)
                    waiting.append((following, dequantized or node.op == "onnx::DequantizeLinear"))
        numbered = prod(tensor.dims) < 2 and COUNTED_NAME.fullmatch(own_name)  # a number of the program
        in_function = value >= self.values.first_of_functions
        return self._use_by_name(value, own_name) if not in_function and not quantized and not numbered else None

    def is_in_calls(self, value: int) -> bool:
        """Return whether the exporter recorded the calls of the ops that use a value."""
        return any(has_call_record(node.message) for node, _ in self._first_users(value))

    def is_operand(self, value: int) -> bool:
        """Return whether an op computes with a value, which is not only a setting: a scale, or the limit of a clip."""
        return any(not setting_input_name(node.op, slot) for node, slot in self._first_users(value))

    def is_looked_up(self, value: int) -> bool:
        """Return whether an op looks up rows of a stored tensor."""
        return any(slot == 0 and has_role(node.op, Role.LOOKUP) for node, slot in self._first_users(value))

    def _use_by_name(self, value: int, name: str) -> WeightUse | None:
        """Return the use of a tensor that has a name in the program: the exporter recorded or did not generate it."""
        users = [node for node, slot in self._first_users(value) if not setting_input_name(node.op, slot)]
        if not users or is_generated_name(name):
            return None
        said = next((node for node in users if stored_kind(node.message, name)), None)
        is_recorded = any(has_call_record(node.message) for node in users)
        named = "." in name or (self.from_pytorch and "/" not in name and not is_recorded)
        return WeightUse(_recorded_slot(said, name) if said else "", users[0]) if said or named else None

    def _joins(self, node: OnnxNode, slot: int, tensor: TensorValue) -> bool:
        """Return whether an op joins a vector to the result of a product or a norm that has weights."""
        if sum(size > 1 for size in tensor.dims) > 1 or not tensor.dims or len(node.inputs) != 2:
            return False
        if prod(tensor.dims) < 2 and node.message.op_type not in ("Add", "Sub"):
            return False
        maker = self.values.makers[self._origin(node.inputs[1 - slot], PASSED_OPS)]
        if maker is None or not has_role(maker.op, Role.CONVOLUTION, Role.PRODUCT, Role.NORMALIZATION):
            return False
        origins = [
            self._origin(maker.inputs[at], CARRIERS) for at in weight_input_names(maker.op) if at < len(maker.inputs)
        ]
        return any(self.values.tensors[value] is not None or value in self.values.arguments for value in origins)

    def _origin(self, value: int, ops: Set[str]) -> int:
        """Return the value from which some `ops` make a value, by their first inputs."""
        for _ in range(MAX_FOLLOWED_CARRIERS):
            maker = self.values.makers[value]
            if maker is None or maker.message.op_type not in ops or not maker.inputs:
                break
            value = maker.inputs[0]
        return value


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

    >>> from graphviz_tb.formats.onnx_messages import Attribute, NodeValue
    >>> sizes = tuple(Attribute(name, i=size) for name, size in (("K", 32), ("N", 8), ("bits", 4)))
    >>> packed = OnnxNode(NodeValue(op_type="MatMulNBits", attributes=sizes), "onnx::MatMulNBits")
    >>> stored_kind_of(TensorValue("w", (8, 2, 8), 2), WeightUse("packed_kernel", packed))
    Value(sizes=(8, 32), dtype='uint4')
    """
    if use is not None and use.slot == PACKED_KERNEL:
        stated = {attribute.name: attribute.i for attribute in use.node.message.attributes}
        return Value((stated.get("N"), stated.get("K")), f"uint{stated.get('bits') or 4}")
    return Value(shortened_sizes(tensor.dims), tensor.dtype)


def _recorded_slot(node: OnnxNode, value: str) -> str:
    """Return "buffer" for a stored value if the recorded call of a node says that it is not a parameter. Constant
    tensors are buffers, as in programs of torch.export: a computed table is not a parameter."""
    return "buffer" if node.message.metadata and stored_kind(node.message, value) in ("b", "c") else ""


def _is_neutral(value: str, slot: str, tensor: TensorValue) -> bool:
    """Return whether a vector with a generated name has no effect on a normalised value: a scale of ones, or an offset
    of zeros; or whether a literal repeats one number, like an initial state of zeros."""
    if is_literal_name(value):
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

    def may_hold_weights(self, value: int, tensor: TensorValue) -> bool:
        """Return whether a constant may be a weight, or computed from weights: it has more than two distinct values (a
        mask has one or two), and no name in a program of PyTorch, whose named tensors are known."""
        name = self.uses.values.names[value]
        if "float" not in tensor.dtype or prod(tensor.dims) < MIN_WEIGHT_ELEMENTS or is_literal_name(name):
            return False
        # An exporter that records calls names a computed constant after a call: `neg_1`.
        is_named = self.uses.from_pytorch and not is_generated_name(name) and not self.uses.is_in_calls(value)
        if is_named or not self.uses.is_operand(value):
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
        return self.uses.from_pytorch and is_generated_name(value) and has_role(use.node.op, Role.CONVOLUTION)

    def is_norm_bias(self, value: str, use: WeightUse) -> bool:
        """Return whether a bias is that of a norm without weights, folded into a convolution without a bias."""
        if not FOLDED_BIAS.search(value) or not has_call_record(use.node.message):
            return False
        return not any(name.endswith(WEIGHT_ATTRIBUTES["offset"]) for name in parameters_of_call(use.node.message))

    def may_be_norm_bias(self, value: str, use: WeightUse) -> bool:
        """Return whether a bias may be that of a norm without weights: the exporter recorded no call."""
        return use.slot == "bias" and self.is_folded(value, use) and not has_call_record(use.node.message)

    def may_be_buffer(self, value: str, use: WeightUse) -> bool:
        """Return whether a stored tensor may be a table that the program computed: neither the input, nor the name, nor
        the exporter says that it is a parameter. A named tensor that PyTorch's older exporter joins to a product may be
        a bias or a buffer."""
        if has_call_record(use.node.message) or value.rpartition(".")[2] in PARAMETER_NAMES:
            return False
        is_weight_input = use.slot in weight_input_names(use.node.op).values()
        is_named_by_pytorch = self.uses.from_pytorch and not is_generated_name(value)
        return not use.slot or (is_named_by_pytorch and not is_weight_input)

    def may_count_too_much(self, value: str, use: WeightUse) -> bool:
        """Return whether a stored tensor may be no parameter of the program."""
        return self.may_be_norm_bias(value, use) or self.may_be_buffer(value, use) or self.is_computed(value, use)

    def is_computed(self, value: str, use: WeightUse) -> bool:
        """Return whether an exporter computed a stored tensor, maybe from weights that the file has as well: it is a
        literal, or has the name of a call (`t`), and the recorded call of its user has no such parameter."""
        if is_literal_name(value):
            return True
        if not self.uses.listed or not has_call_record(use.node.message) or "." in value:
            return False
        if is_generated_name(value):
            return not parameters_of_call(use.node.message)
        return name_form_in_calls(value) not in self.uses.listed and not stored_kind(use.node.message, value)

    def shared_table(self, value: str, tensor: TensorValue, use: WeightUse) -> tuple[str, bool] | None:
        """Return the name of a lookup's table that a product uses as a second copy, possibly transposed, and whether
        equal values prove it; None if no table has this size, or the values differ."""
        if len(tensor.dims) != 2 or not is_generated_name(value) or not has_role(use.node.op, Role.PRODUCT):
            return None
        unproven: tuple[str, bool] | None = None
        for name, table in self._tables_by_size.get((tensor.dtype, tuple(sorted(tensor.dims))), ()):
            equal = self._are_equal(table, tensor)
            if equal:
                return name, True
            if equal is None and unproven is None:
                unproven = name, False
        return unproven

    @cached_property
    def _tables_by_size(self) -> Mapping[tuple[str, tuple[int, ...]], list[tuple[str, TensorValue]]]:
        """The tables of lookups with their names, by type and sorted sizes."""
        tables: dict[tuple[str, tuple[int, ...]], list[tuple[str, TensorValue]]] = {}
        for value, tensor in self.uses.values.stored.items():
            if len(tensor.dims) == 2 and "float" in tensor.dtype and self.uses.is_looked_up(value):
                key = tensor.dtype, tuple(sorted(tensor.dims))
                tables.setdefault(key, []).append((self.uses.values.names[value], tensor))
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
