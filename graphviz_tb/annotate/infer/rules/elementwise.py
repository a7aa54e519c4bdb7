"""Elementwise ops: https://www.tensorflow.org/api_docs/python/tf/raw_ops, "supports broadcasting" or of one operand."""

from __future__ import annotations

from graphviz_tb.annotate.infer.op import Op, RuleResult, ShapeRule
from graphviz_tb.annotate.infer.rules.common import merge_all_dims
from graphviz_tb.annotate.infer.values import Dims
from graphviz_tb.model.dtypes import ELEMENT_SIZES


def infer_broadcast_args(op: Op) -> RuleResult:
    """`BroadcastArgs`: a shape as long as the longer input."""
    mine, other = op.shape(0), op.shape(1)
    if mine is None or other is None or not mine or not other:
        return [(op.symbols.new_symbol(),)]
    return [(op.symbols.calculate("max", mine[0], other[0]),)]


def infer_ensure_shape(op: Op) -> RuleResult:
    """`EnsureShape`: the input, with the stated shape."""
    # The input first: sizes that the op leaves open are those of the input.
    return [merge_all_dims([op.shape(0), op.attr("shape")])]


def infer_bitcast(op: Op) -> RuleResult:
    """`Bitcast`: if element sizes differ, the last dimension has the parts of one element."""
    shape, old, new = op.shape(0), ELEMENT_SIZES.get(op.attr("T") or "", 0), ELEMENT_SIZES.get(op.attr("type") or "", 0)
    if shape is None or not old or not new:
        return [None]
    # float64 as float32 appends a dimension of 2; the reverse removes it.
    if old > new:
        return [(*shape, old // new)]
    return [shape[:-1] if new > old else shape]


def infer_accumulate(op: Op) -> RuleResult:
    """`AccumulateNV2`: the stated shape, or the shape of the inputs."""
    shape: Dims = merge_all_dims([*(each.shape for each in op.ins), op.attr("shape")])
    return [shape]


ELEMENTWISE_RULES: dict[str, ShapeRule] = {
    "AccumulateNV2": infer_accumulate,
    "BroadcastArgs": infer_broadcast_args,
    "EnsureShape": infer_ensure_shape,
    "Bitcast": infer_bitcast,
}
