"""An op as the rules of cost see it: its shapes with numbers for all sizes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from graphviz_tb.annotate.infer.op import Op
from graphviz_tb.annotate.infer.symbols import HIDDEN, Symbols
from graphviz_tb.annotate.infer.values import Dims, Out

Sizes = tuple[int, ...]
MOST_ELEMENTS = 2**63 - 1  # what TensorFlow's own element counts hold


class OpCost(NamedTuple):
    """Multiply-adds, and floating point operations (their two included)."""

    macs: int = 0
    flops: int = 0


class Unknown(Exception):
    """A shape that a rule needs is not known."""


class CountedOp:
    """One op with its inputs and outputs. Asking for a shape of unknown rank raises `Unknown`; `partial` is whether one
    that was asked for has an unknown size that is not the batch, so that what is counted is less than the truth."""

    __slots__ = ("batch", "ins", "op", "outs", "partial")

    def __init__(self, op: Op, ins: Sequence[Out], outs: Sequence[Out], batch: int) -> None:
        self.op, self.ins, self.outs, self.batch = op, ins, outs, batch
        self.partial = False

    def shape(self, index: int) -> Sizes:
        """The shape of an input."""
        return self.sizes(self.ins[index].shape if -len(self.ins) <= index < len(self.ins) else None)

    def out(self, index: int = 0) -> Sizes:
        """The shape of an output."""
        return self.sizes(self.outs[index].shape if index < len(self.outs) else None)

    def sizes(self, dims: Dims) -> Sizes:
        """A shape as numbers."""
        self.partial |= not settled(dims, self.op.symbols)
        return sizes(dims, self.op.symbols, self.batch)

    def inputs(self, index: int = 0) -> int:
        """Elements of an input."""
        return elements(self.shape(index))

    def outputs(self, index: int = 0) -> int:
        """Elements of an output."""
        return elements(self.out(index))


def sizes(dims: Dims, symbols: Symbols, batch: int) -> Sizes:
    """Sizes as numbers: an unknown one counts as the batch, what was calculated from it as that comes to."""
    if dims is None:
        raise Unknown
    return tuple(max(0, size) if size > HIDDEN else max(0, symbols.with_all(size, batch)) for size in dims)


def settled(dims: Dims, symbols: Symbols) -> bool:
    """Whether a shape is known, but for sizes that follow from the batch."""
    return dims is not None and all(symbols.of_batch(size) for size in dims)


def elements(shape: Sizes) -> int:
    """The product, at most 2⁶³ - 1: TensorFlow counts in 64 bits, and a hostile shape has thousands of sizes."""
    count = 1
    for size in shape:
        count = min(count * size, MOST_ELEMENTS)
    return count
