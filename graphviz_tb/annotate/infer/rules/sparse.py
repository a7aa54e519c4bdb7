"""Sparse and ragged tensors: indices, values and a shape."""

from __future__ import annotations

from graphviz_tb.annotate.infer.op import Op, Rule, RuleResult


def filled(op: Op) -> RuleResult:
    """`SparseFillEmptyRows`: indices, values, a mask of empty rows, a map from old to new values."""
    indices, shape = op.shape(0), op.value(2)
    new, width = op.symbols.fresh(), indices[1] if indices is not None and len(indices) == 2 else op.symbols.fresh()
    rows = shape[0] if shape else op.symbols.fresh()
    return [(new, width), (new,), (rows,), (indices[0] if indices else op.symbols.fresh(),)]


def ragged_range(op: Op) -> RuleResult:
    """`RaggedRange`: row splits, then values."""
    starts = op.shape(0)
    rows = op.symbols.calc("add", starts[0], 1) if starts else op.symbols.fresh()
    return [(rows,), (op.symbols.fresh(),)]


SPARSE_RULES: dict[str, Rule] = {
    "SparseFillEmptyRows": filled,
    "RaggedRange": ragged_range,
}
