"""How many operations an op takes, by its type.

A multiply-add is two operations. Where TensorFlow's own profiler has a formula this is it (tensorflow/python/profiler/
internal/flops_registry.py), but for two that it gets wrong: gradients of strided convolutions, which it counts by the
input's size divided by the stride, and `BatchMatMul` with `adj_x`, whose turned operand it does not see. What only
moves elements takes none. Transcendental functions count as one operation for each element.
"""

from __future__ import annotations

from collections.abc import Callable

from graphviz_tb.annotate.costs.counted import CountedOp, OpCost, Unknown, elements
from graphviz_tb.annotate.infer.rules import arrays, elementwise, indexing, lists, random, records
from graphviz_tb.annotate.infer.rules import state as states
from graphviz_tb.annotate.infer.rules.common import layouts_channels

CostRule = Callable[[CountedOp], OpCost]


def products(macs: int) -> OpCost:
    """Multiply-adds alone."""
    return OpCost(macs, 2 * macs)


def matmul(op: CountedOp) -> OpCost:
    """Every element of the result is a sum of products along the shared dimension."""
    a = op.shape(0)
    turned = bool(op.op.attr("transpose_a") or op.op.attr("adj_x"))
    return products(op.outputs() * a[-2 if turned else -1]) if len(a) > 1 else OpCost()


def einsum(op: CountedOp) -> OpCost:
    """All letters together; no product where there is one operand."""
    left, _, _ = str(op.op.attr("equation") or "").replace(" ", "").partition("->")
    # Letter ─▶ size; dims that `...` stands for are stretched together, so the largest product of them counts.
    letters: dict[str, int] = {}
    dotted = 1
    for operand, term in enumerate(left.split(",")):
        shape, (before, dots, after) = op.shape(operand), term.partition("...")
        if dots:
            # What lies between the letters before the dots and those after.
            dotted = max(dotted, elements(shape[len(before) : len(shape) - len(after)]))
        ends = (*shape[: len(before)], *shape[len(shape) - len(after) :])
        for letter, size in zip(before + after, ends, strict=False):
            # A size of 1 is stretched to the other operand's.
            letters[letter] = max(size, letters.get(letter, 1))
    return products(elements(tuple(letters.values())) * dotted) if "," in left else OpCost()


def convolution(op: CountedOp) -> OpCost:
    """Every element of the result takes height × width × channels of the filter."""
    return products(op.outputs() * elements(op.shape(1)[:-1]))


def depthwise(op: CountedOp) -> OpCost:
    """Every element of the result takes height × width of the filter."""
    return products(op.outputs() * elements(op.shape(1)[:2]))


def convolution_input(op: CountedOp) -> OpCost:
    """As the convolution: sizes, filter, the gradient of its result."""
    return products(op.inputs(2) * elements(op.shape(1)[:-1]))


def convolution_filter(op: CountedOp) -> OpCost:
    """As the convolution: its input, sizes, the gradient of its result."""
    return products(op.inputs(2) * elements(op.out()[:-1]))


def depthwise_input(op: CountedOp) -> OpCost:
    """As the depthwise convolution."""
    return products(op.inputs(2) * elements(op.shape(1)[:2]))


def depthwise_filter(op: CountedOp) -> OpCost:
    """As the depthwise convolution."""
    return products(op.inputs(2) * elements(op.out()[:2]))


def dilation(op: CountedOp) -> OpCost:
    """An addition and a comparison for each place of the filter."""
    return OpCost(0, 2 * op.outputs() * elements(op.shape(1)[:2]))


def each_output(times: int) -> CostRule:
    """So many operations for each element of the result."""
    return lambda op: OpCost(0, times * op.outputs())


def each_input(times: int, index: int = 0) -> CostRule:
    """So many operations for each element of an input."""
    return lambda op: OpCost(0, times * op.inputs(index))


def reduction(op: CountedOp) -> OpCost:
    """One operation fewer than elements for each element of the result."""
    return OpCost(0, max(0, op.inputs() - op.outputs()))


def add_n(op: CountedOp) -> OpCost:
    """One addition fewer than inputs."""
    return OpCost(0, op.inputs() * max(0, len(op.ins) - 1)) if op.ins else OpCost()


def l2_loss(op: CountedOp) -> OpCost:
    """Square, halve, add."""
    return OpCost(0, max(0, 3 * op.inputs() - 1))


def kernel(op: CountedOp) -> int:
    """Elements of a pooling window."""
    window = tuple(op.op.attr("ksize") or ())
    if not all(type(size) is int and size > 0 for size in window):
        raise Unknown
    return elements(window)


def pool(op: CountedOp) -> OpCost:
    """One operation for each place of the window."""
    return OpCost(0, op.outputs() * kernel(op))


def max_pool_gradient(op: CountedOp) -> OpCost:
    """The pooling again, and one more for each of its results."""
    return OpCost(0, op.inputs(1) * (kernel(op) + 1))


def average_pool_gradient(op: CountedOp) -> OpCost:
    """Multiply and add in each place of the window."""
    return OpCost(0, 2 * op.inputs(1) * kernel(op))


def batch_norm(op: CountedOp) -> OpCost:
    """A multiply-add for each element; in training mean and variance too."""
    training = op.op.attr("is_training") is not False
    # Absent, it is true: the default of the attribute.
    return OpCost(0, (5 if training else 2) * op.inputs())


def lstm_cell(op: CountedOp) -> OpCost:
    """`BlockLSTM` and its cell: a product with the weights at each time, then some ten operations for each unit."""
    # The block takes how many times to run first; `w` is (inputs + cells, 4 gates of cells) in both.
    weights = op.shape(3 if op.op.definition.op == "LSTMBlockCell" else 4)
    # (time, batch) or (batch,): each row of the output is a product with all weights.
    macs = elements(op.out()[:-1]) * elements(weights)
    return OpCost(macs, 2 * macs + 10 * op.outputs())


def sparse_product(op: CountedOp) -> OpCost:
    """`SparseTensorDenseMatMul`: every value times a row."""
    return products(op.inputs(1) * op.shape(3)[-1])


def sparse_segments(op: CountedOp) -> OpCost:
    """`SparseSegmentSum` and its like: an addition for each element of the rows that are picked."""
    return OpCost(0, op.inputs(1) * elements(op.shape(0)[1:]))


def bias_gradient(op: CountedOp) -> OpCost:
    """A sum over all but the channels."""
    shape = op.shape(0)
    channels = shape[layouts_channels(op.op.attr("data_format"), len(shape))] if shape else 0
    return OpCost(0, max(0, op.inputs() - channels))


# https://www.tensorflow.org/api_docs/python/tf/raw_ops: what an optimizer does for each element of the variable.
UPDATES = {"GradientDescent": 2, "Momentum": 4, "KerasMomentum": 4, "Adagrad": 5, "AdagradV2": 6, "Adam": 12}
UPDATES |= {"RMSProp": 10, "CenteredRMSProp": 13, "Adadelta": 13, "Ftrl": 12, "FtrlV2": 14, "AdaMax": 9}
UPDATES |= {"AdamWithAmsgrad": 13, "AddSign": 8, "PowerSign": 9, "ProximalGradientDescent": 6, "ProximalAdagrad": 9}

MOVING = """
    Identity IdentityN RefIdentity StopGradient PreventGradient Enter Exit NextIteration RefEnter RefExit
    RefNextIteration Switch RefSwitch Merge RefMerge LoopCond NoOp ControlTrigger Assert Print PrintV2 EnsureShape
    PlaceholderWithDefault ReadOnlyIdentity DisableCopyOnRead Snapshot DeepCopy Copy CopyHost Bitcast Reverse ReverseV2
    ReverseSequence RandomShuffle Roll MatrixBandPart BroadcastGradientArgs BroadcastArgs InvertPermutation
    TensorScatterUpdate TensorStridedSliceUpdate OnesLike ZerosLike Cast CheckNumerics CheckNumericsV2 XlaSharding
"""
SEGMENTS = ("Sum", "Mean", "Max", "Min", "Prod")
# Arithmetic operations for each element, where there is more than one: `(a - b)²` is two.
TWICE = {"SquaredDifference": 2, "Rsqrt": 2, "RsqrtGrad": 4, "SigmoidGrad": 3, "TanhGrad": 3, "SqrtGrad": 2}


def update(times: int) -> CostRule:
    """`ApplyAdam` and the like, for each element of the gradient, which is the largest input."""
    return lambda op: OpCost(0, times * max((elements(op.shape(index)) for index in range(1, len(op.ins))), default=0))


RULES: dict[str, CostRule] = {
    **dict.fromkeys(elementwise.UNARY.split(), each_output(1)),
    **dict.fromkeys(elementwise.BINARY.split(), each_output(1)),
    **dict.fromkeys(elementwise.GRADIENTS.split(), each_output(1)),
    **{op: each_output(times) for op, times in TWICE.items()},
    **dict.fromkeys(["Select", "SelectV2", "ClipByValue", "Erfc", "Complex"], each_output(1)),
    **dict.fromkeys(MOVING.split(), lambda op: OpCost()),
    **dict.fromkeys(["MatMul", "_FusedMatMul", "SparseMatMul", "QuantizedMatMul"], matmul),
    **dict.fromkeys(["BatchMatMul", "BatchMatMulV2", "BatchMatMulV3"], matmul),
    **dict.fromkeys(["Einsum", "XlaEinsum"], einsum),
    "SparseTensorDenseMatMul": sparse_product,
    **dict.fromkeys(["Conv2D", "Conv3D", "_FusedConv2D", "QuantizedConv2D"], convolution),
    **dict.fromkeys(["DepthwiseConv2dNative", "_FusedDepthwiseConv2dNative"], depthwise),
    **dict.fromkeys(["Conv2DBackpropInput", "Conv3DBackpropInputV2"], convolution_input),
    **dict.fromkeys(["Conv2DBackpropFilter", "Conv3DBackpropFilterV2"], convolution_filter),
    "DepthwiseConv2dNativeBackpropInput": depthwise_input,
    "DepthwiseConv2dNativeBackpropFilter": depthwise_filter,
    "Dilation2D": dilation,
    **dict.fromkeys(["MaxPool", "AvgPool", "MaxPool3D", "AvgPool3D", "QuantizedMaxPool", "QuantizedAvgPool"], pool),
    **dict.fromkeys(["MaxPoolGrad", "MaxPool3DGrad"], max_pool_gradient),
    **dict.fromkeys(["AvgPoolGrad", "AvgPool3DGrad"], average_pool_gradient),
    **dict.fromkeys(["Sum", "Max", "Min", "Prod", "ArgMax", "ArgMin", "All", "Any", "EuclideanNorm"], reduction),
    "Mean": each_input(1),
    **dict.fromkeys([f"{kind}Segment{many}" for kind in ("", "Unsorted") for many in SEGMENTS], each_input(1)),
    **dict.fromkeys([f"SparseSegment{kind}" for kind in ("Sum", "Mean", "SqrtN")], sparse_segments),
    **dict.fromkeys(["QuantizeV2", "Dequantize", "QuantizeAndDequantizeV4"], each_output(2)),  # scale and shift
    "BiasAdd": each_input(1),
    "BiasAddGrad": bias_gradient,
    # 2 to shift, 1 exponential, 2 to divide by the sum (flops_registry.py).
    "Softmax": each_input(5),
    "LogSoftmax": each_input(5),
    **dict.fromkeys(["SoftmaxCrossEntropyWithLogits", "SparseSoftmaxCrossEntropyWithLogits"], each_input(8)),
    "L2Loss": l2_loss,
    "AddN": add_n,
    "AccumulateNV2": add_n,
    **dict.fromkeys(["FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3", "_FusedBatchNormEx"], batch_norm),
    **dict.fromkeys(["FusedBatchNormGrad", "FusedBatchNormGradV2", "FusedBatchNormGradV3"], each_input(8)),
    **dict.fromkeys(["AssignAdd", "AssignSub"], each_output(1)),
    **dict.fromkeys(["AssignAddVariableOp", "AssignSubVariableOp"], each_input(1, 1)),
    **dict.fromkeys(["BlockLSTM", "BlockLSTMV2", "LSTMBlockCell"], lstm_cell),
    **dict.fromkeys(["LRN", "LRNGrad"], each_output(10)),
    **dict.fromkeys(["ResizeBilinear", "ResizeBilinearGrad", "CropAndResize"], each_output(8)),
    "ResizeNearestNeighbor": lambda op: OpCost(),
    **{
        f"{prefix}{optimizer}": update(times)
        for optimizer, times in UPDATES.items()
        for prefix in ("Apply", "ResourceApply", "SparseApply", "ResourceSparseApply")
    },
}
# Ops with a rule of shapes and none of costs: they only say where elements are.
MOVERS = frozenset(
    op
    for family in (arrays, indexing, lists, random, records, states)
    for op in family.RULES
    if op not in RULES and "Apply" not in op
)


def work(op: CountedOp) -> OpCost | None:
    """What an op takes; None where nobody counts it. Raises `Unknown` where a shape is missing."""
    name = op.op.definition.op
    rule = RULES.get(name)
    if rule is None:
        return OpCost() if name in MOVERS else None
    return rule(op)
