"""Sparse and ragged tensors: indices, values and a shape."""

from __future__ import annotations

from graphviz_tb.annotate.infer.op import Op, RuleResult, ShapeRule


def infer_fill_empty_rows(op: Op) -> RuleResult:
    """`SparseFillEmptyRows`: indices, values, a mask of empty rows, a map from old to new values."""
    indices, shape = op.shape(0), op.value(2)
    new, width = (
        op.symbols.new_symbol(),
        indices[1] if indices is not None and len(indices) == 2 else op.symbols.new_symbol(),
    )
    rows = shape[0] if shape else op.symbols.new_symbol()
    return [(new, width), (new,), (rows,), (indices[0] if indices else op.symbols.new_symbol(),)]


def infer_ragged_range(op: Op) -> RuleResult:
    """`RaggedRange`: row splits, then values."""
    starts = op.shape(0)
    rows = op.symbols.calculate("add", starts[0], 1) if starts else op.symbols.new_symbol()
    return [(rows,), (op.symbols.new_symbol(),)]


SPARSE_RULES: dict[str, ShapeRule] = {
    "SparseFillEmptyRows": infer_fill_empty_rows,
    "RaggedRange": infer_ragged_range,
}
