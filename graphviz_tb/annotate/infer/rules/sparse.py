"""Sparse and ragged tensors: indices, values and a shape."""

from __future__ import annotations

from graphviz_tb.annotate.infer.op import Op, Rule, RuleResult
from graphviz_tb.annotate.infer.rules.common import shape_from_input


def triple(op: Op, rank: int | None) -> RuleResult:
    """A sparse tensor of some rank."""
    count, width = op.symbols.fresh(), op.symbols.fresh() if rank is None else rank
    # indices, values, shape
    return [(count, width), (count,), (width,)]


def length(op: Op, index: int) -> int | None:
    """The number of dimensions of the shape that an input states."""
    shape = op.shape(index)
    return shape[0] if shape is not None and len(shape) == 1 else None


def reordered(op: Op) -> RuleResult:
    """`SparseReorder`: indices and values again."""
    return [op.shape(0), op.shape(1)]


def reshaped(op: Op) -> RuleResult:
    """`SparseReshape`: indices, and the new shape itself."""
    # `new_shape` is a vector: its length is the new rank.
    indices, shape = op.shape(0), op.shape(2)
    rows = indices[0] if indices else op.symbols.fresh()
    width = shape[0] if shape else op.symbols.fresh()
    return [(rows, width), (width,)]


def filled(op: Op) -> RuleResult:
    """`SparseFillEmptyRows`: indices, values, which rows were empty, where old values went."""
    indices, shape = op.shape(0), op.value(2)
    new, width = op.symbols.fresh(), indices[1] if indices is not None and len(indices) == 2 else op.symbols.fresh()
    rows = shape[0] if shape else op.symbols.fresh()
    return [(new, width), (new,), (rows,), (indices[0] if indices else op.symbols.fresh(),)]


def dense_segments(op: Op) -> RuleResult:
    """`RaggedTensorToTensor`: at least as many dimensions as the shape states."""
    return [None]


def ragged_range(op: Op) -> RuleResult:
    """`RaggedRange`: row splits, then values."""
    starts = op.shape(0)
    rows = op.symbols.calc("add", starts[0], 1) if starts else op.symbols.fresh()
    return [(rows,), (op.symbols.fresh(),)]


def dense_to_sparse(op: Op) -> RuleResult:
    """`SparseSlice` and the like: a tensor of the rank of the shape."""
    return triple(op, length(op, 2))


RULES: dict[str, Rule] = {
    "SparseToDense": shape_from_input(1),
    "SparseReorder": reordered,
    "SparseReshape": reshaped,
    "SparseFillEmptyRows": filled,
    "SparseSlice": dense_to_sparse,
    "SparseConcat": lambda op: triple(op, None),
    "SparseAdd": lambda op: triple(op, length(op, 2)),
    "SparseTensorDenseAdd": lambda op: [op.shape(3)],
    "SparseSoftmax": lambda op: [op.shape(1)],
    "SparseDenseCwiseMul": lambda op: [op.shape(1)],
    "SparseDenseCwiseAdd": lambda op: [op.shape(1)],
    "RaggedRange": ragged_range,
    "RaggedTensorToTensor": dense_segments,
}
