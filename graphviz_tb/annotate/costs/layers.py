"""Compute the costs of Keras layers as those of the ops that they run (formulas.py).

The ops are those of Keras's `call` at inference: dropout and noise cost nothing, batch normalisation only scales.
Recurrent layers count all time steps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from graphviz_tb.annotate.costs.formulas import (
    MAX_ELEMENTS,
    KnownSizes,
    OpCost,
    UnknownShapeError,
    cost_rule,
    size_product,
)
from graphviz_tb.model.layers import Layer, LayerCall, LayerConfig, recurrent_cells, wrapped_layers
from graphviz_tb.model.tensors import Shape
from graphviz_tb.ops.layers import LayerRole, has_layer_role, layer_row
from graphviz_tb.ops.table import MAX_CACHED_OP_TYPES


class CostStep(NamedTuple):
    """One op that a layer runs `times` times."""

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

    def output_elements(self) -> int:
        return size_product(self.output_sizes())


def _shape_with_batch(shape: Shape, batch: int) -> KnownSizes:
    """Return a shape as numbers: an unknown size counts as the batch."""
    return tuple(batch if size is None else size for size in shape or ())


def _per_spatial_axis(value: Any, count: int) -> KnownSizes:
    return (int(value),) * count if isinstance(value, int) else tuple(map(int, value))


def _elementwise_steps(ops: str, shape: KnownSizes) -> CostSteps:
    """Yield ops on every element, in sequence."""
    for op in ops.split():
        # Rules of elementwise ops count only the result, so the number of operands does not matter.
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


def _bias_and_activation_steps(config: LayerConfig, out: KnownSizes) -> CostSteps:
    if config.get("use_bias", True):
        yield CostStep("BiasAdd", [out], out)
    yield from _activation_steps(config, out)


def _activation_steps(config: LayerConfig, out: KnownSizes) -> CostSteps:
    function = config.get("activation")
    # Any other value is a function of the program, whose ops are unknown.
    if isinstance(function, str):
        yield from _elementwise_steps(OPS_OF_ACTIVATION.get(function, ""), out)


def _channel_count(config: LayerConfig, shape: KnownSizes) -> int:
    return shape[1] if config.get("data_format") == "channels_first" else shape[-1]


def _matmul_step(a: KnownSizes, out: KnownSizes) -> CostStep:
    """Return a product with the last dimension of `a`."""
    # The formula reads the summed dimension from one operand.
    return CostStep("MatMul", [a], out)


def layer_cost(layer: Layer, batch: int) -> OpCost | None:
    """Return the cost of all calls of a layer; None if its class has no rule, or a shape is missing.

    >>> called = LayerCall(input_shapes=((None, 784),), output_shapes=((None, 10),))
    >>> layer_cost(Layer("Dense", {"units": 10}, calls=(called,)), batch=1)
    OpCost(macs=7840, flops=15690)
    """
    if layer.custom:
        return None
    if layer_row(layer.class_name).flops == MOVES_ONLY:
        return OpCost()
    costs = [_layer_call_cost(layer, call, batch) for call in layer.calls]
    known = [cost for cost in costs if cost is not None]
    if layer.times is None or not costs or len(known) < len(costs):
        return None
    macs, flops = (min(MAX_ELEMENTS, sum(cost[part] for cost in known) * layer.times) for part in (0, 1))
    return OpCost(macs, flops)


def is_partly_counted(layer: Layer) -> bool:
    """Return whether a call has a tensor with an unknown size other than the batch: the count is a lower bound."""
    shapes = (shape for call in layer.calls for shape in (*call.input_shapes, *call.output_shapes[:1]))
    return layer_row(layer.class_name).flops != MOVES_ONLY and any(None in (shape or ())[1:] for shape in shapes)


def _layer_call_cost(layer: Layer, call: LayerCall, batch: int) -> OpCost | None:
    """Return the cost of one call of a layer; None if its class has no rule, or a shape is missing."""
    if not call.output_shapes or None in (*call.input_shapes, call.output_shapes[0]):
        return None
    try:
        steps = _layer_steps(
            layer,
            [_shape_with_batch(shape, batch) for shape in call.input_shapes],
            _shape_with_batch(call.output_shapes[0], batch),
        )
        costs = [(_layer_step_cost(step), step.times) for step in steps]
    except LAYER_RULE_ERRORS:
        return None  # a class without a rule, or an invalid configuration
    return OpCost(*(sum(cost[part] * times for cost, times in costs) for part in (0, 1)))


def _layer_step_cost(step: CostStep) -> OpCost:
    rule = cost_rule(step.op)
    assert rule is not None  # the ops of layers are in the table
    return rule(StepAsOp(step))  # type: ignore[arg-type]


def _layer_steps(layer: Layer, inputs: list[KnownSizes], out: KnownSizes) -> CostSteps:
    """Yield the ops of a layer. Wrappers run their layer in both directions, or with time steps in the batch."""
    waiting = [(layer.class_name, layer.config, inputs, out, 1)]
    while waiting:
        kind, config, inputs, out, times = waiting.pop()
        if has_layer_role(kind, LayerRole.WRAPPER):
            layers = wrapped_layers(config)
            if kind == "Bidirectional":
                times *= 3 - len(layers)  # the second direction runs a copy if it has no layer
            else:
                # (batch, steps, …) ─▶ (batch * steps, …)
                inputs, out = ([(shape[0] * shape[1], *shape[2:]) for shape in inputs[:1]], (out[0] * out[1], *out[2:]))
            waiting += [(kind, config, inputs, out, times) for kind, config in layers]
        elif layer_row(kind).flops != MOVES_ONLY:
            for step in _inner_steps(kind, config, inputs, out):
                yield step._replace(times=times * step.times)


# MemoryError, because a text in place of a size is repeated.
LAYER_RULE_ERRORS = (
    TypeError,
    ValueError,
    LookupError,
    ArithmeticError,
    AttributeError,
    MemoryError,
    UnknownShapeError,
)


def _dense_steps(config: LayerConfig, inputs: list[KnownSizes], out: KnownSizes) -> CostSteps:
    yield from _lora_steps(config, (inputs[0][-1], out[-1]), inputs[0][-1], out)
    yield _matmul_step(inputs[0], out)
    yield from _bias_and_activation_steps(config, out)


def _lora_steps(config: LayerConfig, kernel: KnownSizes, along: int, out: KnownSizes) -> CostSteps:
    """Yield the ops that LoRA adds: the product of its two factors is added to the kernel. For a quantised kernel, the
    product of the input and the factors is added to the result instead. `along` is the number of inputs that an element
    of the result sums."""
    if not (rank := config.get("lora_rank")):
        return
    if _is_quantised(config):
        yield _matmul_step((1, along), (*out[:-1], rank))
        yield _matmul_step((1, rank), out)
        yield from _elementwise_steps("Mul AddV2", out)
    else:
        yield _matmul_step((1, rank), kernel)
        yield from _elementwise_steps("Mul AddV2", kernel)


def _is_quantised(config: LayerConfig) -> bool:
    """Return whether the kernel of a layer is quantised, by the policy in its `dtype`."""
    dtype = config.get("dtype")
    return isinstance(dtype, dict) and isinstance(dtype.get("config"), dict) and "mode" in dtype["config"]


def _embedding_steps(config: LayerConfig, inputs: list[KnownSizes], out: KnownSizes) -> CostSteps:
    """Yield the ops that LoRA adds to an embedding; the lookup costs nothing."""
    yield from _lora_steps(config, (config["input_dim"], out[-1]), 0, out)


def _einsum_dense_steps(config: LayerConfig, inputs: list[KnownSizes], out: KnownSizes) -> CostSteps:
    left, _, result = str(config["equation"]).replace(" ", "").replace("...", "").partition("->")
    first, _, second = left.partition(",")
    # From the right, since "..." (the batch) is on the left: "...x,xy->...y".
    letters = dict(zip(reversed(result), reversed(out), strict=False))
    letters |= dict(zip(reversed(first), reversed(inputs[0]), strict=False))
    kernel = tuple(letters[letter] for letter in second)
    summed = size_product(tuple(letters[letter] for letter in second if letter not in result))
    yield from _lora_steps(config, kernel, summed, out)
    yield CostStep("Einsum", [inputs[0], kernel], out, {"equation": config["equation"]})
    yield from _bias_and_activation_steps({**config, "use_bias": config.get("bias_axes") is not None}, out)


def _convolution_steps(config: LayerConfig, inputs: list[KnownSizes], out: KnownSizes) -> CostSteps:
    places = _per_spatial_axis(config["kernel_size"], len(out) - 2)
    # Keras's kernel is (places…, channels in, filters); a group has a part of the channels.
    into = _channel_count(config, inputs[0]) // config.get("groups", 1)
    kernel = (*places, into, config["filters"])
    yield from _lora_steps(config, kernel, size_product(kernel[:-1]), out)
    yield CostStep("Conv2D", [inputs[0], kernel], out)
    yield from _bias_and_activation_steps(config, out)


def _transposed_convolution_steps(config: LayerConfig, inputs: list[KnownSizes], out: KnownSizes) -> CostSteps:
    places = _per_spatial_axis(config["kernel_size"], len(out) - 2)
    # (places…, filters, channels in): the kernel of the convolution whose gradient this is
    kernel = (*places, config["filters"], _channel_count(config, inputs[0]))
    yield CostStep("Conv2DBackpropInput", [(), kernel, inputs[0]], out)
    yield from _bias_and_activation_steps(config, out)


def _depthwise_steps(config: LayerConfig, inputs: list[KnownSizes], out: KnownSizes) -> CostSteps:
    yield CostStep("DepthwiseConv2dNative", [inputs[0], _depthwise_window(config, out)], out)
    yield from _bias_and_activation_steps(config, out)


def _depthwise_window(config: LayerConfig, out: KnownSizes) -> KnownSizes:
    """Return a kernel window as two dimensions, of which `DepthwiseConv2dNative` counts the product."""
    return (size_product(_per_spatial_axis(config["kernel_size"], len(out) - 2)), 1)


def _separable_steps(config: LayerConfig, inputs: list[KnownSizes], out: KnownSizes) -> CostSteps:
    channels = _channel_count(config, inputs[0]) * config.get("depth_multiplier", 1)
    filters = config["filters"]
    # (positions, channels between): the pointwise half is a product along the second dimension.
    between = (size_product(out) // filters, channels)
    yield CostStep("DepthwiseConv2dNative", [inputs[0], _depthwise_window(config, out)], between)
    yield _matmul_step(between, out)
    yield from _bias_and_activation_steps(config, out)


def _pooling_rule_for(op: str) -> LayerCostRule:
    def steps(config: LayerConfig, inputs: list[KnownSizes], out: KnownSizes) -> CostSteps:
        yield CostStep(op, [inputs[0]], out, {"ksize": _per_spatial_axis(config["pool_size"], len(out) - 2)})

    return steps


def _merge_rule_for(ops: str) -> LayerCostRule:
    """Return the rule of one op for each input after the first, then one op on the result (`AddV2,RealDiv`)."""
    each_one, _, last = ops.partition(",")

    def steps(config: LayerConfig, inputs: list[KnownSizes], out: KnownSizes) -> CostSteps:
        # With a single tensor, the second operand is a number of the program.
        for _ in inputs[1:] or inputs:
            yield from _elementwise_steps(each_one, out)
        yield from _elementwise_steps(last, out)

    return steps


def _dot_steps(config: LayerConfig, inputs: list[KnownSizes], out: KnownSizes) -> CostSteps:
    axes = config["axes"]
    # One axis for both operands, or one each.
    along = axes if isinstance(axes, int) else axes[0]
    for shape in inputs if config.get("normalize") else ():
        yield from _elementwise_steps("Square", shape)
        yield CostStep("Sum", [shape], tuple(size for axis, size in enumerate(shape) if axis != along % len(shape)))
        yield from _elementwise_steps("Mul", shape)
    yield _matmul_step((inputs[0][along],) * 2, out)


def _layer_norm_steps(config: LayerConfig, inputs: list[KnownSizes], out: KnownSizes) -> CostSteps:
    yield CostStep("Mean", [out], out[:-1])
    yield CostStep("SquaredDifference", [out], out)
    yield CostStep("Mean", [out], out[:-1])
    yield from _elementwise_steps("Mul Sub AddV2", out)


def _rms_norm_steps(config: LayerConfig, inputs: list[KnownSizes], out: KnownSizes) -> CostSteps:
    yield from _elementwise_steps("Square", out)
    yield CostStep("Mean", [out], out[:-1])
    yield from _elementwise_steps("Mul Mul", out)


def _multi_head_attention_steps(config: LayerConfig, inputs: list[KnownSizes], out: KnownSizes) -> CostSteps:
    heads, size = config["num_heads"], config["key_dim"]
    return _attention_head_steps(config, inputs, out, (heads, heads), (size, config.get("value_dim") or size))


def _grouped_attention_steps(config: LayerConfig, inputs: list[KnownSizes], out: KnownSizes) -> CostSteps:
    """Yield the ops of `GroupQueryAttention`: groups of query heads share a key and a value head."""
    heads = config["num_query_heads"], config["num_key_value_heads"]
    return _attention_head_steps(config, inputs, out, heads, (config["head_dim"],) * 2)


def _attention_head_steps(
    config: LayerConfig, inputs: list[KnownSizes], out: KnownSizes, heads: tuple[int, int], depths: tuple[int, int]
) -> CostSteps:
    """Yield three projections, scores, weighted values and the output projection. `heads` are the numbers of query and
    key heads, `depths` the sizes of a key and a value."""
    # Shapes: query (batch, T, width), value and key (batch, S, width); T and S may be several sizes.
    query, value = inputs[0], inputs[min(1, len(inputs) - 1)]
    key = inputs[2] if len(inputs) > 2 else value
    size, wide = depths
    queries, keys = (*query[:-1], heads[0], size), (*key[:-1], heads[1], size)
    context = (*queries[:-1], wide)
    bias = "AddV2" if config.get("use_bias", True) else ""
    # Each projection: its input, and its output of (batch, T, heads, depth).
    gates = [(query, context)] if config.get("use_gate") else []
    for source, into in ((query, queries), (key, keys), (value, (*value[:-1], heads[1], wide)), *gates):
        yield _matmul_step(source, into)
        yield from _elementwise_steps(bias, into)
    # Every query is compared with each key along these axes: usually all but batch, heads and depth.
    axes = config.get("attention_axes") or range(1, len(keys) - 2)
    times = size_product(tuple(keys[axis if axis >= 0 else len(keys) - 1 + axis] for axis in axes))
    scored = (*queries[:-1], times)
    yield from _elementwise_steps("Mul", queries)
    yield _matmul_step(queries, scored)
    yield from _elementwise_steps("Softmax", scored)
    # Sums over S for the weighted values, then over heads and their depth.
    yield _matmul_step((1, times), context)
    yield from _elementwise_steps("Sigmoid Mul" if gates else "", context)
    yield _matmul_step((1, heads[0] * wide), out)
    yield from _elementwise_steps(bias, out)


def _attention_steps(config: LayerConfig, inputs: list[KnownSizes], out: KnownSizes) -> CostSteps:
    if config.get("score_mode") == "concat":
        yield from _additive_attention_steps(config, inputs, out)
        return
    query, value = inputs[0], inputs[1]
    scored = (*query[:-1], value[-2])
    yield _matmul_step(query, scored)
    yield from _elementwise_steps("Softmax", scored)
    yield _matmul_step(scored, out)


def _additive_attention_steps(config: LayerConfig, inputs: list[KnownSizes], out: KnownSizes) -> CostSteps:
    """Yield the ops of additive attention: each query and key are added, and the sum of the `tanh` is the score."""
    query, value = inputs[0], inputs[1]
    scored = (*query[:-1], value[-2])
    yield from _elementwise_steps("AddV2 Tanh Mul", (*scored, query[-1]))
    yield CostStep("Sum", [(*scored, query[-1])], scored)
    yield from _elementwise_steps("Softmax", scored)
    yield _matmul_step(scored, out)


def _inner_steps(kind: str, config: LayerConfig, inputs: list[KnownSizes], out: KnownSizes) -> CostSteps:
    """Return the ops of a layer by the rule of its class. Raises LookupError without a rule."""
    rule = layer_cost_rule(kind)
    if rule is None:
        raise LookupError(kind)
    return rule(config, inputs, out)


# https://keras.io/api/layers/recurrent_layers: the number of gates, and the elementwise ops on each unit.
RECURRENT_GATES = {
    "lstm": (4, "Sigmoid Sigmoid Sigmoid Tanh Mul Mul AddV2 Tanh Mul"),
    "gru": (3, "Sigmoid Sigmoid Tanh Mul AddV2 Mul Sub Mul AddV2"),
    "simple_rnn": (1, "Tanh"),
}


def _recurrent_rule_for(kind: str) -> LayerCostRule:
    """Return the rule of a recurrent layer: at each step a product with the input, one with the state, and the
    gates."""
    gates, ops = RECURRENT_GATES[kind]

    def steps(config: LayerConfig, inputs: list[KnownSizes], out: KnownSizes) -> CostSteps:
        batch, times, width = inputs[0]
        units = config["units"]
        gate_shape, state_shape = (batch, gates * units), (batch, units)
        # Keras's GRU with `reset_after` has one bias for the input and one for the state.
        twice = 2 if kind == "gru" and config.get("reset_after", True) else 1
        parts = [
            _matmul_step((batch, width), gate_shape),
            _matmul_step(state_shape, gate_shape),
            CostStep("AddV2", [gate_shape], gate_shape),
        ]
        parts += [CostStep("BiasAdd", [gate_shape], gate_shape)] * (twice if config.get("use_bias", True) else 0)
        yield from (part._replace(times=times) for part in [*parts, *_elementwise_steps(ops, state_shape)])

    return steps


def _cell_steps(config: LayerConfig, inputs: list[KnownSizes], out: KnownSizes) -> CostSteps:
    """Yield the ops of a stack of cells, each with the output of the previous cell as input."""
    batch, times, width = inputs[0]
    for kind, settings in recurrent_cells(config):
        yield from _inner_steps(kind, settings, [(batch, times, width)], out)
        width = settings["units"]


def _recurrent_convolution_steps(config: LayerConfig, inputs: list[KnownSizes], out: KnownSizes) -> CostSteps:
    """Yield the ops of a recurrent convolution: at each step a convolution of the input and one of the state, for four
    gates."""
    _, ops = RECURRENT_GATES["lstm"]
    batch, times, *image = inputs[0]
    filters, state = config["filters"], (batch, *out[-len(image) :])
    # The result of a bidirectional layer may have twice the channels.
    channel_axis = 1 if config.get("data_format") == "channels_first" else -1
    state = (*state[:channel_axis], filters, *state[channel_axis:][1:])
    places = _per_spatial_axis(config["kernel_size"], len(image) - 1)
    gates = (4 * batch, *state[1:])  # formulas count elements, so any dimension may be multiplied
    channels = _channel_count(config, (batch, *image))
    parts = [CostStep("Conv2D", [(), (*places, wide, 4 * filters)], gates) for wide in (channels, filters)]
    parts += [CostStep("BiasAdd", [gates], gates)] * bool(config.get("use_bias", True))
    parts += [CostStep("AddV2", [gates], gates), *_elementwise_steps(ops, state)]
    yield from (part._replace(times=times) for part in parts)


def _resize_rule_for(usual: str) -> LayerCostRule:
    """Return the rule of a resized image; `usual` is the default interpolation."""

    def steps(config: LayerConfig, inputs: list[KnownSizes], out: KnownSizes) -> CostSteps:
        if config.get("interpolation", usual) == "bilinear":
            yield CostStep("ResizeBilinear", [inputs[0]], out)

    return steps


# Words of the column `flops`; in brackets, an argument.
LAYER_COST_RULES: dict[str, LayerCostRule] = {
    "dense": _dense_steps,
    "embedding": _embedding_steps,
    "einsum_dense": _einsum_dense_steps,
    "convolution": _convolution_steps,
    "transposed": _transposed_convolution_steps,
    "depthwise": _depthwise_steps,
    "separable": _separable_steps,
    "dotted": _dot_steps,
    "batch_norm": lambda config, inputs, out: iter(
        [CostStep("FusedBatchNormV3", [inputs[0]], out, {"is_training": False})]
    ),
    "layer_norm": _layer_norm_steps,
    "rms_norm": _rms_norm_steps,
    "multi_head": _multi_head_attention_steps,
    "grouped_heads": _grouped_attention_steps,
    "attention": _attention_steps,
    "additive_attention": _additive_attention_steps,
    "matrix_product": lambda config, inputs, out: iter([_matmul_step(inputs[0], out)]),
    "summed": lambda config, inputs, out: iter([CostStep("Einsum", inputs, out, {"equation": config["subscripts"]})]),
    # The layer in a wrapper that runs it once.
    "wrapped": lambda config, inputs, out: _inner_steps(*wrapped_layers(config)[0], inputs, out),
    "activation": lambda config, inputs, out: _activation_steps(config, out),
    "of_cell": _cell_steps,
    "convolutional": _recurrent_convolution_steps,
}
LAYER_COST_RULE_MAKERS: dict[str, Callable[[str], LayerCostRule]] = {
    "pooling": _pooling_rule_for,
    "reduced": lambda op: lambda config, inputs, out: iter([CostStep(op, [inputs[0]], out)]),
    "each": lambda ops: lambda config, inputs, out: _elementwise_steps(ops, out),
    "merged": _merge_rule_for,
    "resized": _resize_rule_for,
    "recurrent": _recurrent_rule_for,
}
MOVES_ONLY = "0"


@lru_cache(maxsize=MAX_CACHED_OP_TYPES)
def layer_cost_rule(kind: str) -> LayerCostRule | None:
    """Return the rule that yields the ops of layers of a class; None if they are unknown."""
    word, _, argument = layer_row(kind).flops.rstrip(")").partition("(")
    return LAYER_COST_RULE_MAKERS[word](argument) if word in LAYER_COST_RULE_MAKERS else LAYER_COST_RULES.get(word)
