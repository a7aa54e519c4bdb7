"""Arithmetic on the elements of small integer tensors: sums, comparisons, reductions, selections.

A fold maps an op to the elements of its first output, in row-major order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from graphviz_tb.annotate.infer.op import ElementFold, Op
from graphviz_tb.annotate.infer.rules.common import normalize_axis
from graphviz_tb.annotate.infer.symbols import SYMBOL_LIMIT, all_sizes_known
from graphviz_tb.annotate.infer.values import Dims, Elements, broadcast_dims
from graphviz_tb.limits import MAX_FOLDED_ELEMENTS

INTEGER_DTYPES = frozenset({"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool"})


def fold_to_constant(number: int) -> ElementFold:
    """Fold to ones or zeros, as many as the input has elements."""

    def fold(op: Op) -> Elements | None:
        dims = op.shape(0)
        count = 1
        for each in dims or ():
            count *= each
        return (
            (number,) * count
            if all_sizes_known(dims) and count <= MAX_FOLDED_ELEMENTS and op.attr("T") in INTEGER_DTYPES
            else None
        )

    return fold


def fold_pairwise(calculate: Callable[[Op, int, int], int]) -> ElementFold:
    """Fold two integer operands, broadcast to one shape."""

    def fold(op: Op) -> Elements | None:
        if op.attr("T") not in INTEGER_DTYPES:
            return None
        a, b = op.value(0), op.value(1)
        shape = broadcast_dims(op.shape(0), op.shape(1), op.symbols)
        if a is None or b is None or shape is None or not all_sizes_known(shape):
            return None
        pairs = zip(broadcast_elements(a, op.shape(0), shape), broadcast_elements(b, op.shape(1), shape), strict=True)
        return tuple(calculate(op, number, other) for number, other in pairs)

    return fold


def broadcast_elements(value: Elements, dims: Dims, to: tuple[int, ...]) -> Elements:
    """Repeat elements as a broadcast repeats them."""
    if dims == to or dims is None:
        return value
    dims = (1,) * (len(to) - len(dims)) + dims
    # A broadcast axis reads its only position repeatedly.
    ranges = [[0] * new if old == 1 else range(new) for old, new in zip(dims, to, strict=True)]
    return select_elements(value, dims, ranges)


def select_elements(value: Elements, dims: tuple[int, ...], ranges: Sequence[Sequence[int]]) -> Elements:
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


def comparison_of(same: bool | None, holds: Callable[[int, int], bool]) -> Callable[[Op, int, int], int]:
    """Make a comparison for folds; `same` is its result for two equal symbols. Different symbols give an unknown
    result."""

    def calculate(op: Op, a: int, b: int) -> int:
        # Two known numbers, or a symbol with itself; nothing else can be compared.
        if a > SYMBOL_LIMIT and b > SYMBOL_LIMIT:
            return int(holds(a, b))
        return int(same) if a == b and same is not None else op.symbols.new_symbol()

    return calculate


def fold_reduction(combine: Callable[[Op, list[int]], int]) -> ElementFold:
    """Fold a reduction of a vector, or of all elements."""

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


def sum_elements(op: Op, numbers: list[int]) -> int:
    """Return the sum."""
    total = 0
    for number in numbers:
        total = op.symbols.calculate("add", total, number)
    return total


def extreme_element(operation: str) -> Callable[[Op, list[int]], int]:
    """Make the greatest or the least of some numbers."""

    def combine(op: Op, numbers: list[int]) -> int:
        if not numbers:
            return op.symbols.new_symbol()
        best = numbers[0]
        for number in numbers[1:]:
            best = op.symbols.calculate(operation, best, number)
        return best

    return combine


def all_elements_true(op: Op, numbers: list[int]) -> int:
    """Return 1 if all numbers are true, 0 if one is not."""
    return 0 if 0 in numbers else 1 if all(number > SYMBOL_LIMIT for number in numbers) else op.symbols.new_symbol()


def fold_neg(op: Op) -> Elements | None:
    """Fold `Neg`."""
    value = op.value(0)
    return None if value is None else tuple(op.symbols.difference(0, number) for number in value)


def fold_logical_not(op: Op) -> Elements | None:
    """Fold `LogicalNot`."""
    value = op.value(0)
    return (
        None
        if value is None
        else tuple(int(not number) if number > SYMBOL_LIMIT else op.symbols.new_symbol() for number in value)
    )


def fold_operation(operation: str) -> ElementFold:
    """Fold one of the operations of `Symbols.calc`."""
    return fold_pairwise(lambda op, a, b: op.symbols.calculate(operation, a, b))
