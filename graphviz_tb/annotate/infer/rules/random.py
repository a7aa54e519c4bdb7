"""Random ops: the shape is an input."""

from __future__ import annotations

from graphviz_tb.annotate.infer.op import Op, Rule, RuleResult
from graphviz_tb.annotate.infer.rules.common import shape_from_input


def multinomial(op: Op) -> RuleResult:
    """`Multinomial`: so many samples for each row of logits."""
    shape = op.shape(0)
    return [(shape[0] if shape is not None and len(shape) == 2 else op.symbols.fresh(), op.size(1))]


def each_rate(op: Op) -> RuleResult:
    """`RandomGamma`, `RandomPoissonV2`: the shape of input 0, for each rate of input 1."""
    shape, rates = op.target(0), op.shape(1)
    return [None if shape is None or rates is None else shape + rates]


RULES: dict[str, Rule] = {
    **dict.fromkeys(
        [
            "ParameterizedTruncatedNormal",
            "RandomStandardNormal",
            "RandomUniform",
            "RandomUniformInt",
            "TruncatedNormal",
            "StatelessRandomNormal",
            "StatelessRandomNormalV2",
            "StatelessRandomUniform",
            "StatelessRandomUniformV2",
            "StatelessRandomUniformInt",
            "StatelessRandomUniformIntV2",
            "StatelessRandomUniformFullInt",
            "StatelessRandomUniformFullIntV2",
            "StatelessTruncatedNormal",
            "StatelessTruncatedNormalV2",
            "StatelessRandomBinomial",
            "StatelessRandomGammaV2",
            "StatelessRandomGammaV3",
            "StatelessRandomPoisson",
            "StatelessParameterizedTruncatedNormal",
        ],
        shape_from_input(0),
    ),
    **dict.fromkeys(
        [
            "StatefulStandardNormalV2",
            "StatefulUniform",
            "StatefulUniformFullInt",
            "StatefulUniformInt",
            "StatefulTruncatedNormal",
            "StatefulRandomBinomial",
        ],
        # resource, algorithm, shape
        shape_from_input(2),
    ),
    "Multinomial": multinomial,
    "StatelessMultinomial": multinomial,
    "RandomGamma": each_rate,
    "RandomPoisson": each_rate,
    "RandomPoissonV2": each_rate,
    "StatelessRandomGetKeyCounterAlg": lambda op: [(1,), (op.symbols.fresh(),), ()],
    "StatelessRandomGetKeyCounter": lambda op: [(1,), (2,)],
    "StatelessRandomGetAlg": lambda op: [()],
    "StatelessShuffle": lambda op: [op.shape(0)],
    "RngReadAndSkip": lambda op: [(op.symbols.fresh(),)],
}
