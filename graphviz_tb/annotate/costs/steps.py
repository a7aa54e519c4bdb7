"""One op that a Keras layer runs, counted by the formula of that op, and steps shared by many layers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from graphviz_tb.annotate.costs.counted import Sizes, elements
from graphviz_tb.model.layers import Config
from graphviz_tb.model.tensors import Shape


class CostStep(NamedTuple):
    """One op: its type, its input shapes and output shape, its attributes; run `times` times."""

    op: str
    ins: Sequence[Sizes]
    out: Sizes
    attrs: Mapping[str, Any] = {}
    times: int = 1


CostSteps = Iterator[CostStep]
LayerCostRule = Callable[[Config, list[Sizes], Sizes], CostSteps]


class Imagined:
    """A step with the interface of a `CountedOp`, for formulas."""

    __slots__ = ("_step", "ins")

    def __init__(self, step: CostStep) -> None:
        self._step = step
        self.ins = step.ins

    @property
    def op(self) -> Imagined:
        return self

    def attr(self, name: str) -> Any:
        return self._step.attrs.get(name)

    def shape(self, index: int) -> Sizes:
        return self._step.ins[index]

    def out(self, index: int = 0) -> Sizes:
        return self._step.out

    def inputs(self, index: int = 0) -> int:
        return elements(self.shape(index))

    def outputs(self, index: int = 0) -> int:
        return elements(self.out(index))


def sized(shape: Shape, batch: int) -> Sizes:
    """Return a shape as numbers: an unknown size counts as the batch."""
    return tuple(batch if size is None else size for size in shape or ())


def each(value: Any, count: int) -> Sizes:
    """Return a number for each spatial dimension."""
    return (int(value),) * count if isinstance(value, int) else tuple(map(int, value))


def elementwise(ops: str, shape: Sizes) -> CostSteps:
    """Yield ops on every element, in sequence."""
    for op in ops.split():
        # Rules of elementwise ops count only the result, so an extra operand is harmless.
        yield CostStep(op, [shape, shape], shape)


# https://github.com/keras-team/keras/blob/v3.15.0/keras/src/backend/tensorflow/nn.py
ACTIVATIONS = {
    **{name: name.capitalize() for name in ("relu", "relu6", "sigmoid", "tanh", "softmax", "elu", "selu", "softplus")},
    "exponential": "Exp",
    "softsign": "Softsign",
    "leaky_relu": "LeakyRelu",
    "log_softmax": "LogSoftmax",
    "gelu": "Mul RealDiv Erf AddV2 Mul",
    **dict.fromkeys(["silu", "swish"], "Sigmoid Mul"),
    "mish": "Softplus Tanh Mul",
    "hard_sigmoid": "RealDiv AddV2 Relu6",
    **dict.fromkeys(["hard_silu", "hard_swish"], "RealDiv AddV2 Relu6 Mul"),
}


def after(config: Config, out: Sizes) -> CostSteps:
    """Yield the bias and the activation of a layer."""
    if config.get("use_bias", True):
        yield CostStep("BiasAdd", [out], out)
    yield from activated(config, out)


def activated(config: Config, out: Sizes) -> CostSteps:
    function = config.get("activation")
    # Any other value is a function of the program, whose ops are unknown.
    if isinstance(function, str):
        yield from elementwise(ACTIVATIONS.get(function, ""), out)


def channels_of(config: Config, shape: Sizes) -> int:
    return shape[1] if config.get("data_format") == "channels_first" else shape[-1]


def product(a: Sizes, out: Sizes) -> CostStep:
    """Return a product with the last dimension of `a`."""
    # `matmul` takes only the summed dimension from its operands: one will do.
    return CostStep("MatMul", [a], out)
