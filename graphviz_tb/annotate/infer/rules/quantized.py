"""Quantised ops: values, then the least and the greatest that they represent."""

from __future__ import annotations

from graphviz_tb.annotate.infer.op import Op, Rule, RuleResult
from graphviz_tb.annotate.infer.rules import arrays, convolutions, images, matrices
from graphviz_tb.annotate.infer.values import Out, broadcast


def ranged(rule: Rule) -> Rule:
    """The outputs of an ordinary op, then two scalars."""

    def both(op: Op) -> RuleResult:
        return [*rule(op), (), ()]

    return both


def range_of(op: Op) -> RuleResult:
    """`QuantizeV2`: a scalar each, or a vector along `axis`."""
    axis, shape = op.attr("axis"), op.shape(0)
    if not isinstance(axis, int) or axis == -1:
        return [shape, (), ()]
    sizes = (shape[axis],) if shape is not None and axis < len(shape) else (op.symbols.fresh(),)
    return [shape, sizes, sizes]


def concat(op: Op) -> RuleResult:
    """`QuantizedConcat`: the axis, values, minima, maxima."""
    count = (len(op.ins) - 1) // 3
    values: list[Out] = list(op.ins[1 : 1 + count])
    return [arrays.concatenated(op, [each.shape for each in values], op.number(0)), (), ()]


def product(op: Op) -> RuleResult:
    """`QuantizedMatMul`."""
    turn_a, turn_b = bool(op.attr("transpose_a")), bool(op.attr("transpose_b"))
    return [matrices.product(op, op.shape(0), op.shape(1), turn_a, turn_b), (), ()]


RULES: dict[str, Rule] = {
    "QuantizeV2": range_of,
    "Quantize": range_of,
    "Dequantize": lambda op: [op.shape(0)],
    "QuantizedMatMul": product,
    "QuantizedConv2D": ranged(convolutions.RULES["Conv2D"]),
    "QuantizedMaxPool": ranged(convolutions.RULES["MaxPool"]),
    "QuantizedAvgPool": ranged(convolutions.RULES["AvgPool"]),
    "QuantizedRelu": ranged(lambda op: [op.shape(0)]),
    "QuantizedRelu6": ranged(lambda op: [op.shape(0)]),
    "QuantizedReluX": ranged(lambda op: [op.shape(0)]),
    "QuantizedBiasAdd": ranged(lambda op: [op.shape(0)]),
    "QuantizedAdd": ranged(lambda op: [broadcast(op.shape(0), op.shape(1), op.symbols)]),
    "QuantizedMul": ranged(lambda op: [broadcast(op.shape(0), op.shape(1), op.symbols)]),
    "QuantizedReshape": ranged(arrays.RULES["Reshape"]),
    "QuantizedResizeBilinear": ranged(images.RULES["ResizeBilinear"]),
    "QuantizedConcat": concat,
    "QuantizedInstanceNorm": ranged(lambda op: [op.shape(0)]),
    "Requantize": ranged(lambda op: [op.shape(0)]),
    "RequantizationRange": lambda op: [(), ()],
    "QuantizeDownAndShrinkRange": ranged(lambda op: [op.shape(0)]),
}
