"""Judge whether the stored tensors of an ONNX model are the parameters of its program.

    bn.weight, bn.bias ─▶ (folded) ─▶ conv.weight        the call of the op has the parameter, the file does not
    bn (no weights)    ─▶ (folded) ─▶ conv.weight_bias   the call of the op has no bias, the file does
    wpe.weight ─▶ (worked out) ─▶ onnx::Add_900          numbers that an exporter made, of weights or of literals
    wte.weight [V, D]  ·  onnx::MatMul_955 [D, V]        a table that a product shares, turned: once more in the file
    pos ─▶ Add, without calls in the file                a parameter, or a table that the program worked out: a buffer
    head.weight ─▶ no output                             dropped, and the older exporter of PyTorch lists no parameters

The first, the third and the last make the count of the file a lower bound, the fourth and the fifth an upper one, the
table unless its numbers are there and differ; equal ones are one weight. The second is a buffer; without calls in the
file the bias is in doubt both ways.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import prod

import numpy as np

from graphviz_tb.formats.onnx_messages import TensorValue
from graphviz_tb.formats.onnx_scopes import (
    FOLDED_BIAS,
    WEIGHT_ATTRIBUTES,
    has_call_record,
    is_made_name,
    parameters_of_call,
)
from graphviz_tb.formats.onnx_weights import BlockKey, StoredTensorUses, WeightUse, op_type
from graphviz_tb.limits import MAX_COMPARED_TENSOR_BYTES, Meter
from graphviz_tb.model.columns import Bytes
from graphviz_tb.model.tensors import element_size
from graphviz_tb.ops.roles import Role, has_role
from graphviz_tb.ops.signatures import weight_input_names

LITERAL_NAME = re.compile(r"(?:.*/)?Constant(?:_\d+)?_output_\d+")  # a tracer's name for a number in the program
PARAMETER_NAMES = frozenset(("weight", "bias", "in_proj_weight", "in_proj_bias"))
FEWEST_WEIGHTS = 2
ROWS_COMPARED_AT_ONCE = 1024


class StoredNumbers:
    """The numbers of stored tensors, compared in place: `data` are the bytes of the file."""

    def __init__(self, data: bytes, uses: StoredTensorUses) -> None:
        self.data, self.uses = data, uses
        self._meter = Meter(MAX_COMPARED_TENSOR_BYTES)
        self._tables: dict[tuple[str, tuple[int, ...]], list[tuple[BlockKey, str]]] | None = None

    def may_hold_weights(self, value: str, tensor: TensorValue) -> bool:
        """Return whether a constant may be worked out from weights: numbers under a name that an exporter made, and not
        only one or two, as those of a mask."""
        if "float" not in tensor.dtype or prod(tensor.dims) < FEWEST_WEIGHTS or LITERAL_NAME.fullmatch(value):
            return False
        # An exporter that writes calls gives what it works out the name of a call: `neg_1`.
        if not is_made_name(value) and not self.uses.is_in_calls(value):
            return False
        numbers = self._elements(tensor)
        if numbers is None:
            return True
        first = numbers[0]
        others = np.flatnonzero((numbers != first).any(axis=1))
        return bool(len(others)) and bool((numbers[others] != numbers[others[0]]).any())

    def may_lack_unused(self, listed: Mapping[str, str]) -> bool:
        """Return whether the program may have parameters that no output needs: PyTorch's exporters leave them out, and
        only the newer one lists the parameters of the program."""
        return self.uses.from_pytorch and not listed

    def is_folded(self, value: str, use: WeightUse) -> bool:
        """Return whether the kernel of a convolution has another name than in the program: a norm is folded into it."""
        made = self.uses.from_pytorch and is_made_name(value)
        return made and has_role(op_type(use.node), Role.CONVOLUTION)

    def is_made_bias(self, value: str, use: WeightUse) -> bool:
        """Return whether a bias is that of a norm without weights, folded into a convolution without a bias."""
        if not FOLDED_BIAS.search(value) or not has_call_record(use.node):
            return False
        return not any(name.endswith(WEIGHT_ATTRIBUTES["offset"]) for name in parameters_of_call(use.node))

    def may_be_made_bias(self, value: str, use: WeightUse) -> bool:
        """Return whether a bias may be that of a norm without weights; the exporter says nothing of its calls."""
        return use.slot == "bias" and self.is_folded(value, use) and not has_call_record(use.node)

    def may_be_buffer(self, value: str, use: WeightUse) -> bool:
        """Return whether a stored tensor may be a table that the program worked out: nothing says that it is a
        parameter, neither the input that takes it, nor its name, nor the exporter. What PyTorch's older exporter stores
        under a name of the program and joins to a product is a bias, or a buffer."""
        own = value.rpartition(".")[2]
        joined = self.uses.from_pytorch and use.slot not in weight_input_names(op_type(use.node)).values()
        says_nothing = not use.slot or (joined and not is_made_name(value))
        return says_nothing and own not in PARAMETER_NAMES and not has_call_record(use.node)

    def shared_table(self, value: str, tensor: TensorValue, use: WeightUse) -> tuple[str, bool] | None:
        """Return the table of a lookup that a product takes once more, maybe turned, and whether its numbers prove it;
        None if there is none of that size, or if its numbers differ."""
        if len(tensor.dims) != 2 or not is_made_name(value) or not has_role(op_type(use.node), Role.PRODUCT):
            return None
        unproven: tuple[str, bool] | None = None
        for block, name in self._tables_by_size().get((tensor.dtype, tuple(sorted(tensor.dims))), ()):
            table = self.uses.stored[block, name]
            equal = self._are_equal(table, tensor)
            if equal:
                return name, True
            if equal is None and unproven is None:
                unproven = name, False
        return unproven

    def _tables_by_size(self) -> Mapping[tuple[str, tuple[int, ...]], list[tuple[BlockKey, str]]]:
        """Return the tables that lookups take, by type and sizes."""
        if self._tables is None:
            self._tables = {}
            for key, tensor in self.uses.stored.items():
                if len(tensor.dims) == 2 and "float" in tensor.dtype and self.uses.is_looked_up(*key):
                    self._tables.setdefault((tensor.dtype, tuple(sorted(tensor.dims))), []).append(key)
        return self._tables

    def _are_equal(self, table: TensorValue, other: TensorValue) -> bool | None:
        """Return whether two matrices have the same numbers, perhaps transposed; None if the file lacks the numbers, or
        all of them are equal."""
        one, two = self._elements(table), self._elements(other)
        if one is None or two is None or not (one != one[0]).any():
            return None
        size = one.shape[1]
        matrix, turned = one.reshape(*table.dims, size), two.reshape(*other.dims, size)
        if other.dims == table.dims and np.array_equal(one, two):
            return True
        if other.dims != table.dims[::-1]:
            return False
        rows = range(0, table.dims[0], ROWS_COMPARED_AT_ONCE)
        blocks = ((matrix[at : at + ROWS_COMPARED_AT_ONCE], turned[:, at : at + ROWS_COMPARED_AT_ONCE]) for at in rows)
        return all(np.array_equal(block, across.transpose(1, 0, 2)) for block, across in blocks)

    def _elements(self, tensor: TensorValue) -> Bytes | None:
        """Return the bytes of each element, a line an element; None if the file does not have them, or where too many
        were compared before."""
        content: memoryview | bytes | None = tensor.content()
        if content is None and tensor.span and not tensor.is_external:
            content = memoryview(self.data)[slice(*tensor.span[:2])]
        size = element_size(tensor.dtype)
        if not content or len(content) != size * prod(tensor.dims) or not self._meter.take(len(content)):
            return None
        return np.frombuffer(content, np.uint8).reshape(-1, size)
