"""Shape rules of elementwise ops, reductions, matrices, random, quantised and sparse ops."""

from __future__ import annotations

from graphviz_tb.annotate.infer.op import Op, RuleResult, ShapeRule, merge_all_dims, normalize_axis
from graphviz_tb.annotate.infer.rules.arrays import concatenate_shapes
from graphviz_tb.annotate.infer.symbols import Dims, Out, broadcast_dims
from graphviz_tb.model.tensors import ELEMENT_SIZES

# Elementwise ops: https://www.tensorflow.org/api_docs/python/tf/raw_ops, "supports broadcasting" or one operand.


def _infer_broadcast_args(op: Op) -> RuleResult:
    """`BroadcastArgs`: the shape of two shapes broadcast together, as long as the longer."""
    left, right = op.shape(0), op.shape(1)
    return [(op.symbols.calculate("max", left[0], right[0]) if left and right else op.symbols.new_symbol(),)]


def _infer_bitcast(op: Op) -> RuleResult:
    """`Bitcast`: an element that becomes several smaller ones adds an axis for them, and the reverse removes it."""
    shape, old, new = op.shape(0), ELEMENT_SIZES.get(op.attr("T") or "", 0), ELEMENT_SIZES.get(op.attr("type") or "", 0)
    if shape is None or not old or not new:
        return [None]
    if old > new:
        return [(*shape, old // new)]
    return [shape[:-1] if new > old else shape]


ELEMENTWISE_RULES: dict[str, ShapeRule] = {
    "AccumulateNV2": lambda op: [merge_all_dims([*(operand.shape for operand in op.ins), op.attr("shape")])],
    "BroadcastArgs": _infer_broadcast_args,
    # The input first: sizes that the op leaves open are those of the input.
    "EnsureShape": lambda op: [merge_all_dims([op.shape(0), op.attr("shape")])],
    "Bitcast": _infer_bitcast,
}


# Reductions along axes, and segments.


def _infer_arg_extreme(op: Op) -> RuleResult:
    """`ArgMax`: the axis in input 1 is dropped."""
    shape = op.shape(0)
    if shape is None:
        return [None]
    axis = normalize_axis(op.known_number(1), len(shape))
    if axis is None:
        # The rank is known even if the axis is not.
        return [op.symbols.new_symbols(len(shape) - 1) if len(shape) > 0 else ()]
    return [(*shape[:axis], *shape[axis + 1 :])]


def _infer_unsorted_segment(op: Op) -> RuleResult:
    """`UnsortedSegmentSum`: data, segment ids, number of segments."""
    shape, ids = op.shape(0), op.shape(1)
    if shape is None or ids is None or len(ids) > len(shape):
        return [None]
    return [(op.known_size(2), *shape[len(ids) :])]


REDUCTION_RULES: dict[str, ShapeRule] = {
    **dict.fromkeys(["ArgMax", "ArgMin"], _infer_arg_extreme),
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
        _infer_unsorted_segment,
    ),
}


# Matrix products and linear algebra.


def _infer_sparse_matmul(op: Op) -> RuleResult:
    """`SparseTensorDenseMatMul`: inputs are the indices, values and shape of a sparse matrix, then a dense matrix."""
    a, b = op.value(2), op.shape(3)
    rows = a[bool(op.attr("adjoint_a"))] if a is not None and len(a) == 2 else op.symbols.new_symbol()
    columns = b[not op.attr("adjoint_b")] if b is not None and len(b) == 2 else op.symbols.new_symbol()
    return [(rows, columns)]


def _infer_einsum(op: Op) -> RuleResult:
    """`Einsum`: letters name axes; the axes of `...` are broadcast."""
    inputs, _, output = str(op.attr("equation") or "").replace(" ", "").partition("->")
    letters: dict[str, int] = {}
    broadcast: Dims = ()
    for term, operand in zip(inputs.split(","), op.ins, strict=False):
        before, dots, after = term.partition("...")
        named = len(before) + len(after)
        shape = op.symbols.new_symbols(named) if operand.shape is None and not dots else operand.shape
        if shape is None or named > len(shape) or (not dots and named != len(shape)):
            return [None]
        broadcast = broadcast_dims(broadcast, shape[len(before) : len(shape) - len(after)], op.symbols)
        for letter, size in zip(
            before + after, (*shape[: len(before)], *shape[len(shape) - len(after) :]), strict=True
        ):
            # Symbols are below all numbers: the larger size is the known one, or not a broadcast 1.
            letters[letter] = max(letters.get(letter, size), size)
    before, dots, after = output.partition("...")
    if broadcast is None or any(letter not in letters for letter in before + after):
        return [None]
    return [(*(letters[name] for name in before), *(broadcast if dots else ()), *(letters[name] for name in after))]


def _infer_eigen(op: Op) -> RuleResult:
    """`SelfAdjointEigV2`: eigenvalues, then eigenvectors."""
    shape = op.shape(0)
    if shape is None or len(shape) < 2:
        return [None, None]
    return [shape[:-1], shape if op.attr("compute_v") else (0,)]


def _infer_qr(op: Op) -> RuleResult:
    """`Qr`: q and r, full or reduced."""
    shape = op.shape(0)
    if shape is None or len(shape) < 2:
        return [None, None]
    *batch, rows, columns = shape
    inner = rows if op.attr("full_matrices") else op.symbols.calculate("min", rows, columns)
    return [(*batch, rows, inner), (*batch, inner, columns)]


def _infer_svd(op: Op) -> RuleResult:
    """`Svd`: s, u, v; u and v are square, or have a column for each singular value."""
    shape = op.shape(0)
    if shape is None or len(shape) < 2:
        return [None, None, None]
    *batch, rows, columns = shape
    least = op.symbols.calculate("min", rows, columns)
    if not op.attr("compute_uv"):
        return [(*batch, least), None, None]
    u, v = (rows, columns) if op.attr("full_matrices") else (least, least)
    return [(*batch, least), (*batch, rows, u), (*batch, columns, v)]


MATRIX_RULES: dict[str, ShapeRule] = {
    "SparseTensorDenseMatMul": _infer_sparse_matmul,
    "Einsum": _infer_einsum,
    "XlaEinsum": _infer_einsum,
    "SelfAdjointEigV2": _infer_eigen,
    "Qr": _infer_qr,
    "Svd": _infer_svd,
}


# Random ops: the shape is an input.


def _infer_random_by_rate(op: Op) -> RuleResult:
    """`RandomGamma`, `RandomPoissonV2`: a tensor of the shape in input 0 for each rate of input 1."""
    shape, rates = op.stated_dims(0), op.shape(1)
    return [None if shape is None or rates is None else shape + rates]


RANDOM_RULES: dict[str, ShapeRule] = {
    "RandomGamma": _infer_random_by_rate,
    "RandomPoisson": _infer_random_by_rate,
    "RandomPoissonV2": _infer_random_by_rate,
}


# Quantised ops: values, then their minimum and maximum.


def _infer_quantize(op: Op) -> RuleResult:
    """`QuantizeV2`: values, then minimum and maximum, for the whole tensor or for each position along `axis`."""
    axis, shape = op.attr("axis"), op.shape(0)
    if not isinstance(axis, int) or axis == -1:
        return [shape, (), ()]
    sizes = (shape[axis],) if shape is not None and axis < len(shape) else (op.symbols.new_symbol(),)
    return [shape, sizes, sizes]


def _infer_quantized_concat(op: Op) -> RuleResult:
    """`QuantizedConcat`: inputs are the axis, then all values, all minima, all maxima."""
    count = (len(op.ins) - 1) // 3
    values: list[Out] = list(op.ins[1 : 1 + count])
    return [concatenate_shapes(op, [value.shape for value in values], op.known_number(0)), (), ()]


QUANTIZED_RULES: dict[str, ShapeRule] = {
    "QuantizeV2": _infer_quantize,
    "Quantize": _infer_quantize,
    "QuantizedConcat": _infer_quantized_concat,
}


# Sparse and ragged tensors: indices, values and a shape.


def _infer_fill_empty_rows(op: Op) -> RuleResult:
    """`SparseFillEmptyRows`: indices, values, a mask of empty rows, a map from old to new values."""
    indices, shape = op.shape(0), op.value(2)
    count = op.symbols.new_symbol()
    width = indices[1] if indices is not None and len(indices) == 2 else op.symbols.new_symbol()
    rows = shape[0] if shape else op.symbols.new_symbol()
    return [(count, width), (count,), (rows,), (indices[0] if indices else op.symbols.new_symbol(),)]


def _infer_ragged_range(op: Op) -> RuleResult:
    """`RaggedRange`: row splits, then values."""
    starts = op.shape(0)
    rows = op.symbols.calculate("add", starts[0], 1) if starts else op.symbols.new_symbol()
    return [(rows,), (op.symbols.new_symbol(),)]


SPARSE_RULES: dict[str, ShapeRule] = {
    "SparseFillEmptyRows": _infer_fill_empty_rows,
    "RaggedRange": _infer_ragged_range,
}
RULES = {
    **ELEMENTWISE_RULES,
    **REDUCTION_RULES,
    **MATRIX_RULES,
    **RANDOM_RULES,
    **QUANTIZED_RULES,
    **SPARSE_RULES,
}
