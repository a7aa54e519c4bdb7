"""Compute the floating point operations of an op by its formula in the table of ops (`graphviz_tb/ops/ops.tsv`).

    out  out1  in0  in2        elements of output 0, of output 1, of input 0, of input 2
    in1[:-1]  out[:2]          the product of some sizes of a shape
    inner                      the summed dimension of a matrix product
    inputs                     the number of inputs
    kernels                    elements of all kernels among the inputs
    most                       elements of the largest input after the first
    attr(ksize)                an attribute: a number, or the product of a list; 1 if there is none
    macs(…)                    multiply-adds, which count as two operations each

A formula adds, subtracts and multiplies these and integers; a negative result counts as zero.

The formulas are those of TensorFlow's profiler (tensorflow/python/profiler/internal/flops_registry.py), except for two
errors: for gradients of strided convolutions, it divides the input's size by the stride, and for `BatchMatMul` with
`adj_x`, it ignores the transposition. Ops that only move elements cost nothing. Transcendental functions count as one
operation per element.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

from graphviz_tb.annotate.infer.op import Op
from graphviz_tb.annotate.infer.symbols import SYMBOL_LIMIT, Dims, Out, Symbols
from graphviz_tb.ops.signatures import kernel_size_between, weight_input_names
from graphviz_tb.ops.table import MAX_CACHED_OP_TYPES, op_row

KnownSizes = tuple[int, ...]
MAX_ELEMENTS = 2**63 - 1  # the range of TensorFlow's element counts


class OpCost(NamedTuple):
    """Multiply-adds, and floating point operations (including two per multiply-add)."""

    macs: int = 0
    flops: int = 0


class UnknownShapeError(Exception):
    """Raised when a rule needs an unknown shape."""


class CountedOp:
    """One op as cost rules see it, with a number for every size.

    Reading a shape of unknown rank raises `UnknownShapeError`. `partial` becomes true when a shape with an unknown size
    other than the batch is read: the count is a lower bound.
    """

    __slots__ = ("batch", "ins", "op", "outs", "partial")

    def __init__(self, op: Op, ins: Sequence[Out], outs: Sequence[Out], batch: int) -> None:
        self.op, self.ins, self.outs, self.batch = op, ins, outs, batch
        self.partial = False

    def input_sizes(self, index: int) -> KnownSizes:
        return self.numeric_sizes(self.ins[index].shape if -len(self.ins) <= index < len(self.ins) else None)

    def output_sizes(self, index: int = 0) -> KnownSizes:
        return self.numeric_sizes(self.outs[index].shape if index < len(self.outs) else None)

    def numeric_sizes(self, dims: Dims) -> KnownSizes:
        """Return a shape as numbers."""
        self.partial |= not follows_batch_only(dims, self.op.symbols)
        return sizes_with_batch(dims, self.op.symbols, self.batch)

    def input_elements(self, index: int = 0) -> int:
        return size_product(self.input_sizes(index))

    def output_elements(self) -> int:
        return size_product(self.output_sizes())


def sizes_with_batch(dims: Dims, symbols: Symbols, batch: int) -> KnownSizes:
    """Return sizes as numbers: symbols are evaluated with the batch in place of every unknown number."""
    if dims is None:
        raise UnknownShapeError
    return tuple(max(0, size) if size > SYMBOL_LIMIT else max(0, symbols.evaluate(size, batch)) for size in dims)


def follows_batch_only(dims: Dims, symbols: Symbols) -> bool:
    """Return whether a shape is known except for sizes that follow from the batch."""
    return dims is not None and all(symbols.follows_from_batch(size) for size in dims)


def size_product(shape: KnownSizes) -> int:
    """Return the product, at most 2⁶³ - 1."""
    count = 1
    for size in shape:
        count = min(count * size, MAX_ELEMENTS)
    return count


def _einsum_cost(op: CountedOp) -> OpCost:
    """Count the product of the sizes of all letters; 0 for a single operand."""
    left, _, _ = str(op.op.attr("equation") or "").replace(" ", "").partition("->")
    terms = left.split(",")
    first = max(0, len(op.ins) - len(terms))  # the equation may be an input before the operands
    # Letter ─▶ size; the dims of `...` are broadcast together, so their largest product counts.
    letters: dict[str, int] = {}
    dotted = 1
    for operand, term in enumerate(terms):
        shape, (before, dots, after) = op.input_sizes(first + operand), term.partition("...")
        if dots:
            dotted = max(dotted, size_product(shape[len(before) : len(shape) - len(after)]))
        ends = (*shape[: len(before)], *shape[len(shape) - len(after) :])
        for letter, size in zip(before + after, ends, strict=False):
            # A size of 1 is broadcast.
            letters[letter] = max(size, letters.get(letter, 1))
    macs = size_product(tuple(letters.values())) * dotted if "," in left else 0
    return OpCost(macs, 2 * macs)


def _recurrent_cost(op: CountedOp) -> OpCost:
    """Count the products of all steps with each matrix of weights; for a cell, with the last two matrices."""
    shapes = [op.input_sizes(place) for place, out in enumerate(op.ins) if out.shape is not None]
    matrices = [shape for shape in shapes[1:] if len(shape) == 2]
    if not matrices or not shapes[0]:
        raise UnknownShapeError
    if op.op.definition.op.endswith("_cell"):
        matrices = matrices[-2:]
    steps = size_product(shapes[0][:-1])
    macs = min(steps * sum(map(size_product, matrices)), MAX_ELEMENTS)
    return OpCost(macs, 2 * macs)


def _convolution_cost(op: CountedOp) -> OpCost:
    """Count a convolution; if it is transposed, each element of the input is multiplied with the whole kernel."""
    stated, flag = op.op.attr("transposed"), op.op.setting(6)
    transposed = bool(flag[0]) if flag else bool(stated) and not isinstance(stated, str)
    moved = op.input_elements() if transposed else op.output_elements()
    is_kernel_known = len(op.ins) > 1 and op.ins[1].shape is not None
    kernel = op.input_sizes(1)[1:] if is_kernel_known or transposed else _kernel_of_trace(op)
    macs = min(moved * size_product(kernel), MAX_ELEMENTS)
    return OpCost(macs, 2 * macs)


def _kernel_of_trace(op: CountedOp) -> KnownSizes:
    """Return the sizes of the kernel of a convolution without its filters, from those of its input and result: a trace
    states no shapes of weights."""
    before, after = op.input_sizes(0), op.output_sizes()
    stride, pad, dilation = (_sizes_along_axes(op.op.setting(slot), len(after) - 2) for slot in (3, 4, 5))
    groups = next(iter(op.op.setting(8) or ()), 0)
    axes = zip(before[2:], after[2:], stride, pad, dilation, strict=False)
    window = tuple([kernel_size_between(*axis) for axis in axes if axis[2] > 0])
    if groups < 1 or len(before) < 3 or len(window) != len(after) - 2 or not all(window):
        raise UnknownShapeError
    return before[1] // groups, *window


def _sizes_along_axes(values: Sequence[int] | None, axes: int) -> Sequence[int]:
    """Return a number for each axis; a single number is repeated."""
    return [*values] * axes if values is not None and len(values) == 1 else values or ()


CostRule = Callable[[CountedOp], OpCost]
SizeExpression = Callable[[CountedOp], int]
SPECIAL_COST_RULES: dict[str, CostRule] = {
    # Their equation is an attribute.
    **dict.fromkeys(("Einsum", "XlaEinsum", "aten::einsum", "onnx::Einsum"), _einsum_cost),
    **dict.fromkeys(("aten::convolution", "aten::_convolution"), _convolution_cost),
    **dict.fromkeys(("aten::lstm", "aten::gru", "aten::rnn_tanh", "aten::rnn_relu"), _recurrent_cost),
    **dict.fromkeys(("aten::lstm_cell", "aten::gru_cell", "aten::rnn_tanh_cell"), _recurrent_cost),
}
KERNEL_NAMES = frozenset(("kernel", "recurrent_kernel"))
TENSOR_TERM = re.compile(r"(in|out)(\d*)")


@lru_cache(maxsize=MAX_CACHED_OP_TYPES)
def cost_rule(op: str) -> CostRule | None:
    line = op_row(op)
    return SPECIAL_COST_RULES.get(op) or (_compile_formula(line.flops) if line is not None and line.flops else None)


def op_cost(op: CountedOp) -> OpCost | None:
    """Return the cost of an op; None if it has no rule. Raises `UnknownShapeError` if a shape is missing."""
    rule = cost_rule(op.op.definition.op)
    return None if rule is None else rule(op)


def _compile_formula(formula: str) -> CostRule:
    multiplied, added = _compile_macs_and_rest(ast.parse(formula, mode="eval").body)

    def rule(op: CountedOp) -> OpCost:
        macs = multiplied(op)
        return OpCost(macs, max(0, 2 * macs + added(op)))

    return rule


def _compile_macs_and_rest(node: ast.expr) -> tuple[SizeExpression, SizeExpression]:
    """Compile a formula to its multiply-adds and the operations added to them."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add) and _is_macs_call(node.left):
        return _compile_macs_and_rest(node.left)[0], _compile_size_expression(node.right)
    if _is_macs_call(node):
        assert isinstance(node, ast.Call)
        return _compile_size_expression(node.args[0]), lambda op: 0
    return (lambda op: 0), _compile_size_expression(node)


def _is_macs_call(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func) == "macs"


def _compile_size_expression(node: ast.expr) -> SizeExpression:
    match node:
        case ast.Constant(value=int(value)):
            return lambda op: value
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            inner = _compile_size_expression(operand)
            return lambda op: -inner(op)
        case ast.BinOp(left=left, op=operator, right=right):
            return _compile_operation(_compile_size_expression(left), operator, _compile_size_expression(right))
        case ast.Subscript(value=ast.Name(id=tensor), slice=ast.Slice(lower=lower, upper=upper)):
            bounds = slice(*(None if bound is None else ast.literal_eval(bound) for bound in (lower, upper)))
            shape = _compile_tensor_sizes(tensor)
            return lambda op: size_product(shape(op)[bounds])
        case ast.Call(func=ast.Name(id="attr"), args=[ast.Name(id=name)]):
            return lambda op: _attribute_product(op, name)
        case ast.Name(id=word) if word in FORMULA_WORDS:
            return FORMULA_WORDS[word]
        case ast.Name(id=tensor):
            shape = _compile_tensor_sizes(tensor)
            return lambda op: size_product(shape(op))
    raise ValueError(f"not part of a formula: {ast.unparse(node)}")


def _compile_operation(left: SizeExpression, operator: ast.operator, right: SizeExpression) -> SizeExpression:
    if isinstance(operator, ast.Mult):
        return lambda op: left(op) * right(op)
    if isinstance(operator, ast.Sub):
        return lambda op: left(op) - right(op)
    return lambda op: left(op) + right(op)


def _compile_tensor_sizes(tensor: str) -> Callable[[CountedOp], KnownSizes]:
    """Compile the name of an input or output to a function that returns its shape."""
    match = TENSOR_TERM.fullmatch(tensor)
    if match is None:
        raise ValueError(f"no input or output: {tensor}")
    kind, index = match[1], int(match[2] or 0)
    return (lambda op: op.input_sizes(index)) if kind == "in" else (lambda op: op.output_sizes(index))


def _attribute_product(op: CountedOp, name: str) -> int:
    """Return the number in an attribute, or the product of its list of sizes."""
    value = op.op.attr(name)
    if value is None:
        return 1
    if isinstance(value, list | tuple):
        if not all(type(size) is int and size > 0 for size in value):
            raise UnknownShapeError
        return size_product(tuple(value))
    if not isinstance(value, int):
        raise UnknownShapeError
    return int(value)


def _inner_size(op: CountedOp) -> int:
    """Return the summed dimension of a matrix product, from the factor in which it is known."""
    left = _factor_size(op, 0, bool(op.op.attr("transpose_a") or op.op.attr("adj_x")))
    if left is not None and left > SYMBOL_LIMIT:
        return left
    right = _factor_size(op, 1, not (op.op.attr("transpose_b") or op.op.attr("adj_y")))
    if right is not None and right > SYMBOL_LIMIT:
        return right
    if left is None and right is None:
        raise UnknownShapeError
    return op.numeric_sizes((left if left is not None else right or 0,))[0]


def _factor_size(op: CountedOp, index: int, before_last: bool) -> int | None:
    """Return the last size of a factor, or the one before it; None if its rank is unknown, or below two."""
    shape = op.op.shape(index)
    return shape[-2 if before_last else -1] if shape is not None and len(shape) > 1 else None


def _largest_later_input(op: CountedOp) -> int:
    return max((size_product(op.input_sizes(index)) for index in range(1, len(op.ins))), default=0)


def _kernel_elements(op: CountedOp) -> int:
    names = weight_input_names(op.op.definition.op).items()
    kernels = [slot for slot, name in names if name in KERNEL_NAMES and slot < len(op.ins)]
    return sum(op.input_elements(slot) for slot in kernels if op.ins[slot].shape is not None)


FORMULA_WORDS: dict[str, SizeExpression] = {
    "inner": _inner_size,
    "most": _largest_later_input,
    "inputs": lambda op: len(op.ins),
    "kernels": _kernel_elements,
}
