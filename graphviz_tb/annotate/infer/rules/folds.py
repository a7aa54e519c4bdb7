"""Constant folding of small integer tensors, so that a Reshape knows its target.

A fold returns the elements of an op's first output in row-major order: numbers, or symbols for unknown ones.
"""

from __future__ import annotations

from collections.abc import Sequence

from graphviz_tb.annotate.infer.arithmetic import (
    INTEGER_DTYPES,
    all_elements_true,
    comparison_of,
    extreme_element,
    fold_logical_not,
    fold_neg,
    fold_operation,
    fold_pairwise,
    fold_reduction,
    fold_to_constant,
    select_elements,
    sum_elements,
)
from graphviz_tb.annotate.infer.constants import constant_elements
from graphviz_tb.annotate.infer.op import ElementFold, Op
from graphviz_tb.annotate.infer.strided import slice_entries
from graphviz_tb.annotate.infer.symbols import SYMBOL_LIMIT, all_sizes_known
from graphviz_tb.annotate.infer.values import Elements, broadcast_dims
from graphviz_tb.limits import MAX_FOLDED_ELEMENTS


def fold_constant(op: Op) -> Elements | None:
    """`Const`."""
    attrs = op.definition.attr
    return constant_elements(attrs["value"].tensor) if "value" in attrs else None


def fold_identity(op: Op) -> Elements | None:
    """The elements of the input, in the same order."""
    return op.value(0)


def fold_cast(op: Op) -> Elements | None:
    """`Cast` between integers, and to booleans."""
    if op.attr("SrcT") not in INTEGER_DTYPES or op.attr("DstT") not in INTEGER_DTYPES:
        return None
    value = op.value(0)
    if value is None or op.attr("DstT") != "bool":
        return value
    return tuple(int(number != 0) if number > SYMBOL_LIMIT else op.symbols.new_symbol() for number in value)


def fold_shape(op: Op) -> Elements | None:
    """`Shape`: the dimensions themselves."""
    return op.shape(0)


def fold_variable_shape(op: Op) -> Elements | None:
    """`VariableShape`."""
    return op.held_shape(0)


def fold_rank(op: Op) -> Elements | None:
    """`Rank`."""
    known = op.rank(0)
    return None if known is None else (known,)


def fold_size(op: Op) -> Elements | None:
    """`Size`."""
    dims = op.shape(0)
    return None if dims is None else (op.symbols.product(dims),)


def fold_pack(op: Op) -> Elements | None:
    """`Pack` of scalars, or of vectors along the first axis."""
    parts = op.counted_inputs()
    values = [each.value for each in parts]
    if any(value is None for value in values):
        if not all(each.shape == () for each in parts):
            return None
        # An unknown scalar is one symbol: [batch, 7, 7] is known except for the batch.
        values = [value or (op.symbols.new_symbol(),) for value in values]
    # Along any axis but the first, the order of the elements would change.
    if (op.attr("axis") or 0) != 0:
        return None
    return tuple(number for value in values for number in value or ())


def concat_fold(axis_first: bool) -> ElementFold:
    """`Concat` of vectors."""

    def fold(op: Op) -> Elements | None:
        parts = op.counted_inputs(1 if axis_first else 0, 1)
        if any(each.shape is None or len(each.shape) != 1 or not all_sizes_known(each.shape) for each in parts):
            return None
        elements: list[int] = []
        for each in parts:
            elements += each.value if each.value is not None else op.symbols.new_symbols((each.shape or (0,))[0])
        return tuple(elements)

    return fold


def fold_strided_slice(op: Op) -> Elements | None:
    """`StridedSlice` of a small tensor with a known specification."""
    value, dims = op.value(0), op.shape(0)
    plan = slice_entries(op, len(dims), 1) if value is not None and dims is not None else None
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
    return select_elements(value, dims, ranges)


def fold_slice(op: Op) -> Elements | None:
    """`Slice` of a vector."""
    value, begin, count = op.value(0), op.known_elements(1), op.known_elements(2)
    if value is None or op.rank(0) != 1 or not begin or not count:
        return None
    return value[begin[0] : len(value) if count[0] == -1 else begin[0] + count[0]]


def fold_gather(op: Op) -> Elements | None:
    """`Gather` of a vector."""
    value, indices, axis = op.value(0), op.known_elements(1), op.known_number(2) if len(op.ins) > 2 else 0
    if value is None or indices is None or op.rank(0) != 1 or axis not in (0, -1) or op.attr("batch_dims"):
        return None
    # TensorFlow refuses negative indices.
    return tuple(value[index] for index in indices) if all(0 <= index < len(value) for index in indices) else None


def fold_range(op: Op) -> Elements | None:
    """`Range`."""
    # `len(range(…))` takes no memory, even for a hostile limit.
    start, stop, step = (op.known_number(input_index) for input_index in range(3))
    if start is None or stop is None or not step or len(range(start, stop, step)) > MAX_FOLDED_ELEMENTS:
        return None
    return tuple(range(start, stop, step))


def fold_fill(op: Op) -> Elements | None:
    """`Fill` with one number."""
    sizes, value = op.known_elements(0), op.value(1)
    if sizes is None or value is None or len(value) != 1:
        return None
    count = 1
    for each in sizes:
        count *= each
    return value * count if 0 <= count <= MAX_FOLDED_ELEMENTS else None


def fold_select(op: Op) -> Elements | None:
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


def fold_invert_permutation(op: Op) -> Elements | None:
    """`InvertPermutation`."""
    order = op.known_elements(0)
    if order is None or sorted(order) != list(range(len(order))):
        return None
    return tuple(sorted(range(len(order)), key=order.__getitem__))


def fold_reverse(op: Op) -> Elements | None:
    """`ReverseV2` of a vector."""
    value = op.value(0)
    return value[::-1] if value is not None and op.rank(0) == 1 and op.known_elements(1) in ([0], [-1]) else None


def fold_transpose(op: Op) -> Elements | None:
    """`Transpose` of a tensor with at most one dimension."""
    return op.value(0) if (op.rank(0) or 0) < 2 else None


def fold_broadcast_args(op: Op) -> Elements | None:
    """`BroadcastArgs`: the shape of a broadcast of two shapes."""
    return broadcast_dims(op.value(0), op.value(1), op.symbols)


FOLD_ADD = fold_operation("add")
ELEMENT_FOLDS: dict[str, ElementFold] = {
    "Const": fold_constant,
    "HostConst": fold_constant,
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
        fold_identity,
    ),
    "Cast": fold_cast,
    "Shape": fold_shape,
    "VariableShape": fold_variable_shape,
    "Rank": fold_rank,
    "Size": fold_size,
    "Pack": fold_pack,
    "Concat": concat_fold(axis_first=True),
    "ConcatV2": concat_fold(axis_first=False),
    "StridedSlice": fold_strided_slice,
    "Slice": fold_slice,
    "Gather": fold_gather,
    "GatherV2": fold_gather,
    "Range": fold_range,
    "Fill": fold_fill,
    "OnesLike": fold_to_constant(1),
    "ZerosLike": fold_to_constant(0),
    "Add": FOLD_ADD,
    "AddV2": FOLD_ADD,
    "Sub": fold_pairwise(lambda op, a, b: op.symbols.difference(a, b)),
    "Mul": fold_pairwise(lambda op, a, b: op.symbols.product([a, b])),
    "FloorDiv": fold_operation("floor"),
    "TruncateDiv": fold_operation("truncate"),
    "Div": fold_operation("truncate"),
    "FloorMod": fold_operation("mod"),
    "Maximum": fold_operation("max"),
    "Minimum": fold_operation("min"),
    "Equal": fold_pairwise(comparison_of(True, lambda a, b: a == b)),
    "NotEqual": fold_pairwise(comparison_of(False, lambda a, b: a != b)),
    "Less": fold_pairwise(comparison_of(False, lambda a, b: a < b)),
    "LessEqual": fold_pairwise(comparison_of(True, lambda a, b: a <= b)),
    "Greater": fold_pairwise(comparison_of(False, lambda a, b: a > b)),
    "GreaterEqual": fold_pairwise(comparison_of(True, lambda a, b: a >= b)),
    "Neg": fold_neg,
    "LogicalNot": fold_logical_not,
    "Prod": fold_reduction(lambda op, numbers: op.symbols.product(numbers)),
    "Sum": fold_reduction(sum_elements),
    "Max": fold_reduction(extreme_element("max")),
    "Min": fold_reduction(extreme_element("min")),
    "All": fold_reduction(all_elements_true),
    "Select": fold_select,
    "SelectV2": fold_select,
    "InvertPermutation": fold_invert_permutation,
    "ReverseV2": fold_reverse,
    "Transpose": fold_transpose,
    "BroadcastArgs": fold_broadcast_args,
}
