"""Convolutions and pooling: sizes of windows, in every data format."""

from __future__ import annotations

from collections.abc import Sequence

from graphviz_tb.annotate.infer.op import Op, Rule, RuleResult
from graphviz_tb.annotate.infer.symbols import HIDDEN
from graphviz_tb.annotate.infer.values import Dims


def layout(op: Op, spatial: int) -> tuple[int, list[int]]:
    """Return the axis of the channels and the spatial axes; the batch is first except in HWNC and HWCN.

    "NHWC", "NDHWC" have channels last, "NCHW", "NCDHW" and "NCHW_VECT_C" second.
    """
    if str(op.attr("data_format") or "N").startswith("NC"):
        return 1, list(range(2, 2 + spatial))
    return 1 + spatial, list(range(1, 1 + spatial))


def windows(op: Op, shape: Sequence[int], kernel: Sequence[int], spatial: int) -> list[int]:
    """Return the number of windows along each spatial dimension."""
    _, places = layout(op, spatial)
    strides = spread(op.attr("strides"), places, len(shape))
    dilations = spread(op.attr("dilations"), places, len(shape))
    padding, explicit = op.attr("padding"), op.attr("explicit_paddings") or []
    counts = []
    for dim, place in enumerate(places):
        # Two numbers for each dimension of the format, batch and channels included.
        pads = tuple(explicit[2 * place : 2 * place + 2]) if padding == "EXPLICIT" else ()
        counts.append(window(op, shape[place], kernel[dim], strides[dim], dilations[dim], padding, pads))
    return counts


def spread(given: Sequence[int] | None, places: Sequence[int], rank: int) -> list[int]:
    """Return strides or dilations of the spatial dimensions; 1 if not stated."""
    return [given[place] if given and len(given) > place else 1 for place in places]


def window(
    op: Op, size: int, kernel: int, stride: int, dilation: int, padding: str | None, pads: tuple[int, ...]
) -> int:
    """Return the number of windows along one dimension (TensorFlow's "SAME", "VALID" and "EXPLICIT" paddings)."""
    symbols = op.symbols
    if padding == "SAME":
        return size if stride == 1 else symbols.calc("ceil", size, stride)
    if padding not in ("VALID", "EXPLICIT") or stride < 1:
        return symbols.fresh()
    # A filter of 3 with dilation 2 reaches over 5: (3 - 1) * 2 + 1.
    reach = symbols.calc("add", symbols.product([symbols.calc("add", kernel, -1), dilation]), 1)
    whole = symbols.calc("add", size, sum(pads))
    # ceil((whole - reach + 1) / stride)
    return symbols.calc("ceil", symbols.calc("add", symbols.difference(whole, reach), 1), stride)


def put(op: Op, batch: int, channels: int, sizes: Sequence[int]) -> Dims:
    """Arrange sizes in the data format of the op."""
    channel_axis, _ = layout(op, len(sizes))
    return (batch, channels, *sizes) if channel_axis == 1 else (batch, *sizes, channels)


def convolution(spatial: int, depthwise: bool = False) -> Rule:
    """Make the rule of a convolution: input, then a filter of (sizes…, channels in, channels out)."""

    def rule(op: Op) -> RuleResult:
        shape, kernel = op.shape(0), op.shape(1)
        # HWNC has a different position for the batch, NCHW_VECT_C a different order of the filter (OIHW_VECT_I).
        if str(op.attr("data_format") or "N")[0] != "N" or "VECT" in str(op.attr("data_format")):
            return [None]
        rank = 2 + spatial
        if (shape is not None and len(shape) != rank) or (kernel is not None and len(kernel) != rank):
            return [None]
        shape, kernel = shape or op.symbols.several(rank), kernel or op.symbols.several(rank)
        channels = op.symbols.product(kernel[-2:]) if depthwise else kernel[-1]
        return [put(op, shape[0], channels, windows(op, shape, kernel[:-2], spatial))]

    return rule


def dilation(op: Op) -> RuleResult:
    """`Dilation2D`: a filter of height, width, channels; its dilations are called `rates`."""
    shape, kernel, strides, rates = op.shape(0), op.shape(1), op.attr("strides"), op.attr("rates")
    if shape is None or kernel is None or len(shape) != 4 or len(kernel) != 3:
        return [None]
    sizes = [
        window(op, shape[axis], kernel[axis - 1], strides[axis], rates[axis], op.attr("padding"), ()) for axis in (1, 2)
    ]
    return [(shape[0], *sizes, shape[3])]


def pooling(spatial: int) -> Rule:
    """Make the rule of `MaxPool` and the like: `ksize` and `strides` have an entry for every dimension."""

    def rule(op: Op) -> RuleResult:
        shape, ksize, strides = op.shape(0), op.attr("ksize"), op.attr("strides")
        return [pooled(op, shape, ksize, strides, spatial)]

    return rule


def pooled(op: Op, shape: Dims, ksize: Sequence[int] | None, strides: Sequence[int] | None, spatial: int) -> Dims:
    """Return the shape after pooling, dimension by dimension."""
    if shape is None:
        return op.symbols.several(2 + spatial) if "VECT" not in str(op.attr("data_format")) else None
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
        sizes.append(window(op, size, ksize[axis], strides[axis], 1, padding, pads))
    return tuple(sizes)


def pool_v2(op: Op) -> RuleResult:
    """`MaxPoolV2`: `ksize` and `strides` are inputs."""
    return [pooled(op, op.shape(0), op.numbers(1), op.numbers(2), 2)]


def pool_with_argmax(op: Op) -> RuleResult:
    """`MaxPoolWithArgmax`: values and their positions."""
    shape = pooled(op, op.shape(0), op.attr("ksize"), op.attr("strides"), 2)
    return [shape, shape]


def fractional_pool(op: Op) -> RuleResult:
    """`FractionalMaxPool`: sizes are divided by ratios."""
    shape, ratios = op.shape(0), op.attr("pooling_ratio")
    if shape is None or not ratios or len(ratios) != len(shape):
        return [None, (op.symbols.fresh(),), (op.symbols.fresh(),)]
    sizes = [
        size if ratio == 1 else int(size / ratio) if size > HIDDEN else op.symbols.fresh()
        for size, ratio in zip(shape, ratios, strict=True)
    ]
    return [tuple(sizes), (op.symbols.fresh(),), (op.symbols.fresh(),)]


def fused_bn(op: Op) -> RuleResult:
    """`FusedBatchNormV3`: the input's shape, then vectors over the channels, then space reserved for the gradient."""
    shape = op.shape(0)
    if shape is None:
        shape = op.symbols.several(len(str(op.attr("data_format") or "NHWC")))
    channel_axis, _ = layout(op, 3 if len(shape) == 5 else 2)
    channels = shape[channel_axis] if len(shape) > channel_axis else op.symbols.fresh()
    # Input and scale have equally many channels, so either may provide the number.
    if channels <= HIDDEN and (scale := op.shape(1)) is not None and len(scale) == 1:
        channels = scale[0]
    y: Dims = shape
    if len(shape) > channel_axis:
        y = (*shape[:channel_axis], channels, *shape[channel_axis + 1 :])
    kept: RuleResult = [None] if op.definition.op.endswith("V3") else []
    return [y, (channels,), (channels,), (channels,), (channels,), *kept]


def input_gradient(op: Op) -> RuleResult:
    """`Conv2DBackpropInput`: the sizes of the input, all four or only height and width."""
    sizes = op.target(0)
    if sizes is None or len(sizes) != 2:
        return [sizes]
    kernel, gradient = op.shape(1), op.shape(2)
    batch = gradient[0] if gradient else op.symbols.fresh()
    channels = kernel[2] if kernel is not None and len(kernel) == 4 else op.symbols.fresh()
    return [(batch, channels, *sizes) if op.attr("data_format") == "NCHW" else (batch, *sizes, channels)]


CONVOLUTION_RULES: dict[str, Rule] = {
    "Conv2D": convolution(2),
    "_FusedConv2D": convolution(2),
    "Conv3D": convolution(3),
    "DepthwiseConv2dNative": convolution(2, depthwise=True),
    "_FusedDepthwiseConv2dNative": convolution(2, depthwise=True),
    "Dilation2D": dilation,
    "Conv2DBackpropInput": input_gradient,
    **dict.fromkeys(["MaxPool", "AvgPool"], pooling(2)),
    **dict.fromkeys(["MaxPool3D", "AvgPool3D"], pooling(3)),
    "MaxPoolV2": pool_v2,
    "MaxPoolWithArgmax": pool_with_argmax,
    "FractionalMaxPool": fractional_pool,
    "FractionalAvgPool": fractional_pool,
    **dict.fromkeys(["FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"], fused_bn),
}
