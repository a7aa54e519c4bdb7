"""Reductions along axes, and segments."""

from __future__ import annotations

from graphviz_tb.annotate.infer.op import Op, RuleResult, ShapeRule
from graphviz_tb.annotate.infer.rules.common import normalize_axis


def infer_arg_extreme(op: Op) -> RuleResult:
    """`ArgMax`: one axis is dropped."""
    shape = op.shape(0)
    if shape is None:
        return [None]
    axis = normalize_axis(op.known_number(1), len(shape))
    if axis is None:
        # One axis is dropped, whichever it is.
        return [op.symbols.new_symbols(len(shape) - 1) if len(shape) > 0 else ()]
    return [(*shape[:axis], *shape[axis + 1 :])]


def infer_unsorted_segment(op: Op) -> RuleResult:
    """`UnsortedSegmentSum`: data, segment ids, number of segments."""
    shape, ids = op.shape(0), op.shape(1)
    if shape is None or ids is None or len(ids) > len(shape):
        return [None]
    return [(op.known_size(2), *shape[len(ids) :])]


REDUCTION_RULES: dict[str, ShapeRule] = {
    **dict.fromkeys(["ArgMax", "ArgMin"], infer_arg_extreme),
    **dict.fromkeys(
        [
            "UnsortedSegmentMax",
            "UnsortedSegmentMin",
            "UnsortedSegmentProd",
            "UnsortedSegmentSum",
            "SegmentMaxV2",
            "SegmentMinV2",
            "SegmentProdV2",
            "SegmentSumV2",
        ],
        infer_unsorted_segment,
    ),
}
