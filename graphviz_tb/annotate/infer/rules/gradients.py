"""Gradient ops: mostly the shapes of the values whose gradients they compute."""

from __future__ import annotations

from graphviz_tb.annotate.infer.op import Op, RuleResult, ShapeRule
from graphviz_tb.annotate.infer.rules.common import channel_axis_of_format
from graphviz_tb.annotate.infer.values import Out


def infer_bias_gradient(op: Op) -> RuleResult:
    """`BiasAddGrad`: one number for each channel."""
    shape = op.shape(0)
    if shape is None or len(shape) < 2:
        return [(op.symbols.new_symbol(),)]
    return [(shape[channel_axis_of_format(op.attr("data_format"), len(shape))],)]


def infer_batch_norm_gradient(op: Op) -> RuleResult:
    """`FusedBatchNormGradV3`: the gradient of the input, of scale and offset, then two empty vectors."""
    shape = op.shape(1) if op.shape(0) is None else op.shape(0)
    if shape is None or len(shape) < 4:
        return [shape, op.shape(2), op.shape(2), (0,), (0,)]
    channels = (shape[channel_axis_of_format(op.attr("data_format"), len(shape))],)
    return [shape, channels, channels, (0,), (0,)]


def infer_reduced_axes(op: Op) -> RuleResult:
    """`BroadcastGradientArgs`: the axes along which each of two shapes was broadcast; a batch is more than one."""
    left, right = op.value(0), op.value(1)
    if left is None or right is None:
        return [(op.symbols.new_symbol(),), (op.symbols.new_symbol(),)]
    rank = max(len(left), len(right))
    pairs = list(zip((1,) * (rank - len(left)) + left, (1,) * (rank - len(right)) + right, strict=True))
    # Two unknown sizes may be equal or not.
    if any(mine != other and 1 not in (mine, other) for mine, other in pairs):
        return [(op.symbols.new_symbol(),), (op.symbols.new_symbol(),)]
    axes = [tuple(axis for axis, pair in enumerate(pairs) if pair[side] == 1) for side in (0, 1)]
    return [Out((len(each),), each) for each in axes]


def infer_symbolic_gradient(op: Op) -> RuleResult:
    """`SymbolicGradient`: one gradient per input of the function; the incoming gradients follow these inputs."""
    count = op.attr_count("Tout")
    return [each.shape for each in op.ins[:count]]


GRADIENT_RULES: dict[str, ShapeRule] = {
    "BiasAddGrad": infer_bias_gradient,
    **dict.fromkeys(["FusedBatchNormGrad", "FusedBatchNormGradV2", "FusedBatchNormGradV3"], infer_batch_norm_gradient),
    "ResizeBilinearGrad": lambda op: [resize_gradient_shape(op)],
    "ResizeBicubicGrad": lambda op: [resize_gradient_shape(op)],
    "ResizeNearestNeighborGrad": lambda op: [resize_nearest_gradient_shape(op)],
    "BroadcastGradientArgs": infer_reduced_axes,
    "SymbolicGradient": infer_symbolic_gradient,
}


def resize_gradient_shape(op: Op) -> tuple[int, ...] | None:
    """Return the shape of the resized image: the inputs are the gradient and the original image."""
    gradient, image = op.shape(0), op.shape(1)
    if gradient is None or image is None or len(gradient) != 4 or len(image) != 4:
        return image
    return (*image[:3], gradient[3])


def resize_nearest_gradient_shape(op: Op) -> tuple[int, ...] | None:
    """Return the shape of the image, whose size is an input."""
    gradient, size = op.shape(0), op.value(1)
    if gradient is None or len(gradient) != 4:
        return op.symbols.new_symbols(4)
    rows, columns = size if size is not None and len(size) == 2 else op.symbols.new_symbols(2)
    return (gradient[0], rows, columns, gradient[3])
