"""Quantised ops: values, then their minimum and maximum."""

from __future__ import annotations

from graphviz_tb.annotate.infer.op import Op, Rule, RuleResult
from graphviz_tb.annotate.infer.rules.arrays import concatenated
from graphviz_tb.annotate.infer.values import Out


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
    return [concatenated(op, [each.shape for each in values], op.number(0)), (), ()]


QUANTIZED_RULES: dict[str, Rule] = {
    "QuantizeV2": range_of,
    "Quantize": range_of,
    "QuantizedConcat": concat,
}
