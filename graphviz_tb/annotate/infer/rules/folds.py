"""Constant folding of small integer tensors, so that a Reshape knows its target.

A fold returns the elements of an op's first output in row-major order: numbers, or symbols for unknown ones.
"""

from __future__ import annotations

from collections.abc import Sequence

from graphviz_tb.annotate.infer.arithmetic import (
    WHOLE,
    added,
    all_true,
    calculated,
    compared,
    extreme,
    folded_to,
    inverted,
    negated,
    pairwise,
    picked,
    reduced,
)
from graphviz_tb.annotate.infer.constants import elements_of
from graphviz_tb.annotate.infer.op import Fold, Op
from graphviz_tb.annotate.infer.strided import entries
from graphviz_tb.annotate.infer.symbols import HIDDEN, fixed
from graphviz_tb.annotate.infer.values import Elements, broadcast
from graphviz_tb.limits import FOLDED_ELEMENTS


def constant(op: Op) -> Elements | None:
    """`Const`."""
    attrs = op.definition.attr
    return elements_of(attrs["value"].tensor) if "value" in attrs else None


def passed(op: Op) -> Elements | None:
    """The elements of the input, in the same order."""
    return op.value(0)


def cast(op: Op) -> Elements | None:
    """`Cast` between integers, and to booleans."""
    if op.attr("SrcT") not in WHOLE or op.attr("DstT") not in WHOLE:
        return None
    value = op.value(0)
    if value is None or op.attr("DstT") != "bool":
        return value
    return tuple(int(number != 0) if number > HIDDEN else op.symbols.fresh() for number in value)


def shape(op: Op) -> Elements | None:
    """`Shape`: the dimensions themselves."""
    return op.shape(0)


def variable_shape(op: Op) -> Elements | None:
    """`VariableShape`."""
    return op.held(0)


def rank(op: Op) -> Elements | None:
    """`Rank`."""
    known = op.rank(0)
    return None if known is None else (known,)


def size(op: Op) -> Elements | None:
    """`Size`."""
    dims = op.shape(0)
    return None if dims is None else (op.symbols.product(dims),)


def packed(op: Op) -> Elements | None:
    """`Pack` of scalars, or of vectors along the first axis."""
    parts = op.listed()
    values = [each.value for each in parts]
    if any(value is None for value in values):
        if not all(each.shape == () for each in parts):
            return None
        # An unknown scalar is one symbol: [batch, 7, 7] is known except for the batch.
        values = [value or (op.symbols.fresh(),) for value in values]
    # Along any axis but the first, the order of the elements would change.
    if (op.attr("axis") or 0) != 0:
        return None
    return tuple(number for value in values for number in value or ())


def joined(axis_first: bool) -> Fold:
    """`Concat` of vectors."""

    def fold(op: Op) -> Elements | None:
        parts = op.listed(1 if axis_first else 0, 1)
        if any(each.shape is None or len(each.shape) != 1 or not fixed(each.shape) for each in parts):
            return None
        elements: list[int] = []
        for each in parts:
            elements += each.value if each.value is not None else op.symbols.several((each.shape or (0,))[0])
        return tuple(elements)

    return fold


def sliced(op: Op) -> Elements | None:
    """`StridedSlice` of a small tensor with a known specification."""
    value, dims = op.value(0), op.shape(0)
    plan = entries(op, len(dims), 1) if value is not None and dims is not None else None
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
        if any(number <= HIDDEN for number in numbers) or not entry.stride:
            return None
        if entry.kind == "shrink":
            # A position, negative from the end, as in Python.
            index = entry.begin if entry.begin is not None else 0
            if not -extent <= index < extent:
                return None
            ranges.append([index % extent])
        else:
            ranges.append(range(*slice(entry.begin, entry.end, entry.stride).indices(extent)))
    return picked(value, dims, ranges)


def cut(op: Op) -> Elements | None:
    """`Slice` of a vector."""
    value, begin, count = op.value(0), op.numbers(1), op.numbers(2)
    if value is None or op.rank(0) != 1 or not begin or not count:
        return None
    return value[begin[0] : len(value) if count[0] == -1 else begin[0] + count[0]]


def gathered(op: Op) -> Elements | None:
    """`Gather` of a vector."""
    value, indices, axis = op.value(0), op.numbers(1), op.number(2) if len(op.ins) > 2 else 0
    if value is None or indices is None or op.rank(0) != 1 or axis not in (0, -1) or op.attr("batch_dims"):
        return None
    # TensorFlow refuses negative indices.
    return tuple(value[index] for index in indices) if all(0 <= index < len(value) for index in indices) else None


def span(op: Op) -> Elements | None:
    """`Range`."""
    # `len(range(…))` takes no memory, even for a hostile limit.
    start, stop, step = (op.number(input_index) for input_index in range(3))
    if start is None or stop is None or not step or len(range(start, stop, step)) > FOLDED_ELEMENTS:
        return None
    return tuple(range(start, stop, step))


def filled(op: Op) -> Elements | None:
    """`Fill` with one number."""
    sizes, value = op.numbers(0), op.value(1)
    if sizes is None or value is None or len(value) != 1:
        return None
    count = 1
    for each in sizes:
        count *= each
    return value * count if 0 <= count <= FOLDED_ELEMENTS else None


def chosen(op: Op) -> Elements | None:
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
    return tuple(op.symbols.fresh() if known <= HIDDEN and a != b else a if known else b for known, a, b in each)


def turned(op: Op) -> Elements | None:
    """`InvertPermutation`."""
    order = op.numbers(0)
    if order is None or sorted(order) != list(range(len(order))):
        return None
    return tuple(sorted(range(len(order)), key=order.__getitem__))


def reversed_(op: Op) -> Elements | None:
    """`ReverseV2` of a vector."""
    value = op.value(0)
    return value[::-1] if value is not None and op.rank(0) == 1 and op.numbers(1) in ([0], [-1]) else None


def transposed(op: Op) -> Elements | None:
    """`Transpose` of a tensor with at most one dimension."""
    return op.value(0) if (op.rank(0) or 0) < 2 else None


def broadcast_shapes(op: Op) -> Elements | None:
    """`BroadcastArgs`: the shape of a broadcast of two shapes."""
    return broadcast(op.value(0), op.value(1), op.symbols)


ADDED = calculated("add")
FOLDS: dict[str, Fold] = {
    "Const": constant,
    "HostConst": constant,
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
        passed,
    ),
    "Cast": cast,
    "Shape": shape,
    "VariableShape": variable_shape,
    "Rank": rank,
    "Size": size,
    "Pack": packed,
    "Concat": joined(axis_first=True),
    "ConcatV2": joined(axis_first=False),
    "StridedSlice": sliced,
    "Slice": cut,
    "Gather": gathered,
    "GatherV2": gathered,
    "Range": span,
    "Fill": filled,
    "OnesLike": folded_to(1),
    "ZerosLike": folded_to(0),
    "Add": ADDED,
    "AddV2": ADDED,
    "Sub": pairwise(lambda op, a, b: op.symbols.difference(a, b)),
    "Mul": pairwise(lambda op, a, b: op.symbols.product([a, b])),
    "FloorDiv": calculated("floor"),
    "TruncateDiv": calculated("truncate"),
    "Div": calculated("truncate"),
    "FloorMod": calculated("mod"),
    "Maximum": calculated("max"),
    "Minimum": calculated("min"),
    "Equal": pairwise(compared(True, lambda a, b: a == b)),
    "NotEqual": pairwise(compared(False, lambda a, b: a != b)),
    "Less": pairwise(compared(False, lambda a, b: a < b)),
    "LessEqual": pairwise(compared(True, lambda a, b: a <= b)),
    "Greater": pairwise(compared(False, lambda a, b: a > b)),
    "GreaterEqual": pairwise(compared(True, lambda a, b: a >= b)),
    "Neg": negated,
    "LogicalNot": inverted,
    "Prod": reduced(lambda op, numbers: op.symbols.product(numbers)),
    "Sum": reduced(added),
    "Max": reduced(extreme("max")),
    "Min": reduced(extreme("min")),
    "All": reduced(all_true),
    "Select": chosen,
    "SelectV2": chosen,
    "InvertPermutation": turned,
    "ReverseV2": reversed_,
    "Transpose": transposed,
    "BroadcastArgs": broadcast_shapes,
}
