"""Elementwise ops: https://www.tensorflow.org/api_docs/python/tf/raw_ops, "supports broadcasting" or of one operand."""

from __future__ import annotations

from graphviz_tb.annotate.infer.op import Op, Rule, RuleResult
from graphviz_tb.annotate.infer.rules.common import agreed
from graphviz_tb.annotate.infer.values import Dims
from graphviz_tb.model.dtypes import SIZES


def shape_of_broadcast(op: Op) -> RuleResult:
    """`BroadcastArgs`: a shape as long as the longer one."""
    mine, other = op.shape(0), op.shape(1)
    if mine is None or other is None or not mine or not other:
        return [(op.symbols.fresh(),)]
    return [(op.symbols.calc("max", mine[0], other[0]),)]


def checked(op: Op) -> RuleResult:
    """`EnsureShape`: the input, which is of the stated shape."""
    # The input first: a size that the op leaves open is that of the input, known or not.
    return [agreed([op.shape(0), op.attr("shape")])]


def bitcast(op: Op) -> RuleResult:
    """`Bitcast`: the last dimension holds the parts of one element where sizes differ."""
    shape, old, new = op.shape(0), SIZES.get(op.attr("T") or "", 0), SIZES.get(op.attr("type") or "", 0)
    if shape is None or not old or not new:
        return [None]
    # float64 as float32 gets a last dimension of 2; the other way, the last dimension of 2 goes.
    if old > new:
        return [(*shape, old // new)]
    return [shape[:-1] if new > old else shape]


def accumulate(op: Op) -> RuleResult:
    """`AccumulateNV2`: the stated shape, or that of the inputs."""
    shape: Dims = agreed([*(each.shape for each in op.ins), op.attr("shape")])
    return [shape]


RULES: dict[str, Rule] = {
    "AccumulateNV2": accumulate,
    "BroadcastArgs": shape_of_broadcast,
    "EnsureShape": checked,
    "Bitcast": bitcast,
}
