"""Quantised ops: values, then their minimum and maximum."""

from __future__ import annotations

from graphviz_tb.annotate.infer.op import Op, RuleResult, ShapeRule
from graphviz_tb.annotate.infer.rules.arrays import concatenate_shapes
from graphviz_tb.annotate.infer.values import Out


def infer_quantize(op: Op) -> RuleResult:
    """`QuantizeV2`: a scalar each, or a vector along `axis`."""
    axis, shape = op.attr("axis"), op.shape(0)
    if not isinstance(axis, int) or axis == -1:
        return [shape, (), ()]
    sizes = (shape[axis],) if shape is not None and axis < len(shape) else (op.symbols.new_symbol(),)
    return [shape, sizes, sizes]


def infer_quantized_concat(op: Op) -> RuleResult:
    """`QuantizedConcat`: the axis, values, minima, maxima."""
    count = (len(op.ins) - 1) // 3
    values: list[Out] = list(op.ins[1 : 1 + count])
    return [concatenate_shapes(op, [each.shape for each in values], op.known_number(0)), (), ()]


QUANTIZED_RULES: dict[str, ShapeRule] = {
    "QuantizeV2": infer_quantize,
    "Quantize": infer_quantize,
    "QuantizedConcat": infer_quantized_concat,
}
