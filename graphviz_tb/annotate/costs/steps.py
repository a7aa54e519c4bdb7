"""One op that a Keras layer runs, counted by the formula of that op, and steps shared by many layers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from graphviz_tb.annotate.costs.counted import KnownSizes, size_product
from graphviz_tb.model.layers import LayerConfig
from graphviz_tb.model.tensors import Shape


class CostStep(NamedTuple):
    """One op: its type, its input shapes and output shape, its attributes; run `times` times."""

    op: str
    ins: Sequence[KnownSizes]
    out: KnownSizes
    attrs: Mapping[str, Any] = {}
    times: int = 1


CostSteps = Iterator[CostStep]
LayerCostRule = Callable[[LayerConfig, list[KnownSizes], KnownSizes], CostSteps]


class StepAsOp:
    """A step with the interface of a `CountedOp`, for formulas."""

    __slots__ = ("_step", "ins")

    def __init__(self, step: CostStep) -> None:
        self._step = step
        self.ins = step.ins

    @property
    def op(self) -> StepAsOp:
        return self

    def attr(self, name: str) -> Any:
        return self._step.attrs.get(name)

    def input_sizes(self, index: int) -> KnownSizes:
        return self._step.ins[index]

    def shape(self, index: int) -> KnownSizes:
        return self._step.ins[index]

    def output_sizes(self, index: int = 0) -> KnownSizes:
        return self._step.out

    def input_elements(self, index: int = 0) -> int:
        return size_product(self.input_sizes(index))

    def output_elements(self, index: int = 0) -> int:
        return size_product(self.output_sizes(index))


def shape_with_batch(shape: Shape, batch: int) -> KnownSizes:
    """Return a shape as numbers: an unknown size counts as the batch."""
    return tuple(batch if size is None else size for size in shape or ())


def per_spatial_axis(value: Any, count: int) -> KnownSizes:
    """Return a number for each spatial dimension."""
    return (int(value),) * count if isinstance(value, int) else tuple(map(int, value))


def elementwise_steps(ops: str, shape: KnownSizes) -> CostSteps:
    """Yield ops on every element, in sequence."""
    for op in ops.split():
        # Rules of elementwise ops count only the result, so an extra operand is harmless.
        yield CostStep(op, [shape, shape], shape)


# https://github.com/keras-team/keras/blob/v3.15.0/keras/src/backend/tensorflow/nn.py
OPS_OF_ACTIVATION = {
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


def bias_and_activation_steps(config: LayerConfig, out: KnownSizes) -> CostSteps:
    """Yield the bias and the activation of a layer."""
    if config.get("use_bias", True):
        yield CostStep("BiasAdd", [out], out)
    yield from activation_steps(config, out)


def activation_steps(config: LayerConfig, out: KnownSizes) -> CostSteps:
    function = config.get("activation")
    # Any other value is a function of the program, whose ops are unknown.
    if isinstance(function, str):
        yield from elementwise_steps(OPS_OF_ACTIVATION.get(function, ""), out)


def channel_count(config: LayerConfig, shape: KnownSizes) -> int:
    return shape[1] if config.get("data_format") == "channels_first" else shape[-1]


def matmul_step(a: KnownSizes, out: KnownSizes) -> CostStep:
    """Return a product with the last dimension of `a`."""
    # `matmul` takes only the summed dimension from its operands: one will do.
    return CostStep("MatMul", [a], out)
