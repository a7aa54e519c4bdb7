"""Shape rules of convolutions, pooling, images, losses, recurrent cells and gradients."""

from __future__ import annotations

from collections.abc import Sequence

from graphviz_tb.annotate.infer.op import Op, RuleResult, ShapeRule, channel_axis_of_format
from graphviz_tb.annotate.infer.symbols import SYMBOL_LIMIT, Dims, Out, broadcast_dims
from graphviz_tb.ops.signatures import TENSORFLOW_LAYOUT, kernel_layout, kernel_sizes

# Convolutions and pooling: sizes of windows, in every data format.


def _axes_of_format(op: Op, spatial: int) -> tuple[int, list[int]]:
    """Return the axis of the channels and the spatial axes; the batch is first except in HWNC and HWCN.

    "NHWC", "NDHWC" have channels last, "NCHW", "NCDHW" and "NCHW_VECT_C" second.
    """
    if str(op.attr("data_format") or "N").startswith("NC"):
        return 1, list(range(2, 2 + spatial))
    return 1 + spatial, list(range(1, 1 + spatial))


def _windows_along_axes(op: Op, shape: Sequence[int], kernel: Sequence[int], spatial: int) -> list[int]:
    """Return the number of windows along each spatial axis."""
    _, axes = _axes_of_format(op, spatial)
    strides, dilations = (_spatial_values(op.attr(name), axes) for name in ("strides", "dilations"))
    padding, explicit = op.attr("padding"), op.attr("explicit_paddings") or []
    counts = []
    for axis, window, stride, dilation in zip(axes, kernel, strides, dilations, strict=True):
        # Two numbers for each axis, batch and channels included.
        pads = tuple(explicit[2 * axis : 2 * axis + 2]) if padding == "EXPLICIT" else ()
        counts.append(_windows_along_axis(op, shape[axis], window, stride, dilation, padding, pads))
    return counts


def _spatial_values(stated: Sequence[int] | None, axes: Sequence[int]) -> list[int]:
    """Return the strides or dilations of the spatial axes; 1 if not stated."""
    return [stated[axis] if stated and len(stated) > axis else 1 for axis in axes]


def _windows_along_axis(
    op: Op, size: int, window: int, stride: int, dilation: int, padding: str | None, pads: tuple[int, ...]
) -> int:
    """Return the number of windows along one axis (TensorFlow's "SAME", "VALID" and "EXPLICIT" paddings)."""
    symbols = op.symbols
    if padding == "SAME":
        return size if stride == 1 else symbols.calculate("ceil", size, stride)
    if padding not in ("VALID", "EXPLICIT") or stride < 1:
        return symbols.new_symbol()
    # A window of 3 with dilation 2 reaches over 5: (3 - 1) * 2 + 1.
    reach = symbols.calculate("add", symbols.product([symbols.calculate("add", window, -1), dilation]), 1)
    padded = symbols.calculate("add", size, sum(pads))
    # ceil((padded - reach + 1) / stride)
    return symbols.calculate("ceil", symbols.calculate("add", symbols.difference(padded, reach), 1), stride)


def _arrange_in_format(op: Op, batch: int, channels: int, sizes: Sequence[int]) -> Dims:
    """Return the shape of a batch of images in the data format of an op."""
    channel_axis, _ = _axes_of_format(op, len(sizes))
    return (batch, channels, *sizes) if channel_axis == 1 else (batch, *sizes, channels)


def _convolution_shape_rule(spatial: int, depthwise: bool = False) -> ShapeRule:
    """Make the rule of a convolution: input, then a filter of (sizes…, channels in, channels out)."""

    def rule(op: Op) -> RuleResult:
        shape, kernel = op.shape(0), op.shape(1)
        # HWNC has a different position for the batch, NCHW_VECT_C a different order of the filter (OIHW_VECT_I).
        if str(op.attr("data_format") or "N")[0] != "N" or "VECT" in str(op.attr("data_format")):
            return [None]
        rank = 2 + spatial
        if (shape is not None and len(shape) != rank) or (kernel is not None and len(kernel) != rank):
            return [None]
        shape, kernel = shape or op.symbols.new_symbols(rank), kernel or op.symbols.new_symbols(rank)
        if kernel_layout(op.definition.op) != TENSORFLOW_LAYOUT:
            outputs, inputs, window = kernel_sizes(op.definition.op, kernel)
            kernel = (*(size or 1 for size in window), inputs or 1, outputs or 1)
        channels = op.symbols.product(kernel[-2:]) if depthwise else kernel[-1]
        return [_arrange_in_format(op, shape[0], channels, _windows_along_axes(op, shape, kernel[:-2], spatial))]

    return rule


def _infer_fully_connected(op: Op) -> RuleResult:
    """A dense layer of TensorFlow Lite, which keeps the axes of its input or flattens all but the last."""
    shape, kernel = op.shape(0), op.shape(1)
    if shape is None or kernel is None or len(kernel) != 2 or (len(shape) != 2 and not op.attr("keep_num_dims")):
        return [None]
    return [(*shape[:-1], kernel[0])]


def _infer_dilation(op: Op) -> RuleResult:
    """`Dilation2D`: a filter of height, width, channels; its dilations are called `rates`."""
    shape, kernel, strides, rates = op.shape(0), op.shape(1), op.attr("strides"), op.attr("rates")
    if shape is None or kernel is None or len(shape) != 4 or len(kernel) != 3:
        return [None]
    sizes = [
        _windows_along_axis(op, shape[axis], kernel[axis - 1], strides[axis], rates[axis], op.attr("padding"), ())
        for axis in (1, 2)
    ]
    return [(shape[0], *sizes, shape[3])]


def _pooling_shape_rule(spatial: int) -> ShapeRule:
    """Make the rule of `MaxPool` and the like: `ksize` and `strides` have an entry for every dimension."""

    return lambda op: [_pooled_shape(op, op.shape(0), op.attr("ksize"), op.attr("strides"), spatial)]


def _pooled_shape(
    op: Op, shape: Dims, ksize: Sequence[int] | None, strides: Sequence[int] | None, spatial: int
) -> Dims:
    """Return the shape after pooling; axes with a window and a stride of 1, as batch and channels, keep their size."""
    if shape is None:
        return op.symbols.new_symbols(2 + spatial) if "VECT" not in str(op.attr("data_format")) else None
    if len(shape) != 2 + spatial or not ksize or not strides or len(ksize) != len(shape) or len(strides) != len(shape):
        return None
    padding, explicit = op.attr("padding"), op.attr("explicit_paddings") or []
    sizes = []
    for axis, size in enumerate(shape):
        if ksize[axis] == 1 and strides[axis] == 1 and not explicit[2 * axis : 2 * axis + 2]:
            sizes.append(size)
            continue
        pads = tuple(explicit[2 * axis : 2 * axis + 2]) if padding == "EXPLICIT" else ()
        sizes.append(_windows_along_axis(op, size, ksize[axis], strides[axis], 1, padding, pads))
    return tuple(sizes)


def _infer_fractional_pool(op: Op) -> RuleResult:
    """`FractionalMaxPool`: sizes are divided by ratios."""
    shape, ratios = op.shape(0), op.attr("pooling_ratio")
    if shape is None or not ratios or len(ratios) != len(shape):
        return [None, (op.symbols.new_symbol(),), (op.symbols.new_symbol(),)]
    sizes = [
        size if ratio == 1 else int(size / ratio) if size > SYMBOL_LIMIT else op.symbols.new_symbol()
        for size, ratio in zip(shape, ratios, strict=True)
    ]
    return [tuple(sizes), (op.symbols.new_symbol(),), (op.symbols.new_symbol(),)]


def _infer_fused_batch_norm(op: Op) -> RuleResult:
    """`FusedBatchNormV3`: the input's shape, four vectors over the channels, and space reserved for the gradient."""
    shape = op.shape(0)
    if shape is None:
        shape = op.symbols.new_symbols(len(str(op.attr("data_format") or "NHWC")))
    channel_axis, _ = _axes_of_format(op, 3 if len(shape) == 5 else 2)
    channels = shape[channel_axis] if len(shape) > channel_axis else op.symbols.new_symbol()
    # Input and scale have equally many channels, so either may provide the number.
    if channels <= SYMBOL_LIMIT and (scale := op.shape(1)) is not None and len(scale) == 1:
        channels = scale[0]
    y: Dims = shape
    if len(shape) > channel_axis:
        y = (*shape[:channel_axis], channels, *shape[channel_axis + 1 :])
    reserved: RuleResult = [None] if op.definition.op.endswith("V3") else []
    return [y, *[(channels,)] * 4, *reserved]


def _infer_input_gradient(op: Op) -> RuleResult:
    """`Conv2DBackpropInput`: input 0 states the result, all four sizes or only height and width."""
    sizes = op.stated_dims(0)
    if sizes is None or len(sizes) != 2:
        return [sizes]
    kernel, gradient = op.shape(1), op.shape(2)
    batch = gradient[0] if gradient else op.symbols.new_symbol()
    channels = kernel[2] if kernel is not None and len(kernel) == 4 else op.symbols.new_symbol()
    return [(batch, channels, *sizes) if op.attr("data_format") == "NCHW" else (batch, *sizes, channels)]


CONVOLUTION_RULES: dict[str, ShapeRule] = {
    "Conv2D": _convolution_shape_rule(2),
    "_FusedConv2D": _convolution_shape_rule(2),
    "Conv3D": _convolution_shape_rule(3),
    "DepthwiseConv2dNative": _convolution_shape_rule(2, depthwise=True),
    "_FusedDepthwiseConv2dNative": _convolution_shape_rule(2, depthwise=True),
    "Dilation2D": _infer_dilation,
    "Conv2DBackpropInput": _infer_input_gradient,
    **dict.fromkeys(["MaxPool", "AvgPool"], _pooling_shape_rule(2)),
    **dict.fromkeys(["MaxPool3D", "AvgPool3D"], _pooling_shape_rule(3)),
    "MaxPoolV2": lambda op: [_pooled_shape(op, op.shape(0), op.known_elements(1), op.known_elements(2), 2)],
    "MaxPoolWithArgmax": lambda op: [_pooled_shape(op, op.shape(0), op.attr("ksize"), op.attr("strides"), 2)] * 2,
    "FractionalMaxPool": _infer_fractional_pool,
    "FractionalAvgPool": _infer_fractional_pool,
    **dict.fromkeys(["FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"], _infer_fused_batch_norm),
}


# Images: decoding, resizing, boxes.


def _kept_boxes(op: Op) -> Dims:
    """Return the shape of a vector over the boxes that are kept, padded to the maximum if an attribute asks for it."""
    return (op.known_size(2) if op.attr("pad_to_max_output_size") else op.symbols.new_symbol(),)


def _infer_combined_suppression(op: Op) -> RuleResult:
    """`CombinedNonMaxSuppression`: boxes, scores, classes, valid detections of each image."""
    boxes, scores, per_class, total = op.shape(0), op.shape(1), op.known_number(2), op.known_number(3)
    batch = boxes[0] if boxes else op.symbols.new_symbol()
    count = op.symbols.new_symbol()
    classes = scores[2] if scores is not None and len(scores) == 3 else SYMBOL_LIMIT
    if total is not None and not op.attr("pad_per_class"):
        count = total
    elif total is not None and per_class is not None and classes > SYMBOL_LIMIT:
        count = min(total, per_class * classes)
    return [(batch, count, 4), (batch, count), (batch, count), (batch,)]


def _infer_image_patches(op: Op) -> RuleResult:
    """`ExtractImagePatches`: the pixels of every patch become channels."""
    shape, sizes, strides, rates = op.shape(0), op.attr("ksizes"), op.attr("strides"), op.attr("rates")
    if shape is None or len(shape) != 4 or not sizes:
        return [None]
    counts = [
        _windows_along_axis(op, shape[axis], sizes[axis], strides[axis], rates[axis], op.attr("padding"), ())
        for axis in (1, 2)
    ]
    return [(shape[0], *counts, op.symbols.product([shape[3], sizes[1], sizes[2]]))]


IMAGE_RULES: dict[str, ShapeRule] = {
    "NonMaxSuppressionV4": lambda op: [_kept_boxes(op), ()],  # and how many are valid
    "NonMaxSuppressionV5": lambda op: [*[_kept_boxes(op)] * 2, ()],  # with their scores
    "CombinedNonMaxSuppression": _infer_combined_suppression,
    "ExtractImagePatches": _infer_image_patches,
}


# Losses, embeddings, recurrent cells and the like.


def _infer_softmax_loss(op: Op) -> RuleResult:
    """`SoftmaxCrossEntropyWithLogits`: a loss per row, and the gradient."""
    shape = broadcast_dims(op.shape(0), op.shape(1), op.symbols)
    if shape is None or len(shape) != 2:
        return [(op.symbols.new_symbol(),), shape]
    return [shape[:1], shape]


def _infer_lstm_cell_gradient(op: Op) -> RuleResult:
    """`LSTMBlockCellGrad`: gradients of the state (batch, units), the four gates together, and three peepholes."""
    x, state = op.shape(0), op.shape(1)
    shape = (x[0], state[1]) if x is not None and state is not None and len(x) == len(state) == 2 else state
    if shape is None or len(shape) != 2:
        return [shape, None, None, None, None]
    batch, units = shape
    return [shape, (batch, op.symbols.product([units, 4])), *[(units,)] * 3]


def _infer_block_lstm(op: Op) -> RuleResult:
    """`BlockLSTM`: equal shapes for all outputs; x is (time, batch, inputs), the bias has four gates per unit."""
    shape, bias = op.shape(1), op.shape(8)
    if shape is None or bias is None or len(shape) != 3 or len(bias) != 1:
        return [None] * 7
    return [(*shape[:2], op.symbols.quotient(bias, [4]))] * 7


def _infer_cudnn_rnn(op: Op) -> RuleResult:
    """`CudnnRNNV3`: outputs of (time, batch, directions * units), the last states, reserved space."""
    shape, state = op.shape(0), op.shape(1)
    last = state if op.attr("rnn_mode") == "lstm" else ()
    if shape is None or state is None or len(shape) != 3 or len(state) != 3:
        return [None, state, last, None, None]
    directions = 2 if op.attr("direction") == "bidirectional" else 1
    # The state is (layers * directions, batch, units).
    return [(*shape[:2], op.symbols.product([state[2], directions])), state, last, None, None]


def _infer_candidate_sampler(op: Op) -> RuleResult:
    """`UniformCandidateSampler` and the like: sampled classes, expected counts of true and of sampled classes."""
    shape, sampled, true = op.shape(0), op.attr("num_sampled"), op.attr("num_true")
    rows = shape[0] if shape else op.symbols.new_symbol()
    return [(sampled,), (rows, true), (sampled,)]


NETWORK_RULES: dict[str, ShapeRule] = {
    "tfl::FULLY_CONNECTED": _infer_fully_connected,
    "SoftmaxCrossEntropyWithLogits": _infer_softmax_loss,
    "LSTMBlockCellGrad": _infer_lstm_cell_gradient,
    "BlockLSTM": _infer_block_lstm,
    "BlockLSTMV2": _infer_block_lstm,
    **dict.fromkeys(["CudnnRNN", "CudnnRNNV2", "CudnnRNNV3"], _infer_cudnn_rnn),
    **dict.fromkeys(
        [
            "LogUniformCandidateSampler",
            "UniformCandidateSampler",
            "LearnedUnigramCandidateSampler",
            "FixedUnigramCandidateSampler",
            "AllCandidateSampler",
            "ThreadUnsafeUnigramCandidateSampler",
        ],
        _infer_candidate_sampler,
    ),
}


# Gradient ops: mostly the shapes of the values whose gradients they compute.


def _infer_bias_gradient(op: Op) -> RuleResult:
    """`BiasAddGrad`: one number for each channel."""
    shape = op.shape(0)
    if shape is None or len(shape) < 2:
        return [(op.symbols.new_symbol(),)]
    return [(shape[channel_axis_of_format(op.attr("data_format"), len(shape))],)]


def _infer_batch_norm_gradient(op: Op) -> RuleResult:
    """`FusedBatchNormGradV3`: the gradient of the input, of scale and offset, then two empty vectors."""
    shape = op.shape(1) if op.shape(0) is None else op.shape(0)
    if shape is None or len(shape) < 4:
        return [shape, op.shape(2), op.shape(2), (0,), (0,)]
    channels = (shape[channel_axis_of_format(op.attr("data_format"), len(shape))],)
    return [shape, channels, channels, (0,), (0,)]


def _infer_reduced_axes(op: Op) -> RuleResult:
    """`BroadcastGradientArgs`: the axes along which each of two shapes was broadcast; unknown sizes are taken as more
    than 1."""
    left, right = op.value(0), op.value(1)
    if left is None or right is None:
        return [(op.symbols.new_symbol(),), (op.symbols.new_symbol(),)]
    rank = max(len(left), len(right))
    pairs = list(zip((1,) * (rank - len(left)) + left, (1,) * (rank - len(right)) + right, strict=True))
    # Two unknown sizes may be equal or not.
    if any(one != two and 1 not in (one, two) for one, two in pairs):
        return [(op.symbols.new_symbol(),), (op.symbols.new_symbol(),)]
    by_side = [tuple(axis for axis, pair in enumerate(pairs) if pair[side] == 1) for side in (0, 1)]
    return [Out((len(axes),), axes) for axes in by_side]


def _infer_symbolic_gradient(op: Op) -> RuleResult:
    """`SymbolicGradient`: one gradient per input of the function; inputs after these are incoming gradients."""
    count = op.attr_count("Tout")
    return [operand.shape for operand in op.ins[:count]]


def _infer_resize_gradient(op: Op) -> RuleResult:
    """`ResizeBilinearGrad`: the size of the original image, the second input."""
    gradient, image = op.shape(0), op.shape(1)
    if gradient is None or image is None or len(gradient) != 4 or len(image) != 4:
        return [image]
    return [(*image[:3], gradient[3])]


def _infer_resize_nearest_gradient(op: Op) -> RuleResult:
    """`ResizeNearestNeighborGrad`: the rows and columns in the second input."""
    gradient, size = op.shape(0), op.value(1)
    if gradient is None or len(gradient) != 4:
        return [op.symbols.new_symbols(4)]
    rows, columns = size if size is not None and len(size) == 2 else op.symbols.new_symbols(2)
    return [(gradient[0], rows, columns, gradient[3])]


GRADIENT_RULES: dict[str, ShapeRule] = {
    "BiasAddGrad": _infer_bias_gradient,
    **dict.fromkeys(["FusedBatchNormGrad", "FusedBatchNormGradV2", "FusedBatchNormGradV3"], _infer_batch_norm_gradient),
    "ResizeBilinearGrad": _infer_resize_gradient,
    "ResizeBicubicGrad": _infer_resize_gradient,
    "ResizeNearestNeighborGrad": _infer_resize_nearest_gradient,
    "BroadcastGradientArgs": _infer_reduced_axes,
    "SymbolicGradient": _infer_symbolic_gradient,
}


RULES = {**CONVOLUTION_RULES, **IMAGE_RULES, **NETWORK_RULES, **GRADIENT_RULES}
