"""Costs of Keras layers, as the ops that they run: each op counts by its formula (formulas.py).

The steps are those of Keras's `call` at inference: dropout and noise cost nothing, batch normalisation only scales.
Recurrent layers count all time steps.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from graphviz_tb.annotate.costs.counted import MAX_ELEMENTS, KnownSizes, OpCost, UnknownShapeError, size_product
from graphviz_tb.annotate.costs.formulas import cost_rule
from graphviz_tb.annotate.costs.steps import (
    CostStep,
    CostSteps,
    LayerCostRule,
    StepAsOp,
    activation_steps,
    bias_and_activation_steps,
    channel_count,
    elementwise_steps,
    matmul_step,
    per_spatial_axis,
    shape_with_batch,
)
from graphviz_tb.model.layers import Layer, LayerCall, LayerConfig, recurrent_cells
from graphviz_tb.ops.layers import LayerRole, has_layer_role, layer_row


def layer_cost(layer: Layer, batch: int) -> OpCost | None:
    """Return the cost of all calls of a layer; None if its class has no rule, or a shape is missing.

    >>> called = LayerCall(takes=((None, 784),), gives=((None, 10),))
    >>> layer_cost(Layer("Dense", {"units": 10}, calls=(called,)), batch=1)
    OpCost(macs=7840, flops=15690)
    """
    if layer.custom:
        return None
    if layer_row(layer.class_name).flops == MOVES_ONLY:
        return OpCost()
    works = [layer_call_cost(layer, call, batch) for call in layer.calls]
    known = [work for work in works if work is not None]
    if layer.times is None or not works or len(known) < len(works):
        return None
    macs, flops = (min(MAX_ELEMENTS, sum(work[part] for work in known) * layer.times) for part in (0, 1))
    return OpCost(macs, flops)


def is_partly_counted(layer: Layer) -> bool:
    """Return whether a call takes a tensor with an unknown size other than the batch: the count is a lower bound."""
    shapes = (shape for call in layer.calls for shape in (*call.takes, *call.gives[:1]))
    return layer_row(layer.class_name).flops != MOVES_ONLY and any(None in (shape or ())[1:] for shape in shapes)


def layer_call_cost(layer: Layer, call: LayerCall, batch: int) -> OpCost | None:
    """Return the cost of one call of a layer; None if its class has no rule, or a shape is missing."""
    if not call.gives or None in (*call.takes, call.gives[0]):
        return None
    try:
        steps = layer_steps(
            layer, [shape_with_batch(each, batch) for each in call.takes], shape_with_batch(call.gives[0], batch)
        )
        done = [(layer_step_cost(step), step.times) for step in steps]
    except LAYER_RULE_ERRORS:
        return None  # a class without a rule, or an invalid configuration
    # Steps are run `times` times in one call of the layer.
    return OpCost(*(sum(work[part] * times for work, times in done) for part in (0, 1)))


def layer_step_cost(step: CostStep) -> OpCost:
    """Return the cost of one op of a layer."""
    rule = cost_rule(step.op)
    assert rule is not None  # the ops of layers are in the table
    return rule(StepAsOp(step))  # type: ignore[arg-type]


def layer_steps(layer: Layer, takes: list[KnownSizes], out: KnownSizes) -> CostSteps:
    """Yield the ops of a layer. A wrapper runs its layer in both directions, or with time steps in the batch."""
    kind, config, times = layer.class_name, layer.config, 1
    # A wrapper may wrap a wrapper.
    while has_layer_role(kind, LayerRole.WRAPPER):
        if kind == "Bidirectional":
            times *= 2
        else:
            # (batch, steps, …) ─▶ (batch * steps, …)
            takes, out = ([(shape[0] * shape[1], *shape[2:]) for shape in takes[:1]], (out[0] * out[1], *out[2:]))
        kind, config = config["layer"]["class_name"], config["layer"]["config"]
    if layer_row(kind).flops == MOVES_ONLY:
        return
    rule = layer_cost_rule(kind)
    if rule is None:
        raise LookupError(kind)
    for step in rule(config, takes, out):
        yield step._replace(times=times * step.times)


# MemoryError: a text in place of a size, repeated.
LAYER_RULE_ERRORS = (
    TypeError,
    ValueError,
    LookupError,
    ArithmeticError,
    AttributeError,
    MemoryError,
    UnknownShapeError,
)


def dense_steps(config: LayerConfig, takes: list[KnownSizes], out: KnownSizes) -> CostSteps:
    yield from lora_steps(config, takes[0][-1], out[-1])
    yield matmul_step(takes[0], out)
    yield from bias_and_activation_steps(config, out)


def lora_steps(config: LayerConfig, rows: int, columns: int) -> CostSteps:
    """Yield the ops that LoRA adds to a kernel before it is used: the product of two factors, scaled."""
    if rank := config.get("lora_rank"):
        yield matmul_step((rows, rank), (rows, columns))
        yield from elementwise_steps("Mul AddV2", (rows, columns))


def einsum_dense_steps(config: LayerConfig, takes: list[KnownSizes], out: KnownSizes) -> CostSteps:
    left, _, result = str(config["equation"]).replace(" ", "").replace("...", "").partition("->")
    first, _, second = left.partition(",")
    # From the right: the dots, which are the batch, are on the left ("...x,xy->...y").
    letters = dict(zip(reversed(result), reversed(out), strict=False))
    letters |= dict(zip(reversed(first), reversed(takes[0]), strict=False))
    kernel = tuple(letters[letter] for letter in second)
    yield from lora_steps(config, size_product(kernel[:-1]), kernel[-1])
    yield CostStep("Einsum", [takes[0], kernel], out, {"equation": config["equation"]})
    yield from bias_and_activation_steps({**config, "use_bias": config.get("bias_axes") is not None}, out)


def convolution_steps(config: LayerConfig, takes: list[KnownSizes], out: KnownSizes) -> CostSteps:
    places = per_spatial_axis(config["kernel_size"], len(out) - 2)
    # Keras's kernel is (places…, channels in, filters); a group has a part of the channels.
    into = channel_count(config, takes[0]) // config.get("groups", 1)
    yield from lora_steps(config, size_product(places) * into, config["filters"])
    yield CostStep("Conv2D", [takes[0], (*places, into, config["filters"])], out)
    yield from bias_and_activation_steps(config, out)


def transposed_convolution_steps(config: LayerConfig, takes: list[KnownSizes], out: KnownSizes) -> CostSteps:
    places = per_spatial_axis(config["kernel_size"], len(out) - 2)
    # (places…, filters, channels in): the kernel of the convolution whose gradient this is
    kernel = (*places, config["filters"], channel_count(config, takes[0]))
    yield CostStep("Conv2DBackpropInput", [(), kernel, takes[0]], out)
    yield from bias_and_activation_steps(config, out)


def depthwise_steps(config: LayerConfig, takes: list[KnownSizes], out: KnownSizes) -> CostSteps:
    yield CostStep("DepthwiseConv2dNative", [takes[0], depthwise_window(config, out)], out)
    yield from bias_and_activation_steps(config, out)


def depthwise_window(config: LayerConfig, out: KnownSizes) -> KnownSizes:
    """Return a kernel window with a second dimension of 1: `DepthwiseConv2dNative` counts the first two dimensions."""
    return (size_product(per_spatial_axis(config["kernel_size"], len(out) - 2)), 1)


def separable_steps(config: LayerConfig, takes: list[KnownSizes], out: KnownSizes) -> CostSteps:
    many = channel_count(config, takes[0]) * config.get("depth_multiplier", 1)
    filters = config["filters"]
    # (positions, channels between): the pointwise half is a product along the second dimension.
    between = (size_product(out) // filters, many)
    yield CostStep("DepthwiseConv2dNative", [takes[0], depthwise_window(config, out)], between)
    yield matmul_step(between, out)
    yield from bias_and_activation_steps(config, out)


def pooling_rule_for(op: str) -> LayerCostRule:
    def steps(config: LayerConfig, takes: list[KnownSizes], out: KnownSizes) -> CostSteps:
        yield CostStep(op, [takes[0]], out, {"ksize": per_spatial_axis(config["pool_size"], len(out) - 2)})

    return steps


def reduction_rule_for(op: str) -> LayerCostRule:
    return lambda config, takes, out: iter([CostStep(op, [takes[0]], out)])


def elementwise_rule_for(ops: str) -> LayerCostRule:
    """Make the rule of ops on every element of the result."""
    return lambda config, takes, out: elementwise_steps(ops, out)


def merge_rule_for(ops: str) -> LayerCostRule:
    """Make the rule of one op for each input but the first, then one op on the result (`AddV2,RealDiv`)."""
    each_one, _, last = ops.partition(",")

    def steps(config: LayerConfig, takes: list[KnownSizes], out: KnownSizes) -> CostSteps:
        # With a single tensor, the second operand is a number of the program.
        for _ in takes[1:] or takes:
            yield from elementwise_steps(each_one, out)
        yield from elementwise_steps(last, out)

    return steps


def dot_steps(config: LayerConfig, takes: list[KnownSizes], out: KnownSizes) -> CostSteps:
    axes = config["axes"]
    # One axis for both operands, or one each.
    along = axes if isinstance(axes, int) else axes[0]
    for shape in takes if config.get("normalize") else ():
        yield from elementwise_steps("Square", shape)
        yield CostStep("Sum", [shape], tuple(size for axis, size in enumerate(shape) if axis != along % len(shape)))
        yield from elementwise_steps("Mul", shape)
    yield matmul_step((takes[0][along],) * 2, out)


def batch_norm_steps(config: LayerConfig, takes: list[KnownSizes], out: KnownSizes) -> CostSteps:
    yield CostStep("FusedBatchNormV3", [takes[0]], out, {"is_training": False})


def layer_norm_steps(config: LayerConfig, takes: list[KnownSizes], out: KnownSizes) -> CostSteps:
    yield CostStep("Mean", [out], out[:-1])
    yield CostStep("SquaredDifference", [out], out)
    yield CostStep("Mean", [out], out[:-1])
    yield from elementwise_steps("Mul Sub AddV2", out)


def rms_norm_steps(config: LayerConfig, takes: list[KnownSizes], out: KnownSizes) -> CostSteps:
    yield from elementwise_steps("Square", out)
    yield CostStep("Mean", [out], out[:-1])
    yield from elementwise_steps("Mul Mul", out)


def multi_head_attention_steps(config: LayerConfig, takes: list[KnownSizes], out: KnownSizes) -> CostSteps:
    """Yield the ops of `MultiHeadAttention`: three projections, scores, weighted values, output projection."""
    # Shapes: query (batch, T, width), value and key (batch, S, width); T and S may be several sizes.
    query, value = takes[0], takes[min(1, len(takes) - 1)]
    key = takes[2] if len(takes) > 2 else value
    heads, size = config["num_heads"], config["key_dim"]
    wide = config.get("value_dim") or size
    bias = "AddV2" if config.get("use_bias", True) else ""
    # Each projection: its input, and its output of (batch, T, heads, depth).
    made = [(given, (*given[:-1], heads, depth)) for given, depth in ((query, size), (key, size), (value, wide))]
    for given, into in made:
        yield matmul_step(given, into)
        yield from elementwise_steps(bias, into)
    (_, queries), (_, keys), _ = made
    # keys[1:-2] are the sizes S: every query is compared with each of them.
    times, scored = size_product(keys[1:-2]), (*queries[:-1], size_product(keys[1:-2]))
    yield from elementwise_steps("Mul", queries)
    yield matmul_step(queries, scored)
    yield from elementwise_steps("Softmax", scored)
    context = (*queries[:-1], wide)
    # The scores weigh the values: a sum over S; then one over heads and their depth.
    yield matmul_step((1, times), context)
    yield matmul_step((1, heads * wide), out)
    yield from elementwise_steps(bias, out)


def grouped_attention_steps(config: LayerConfig, takes: list[KnownSizes], out: KnownSizes) -> CostSteps:
    """Yield the ops of `GroupQueryAttention`: as `MultiHeadAttention`, but groups of query heads share a key and a
    value head."""
    query, value = takes[0], takes[min(1, len(takes) - 1)]
    key = takes[2] if len(takes) > 2 else value
    size, heads, shared = config["head_dim"], config["num_query_heads"], config["num_key_value_heads"]
    bias = "AddV2" if config.get("use_bias", True) else ""
    queries = (*query[:-1], heads, size)
    gates = [(query, queries)] if config.get("use_gate") else []
    made = [(given, (*given[:-1], shared, size)) for given in (key, value)]
    for given, into in ((query, queries), *gates, *made):
        yield matmul_step(given, into)
        yield from elementwise_steps(bias, into)
    scored = (*queries[:-1], key[-2])
    yield from elementwise_steps("Mul", queries)
    yield matmul_step(queries, scored)
    yield from elementwise_steps("Softmax", scored)
    yield matmul_step((1, key[-2]), queries)
    yield from elementwise_steps("Sigmoid Mul" if gates else "", queries)
    yield matmul_step((1, heads * size), out)
    yield from elementwise_steps(bias, out)


def attention_steps(config: LayerConfig, takes: list[KnownSizes], out: KnownSizes) -> CostSteps:
    query, value = takes[0], takes[1]
    scored = (*query[:-1], value[-2])
    yield matmul_step(query, scored)
    yield from elementwise_steps("Softmax", scored)
    yield matmul_step(scored, out)


def additive_attention_steps(config: LayerConfig, takes: list[KnownSizes], out: KnownSizes) -> CostSteps:
    """Yield the ops of additive attention: each query and key are added, and the sum of the `tanh` is the score."""
    query, value = takes[0], takes[1]
    scored = (*query[:-1], value[-2])
    yield from elementwise_steps("AddV2 Tanh Mul", (*scored, query[-1]))
    yield CostStep("Sum", [(*scored, query[-1])], scored)
    yield from elementwise_steps("Softmax", scored)
    yield matmul_step(scored, out)


def matrix_product_steps(config: LayerConfig, takes: list[KnownSizes], out: KnownSizes) -> CostSteps:
    yield matmul_step(takes[0], out)


def einsum_layer_steps(config: LayerConfig, takes: list[KnownSizes], out: KnownSizes) -> CostSteps:
    yield CostStep("Einsum", takes, out, {"equation": config["subscripts"]})


def wrapper_steps(config: LayerConfig, takes: list[KnownSizes], out: KnownSizes) -> CostSteps:
    """Yield the ops of the layer in a wrapper that runs it once."""
    inner = config["layer"]
    rule = layer_cost_rule(inner["class_name"])
    if rule is None:
        raise LookupError(inner["class_name"])
    yield from rule(inner["config"], takes, out)


# https://keras.io/api/layers/recurrent_layers: the number of gates, and the elementwise ops on each unit.
RECURRENT_GATES = {
    "lstm": (4, "Sigmoid Sigmoid Sigmoid Tanh Mul Mul AddV2 Tanh Mul"),
    "gru": (3, "Sigmoid Sigmoid Tanh Mul AddV2 Mul Sub Mul AddV2"),
    "simple_rnn": (1, "Tanh"),
}


def recurrent_rule_for(kind: str) -> LayerCostRule:
    """Make the rule of a recurrent layer. Each step: a product with the input, one with the state, the gates."""
    gates, ops = RECURRENT_GATES[kind]

    def steps(config: LayerConfig, takes: list[KnownSizes], out: KnownSizes) -> CostSteps:
        batch, times, width = takes[0]
        units = config["units"]
        gate_shape, state_shape = (batch, gates * units), (batch, units)
        # Keras's GRU with `reset_after` has one bias for the input and one for the state.
        twice = 2 if kind == "gru" and config.get("reset_after", True) else 1
        parts = [
            matmul_step((batch, width), gate_shape),
            matmul_step(state_shape, gate_shape),
            CostStep("AddV2", [gate_shape], gate_shape),
        ]
        parts += [CostStep("BiasAdd", [gate_shape], gate_shape)] * (twice if config.get("use_bias", True) else 0)
        yield from (part._replace(times=times) for part in [*parts, *elementwise_steps(ops, state_shape)])

    return steps


def cell_steps(config: LayerConfig, takes: list[KnownSizes], out: KnownSizes) -> CostSteps:
    """Yield the ops of each cell of a stack, which takes the output of the previous one."""
    batch, times, width = takes[0]
    for kind, settings in recurrent_cells(config):
        rule = layer_cost_rule(kind)
        if rule is None:
            raise LookupError(kind)
        yield from rule(settings, [(batch, times, width)], out)
        width = settings["units"]


def recurrent_convolution_steps(config: LayerConfig, takes: list[KnownSizes], out: KnownSizes) -> CostSteps:
    """Yield the ops of a recurrent convolution. Each step: one convolution of the input and one of the state, into four
    gates."""
    _, ops = RECURRENT_GATES["lstm"]
    batch, times, *image = takes[0]
    filters, state = config["filters"], (batch, *out[-len(image) :])
    places = per_spatial_axis(config["kernel_size"], len(image) - 1)
    gates = (4 * batch, *state[1:])  # formulas count elements, so any dimension may be multiplied
    channels = channel_count(config, (batch, *image))
    parts = [CostStep("Conv2D", [(), (*places, wide, 4 * filters)], gates) for wide in (channels, filters)]
    parts += [CostStep("BiasAdd", [gates], gates)] * bool(config.get("use_bias", True))
    parts += [CostStep("AddV2", [gates], gates), *elementwise_steps(ops, state)]
    yield from (part._replace(times=times) for part in parts)


def resize_rule_for(usual: str) -> LayerCostRule:
    """Make the rule of a resized image; `usual` is the default interpolation."""

    def steps(config: LayerConfig, takes: list[KnownSizes], out: KnownSizes) -> CostSteps:
        if config.get("interpolation", usual) == "bilinear":
            yield CostStep("ResizeBilinear", [takes[0]], out)

    return steps


def activation_layer_steps(config: LayerConfig, takes: list[KnownSizes], out: KnownSizes) -> CostSteps:
    yield from activation_steps(config, out)


# Words of the column `flops`; in brackets, an argument.
LAYER_COST_RULES: dict[str, LayerCostRule] = {
    "dense": dense_steps,
    "einsum_dense": einsum_dense_steps,
    "convolution": convolution_steps,
    "transposed": transposed_convolution_steps,
    "depthwise": depthwise_steps,
    "separable": separable_steps,
    "dotted": dot_steps,
    "batch_norm": batch_norm_steps,
    "layer_norm": layer_norm_steps,
    "rms_norm": rms_norm_steps,
    "multi_head": multi_head_attention_steps,
    "grouped_heads": grouped_attention_steps,
    "attention": attention_steps,
    "additive_attention": additive_attention_steps,
    "matrix_product": matrix_product_steps,
    "summed": einsum_layer_steps,
    "wrapped": wrapper_steps,
    "activation": activation_layer_steps,
    "of_cell": cell_steps,
    "convolutional": recurrent_convolution_steps,
}
LAYER_COST_RULE_MAKERS: dict[str, Callable[[str], LayerCostRule]] = {
    "pooling": pooling_rule_for,
    "reduced": reduction_rule_for,
    "each": elementwise_rule_for,
    "merged": merge_rule_for,
    "resized": resize_rule_for,
    "recurrent": recurrent_rule_for,
}
MOVES_ONLY = "0"


@cache
def layer_cost_rule(kind: str) -> LayerCostRule | None:
    """Return the rule that yields the ops of layers of a class; None if they are not known."""
    word, _, argument = layer_row(kind).flops.rstrip(")").partition("(")
    return LAYER_COST_RULE_MAKERS[word](argument) if word in LAYER_COST_RULE_MAKERS else LAYER_COST_RULES.get(word)
