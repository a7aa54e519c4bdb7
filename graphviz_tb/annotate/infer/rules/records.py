"""Strings, parsed records, summaries and datasets."""

from __future__ import annotations

from graphviz_tb.annotate.infer.op import Op, RuleResult, ShapeRule
from graphviz_tb.annotate.infer.values import Dims, Out


def infer_string_join(op: Op) -> RuleResult:
    """`StringJoin`: scalars are broadcast to the shape of the remaining inputs."""
    shapes = [each.shape for each in op.ins]
    larger = [shape for shape in shapes if shape != ()]
    return [larger[0] if larger else ()]


def infer_parse_example(op: Op) -> RuleResult:
    """`ParseExampleV2`: sparse, dense and ragged features of a batch of records (or of one)."""
    batch: Dims = op.shape(0)
    if op.definition.op == "ParseSingleExample":
        batch = ()
    # The first version has a different attribute for the count.
    sparse = op.attr_count("Nsparse" if op.definition.op == "ParseExample" else "num_sparse")
    shapes: list[Dims | Out] = []
    # Indices of a sparse feature are (count, rank), with the batch as first dimension.
    rank = None if batch is None else len(batch) + 1
    shapes += [(op.symbols.new_symbol(), op.symbols.new_symbol() if rank is None else rank) for _ in range(sparse)]
    shapes += [(op.symbols.new_symbol(),) for _ in range(sparse)]
    shapes += [(op.symbols.new_symbol() if rank is None else rank,) for _ in range(sparse)]
    for shape in op.attr("dense_shapes") or []:
        shapes.append(None if batch is None or shape is None else batch + shape)
    return shapes


RECORD_RULES: dict[str, ShapeRule] = {
    "StringJoin": infer_string_join,
    **dict.fromkeys(["ParseExample", "ParseExampleV2", "ParseSingleExample"], infer_parse_example),
}
