"""Random ops: the shape is an input."""

from __future__ import annotations

from graphviz_tb.annotate.infer.op import Op, Rule, RuleResult


def each_rate(op: Op) -> RuleResult:
    """`RandomGamma`, `RandomPoissonV2`: the shape of input 0, for each rate of input 1."""
    shape, rates = op.target(0), op.shape(1)
    return [None if shape is None or rates is None else shape + rates]


RANDOM_RULES: dict[str, Rule] = {
    "RandomGamma": each_rate,
    "RandomPoisson": each_rate,
    "RandomPoissonV2": each_rate,
}
