"""An op as cost rules see it: shapes with a number for every size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from graphviz_tb.annotate.infer.op import Op
from graphviz_tb.annotate.infer.symbols import HIDDEN, Symbols
from graphviz_tb.annotate.infer.values import Dims, Out

Sizes = tuple[int, ...]
MOST_ELEMENTS = 2**63 - 1  # the range of TensorFlow's element counts


class OpCost(NamedTuple):
    """Multiply-adds, and floating point operations (including two per multiply-add)."""

    macs: int = 0
    flops: int = 0


class Unknown(Exception):
    """Raised when a rule needs an unknown shape."""


class CountedOp:
    """One op with its inputs and outputs. Reading a shape of unknown rank raises `Unknown`; `partial` is true once a
    shape with an unknown size other than the batch was read, so that the count is a lower bound."""

    __slots__ = ("batch", "ins", "op", "outs", "partial")

    def __init__(self, op: Op, ins: Sequence[Out], outs: Sequence[Out], batch: int) -> None:
        self.op, self.ins, self.outs, self.batch = op, ins, outs, batch
        self.partial = False

    def shape(self, index: int) -> Sizes:
        """Return the shape of an input."""
        return self.sizes(self.ins[index].shape if -len(self.ins) <= index < len(self.ins) else None)

    def out(self, index: int = 0) -> Sizes:
        """Return the shape of an output."""
        return self.sizes(self.outs[index].shape if index < len(self.outs) else None)

    def sizes(self, dims: Dims) -> Sizes:
        """Return a shape as numbers."""
        self.partial |= not settled(dims, self.op.symbols)
        return sizes(dims, self.op.symbols, self.batch)

    def inputs(self, index: int = 0) -> int:
        """Return the number of elements of an input."""
        return elements(self.shape(index))

    def outputs(self, index: int = 0) -> int:
        """Return the number of elements of an output."""
        return elements(self.out(index))


def sizes(dims: Dims, symbols: Symbols, batch: int) -> Sizes:
    """Return sizes as numbers: an unknown size counts as the batch, an expression is evaluated with it."""
    if dims is None:
        raise Unknown
    return tuple(max(0, size) if size > HIDDEN else max(0, symbols.with_all(size, batch)) for size in dims)


def settled(dims: Dims, symbols: Symbols) -> bool:
    """Return whether a shape is known, apart from sizes that follow from the batch."""
    return dims is not None and all(symbols.of_batch(size) for size in dims)


def elements(shape: Sizes) -> int:
    """Return the product, at most 2⁶³ - 1: TensorFlow counts in 64 bits, and a hostile shape may have thousands of
    sizes."""
    count = 1
    for size in shape:
        count = min(count * size, MOST_ELEMENTS)
    return count
