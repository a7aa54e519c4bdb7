"""Convolutions and pooling: sizes of windows, in every data format."""

from __future__ import annotations

from collections.abc import Sequence

from graphviz_tb.annotate.infer.op import Op, RuleResult, ShapeRule
from graphviz_tb.annotate.infer.symbols import SYMBOL_LIMIT
from graphviz_tb.annotate.infer.values import Dims


def axes_of_format(op: Op, spatial: int) -> tuple[int, list[int]]:
    """Return the axis of the channels and the spatial axes; the batch is first except in HWNC and HWCN.

    "NHWC", "NDHWC" have channels last, "NCHW", "NCDHW" and "NCHW_VECT_C" second.
    """
    if str(op.attr("data_format") or "N").startswith("NC"):
        return 1, list(range(2, 2 + spatial))
    return 1 + spatial, list(range(1, 1 + spatial))


def windows_along_axes(op: Op, shape: Sequence[int], kernel: Sequence[int], spatial: int) -> list[int]:
    """Return the number of windows along each spatial dimension."""
    _, places = axes_of_format(op, spatial)
    strides = spatial_values(op.attr("strides"), places, len(shape))
    dilations = spatial_values(op.attr("dilations"), places, len(shape))
    padding, explicit = op.attr("padding"), op.attr("explicit_paddings") or []
    counts = []
    for dim, place in enumerate(places):
        # Two numbers for each dimension of the format, batch and channels included.
        pads = tuple(explicit[2 * place : 2 * place + 2]) if padding == "EXPLICIT" else ()
        counts.append(windows_along_axis(op, shape[place], kernel[dim], strides[dim], dilations[dim], padding, pads))
    return counts


def spatial_values(given: Sequence[int] | None, places: Sequence[int], rank: int) -> list[int]:
    """Return strides or dilations of the spatial dimensions; 1 if not stated."""
    return [given[place] if given and len(given) > place else 1 for place in places]


def windows_along_axis(
    op: Op, size: int, kernel: int, stride: int, dilation: int, padding: str | None, pads: tuple[int, ...]
) -> int:
    """Return the number of windows along one dimension (TensorFlow's "SAME", "VALID" and "EXPLICIT" paddings)."""
    symbols = op.symbols
    if padding == "SAME":
        return size if stride == 1 else symbols.calculate("ceil", size, stride)
    if padding not in ("VALID", "EXPLICIT") or stride < 1:
        return symbols.new_symbol()
    # A filter of 3 with dilation 2 reaches over 5: (3 - 1) * 2 + 1.
    reach = symbols.calculate("add", symbols.product([symbols.calculate("add", kernel, -1), dilation]), 1)
    whole = symbols.calculate("add", size, sum(pads))
    # ceil((whole - reach + 1) / stride)
    return symbols.calculate("ceil", symbols.calculate("add", symbols.difference(whole, reach), 1), stride)


def arrange_in_format(op: Op, batch: int, channels: int, sizes: Sequence[int]) -> Dims:
    """Arrange sizes in the data format of the op."""
    channel_axis, _ = axes_of_format(op, len(sizes))
    return (batch, channels, *sizes) if channel_axis == 1 else (batch, *sizes, channels)


def convolution_shape_rule(spatial: int, depthwise: bool = False) -> ShapeRule:
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
        channels = op.symbols.product(kernel[-2:]) if depthwise else kernel[-1]
        return [arrange_in_format(op, shape[0], channels, windows_along_axes(op, shape, kernel[:-2], spatial))]

    return rule


def infer_dilation(op: Op) -> RuleResult:
    """`Dilation2D`: a filter of height, width, channels; its dilations are called `rates`."""
    shape, kernel, strides, rates = op.shape(0), op.shape(1), op.attr("strides"), op.attr("rates")
    if shape is None or kernel is None or len(shape) != 4 or len(kernel) != 3:
        return [None]
    sizes = [
        windows_along_axis(op, shape[axis], kernel[axis - 1], strides[axis], rates[axis], op.attr("padding"), ())
        for axis in (1, 2)
    ]
    return [(shape[0], *sizes, shape[3])]


def pooling_shape_rule(spatial: int) -> ShapeRule:
    """Make the rule of `MaxPool` and the like: `ksize` and `strides` have an entry for every dimension."""

    def rule(op: Op) -> RuleResult:
        shape, ksize, strides = op.shape(0), op.attr("ksize"), op.attr("strides")
        return [pooled_shape(op, shape, ksize, strides, spatial)]

    return rule


def pooled_shape(op: Op, shape: Dims, ksize: Sequence[int] | None, strides: Sequence[int] | None, spatial: int) -> Dims:
    """Return the shape after pooling, dimension by dimension."""
    if shape is None:
        return op.symbols.new_symbols(2 + spatial) if "VECT" not in str(op.attr("data_format")) else None
    if len(shape) != 2 + spatial or not ksize or not strides or len(ksize) != len(shape) or len(strides) != len(shape):
        return None
    padding, explicit = op.attr("padding"), op.attr("explicit_paddings") or []
    sizes = []
    for axis, size in enumerate(shape):
        # Batch and channels are not pooled.
        if ksize[axis] == 1 and strides[axis] == 1 and not explicit[2 * axis : 2 * axis + 2]:
            sizes.append(size)
            continue
        pads = tuple(explicit[2 * axis : 2 * axis + 2]) if padding == "EXPLICIT" else ()
        sizes.append(windows_along_axis(op, size, ksize[axis], strides[axis], 1, padding, pads))
    return tuple(sizes)


def infer_pool_v2(op: Op) -> RuleResult:
    """`MaxPoolV2`: `ksize` and `strides` are inputs."""
    return [pooled_shape(op, op.shape(0), op.known_elements(1), op.known_elements(2), 2)]


def infer_pool_with_argmax(op: Op) -> RuleResult:
    """`MaxPoolWithArgmax`: values and their positions."""
    shape = pooled_shape(op, op.shape(0), op.attr("ksize"), op.attr("strides"), 2)
    return [shape, shape]


def infer_fractional_pool(op: Op) -> RuleResult:
    """`FractionalMaxPool`: sizes are divided by ratios."""
    shape, ratios = op.shape(0), op.attr("pooling_ratio")
    if shape is None or not ratios or len(ratios) != len(shape):
        return [None, (op.symbols.new_symbol(),), (op.symbols.new_symbol(),)]
    sizes = [
        size if ratio == 1 else int(size / ratio) if size > SYMBOL_LIMIT else op.symbols.new_symbol()
        for size, ratio in zip(shape, ratios, strict=True)
    ]
    return [tuple(sizes), (op.symbols.new_symbol(),), (op.symbols.new_symbol(),)]


def infer_fused_batch_norm(op: Op) -> RuleResult:
    """`FusedBatchNormV3`: the input's shape, then vectors over the channels, then space reserved for the gradient."""
    shape = op.shape(0)
    if shape is None:
        shape = op.symbols.new_symbols(len(str(op.attr("data_format") or "NHWC")))
    channel_axis, _ = axes_of_format(op, 3 if len(shape) == 5 else 2)
    channels = shape[channel_axis] if len(shape) > channel_axis else op.symbols.new_symbol()
    # Input and scale have equally many channels, so either may provide the number.
    if channels <= SYMBOL_LIMIT and (scale := op.shape(1)) is not None and len(scale) == 1:
        channels = scale[0]
    y: Dims = shape
    if len(shape) > channel_axis:
        y = (*shape[:channel_axis], channels, *shape[channel_axis + 1 :])
    kept: RuleResult = [None] if op.definition.op.endswith("V3") else []
    return [y, (channels,), (channels,), (channels,), (channels,), *kept]


def infer_input_gradient(op: Op) -> RuleResult:
    """`Conv2DBackpropInput`: the sizes of the input, all four or only height and width."""
    sizes = op.stated_dims(0)
    if sizes is None or len(sizes) != 2:
        return [sizes]
    kernel, gradient = op.shape(1), op.shape(2)
    batch = gradient[0] if gradient else op.symbols.new_symbol()
    channels = kernel[2] if kernel is not None and len(kernel) == 4 else op.symbols.new_symbol()
    return [(batch, channels, *sizes) if op.attr("data_format") == "NCHW" else (batch, *sizes, channels)]


CONVOLUTION_RULES: dict[str, ShapeRule] = {
    "Conv2D": convolution_shape_rule(2),
    "_FusedConv2D": convolution_shape_rule(2),
    "Conv3D": convolution_shape_rule(3),
    "DepthwiseConv2dNative": convolution_shape_rule(2, depthwise=True),
    "_FusedDepthwiseConv2dNative": convolution_shape_rule(2, depthwise=True),
    "Dilation2D": infer_dilation,
    "Conv2DBackpropInput": infer_input_gradient,
    **dict.fromkeys(["MaxPool", "AvgPool"], pooling_shape_rule(2)),
    **dict.fromkeys(["MaxPool3D", "AvgPool3D"], pooling_shape_rule(3)),
    "MaxPoolV2": infer_pool_v2,
    "MaxPoolWithArgmax": infer_pool_with_argmax,
    "FractionalMaxPool": infer_fractional_pool,
    "FractionalAvgPool": infer_fractional_pool,
    **dict.fromkeys(["FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"], infer_fused_batch_norm),
}
