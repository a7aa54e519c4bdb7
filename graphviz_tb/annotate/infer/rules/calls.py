"""Merges of control flow; for calls of functions see infer/calls.py."""

from __future__ import annotations

from graphviz_tb.annotate.infer.op import Op, RuleResult, ShapeRule
from graphviz_tb.annotate.infer.values import Out, join_outputs


def infer_merge(op: Op) -> RuleResult:
    """`Merge`: the common part of all inputs, and the index of the chosen one."""
    if not op.ins:
        return []
    merged = op.ins[0]
    for other in op.ins[1:]:
        merged = join_outputs(merged, other, op.symbols)
    return [Out(merged.shape, None, merged.held), ()]


CALL_RULES: dict[str, ShapeRule] = {
    "Merge": infer_merge,
    "RefMerge": infer_merge,
}
