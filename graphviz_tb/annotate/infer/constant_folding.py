"""Fold small integer tensors, so that the target shape of a Reshape is known.

A fold returns the elements of an op's first output in row-major order: numbers, or symbols for unknown numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from graphviz_tb.annotate.infer.op import ElementFold, Op, normalize_axis
from graphviz_tb.annotate.infer.symbols import (
    SYMBOL_LIMIT,
    Dims,
    Elements,
    Out,
    all_sizes_known,
    broadcast_dims,
    number_from_file,
)
from graphviz_tb.graphs.tensors import claimed_element_count, decode_elements, pad_with_last, stored_elements
from graphviz_tb.limits import MAX_FOLDED_ELEMENTS


def _constant_elements(tensor: Any) -> Elements | None:
    """Return the elements of a TensorProto; the last of a short list fills the rest.

    >>> from graphviz_tb.proto import TensorProto
    >>> _constant_elements(TensorProto(dtype=3, tensor_shape={"dim": [{"size": 3}]}, int_val=[4, 7]))
    (4, 7, 7)
    """
    count = claimed_element_count(tensor)
    if not 0 <= count <= MAX_FOLDED_ELEMENTS:
        return None
    elements = stored_elements(tensor, MAX_FOLDED_ELEMENTS + 1)
    if elements is None or (tensor.tensor_content and len(elements) != count):  # text, or damaged
        return None
    numbers = decode_elements(elements[:count], tensor.dtype)
    if numbers.dtype.kind not in "biu":
        return None
    return tuple(number_from_file(int(number)) for number in pad_with_last(numbers, count))


# Arithmetic on the elements of small integer tensors: sums, comparisons, reductions, selections.
#
# A fold maps an op to the elements of its first output, in row-major order.

INTEGER_DTYPES = frozenset({"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool"})


def _fold_to_constant(number: int) -> ElementFold:
    """Fold to ones or zeros, as many as the input has elements."""

    def fold(op: Op) -> Elements | None:
        dims = op.shape(0)
        count = 1
        for dim in dims or ():
            count *= dim
        return (
            (number,) * count
            if all_sizes_known(dims) and count <= MAX_FOLDED_ELEMENTS and op.attr("T") in INTEGER_DTYPES
            else None
        )

    return fold


def _fold_pairwise(calculate: Callable[[Op, int, int], int]) -> ElementFold:
    """Fold two integer operands, broadcast to one shape."""

    def fold(op: Op) -> Elements | None:
        # Ops of other frameworks have no attribute T; only whole numbers are followed.
        if op.attr("T") not in (INTEGER_DTYPES | {None}):
            return None
        a, b = op.value(0), op.value(1)
        shape = broadcast_dims(op.shape(0), op.shape(1), op.symbols)
        if a is None or b is None or shape is None or not all_sizes_known(shape):
            return None
        pairs = zip(_broadcast_elements(a, op.shape(0), shape), _broadcast_elements(b, op.shape(1), shape), strict=True)
        return tuple(calculate(op, number, other) for number, other in pairs)

    return fold


def _broadcast_elements(value: Elements, dims: Dims, to: tuple[int, ...]) -> Elements:
    """Repeat elements as a broadcast repeats them."""
    if dims == to or dims is None:
        return value
    dims = (1,) * (len(to) - len(dims)) + dims
    # A broadcast axis reads its only position repeatedly.
    ranges = [[0] * new if old == 1 else range(new) for old, new in zip(dims, to, strict=True)]
    return _select_elements(value, dims, ranges)


def _select_elements(value: Elements, dims: tuple[int, ...], ranges: Sequence[Sequence[int]]) -> Elements:
    """Return the elements at all combinations of positions."""
    # Row-major: a step along an axis skips all elements of the later axes.
    steps = [1] * len(dims)
    for axis in range(len(dims) - 2, -1, -1):
        steps[axis] = steps[axis + 1] * dims[axis + 1]
    # Axis by axis; an axis with a single position only adds an offset.
    places, offset = [0], 0
    for indices, step in zip(ranges, steps, strict=True):
        if len(indices) == 1:
            offset += indices[0] * step
        else:
            places = [place + index * step for place in places for index in indices]
    return tuple(value[offset + place] for place in places)


def _comparison_of(same: bool | None, holds: Callable[[int, int], bool]) -> Callable[[Op, int, int], int]:
    """Make a comparison for folds; `same` is its result for two equal symbols. Different symbols give an unknown
    result."""

    def calculate(op: Op, a: int, b: int) -> int:
        # Two known numbers, or a symbol with itself; nothing else can be compared.
        if a > SYMBOL_LIMIT and b > SYMBOL_LIMIT:
            return int(holds(a, b))
        return int(same) if a == b and same is not None else op.symbols.new_symbol()

    return calculate


def _fold_reduction(combine: Callable[[Op, list[int]], int]) -> ElementFold:

    def fold(op: Op) -> Elements | None:
        # `All` has no attribute T: its input is always bool.
        if op.attr("T") not in (INTEGER_DTYPES | {None}):
            return None
        value, axes, dims = op.value(0), op.known_elements(1), op.shape(0)
        if value is None or axes is None or dims is None:
            return None
        # Reductions of some axes are not needed: shapes and sizes are vectors.
        if {normalize_axis(axis, len(dims)) for axis in axes} != set(range(len(dims))):
            return value if not axes else None
        return (combine(op, list(value)),)

    return fold


def _sum_elements(op: Op, numbers: list[int]) -> int:
    total = 0
    for number in numbers:
        total = op.symbols.calculate("add", total, number)
    return total


def _extreme_element(operation: str) -> Callable[[Op, list[int]], int]:
    """Return a function for the greatest or the least of some numbers."""

    def combine(op: Op, numbers: list[int]) -> int:
        if not numbers:
            return op.symbols.new_symbol()
        best = numbers[0]
        for number in numbers[1:]:
            best = op.symbols.calculate(operation, best, number)
        return best

    return combine


def _all_elements_true(op: Op, numbers: list[int]) -> int:
    return 0 if 0 in numbers else 1 if all(number > SYMBOL_LIMIT for number in numbers) else op.symbols.new_symbol()


def _fold_neg(op: Op) -> Elements | None:
    value = op.value(0)
    return None if value is None else tuple(op.symbols.difference(0, number) for number in value)


def _fold_logical_not(op: Op) -> Elements | None:
    value = op.value(0)
    return (
        None
        if value is None
        else tuple(int(not number) if number > SYMBOL_LIMIT else op.symbols.new_symbol() for number in value)
    )


def _fold_operation(operation: str) -> ElementFold:
    return _fold_pairwise(lambda op, a, b: op.symbols.calculate(operation, a, b))


def _fold_constant(op: Op) -> Elements | None:
    attrs = op.definition.attr
    return _constant_elements(attrs["value"].tensor) if "value" in attrs else None


def _fold_cast(op: Op) -> Elements | None:
    """`Cast` between integers, and to booleans."""
    return _cast_elements(op, op.attr("DstT")) if op.attr("SrcT") in INTEGER_DTYPES else None


def _cast_elements(op: Op, dtype: str | None) -> Elements | None:
    value = op.value(0)
    if value is None or dtype not in INTEGER_DTYPES:
        return None
    if dtype != "bool":
        return value
    return tuple(int(number != 0) if number > SYMBOL_LIMIT else op.symbols.new_symbol() for number in value)


def _fold_rank(op: Op) -> Elements | None:
    known = op.rank(0)
    return None if known is None else (known,)


def _fold_size(op: Op) -> Elements | None:
    dims = op.shape(0)
    return None if dims is None else (op.symbols.product(dims),)


def _fold_pack(op: Op) -> Elements | None:
    """`Pack` of scalars, or of vectors along the first axis."""
    parts = op.counted_inputs()
    values = [part.value for part in parts]
    if any(value is None for value in values):
        if not all(part.shape == () for part in parts):
            return None
        # An unknown scalar is one symbol: [batch, 7, 7] is known except for the batch.
        values = [value or (op.symbols.new_symbol(),) for value in values]
    # Along any axis but the first, the order of the elements would change.
    if (op.attr("axis") or 0) != 0:
        return None
    return tuple(number for value in values for number in value or ())


def _concat_vectors(op: Op, parts: Sequence[Out]) -> Elements | None:
    if any(part.shape is None or len(part.shape) != 1 or not all_sizes_known(part.shape) for part in parts):
        return None
    elements: list[int] = []
    for part in parts:
        elements += part.value if part.value is not None else op.symbols.new_symbols((part.shape or (0,))[0])
    return tuple(elements)


def _fold_strided_slice(op: Op) -> Elements | None:
    """`StridedSlice` of a small tensor with a known specification."""
    value, dims = op.value(0), op.shape(0)
    from graphviz_tb.annotate.infer.rules.arrays import slice_entries

    plan = slice_entries(op, len(dims)) if value is not None and dims is not None else None
    if value is None or dims is None or plan is None:
        return None
    ranges: list[Sequence[int]] = []
    sizes = iter(dims)
    for entry in plan:
        if entry.kind == "new":
            # "new" adds a dimension and uses none.
            continue
        extent = next(sizes)
        # None means the start or the end, which is known.
        numbers = [number for number in (entry.begin, entry.end, entry.stride) if number is not None]
        if any(number <= SYMBOL_LIMIT for number in numbers) or not entry.stride:
            return None
        if entry.kind == "shrink":
            # A position, negative from the end, as in Python.
            index = entry.begin if entry.begin is not None else 0
            if not -extent <= index < extent:
                return None
            ranges.append([index % extent])
        else:
            ranges.append(range(*slice(entry.begin, entry.end, entry.stride).indices(extent)))
    return _select_elements(value, dims, ranges)


def _fold_slice(op: Op) -> Elements | None:
    """`Slice` of a vector."""
    value, begin, count = op.value(0), op.known_elements(1), op.known_elements(2)
    if value is None or op.rank(0) != 1 or not begin or not count:
        return None
    return value[begin[0] : len(value) if count[0] == -1 else begin[0] + count[0]]


def _fold_gather(op: Op) -> Elements | None:
    """`Gather` of a vector."""
    value, indices = op.value(0), op.known_elements(1)
    axis = op.known_number(2) if len(op.ins) > 2 else int(op.attr("axis") or 0)
    if value is None or indices is None or op.rank(0) != 1 or axis not in (0, -1) or op.attr("batch_dims"):
        return None
    # TensorFlow refuses negative indices.
    return tuple(value[index] for index in indices) if all(0 <= index < len(value) for index in indices) else None


def _fold_range(op: Op) -> Elements | None:
    # `len(range(…))` takes no memory, even for a hostile limit.
    start, stop, step = (op.known_number(input_index) for input_index in range(3))
    if start is None or stop is None or not step or len(range(start, stop, step)) > MAX_FOLDED_ELEMENTS:
        return None
    return tuple(range(start, stop, step))


def _repeat_number(value: Elements | None, sizes: Sequence[int] | None) -> Elements | None:
    """Repeat a number for all elements of a shape; None if anything is unknown, or the elements are too many."""
    if value is None or len(value) != 1 or sizes is None or not all_sizes_known(sizes):
        return None
    count = prod(sizes)
    return value * count if 0 <= count <= MAX_FOLDED_ELEMENTS else None


def _fold_select(op: Op) -> Elements | None:
    """`Select` by a known boolean."""
    condition, yes, no = op.value(0), op.value(1), op.value(2)
    dims = op.shape(1)
    if condition is None or yes is None or no is None or dims != op.shape(2):
        return None
    if len(condition) == 1:
        # A scalar chooses for all elements.
        condition = condition * len(yes)
    if len(condition) != len(yes) or len(yes) != len(no):
        return None
    each = zip(condition, yes, no, strict=True)
    # If both operands have the same element, the condition does not matter.
    return tuple(
        op.symbols.new_symbol() if known <= SYMBOL_LIMIT and a != b else a if known else b for known, a, b in each
    )


def _fold_invert_permutation(op: Op) -> Elements | None:
    order = op.known_elements(0)
    if order is None or sorted(order) != list(range(len(order))):
        return None
    return tuple(sorted(range(len(order)), key=order.__getitem__))


def _fold_reverse(op: Op) -> Elements | None:
    """`ReverseV2` of a vector."""
    value = op.value(0)
    return value[::-1] if value is not None and op.rank(0) == 1 and op.known_elements(1) in ([0], [-1]) else None


# Ops of ONNX: settings are attributes or inputs, indices may be negative. Their shape rules are loaded when a graph has
# such an op.


def _fold_onnx_shape(op: Op) -> Elements | None:
    """`Shape`: the sizes from one axis to another."""
    from graphviz_tb.annotate.infer.rules.onnx import shape_elements

    return shape_elements(op)


def _fold_onnx_gather(op: Op) -> Elements | None:
    """`Gather` of a vector."""
    value, indices = op.value(0), op.known_elements(1)
    if value is None or indices is None or op.rank(0) != 1 or (op.attr("axis") or 0) not in (0, -1):
        return None
    return tuple(value[at] for at in indices) if all(-len(value) <= at < len(value) for at in indices) else None


def _fold_onnx_slice(op: Op) -> Elements | None:
    """`Slice` of a small tensor."""
    from graphviz_tb.annotate.infer.rules.onnx_arrays import slice_ranges

    value, dims = op.value(0), op.shape(0)
    cuts = slice_ranges(op, len(dims)) if value is not None and dims is not None else None
    if value is None or dims is None or cuts is None:
        return None
    ranges: list[Sequence[int]] = []
    for axis, size in enumerate(dims):
        begin, end, step = cuts.get(axis, (0, size, 1))
        if begin is None or end is None or begin <= SYMBOL_LIMIT or end <= SYMBOL_LIMIT:
            return None
        ranges.append(range(*slice(begin, None if step < 0 and end < -size else end, step).indices(size)))
    return _select_elements(value, dims, ranges)


def _fold_onnx_transpose(op: Op) -> Elements | None:
    """`Transpose` of a small tensor."""
    value, dims = op.value(0), op.shape(0)
    if value is None or dims is None or len(value) > MAX_FOLDED_ELEMENTS:
        return None
    order = op.attr("perm") or list(reversed(range(len(dims))))
    places = np.arange(len(value)).reshape(dims).transpose(order).ravel()
    return tuple(value[place] for place in places.tolist())


def _fold_one_element(op: Op) -> Elements | None:
    """Return the elements of the input; a new symbol for an unknown scalar."""
    value = op.value(0)
    return (op.symbols.new_symbol(),) if value is None and op.shape(0) in ((), (1,)) else value


def _fold_onnx_fill(op: Op) -> Elements | None:
    """`ConstantOfShape` with one number: 0 without one."""
    attrs = op.definition.attr
    value = _constant_elements(attrs["value"].tensor) if "value" in attrs else (0,)
    return _repeat_number(value, op.attr("shape") or op.known_elements(0))


def _fold_onnx_expand(op: Op) -> Elements | None:
    """`Expand` of one number."""
    sizes = op.attr("shape") or op.known_elements(1)
    return _repeat_number(op.value(0), sizes if isinstance(sizes, list) else None)


def _fold_onnx_reduction(combine: Callable[[Op, list[int]], int]) -> ElementFold:
    def fold(op: Op) -> Elements | None:
        value = op.value(0)
        return (combine(op, list(value)),) if value is not None and (op.rank(0) or 0) < 2 else None

    return fold


FOLD_ADD = _fold_operation("add")
ELEMENT_FOLDS: dict[str, ElementFold] = {
    "Const": _fold_constant,
    "HostConst": _fold_constant,
    **dict.fromkeys(
        [
            "Identity",
            "StopGradient",
            "Reshape",
            "ExpandDims",
            "Squeeze",
            "Snapshot",
            "EnsureShape",
            "Enter",
            "PreventGradient",
            "ReadOnlyIdentity",
        ],
        lambda op: op.value(0),
    ),
    "Cast": _fold_cast,
    "Shape": lambda op: op.shape(0),
    "VariableShape": lambda op: op.held_shape(0),
    "Rank": _fold_rank,
    "Size": _fold_size,
    "Pack": _fold_pack,
    "Concat": lambda op: _concat_vectors(op, op.counted_inputs(1, 1)),
    "ConcatV2": lambda op: _concat_vectors(op, op.counted_inputs(0, 1)),
    "StridedSlice": _fold_strided_slice,
    "Slice": _fold_slice,
    "Gather": _fold_gather,
    "GatherV2": _fold_gather,
    "Range": _fold_range,
    "Fill": lambda op: _repeat_number(op.value(1), op.known_elements(0)),
    "OnesLike": _fold_to_constant(1),
    "ZerosLike": _fold_to_constant(0),
    "Add": FOLD_ADD,
    "AddV2": FOLD_ADD,
    "Sub": _fold_pairwise(lambda op, a, b: op.symbols.difference(a, b)),
    "Mul": _fold_pairwise(lambda op, a, b: op.symbols.product([a, b])),
    "FloorDiv": _fold_operation("floor"),
    "TruncateDiv": _fold_operation("truncate"),
    "Div": _fold_operation("truncate"),
    "FloorMod": _fold_operation("mod"),
    "Maximum": _fold_operation("max"),
    "Minimum": _fold_operation("min"),
    "Equal": _fold_pairwise(_comparison_of(True, lambda a, b: a == b)),
    "NotEqual": _fold_pairwise(_comparison_of(False, lambda a, b: a != b)),
    "Less": _fold_pairwise(_comparison_of(False, lambda a, b: a < b)),
    "LessEqual": _fold_pairwise(_comparison_of(True, lambda a, b: a <= b)),
    "Greater": _fold_pairwise(_comparison_of(False, lambda a, b: a > b)),
    "GreaterEqual": _fold_pairwise(_comparison_of(True, lambda a, b: a >= b)),
    "Neg": _fold_neg,
    "LogicalNot": _fold_logical_not,
    "Prod": _fold_reduction(lambda op, numbers: op.symbols.product(numbers)),
    "Sum": _fold_reduction(_sum_elements),
    "Max": _fold_reduction(_extreme_element("max")),
    "Min": _fold_reduction(_extreme_element("min")),
    "All": _fold_reduction(_all_elements_true),
    "Select": _fold_select,
    "SelectV2": _fold_select,
    "InvertPermutation": _fold_invert_permutation,
    "ReverseV2": _fold_reverse,
    "Transpose": lambda op: op.value(0) if (op.rank(0) or 0) < 2 else None,
    "BroadcastArgs": lambda op: broadcast_dims(op.value(0), op.value(1), op.symbols),
    "tfl::CONCATENATION": lambda op: _concat_vectors(op, op.ins),
}
# Ops of ONNX that calculate as an op of TensorFlow does.
ONNX_NAMES = {
    **{op: op for op in ("Add", "Sub", "Mul", "Div", "Equal", "Less", "Greater", "Neg", "Size", "Identity", "Range")},
    "Mod": "FloorMod",
    "Max": "Maximum",
    "Min": "Minimum",
    "LessOrEqual": "LessEqual",
    "GreaterOrEqual": "GreaterEqual",
    "Not": "LogicalNot",
    "Where": "Select",
    "Flatten": "Identity",
}
ELEMENT_FOLDS |= {f"onnx::{name}": ELEMENT_FOLDS[op] for name, op in ONNX_NAMES.items()} | {
    f"onnx::{op}": fold
    for op, fold in (
        ("Cast", lambda op: _cast_elements(op, op.attr("to"))),
        ("Shape", _fold_onnx_shape),
        ("Gather", _fold_onnx_gather),
        ("Slice", _fold_onnx_slice),
        ("Concat", lambda op: _concat_vectors(op, op.ins)),
        ("Reshape", _fold_one_element),
        ("Squeeze", _fold_one_element),
        ("Unsqueeze", _fold_one_element),
        ("Transpose", _fold_onnx_transpose),
        ("ConstantOfShape", _fold_onnx_fill),
        ("Expand", _fold_onnx_expand),
        ("ReduceProd", _fold_onnx_reduction(lambda op, numbers: op.symbols.product(numbers))),
        ("ReduceSum", _fold_onnx_reduction(_sum_elements)),
        ("ReduceMax", _fold_onnx_reduction(_extreme_element("max"))),
        ("ReduceMin", _fold_onnx_reduction(_extreme_element("min"))),
    )
}
