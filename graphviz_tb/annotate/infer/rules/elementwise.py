"""Elementwise ops: https://www.tensorflow.org/api_docs/python/tf/raw_ops, "supports broadcasting" or of one operand."""

from __future__ import annotations

from graphviz_tb.annotate.infer.op import Op, Rule, RuleResult
from graphviz_tb.annotate.infer.rules.common import agreed
from graphviz_tb.annotate.infer.values import Dims
from graphviz_tb.model.dtypes import SIZES


def shape_of_broadcast(op: Op) -> RuleResult:
    """`BroadcastArgs`: a shape as long as the longer input."""
    mine, other = op.shape(0), op.shape(1)
    if mine is None or other is None or not mine or not other:
        return [(op.symbols.fresh(),)]
    return [(op.symbols.calc("max", mine[0], other[0]),)]


def checked(op: Op) -> RuleResult:
    """`EnsureShape`: the input, with the stated shape."""
    # The input first: sizes that the op leaves open are those of the input.
    return [agreed([op.shape(0), op.attr("shape")])]


def bitcast(op: Op) -> RuleResult:
    """`Bitcast`: if element sizes differ, the last dimension has the parts of one element."""
    shape, old, new = op.shape(0), SIZES.get(op.attr("T") or "", 0), SIZES.get(op.attr("type") or "", 0)
    if shape is None or not old or not new:
        return [None]
    # float64 as float32 appends a dimension of 2; the reverse removes it.
    if old > new:
        return [(*shape, old // new)]
    return [shape[:-1] if new > old else shape]


def accumulate(op: Op) -> RuleResult:
    """`AccumulateNV2`: the stated shape, or the shape of the inputs."""
    shape: Dims = agreed([*(each.shape for each in op.ins), op.attr("shape")])
    return [shape]


ELEMENTWISE_RULES: dict[str, Rule] = {
    "AccumulateNV2": accumulate,
    "BroadcastArgs": shape_of_broadcast,
    "EnsureShape": checked,
    "Bitcast": bitcast,
}
