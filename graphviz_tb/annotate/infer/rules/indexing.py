"""Slices, gathers, scatters and other selections of elements."""

from __future__ import annotations

from graphviz_tb.annotate.infer.op import Op, RuleResult, ShapeRule
from graphviz_tb.annotate.infer.rules.common import are_known_sizes, normalize_axis
from graphviz_tb.annotate.infer.strided import strided_slice_shape
from graphviz_tb.annotate.infer.symbols import SYMBOL_LIMIT


def infer_slice(op: Op) -> RuleResult:
    """`Slice`: begins and sizes; a size of -1 means the rest."""
    shape, begins, sizes = op.shape(0), op.value(1), op.value(2)
    if sizes is None:
        rank = len(shape) if shape is not None else known_vector_length(op, 1) or known_vector_length(op, 2)
        return [None if rank is None else op.symbols.new_symbols(rank)]
    left = []
    for axis, size in enumerate(sizes):
        if size != -1:
            left.append(size)
        elif shape is None or begins is None or len(shape) != len(sizes) or len(begins) != len(sizes):
            left.append(op.symbols.new_symbol())
        else:
            left.append(op.symbols.difference(shape[axis], begins[axis]))
    return [tuple(left)]


def known_vector_length(op: Op, index: int) -> int | None:
    """Return the number of elements of a vector."""
    shape = op.shape(index)
    return shape[0] if shape is not None and len(shape) == 1 and shape[0] > SYMBOL_LIMIT else None


def infer_strided_slice(op: Op) -> RuleResult:
    """`StridedSlice`: Python's slices, with masks (strided.py)."""
    return [strided_slice_shape(op, op.shape(0), 1)]


def infer_gather(op: Op) -> RuleResult:
    """`Gather`: rows of input 0."""
    shape, indices = op.shape(0), op.shape(1)
    return [None if not shape or indices is None else (*indices, *shape[1:])]


def infer_gather_v2(op: Op) -> RuleResult:
    """`GatherV2`: along the axis in input 2, with the first `batch_dims` shared."""
    shape, indices, shared = op.shape(0), op.shape(1), int(op.attr("batch_dims") or 0)
    if shape is None or indices is None:
        return [None]
    # Negative `batch_dims` count from the end of the indices.
    axis, shared = normalize_axis(op.known_number(2), len(shape)), shared + len(indices) * (shared < 0)
    if axis is None:
        return [op.symbols.new_symbols(len(shape) + len(indices) - 1 - shared) if shared == 0 and shape else None]
    # params.shape[:axis] + indices.shape[batch_dims:] + params.shape[axis + 1:]
    return [(*shape[:axis], *indices[shared:], *shape[axis + 1 :])]


def infer_gather_nd(op: Op) -> RuleResult:
    """`GatherNd`: the last dimension of the indices is an index."""
    shape, indices = op.shape(0), op.shape(1)
    if shape is None or not indices or not are_known_sizes(indices[-1]) or indices[-1] > len(shape):
        return [None]
    return [(*indices[:-1], *shape[indices[-1] :])]


def infer_resource_gather(op: Op) -> RuleResult:
    """`ResourceGather`: rows of a variable."""
    shape, indices, shared = op.held_shape(0), op.shape(1), int(op.attr("batch_dims") or 0)
    # The shared dimensions are also the first of the indices.
    return [None if not shape or indices is None else (*indices, *shape[shared + 1 :])]


def infer_resource_gather_nd(op: Op) -> RuleResult:
    """`ResourceGatherNd`."""
    shape, indices = op.held_shape(0), op.shape(1)
    if shape is None or not indices or not are_known_sizes(indices[-1]) or indices[-1] > len(shape):
        return [None]
    return [(*indices[:-1], *shape[indices[-1] :])]


def infer_one_hot(op: Op) -> RuleResult:
    """`OneHot`: a new axis of the depth in input 1."""
    shape = op.shape(0)
    if shape is None:
        return [None]
    axis = int(op.attr("axis") if op.attr("axis") is not None else -1)
    # -1 means a new last axis.
    place = len(shape) if axis == -1 else axis
    return [(*shape[:place], op.known_size(1), *shape[place:])]


def infer_unique_v2(op: Op) -> RuleResult:
    """`UniqueV2`: along axes; without axes, of a vector."""
    shape, axes = op.shape(0), op.shape(1)
    # Without axes as `Unique`; along an axis, whole slices are compared.
    if shape is None or axes != (0,) or len(shape) != 1:
        return [None, (op.symbols.new_symbol(),), (op.symbols.new_symbol(),)]
    new = op.symbols.new_symbol()
    return [(new,), shape, (new,)]


def infer_dynamic_partition(op: Op) -> RuleResult:
    """`DynamicPartition`: parts with an unknown number of rows."""
    shape, parts, count = op.shape(0), op.shape(1), op.attr_count("num_partitions")
    if shape is None or parts is None:
        return [None] * count
    return [(op.symbols.new_symbol(), *shape[len(parts) :]) for _ in range(count)]


def infer_dynamic_stitch(op: Op) -> RuleResult:
    """`DynamicStitch`: one row per index up to the largest."""
    half = len(op.ins) // 2
    # N tensors of indices, then N tensors of rows; with an index tensor of rank r, a row has r dimensions less.
    indices, data = op.ins[:half], op.ins[half:]
    values = [each.value for each in indices]
    tails = {
        each.shape[len(index.shape) :]
        for index, each in zip(indices, data, strict=True)
        if index.shape is not None and each.shape is not None
    }
    if len(tails) != 1:
        return [None]
    every = [number for value in values if value is not None for number in value]
    # All indices must be known.
    whole = all(value is not None for value in values) and all(number > SYMBOL_LIMIT for number in every) and every
    return [(max(every) + 1 if whole else op.symbols.new_symbol(), *tails.pop())]


INDEXING_RULES: dict[str, ShapeRule] = {
    "Slice": infer_slice,
    "StridedSlice": infer_strided_slice,
    "Gather": infer_gather,
    "GatherV2": infer_gather_v2,
    "GatherNd": infer_gather_nd,
    "ResourceGather": infer_resource_gather,
    "ResourceGatherNd": infer_resource_gather_nd,
    "OneHot": infer_one_hot,
    "UniqueV2": infer_unique_v2,
    "UniqueWithCountsV2": infer_unique_v2,
    "DynamicPartition": infer_dynamic_partition,
    "DynamicStitch": infer_dynamic_stitch,
    "ParallelDynamicStitch": infer_dynamic_stitch,
}
