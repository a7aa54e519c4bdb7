"""Merges of control flow; calls of functions are in infer/calls.py."""

from __future__ import annotations

from graphviz_tb.annotate.infer.op import Op, Rule, RuleResult
from graphviz_tb.annotate.infer.values import Out, join_outs


def merge(op: Op) -> RuleResult:
    """`Merge`: what all inputs have in common, and which of them came."""
    if not op.ins:
        return []
    merged = op.ins[0]
    for other in op.ins[1:]:
        merged = join_outs(merged, other, op.symbols)
    return [Out(merged.shape, None, merged.held), ()]


RULES: dict[str, Rule] = {
    "Merge": merge,
    "RefMerge": merge,
}
