"""Reductions along axes, and segments."""

from __future__ import annotations

from graphviz_tb.annotate.infer.op import Op, Rule, RuleResult
from graphviz_tb.annotate.infer.rules.common import axis_of
from graphviz_tb.annotate.infer.values import Dims


def reduce(op: Op) -> RuleResult:
    """`Sum` and the like: the axes of input 1 go, or become 1 with `keep_dims`."""
    return [reduced(op, op.shape(0), 1, bool(op.attr("keep_dims")))]


def reduced(op: Op, shape: Dims, axes_at: int, keep: bool) -> Dims:
    """The shape that is left."""
    axes = op.numbers(axes_at)
    if shape is None:
        return None
    if axes is None:
        # How many axes go is not known either: only with `keep_dims` the rank stays.
        return op.symbols.several(len(shape)) if keep else None
    gone = {axis_of(axis, len(shape)) for axis in axes}
    if None in gone:
        return None
    if keep:
        return tuple(1 if dim in gone else size for dim, size in enumerate(shape))
    return tuple(size for dim, size in enumerate(shape) if dim not in gone)


def arg(op: Op) -> RuleResult:
    """`ArgMax`: one axis goes."""
    shape = op.shape(0)
    if shape is None:
        return [None]
    axis = axis_of(op.number(1), len(shape))
    if axis is None:
        # Whichever it is, one axis goes.
        return [op.symbols.several(len(shape) - 1) if len(shape) > 0 else ()]
    return [(*shape[:axis], *shape[axis + 1 :])]


def segment(op: Op) -> RuleResult:
    """`SegmentSum`, `SparseSegmentSum`: as many rows as there are segments, which only the data say."""
    shape = op.shape(0)
    return [None if not shape else (op.symbols.fresh(), *shape[1:])]


def unsorted_segment(op: Op) -> RuleResult:
    """`UnsortedSegmentSum`: data, segment ids, how many segments."""
    shape, ids = op.shape(0), op.shape(1)
    if shape is None or ids is None or len(ids) > len(shape):
        return [None]
    return [(op.size(2), *shape[len(ids) :])]


def sparse_segment_counted(op: Op) -> RuleResult:
    """`SparseSegmentSumWithNumSegments`, `SparseSegmentMeanGrad`: input 3 says how many rows come out."""
    shape = op.shape(0)
    return [None if not shape else (op.size(3), *shape[1:])]


RULES: dict[str, Rule] = {
    **dict.fromkeys(["All", "Any", "EuclideanNorm", "Max", "Mean", "Min", "Prod", "Sum"], reduce),
    **dict.fromkeys(["ArgMax", "ArgMin"], arg),
    **dict.fromkeys(["SegmentMax", "SegmentMean", "SegmentMin", "SegmentProd", "SegmentSum"], segment),
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
        unsorted_segment,
    ),
    **dict.fromkeys(["SparseSegmentMean", "SparseSegmentSqrtN", "SparseSegmentSum"], segment),
    **dict.fromkeys(
        ["SparseSegmentMeanWithNumSegments", "SparseSegmentSqrtNWithNumSegments", "SparseSegmentSumWithNumSegments"],
        sparse_segment_counted,
    ),
    **dict.fromkeys(
        ["SparseSegmentMeanGrad", "SparseSegmentSqrtNGrad", "SparseSegmentSumGrad"], sparse_segment_counted
    ),
}
