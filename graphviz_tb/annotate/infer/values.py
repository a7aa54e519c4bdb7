"""The inferred value of one output, and merging and joining of two values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from graphviz_tb.annotate.infer.symbols import SYMBOL_LIMIT, Symbols

Dims = tuple[int, ...] | None  # sizes and symbols; None: unknown rank
Elements = tuple[int, ...]  # the elements of a small integer tensor, row by row


class Out(NamedTuple):  # one is made for every output of a graph: in a third of a frozen dataclass's time
    """One output: its shape, its elements if it is a small integer tensor, and the shape `held` by a handle.

    A handle holds the value of a variable, the elements of a list or an array, or the element of a queue.
    """

    shape: Dims = None
    value: Elements | None = None
    held: Dims = None


UNKNOWN_OUTPUT = Out()


def rename_output_symbols(outs: tuple[Out, ...], names: Mapping[int, int]) -> tuple[Out, ...]:
    """Return outputs with some symbols replaced.

    >>> rename_output_symbols((Out((SYMBOL_LIMIT - 1, 3)),), {SYMBOL_LIMIT - 1: SYMBOL_LIMIT - 2}) == (
    ...     Out((SYMBOL_LIMIT - 2, 3)),
    ... )
    True
    """
    return tuple(
        [Out(*[None if dims is None else tuple([names.get(n, n) for n in dims]) for dims in out]) for out in outs]
    )


class Contradiction(ValueError):
    """Raised for two statements about one tensor that cannot both be true."""


def merge_dims(a: Dims, b: Dims) -> Dims:
    """Return the dimensions of a tensor that has both shapes. Raises Contradiction if that is impossible.

    >>> merge_dims((2, SYMBOL_LIMIT), (SYMBOL_LIMIT, 3)), merge_dims(None, (1,))
    ((2, 3), (1,))
    """
    if a is None or b is None or a == b:
        return b if a is None else a
    if len(a) != len(b):
        raise Contradiction
    return tuple(merge_sizes(mine, other) for mine, other in zip(a, b, strict=True))


def merge_sizes(a: int, b: int) -> int:
    """Return the number that equals both."""
    # A symbol never contradicts a number.
    if a <= SYMBOL_LIMIT:
        return b if b > SYMBOL_LIMIT else a
    if b > SYMBOL_LIMIT and a != b:
        raise Contradiction
    return a


def join_dims(a: Dims, b: Dims, symbols: Symbols) -> Dims:
    """Return the dimensions of a tensor that has one shape or the other: new symbols for sizes that differ.

    >>> join_dims((2, 5), (3, 5), Symbols())[1], join_dims((1,), (1, 1), Symbols())
    (5, None)
    """
    if a == b:
        return a
    if a is None or b is None or len(a) != len(b):
        return None
    return tuple(mine if mine == other else join_sizes(mine, other, symbols) for mine, other in zip(a, b, strict=True))


def join_sizes(a: int, b: int, symbols: Symbols) -> int:
    """Return a new symbol for a number that is one or the other."""
    return symbols.new_symbol_like(a, b) if a <= SYMBOL_LIMIT and b <= SYMBOL_LIMIT else symbols.new_symbol()


def join_outputs(a: Out, b: Out, symbols: Symbols) -> Out:
    """Return the common part of two outputs: sizes, and elements if the shapes are equal."""
    if a == b:
        return a
    value = None
    # Elements are compared one by one only where the shapes are equal.
    if a.value is not None and b.value is not None and a.shape == b.shape and len(a.value) == len(b.value):
        value = join_dims(a.value, b.value, symbols)
    return Out(join_dims(a.shape, b.shape, symbols), value, join_dims(a.held, b.held, symbols))


def broadcast_dims(a: Dims, b: Dims, symbols: Symbols) -> Dims:
    """Return the shape of an elementwise op of two operands.

    >>> broadcast_dims((2, 1), (3,), Symbols())
    (2, 3)
    """
    if a is None or b is None:
        return None
    if a == b:
        return a
    if len(a) < len(b):
        a, b = b, a
    lead = len(a) - len(b)
    return (*a[:lead], *(broadcast_size(mine, other, symbols) for mine, other in zip(a[lead:], b, strict=True)))


def broadcast_size(a: int, b: int, symbols: Symbols) -> int:
    """Return the size of one broadcast dimension: 1 gives way; if neither is 1, both are the known size."""
    if a == b or b == 1:
        return a
    if a == 1:
        return b
    if a <= SYMBOL_LIMIT and b <= SYMBOL_LIMIT:
        return symbols.new_symbol_like(a, b)
    if a > SYMBOL_LIMIT and b > SYMBOL_LIMIT:
        raise Contradiction
    return max(a, b)  # a known size and a symbol, which is at or below HIDDEN: the known size
