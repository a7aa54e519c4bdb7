"""Rules that many ops share, and makers of rules."""

from __future__ import annotations

from collections.abc import Sequence

from graphviz_tb.annotate.infer.op import Op
from graphviz_tb.annotate.infer.symbols import HIDDEN
from graphviz_tb.annotate.infer.values import Dims, Out, merge


def agreed(shapes: Sequence[Dims]) -> Dims:
    """The shape of tensors that are all as one another."""
    whole: Dims = None
    for shape in shapes:
        # Raises Contradiction where two of them cannot be the same.
        whole = merge(whole, shape)
    return whole


def axis_of(axis: int | None, rank: int) -> int | None:
    """An axis from 0 on; None where it is not known or not there.

    >>> axis_of(-1, 3), axis_of(3, 3)
    (2, None)
    """
    if axis is None or not -rank <= axis < rank:
        return None
    return axis % rank


def replaced(shape: Sequence[int], place: int, size: int) -> tuple[int, ...]:
    """The shape with another size in one place.

    >>> replaced((2, 3), 1, 9)
    (2, 9)
    """
    return (*shape[:place], size, *shape[place + 1 :])


def handle(of: Dims) -> Out:
    """A scalar handle."""
    return Out((), None, of)


def unknown(op: Op, shape: Dims) -> Dims:
    """As many dimensions, of which no size is known."""
    return None if shape is None else op.symbols.several(len(shape))


def is_known(*numbers: int) -> bool:
    """Whether none is a symbol."""
    return all(number > HIDDEN for number in numbers)


def layouts_channels(data_format: str | None, rank: int) -> int:
    """Where the channels are: second in "NCHW" and the like, else last.

    >>> layouts_channels("NCHW", 4), layouts_channels(None, 2)
    (1, 1)
    """
    return 1 if str(data_format or "N").startswith("NC") else rank - 1
