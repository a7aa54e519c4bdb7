"""Helpers shared by many rules."""

from __future__ import annotations

from collections.abc import Sequence

from graphviz_tb.annotate.infer.op import Op
from graphviz_tb.annotate.infer.symbols import SYMBOL_LIMIT
from graphviz_tb.annotate.infer.values import Dims, Out, merge_dims


def merge_all_dims(shapes: Sequence[Dims]) -> Dims:
    """Merge shapes that must be equal."""
    whole: Dims = None
    for shape in shapes:
        # Raises Contradiction if two of them cannot be equal.
        whole = merge_dims(whole, shape)
    return whole


def normalize_axis(axis: int | None, rank: int) -> int | None:
    """Return a non-negative axis; None if it is unknown or out of range.

    >>> normalize_axis(-1, 3), normalize_axis(3, 3)
    (2, None)
    """
    if axis is None or not -rank <= axis < rank:
        return None
    return axis % rank


def replace_size(shape: Sequence[int], place: int, size: int) -> tuple[int, ...]:
    """Return the shape with the size at `place` replaced.

    >>> replace_size((2, 3), 1, 9)
    (2, 9)
    """
    return (*shape[:place], size, *shape[place + 1 :])


def handle_holding(of: Dims) -> Out:
    """Return a scalar handle."""
    return Out((), None, of)


def unknown_sizes(op: Op, shape: Dims) -> Dims:
    """Return as many unknown dimensions as `shape` has."""
    return None if shape is None else op.symbols.new_symbols(len(shape))


def are_known_sizes(*numbers: int) -> bool:
    """Return whether no number is a symbol."""
    return all(number > SYMBOL_LIMIT for number in numbers)


def channel_axis_of_format(data_format: str | None, rank: int) -> int:
    """Return the axis of the channels: 1 in "NCHW" and the like, else the last.

    >>> channel_axis_of_format("NCHW", 4), channel_axis_of_format(None, 2)
    (1, 1)
    """
    return 1 if str(data_format or "N").startswith("NC") else rank - 1
