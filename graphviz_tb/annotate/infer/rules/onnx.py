"""Shape rules of ONNX ops that no signature describes: https://onnx.ai/onnx/operators. Ops that rearrange elements are
in `onnx_arrays`.

A kernel has the sizes (out, in, rows, columns); the attribute `kernel_shape` is (rows, columns).
"""

from __future__ import annotations

from collections.abc import Sequence

from graphviz_tb.annotate.infer.op import (
    Op,
    RuleResult,
    ShapeRule,
    are_known_sizes,
    drop_axes,
    normalize_axis,
    replace_size,
    unknown_sizes,
)
from graphviz_tb.annotate.infer.rules.onnx_arrays import (
    ONNX_ARRAY_RULES,
    is_flag_set,
    is_setting_given,
    known_setting_numbers,
    setting_numbers,
    stated_axis,
)
from graphviz_tb.annotate.infer.symbols import SYMBOL_LIMIT, Dims, Elements, Symbols, broadcast_dims

# Convolutions and pooling.


def _window_counts(op: Op, sizes: Sequence[int], kernel: Sequence[int], *, ceil: bool = False) -> list[int]:
    """Return the number of windows along each axis; with `ceil`, also a last window that exceeds the end."""
    strides, dilations = _per_axis(op, "strides", len(sizes)), _per_axis(op, "dilations", len(sizes))
    pads, auto = _pads(op, len(sizes)), op.attr("auto_pad")
    symbols, counts = op.symbols, []
    for size, window, stride, dilation, pad in zip(sizes, kernel, strides, dilations, pads, strict=True):
        if auto in ("SAME_UPPER", "SAME_LOWER"):
            counts.append(symbols.calculate("ceil", size, stride))
            continue
        reach = symbols.calculate("add", _distance_to_last(symbols, window, dilation), 1)
        room = symbols.difference(symbols.calculate("add", size, 0 if auto == "VALID" else sum(pad)), reach)
        if ceil:
            count = symbols.calculate("add", symbols.calculate("ceil", room, stride), 1)
            # The last window begins inside the input or the pad before it.
            if are_known_sizes(count, size) and (count - 1) * stride >= size + pad[0]:
                count -= 1
        else:
            count = symbols.calculate("add", symbols.calculate("floor", room, stride), 1)
        counts.append(max(count, 0) if count > SYMBOL_LIMIT else count)
    return counts


def _distance_to_last(symbols: Symbols, count: int, step: int) -> int:
    """Return the distance from the first to the last of `count` positions, each a step apart."""
    return symbols.product([symbols.calculate("add", count, -1), step])


def _per_axis(op: Op, name: str, spatial: int) -> list[int]:
    """Return an attribute with a number for each axis of the window; 1 for each if it is missing or invalid."""
    given = op.attr(name)
    return given if isinstance(given, list) and len(given) == spatial and min(given) > 0 else [1] * spatial


def _pads(op: Op, spatial: int) -> list[tuple[int, int]]:
    """Return the pads before and after each axis; the attribute lists all pads before, then all after."""
    given = op.attr("pads")
    if not isinstance(given, list) or len(given) != 2 * spatial:
        return [(0, 0)] * spatial
    return list(zip(given[:spatial], given[spatial:], strict=True))


def _convolution_rule(kernel_slot: int) -> ShapeRule:
    """Make the rule of a convolution whose kernel is the input at a slot."""

    def rule(op: Op) -> RuleResult:
        shape, kernel = op.shape(0), op.shape(kernel_slot)
        rank = len(shape or kernel or ())
        shape, kernel = shape or op.symbols.new_symbols(rank), kernel or op.symbols.new_symbols(rank)
        if rank < 2 or len(kernel) != rank:
            return [None]
        window = op.attr("kernel_shape")
        window = window if isinstance(window, list) and len(window) == rank - 2 else kernel[2:]
        return [(shape[0], kernel[0], *_window_counts(op, shape[2:], window))]

    return rule


def _infer_transposed_convolution(op: Op) -> RuleResult:
    """`ConvTranspose`: the kernel has the sizes (in, out / groups, rows, columns)."""
    shape, kernel = op.shape(0), op.shape(1)
    if shape is None or kernel is None or len(shape) < 3 or len(kernel) != len(shape):
        return [None]
    symbols, spatial, groups = op.symbols, len(shape) - 2, op.attr("group")
    channels = symbols.product([kernel[1], groups if isinstance(groups, int) else 1])
    stated = op.attr("output_shape")
    if isinstance(stated, list) and len(stated) >= spatial:
        return [(shape[0], channels, *stated[-spatial:])]
    strides, dilations = _per_axis(op, "strides", spatial), _per_axis(op, "dilations", spatial)
    output_padding, auto = op.attr("output_padding"), op.attr("auto_pad")
    added = output_padding if isinstance(output_padding, list) and len(output_padding) == spatial else [0] * spatial
    sizes = []
    for axis, (size, pad) in enumerate(zip(shape[2:], _pads(op, spatial), strict=True)):
        if auto in ("SAME_UPPER", "SAME_LOWER"):
            sizes.append(symbols.product([size, strides[axis]]))
            continue
        reach = _distance_to_last(symbols, kernel[2 + axis], dilations[axis])
        steps = _distance_to_last(symbols, size, strides[axis])
        sizes.append(symbols.calculate("add", symbols.calculate("add", steps, reach), 1 + added[axis] - sum(pad)))
    return [(shape[0], channels, *sizes)]


def _infer_pooling(op: Op) -> RuleResult:
    """`MaxPool` and the like; the second output has the indices of the maxima."""
    shape, window = op.shape(0), op.attr("kernel_shape")
    if shape is None or not isinstance(window, list) or len(window) != len(shape) - 2:
        return [None, None]
    counts = _window_counts(op, shape[2:], window, ceil=is_flag_set(op, "ceil_mode"))
    return [(*shape[:2], *counts)] * 2


def _infer_unpooling(op: Op) -> RuleResult:
    """`MaxUnpool`: the inverse of `MaxPool`; input 2 may state the shape."""
    shape, window, stated = op.shape(0), op.attr("kernel_shape"), op.value(2)
    if stated is not None:
        return [stated]
    if shape is None or not isinstance(window, list) or len(window) != len(shape) - 2 or len(op.ins) > 2:
        return [unknown_sizes(op, shape)]
    symbols, spatial = op.symbols, len(window)
    strides = _per_axis(op, "strides", spatial)
    sizes = [
        symbols.calculate("add", _distance_to_last(symbols, size, strides[place]), window[place] - sum(pad))
        for place, (size, pad) in enumerate(zip(shape[2:], _pads(op, spatial), strict=True))
    ]
    return [(*shape[:2], *sizes)]


def _infer_region_pooling(op: Op) -> RuleResult:
    """`RoiAlign`: an image of the stated size for each region."""
    shape, regions = op.shape(0), op.shape(1)
    sizes = op.attr("pooled_shape") or [op.attr("output_height") or 1, op.attr("output_width") or 1]
    if shape is None or len(shape) < 2 or regions is None or not regions:
        return [None]
    return [(regions[0], shape[1], *sizes)]


def _infer_image_of_columns(op: Op) -> RuleResult:
    """`Col2Im`: an image from blocks, each a column of input 0."""
    shape, image, block = op.shape(0), setting_numbers(op, "image_shape", 1), setting_numbers(op, "block_shape", 2)
    if shape is None or len(shape) != 3 or image is None or block is None:
        return [None]
    return [(shape[0], op.symbols.quotient([shape[1]], block), *image)]


# Matrices.


def _matrix_product(op: Op, a: Dims, b: Dims) -> Dims:
    """Return the shape of a product of batches of matrices; a vector on the left is a row, on the right a column."""
    if not a or not b:
        return None
    batch = broadcast_dims(a[:-2], b[:-2], op.symbols)
    return None if batch is None else (*batch, *a[-2:-1], *(b[-1:] if len(b) > 1 else ()))


def _product_rule(second: int) -> ShapeRule:
    """Make the rule of `MatMul`, whose second factor is at a slot."""
    return lambda op: [_matrix_product(op, op.shape(0), op.shape(second))]


def _infer_fused_product(op: Op) -> RuleResult:
    """`FusedMatMul`: factors may be transposed."""
    factors = []
    for slot, name in enumerate(("transA", "transB")):
        shape = op.shape(slot)
        if shape is not None and len(shape) > 1 and is_flag_set(op, name):
            shape = (*shape[:-2], shape[-1], shape[-2])
        factors.append(shape)
    return [_matrix_product(op, *factors)]


def _infer_packed_product(op: Op) -> RuleResult:
    """`MatMulNBits`: the matrix is packed, so an attribute states its columns."""
    shape, columns = op.shape(0), op.attr("N")
    known = columns if isinstance(columns, int) else op.symbols.new_symbol()
    return [(*shape[:-1], known) if shape else None]


def _infer_attention(op: Op) -> RuleResult:
    """`Attention`: the result, keys and values with past ones, scores. Inputs have three axes, with the heads in the
    last, or four, with the heads second; input 4 has the past keys."""
    query, key, value = op.shape(0), op.shape(1), op.shape(2)
    if query is None or key is None or value is None or not len(query) == len(key) == len(value):
        return [None]
    past = op.shape(4)
    if len(query) == 4:
        keys = op.symbols.calculate("add", key[2], past[2]) if past is not None and len(past) == 4 else key[2]
        return [(*query[:3], value[3]), (*key[:2], keys, key[3]), (*value[:2], keys, value[3]), (*query[:3], keys)]
    heads, groups = op.attr("q_num_heads"), op.attr("kv_num_heads")
    if len(query) != 3 or not isinstance(heads, int) or not isinstance(groups, int) or min(heads, groups) < 1:
        return [None]
    keys = op.symbols.calculate("add", key[1], past[2]) if past is not None and len(past) == 4 else key[1]
    value_size, key_size = op.symbols.quotient([value[2]], [groups]), op.symbols.quotient([key[2]], [groups])
    return [
        (*query[:2], op.symbols.product([heads, value_size])),
        (key[0], groups, keys, key_size),
        (value[0], groups, keys, value_size),
        (query[0], heads, query[1], keys),
    ]


def _infer_recurrent(op: Op) -> RuleResult:
    """`LSTM`, `GRU`, `RNN`: all outputs, then the last state and, for an LSTM, the last cell."""
    shape, weights = op.shape(0), op.shape(2)
    if shape is None or len(shape) != 3:
        return [None, None, None]
    units = op.attr("hidden_size")
    if not isinstance(units, int):
        units = weights[2] if weights and len(weights) == 3 else op.symbols.new_symbol()
    directions = 2 if op.attr("direction") == "bidirectional" else 1
    if is_flag_set(op, "layout"):  # the batch is first
        batch, steps, _ = shape
        return [(batch, steps, directions, units), *[(batch, directions, units)] * 2]
    steps, batch, _ = shape
    return [(steps, directions, batch, units), *[(directions, batch, units)] * 2]


# Reductions, selections, generated numbers, norms, classifiers.


def _infer_reduction(op: Op) -> RuleResult:
    """`ReduceSum` and the like: along the axes in an attribute or an input; along all by default."""
    shape, axes = op.shape(0), known_setting_numbers(op, "axes", 1)
    if shape is None:
        return [None]
    keeps_axes = is_flag_set(op, "keepdims", 1)
    if axes is None and is_setting_given(op, "axes", 1):
        return [unknown_sizes(op, shape) if keeps_axes else None]
    if not axes:
        if is_flag_set(op, "noop_with_empty_axes"):
            return [shape]
        axes = list(range(len(shape)))
    if not keeps_axes:
        return [drop_axes(shape, axes)]
    reduced = {normalize_axis(axis, len(shape)) for axis in axes}
    return [None if None in reduced else tuple(1 if axis in reduced else size for axis, size in enumerate(shape))]


def _infer_arg_extreme(op: Op) -> RuleResult:
    """`ArgMax`: one axis is dropped, or kept with size 1."""
    shape = op.shape(0)
    axis = None if shape is None else stated_axis(op, len(shape), 0)
    if shape is None or axis is None:
        return [None]
    return [replace_size(shape, axis, 1) if is_flag_set(op, "keepdims", 1) else (*shape[:axis], *shape[axis + 1 :])]


def _infer_top_k(op: Op) -> RuleResult:
    """`TopK`: values and indices."""
    shape, count = op.shape(0), setting_numbers(op, "k", 1)
    axis = None if shape is None else stated_axis(op, len(shape), -1)
    if shape is None or axis is None:
        return [None, None]
    known = count[0] if count is not None and len(count) == 1 else op.symbols.new_symbol()
    return [replace_size(shape, axis, known)] * 2


def _infer_one_hot(op: Op) -> RuleResult:
    """`OneHot`: a new axis of the stated depth."""
    shape, depth = op.shape(0), setting_numbers(op, "depth", 1)
    if shape is None:
        return [None]
    axis = stated_axis(op, len(shape) + 1, -1)
    known = depth[0] if depth is not None and len(depth) == 1 else op.symbols.new_symbol()
    return [None if axis is None else (*shape[:axis], known, *shape[axis:])]


def _infer_shape(op: Op) -> RuleResult:
    """`Shape`: a vector of `shape_elements`."""
    sizes = shape_elements(op)
    return [(op.symbols.new_symbol(),) if sizes is None else (len(sizes),)]


def shape_elements(op: Op) -> Elements | None:
    """Return the elements of a `Shape`: the sizes of its input from `start` to `end`."""
    shape, start, end = op.shape(0), op.attr("start"), op.attr("end")
    if shape is None:
        return None
    return shape[start if isinstance(start, int) else 0 : end if isinstance(end, int) else None]


def _infer_stated_shape(op: Op) -> RuleResult:
    """`ConstantOfShape`: the shape in input 0 or an attribute."""
    stated = setting_numbers(op, "shape", 0)
    return [op.stated_dims(0) if stated is None else tuple(stated)]


def _infer_range(op: Op) -> RuleResult:
    """`Range`: from start to limit by steps."""
    numbers = [setting_numbers(op, name, slot) for slot, name in enumerate(("start", "limit", "delta"))]
    if any(number is None or len(number) != 1 for number in numbers):
        return [(op.symbols.new_symbol(),)]
    start, limit, step = [number[0] for number in numbers if number is not None]
    return [(op.symbols.calculate("span", start, limit, step),)]


def _infer_unique(op: Op) -> RuleResult:
    """`Unique`: distinct elements, or slices along an axis; then their indices, the inverse indices, and counts."""
    shape, stated, distinct = op.shape(0), op.attr("axis"), op.symbols.new_symbol()
    if shape is None or not isinstance(stated, int):
        elements = op.symbols.product(shape) if shape is not None else op.symbols.new_symbol()
        return [(distinct,), (distinct,), (elements,), (distinct,)]
    axis = normalize_axis(stated, len(shape))
    if axis is None:
        return [None]
    return [replace_size(shape, axis, distinct), (distinct,), (shape[axis],), (distinct,)]


def _infer_compress(op: Op) -> RuleResult:
    """`Compress`: an unknown number of slices along an axis, or of elements if no axis is stated."""
    shape, given = op.shape(0), op.attr("axis")
    if not isinstance(given, int):
        return [(op.symbols.new_symbol(),)]
    axis = None if shape is None else normalize_axis(given, len(shape))
    return [None if shape is None or axis is None else replace_size(shape, axis, op.symbols.new_symbol())]


def _infer_layer_norm(op: Op) -> RuleResult:
    """`LayerNormalization`: the result; mean and inverse deviation, of size 1 along the normalised axes."""
    shape = op.shape(0)
    axis = None if shape is None else stated_axis(op, len(shape), -1)
    if shape is None or axis is None:
        return [shape]
    return [shape, *[(*shape[:axis], *[1] * (len(shape) - axis))] * 2]


def _scored_rows(op: Op, columns: int) -> tuple[int, int]:
    """Return the shape of scores: a row for each row of the input, which is one row if it is a vector."""
    shape = op.shape(0)
    if not shape:
        return op.symbols.new_symbol(), columns
    return shape[0] if len(shape) == 2 else 1, columns


def _infer_classifier(op: Op) -> RuleResult:
    """`LinearClassifier`: labels, then a score for each class."""
    names = op.attr("classlabels_ints") or op.attr("classlabels_strings") or op.attr("classlabels_int64s")
    scores = _scored_rows(op, len(names) if names else op.symbols.new_symbol())
    return [scores[:1], scores]


def _infer_regressor(op: Op) -> RuleResult:
    """`LinearRegressor`: a column for each target."""
    count = op.attr("targets") or op.attr("n_targets")
    return [_scored_rows(op, count if isinstance(count, int) else 1)]


REDUCTIONS = (
    "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean", "ReduceMin",
    "ReduceProd", "ReduceSum", "ReduceSumSquare",
)  # fmt: skip
RULES_BY_NAME: dict[str, ShapeRule] = {
    "Conv": _convolution_rule(1),
    "ConvInteger": _convolution_rule(1),
    "DeformConv": _convolution_rule(1),
    "FusedConv": _convolution_rule(1),
    "QLinearConv": _convolution_rule(3),
    "ConvTranspose": _infer_transposed_convolution,
    **dict.fromkeys(("AveragePool", "LpPool", "MaxPool", "QLinearAveragePool"), _infer_pooling),
    **dict.fromkeys(
        ("GlobalAveragePool", "GlobalLpPool", "GlobalMaxPool", "QLinearGlobalAveragePool"),
        lambda op: [None if (shape := op.shape(0)) is None else (*shape[:2], *[1] * (len(shape) - 2))],
    ),
    "MaxUnpool": _infer_unpooling,
    "MaxRoiPool": _infer_region_pooling,
    "RoiAlign": _infer_region_pooling,
    "Col2Im": _infer_image_of_columns,
    "MatMul": _product_rule(1),
    "MatMulInteger": _product_rule(1),
    "DynamicQuantizeMatMul": _product_rule(1),
    "MatMulIntegerToFloat": _product_rule(1),
    "QLinearMatMul": _product_rule(3),
    "FusedMatMul": _infer_fused_product,
    "MatMulNBits": _infer_packed_product,
    "Attention": _infer_attention,
    **dict.fromkeys(("DynamicQuantizeLSTM", "GRU", "LSTM", "RNN"), _infer_recurrent),
    **dict.fromkeys(REDUCTIONS, _infer_reduction),
    "ArgMax": _infer_arg_extreme,
    "ArgMin": _infer_arg_extreme,
    "TopK": _infer_top_k,
    "OneHot": _infer_one_hot,
    "Shape": _infer_shape,
    "ConstantOfShape": _infer_stated_shape,
    "Range": _infer_range,
    "Unique": _infer_unique,
    "Compress": _infer_compress,
    # The loss, one number or one for each label; then logarithms of probabilities.
    **dict.fromkeys(
        ("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"),
        lambda op: [op.shape(1) if op.attr("reduction") == "none" else (), op.shape(0)],
    ),
    "BatchNormalization": lambda op: [op.shape(0), *[op.shape(3)] * 4],  # in training also the new mean and variance
    "LayerNormalization": _infer_layer_norm,
    "LinearClassifier": _infer_classifier,
    "SVMClassifier": _infer_classifier,
    "TreeEnsembleClassifier": _infer_classifier,
    "LinearRegressor": _infer_regressor,
    "SVMRegressor": _infer_regressor,
    "TreeEnsembleRegressor": _infer_regressor,
}
RULES = {f"onnx::{op}": rule for op, rule in (RULES_BY_NAME | ONNX_ARRAY_RULES).items()}
