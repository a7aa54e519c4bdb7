"""An op as cost rules see it: shapes with a number for every size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from graphviz_tb.annotate.infer.op import Op
from graphviz_tb.annotate.infer.symbols import SYMBOL_LIMIT, Symbols
from graphviz_tb.annotate.infer.values import Dims, Out

KnownSizes = tuple[int, ...]
MAX_ELEMENTS = 2**63 - 1  # the range of TensorFlow's element counts


class OpCost(NamedTuple):
    """Multiply-adds, and floating point operations (including two per multiply-add)."""

    macs: int = 0
    flops: int = 0


class UnknownShapeError(Exception):
    """Raised when a rule needs an unknown shape."""


class CountedOp:
    """One op with its inputs and outputs. Reading a shape of unknown rank raises `UnknownShapeError`; `partial` is true
    once a
    shape with an unknown size other than the batch was read, so that the count is a lower bound."""

    __slots__ = ("batch", "ins", "op", "outs", "partial")

    def __init__(self, op: Op, ins: Sequence[Out], outs: Sequence[Out], batch: int) -> None:
        self.op, self.ins, self.outs, self.batch = op, ins, outs, batch
        self.partial = False

    def input_sizes(self, index: int) -> KnownSizes:
        """Return the shape of an input."""
        return self.numeric_sizes(self.ins[index].shape if -len(self.ins) <= index < len(self.ins) else None)

    def output_sizes(self, index: int = 0) -> KnownSizes:
        """Return the shape of an output."""
        return self.numeric_sizes(self.outs[index].shape if index < len(self.outs) else None)

    def numeric_sizes(self, dims: Dims) -> KnownSizes:
        """Return a shape as numbers."""
        self.partial |= not follows_batch_only(dims, self.op.symbols)
        return sizes_with_batch(dims, self.op.symbols, self.batch)

    def input_elements(self, index: int = 0) -> int:
        """Return the number of elements of an input."""
        return size_product(self.input_sizes(index))

    def output_elements(self, index: int = 0) -> int:
        """Return the number of elements of an output."""
        return size_product(self.output_sizes(index))


def sizes_with_batch(dims: Dims, symbols: Symbols, batch: int) -> KnownSizes:
    """Return sizes as numbers: an unknown size counts as the batch, an expression is evaluated with it."""
    if dims is None:
        raise UnknownShapeError
    return tuple(max(0, size) if size > SYMBOL_LIMIT else max(0, symbols.evaluate(size, batch)) for size in dims)


def follows_batch_only(dims: Dims, symbols: Symbols) -> bool:
    """Return whether a shape is known, apart from sizes that follow from the batch."""
    return dims is not None and all(symbols.follows_from_batch(size) for size in dims)


def size_product(shape: KnownSizes) -> int:
    """Return the product, at most 2⁶³ - 1: TensorFlow counts in 64 bits, and a hostile shape may have thousands of
    sizes."""
    count = 1
    for size in shape:
        count = min(count * size, MAX_ELEMENTS)
    return count
