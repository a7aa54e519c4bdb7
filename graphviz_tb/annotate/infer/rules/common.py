"""Helpers shared by many rules."""

from __future__ import annotations

from collections.abc import Sequence

from graphviz_tb.annotate.infer.op import Op
from graphviz_tb.annotate.infer.symbols import HIDDEN
from graphviz_tb.annotate.infer.values import Dims, Out, merge


def agreed(shapes: Sequence[Dims]) -> Dims:
    """Merge shapes that must be equal."""
    whole: Dims = None
    for shape in shapes:
        # Raises Contradiction if two of them cannot be equal.
        whole = merge(whole, shape)
    return whole


def axis_of(axis: int | None, rank: int) -> int | None:
    """Return a non-negative axis; None if it is unknown or out of range.

    >>> axis_of(-1, 3), axis_of(3, 3)
    (2, None)
    """
    if axis is None or not -rank <= axis < rank:
        return None
    return axis % rank


def replaced(shape: Sequence[int], place: int, size: int) -> tuple[int, ...]:
    """Return the shape with the size at `place` replaced.

    >>> replaced((2, 3), 1, 9)
    (2, 9)
    """
    return (*shape[:place], size, *shape[place + 1 :])


def handle(of: Dims) -> Out:
    """Return a scalar handle."""
    return Out((), None, of)


def unknown(op: Op, shape: Dims) -> Dims:
    """Return as many unknown dimensions as `shape` has."""
    return None if shape is None else op.symbols.several(len(shape))


def is_known(*numbers: int) -> bool:
    """Return whether no number is a symbol."""
    return all(number > HIDDEN for number in numbers)


def layouts_channels(data_format: str | None, rank: int) -> int:
    """Return the axis of the channels: 1 in "NCHW" and the like, else the last.

    >>> layouts_channels("NCHW", 4), layouts_channels(None, 2)
    (1, 1)
    """
    return 1 if str(data_format or "N").startswith("NC") else rank - 1
