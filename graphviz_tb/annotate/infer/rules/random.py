"""Random ops: the shape is an input."""

from __future__ import annotations

from graphviz_tb.annotate.infer.op import Op, RuleResult, ShapeRule


def infer_random_by_rate(op: Op) -> RuleResult:
    """`RandomGamma`, `RandomPoissonV2`: the shape of input 0, for each rate of input 1."""
    shape, rates = op.stated_dims(0), op.shape(1)
    return [None if shape is None or rates is None else shape + rates]


RANDOM_RULES: dict[str, ShapeRule] = {
    "RandomGamma": infer_random_by_rate,
    "RandomPoisson": infer_random_by_rate,
    "RandomPoissonV2": infer_random_by_rate,
}
