"""The inferred value of one output, and merging and joining of two values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from graphviz_tb.annotate.infer.symbols import HIDDEN, Symbols

Dims = tuple[int, ...] | None  # sizes and symbols; None: unknown rank
Elements = tuple[int, ...]  # the elements of a small integer tensor, row by row


class Out(NamedTuple):  # one is made for every output of a graph: in a third of a frozen dataclass's time
    """One output: its shape, its elements if it is a small integer tensor, and the shape `held` by a handle.

    A handle holds the value of a variable, the elements of a list or an array, or the element of a queue.
    """

    shape: Dims = None
    value: Elements | None = None
    held: Dims = None


UNKNOWN = Out()


def renamed(outs: tuple[Out, ...], names: Mapping[int, int]) -> tuple[Out, ...]:
    """Return outputs with some symbols replaced.

    >>> renamed((Out((HIDDEN - 1, 3)),), {HIDDEN - 1: HIDDEN - 2}) == (Out((HIDDEN - 2, 3)),)
    True
    """
    return tuple(
        [Out(*[None if dims is None else tuple([names.get(n, n) for n in dims]) for dims in out]) for out in outs]
    )


class Contradiction(ValueError):
    """Raised for two statements about one tensor that cannot both be true."""


def merge(a: Dims, b: Dims) -> Dims:
    """Return the dimensions of a tensor that has both shapes. Raises Contradiction if that is impossible.

    >>> merge((2, HIDDEN), (HIDDEN, 3)), merge(None, (1,))
    ((2, 3), (1,))
    """
    if a is None or b is None or a == b:
        return b if a is None else a
    if len(a) != len(b):
        raise Contradiction
    return tuple(merged(mine, other) for mine, other in zip(a, b, strict=True))


def merged(a: int, b: int) -> int:
    """Return the number that equals both."""
    # A symbol never contradicts a number.
    if a <= HIDDEN:
        return b if b > HIDDEN else a
    if b > HIDDEN and a != b:
        raise Contradiction
    return a


def join(a: Dims, b: Dims, symbols: Symbols) -> Dims:
    """Return the dimensions of a tensor that has one shape or the other: new symbols for sizes that differ.

    >>> join((2, 5), (3, 5), Symbols())[1], join((1,), (1, 1), Symbols())
    (5, None)
    """
    if a == b:
        return a
    if a is None or b is None or len(a) != len(b):
        return None
    return tuple(mine if mine == other else either(mine, other, symbols) for mine, other in zip(a, b, strict=True))


def either(a: int, b: int, symbols: Symbols) -> int:
    """Return a new symbol for a number that is one or the other."""
    return symbols.like(a, b) if a <= HIDDEN and b <= HIDDEN else symbols.fresh()


def join_outs(a: Out, b: Out, symbols: Symbols) -> Out:
    """Return the common part of two outputs: sizes, and elements if the shapes are equal."""
    if a == b:
        return a
    value = None
    # Elements are compared one by one only where the shapes are equal.
    if a.value is not None and b.value is not None and a.shape == b.shape and len(a.value) == len(b.value):
        value = join(a.value, b.value, symbols)
    return Out(join(a.shape, b.shape, symbols), value, join(a.held, b.held, symbols))


def broadcast(a: Dims, b: Dims, symbols: Symbols) -> Dims:
    """Return the shape of an elementwise op of two operands.

    >>> broadcast((2, 1), (3,), Symbols())
    (2, 3)
    """
    if a is None or b is None:
        return None
    if a == b:
        return a
    if len(a) < len(b):
        a, b = b, a
    lead = len(a) - len(b)
    return (*a[:lead], *(stretched(mine, other, symbols) for mine, other in zip(a[lead:], b, strict=True)))


def stretched(a: int, b: int, symbols: Symbols) -> int:
    """Return the size of one broadcast dimension: 1 gives way; if neither is 1, both are the known size."""
    if a == b or b == 1:
        return a
    if a == 1:
        return b
    if a <= HIDDEN and b <= HIDDEN:
        return symbols.like(a, b)
    if a > HIDDEN and b > HIDDEN:
        raise Contradiction
    return max(a, b)  # a known size and a symbol, which is at or below HIDDEN: the known size
