"""Costs of Keras layers, as the ops that they run: each op counts by its formula (formulas.py).

The steps are those of Keras's `call` at inference: dropout and noise cost nothing, batch normalisation only scales.
Recurrent layers count all time steps.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from graphviz_tb.annotate.costs.counted import MOST_ELEMENTS, OpCost, Sizes, Unknown, elements
from graphviz_tb.annotate.costs.formulas import cost_rule
from graphviz_tb.annotate.costs.steps import (
    CostStep,
    CostSteps,
    Imagined,
    LayerCostRule,
    activated,
    after,
    channels_of,
    each,
    elementwise,
    product,
    sized,
)
from graphviz_tb.model.layers import Config, Layer, LayerCall, cells_of
from graphviz_tb.ops.layers import LayerRole, is_layer, layer_row


def layer_work(layer: Layer, batch: int) -> OpCost | None:
    """Return the cost of all calls of a layer; None if its class has no rule, or a shape is missing.

    >>> called = LayerCall(takes=((None, 784),), gives=((None, 10),))
    >>> layer_work(Layer("Dense", {"units": 10}, calls=(called,)), batch=1)
    OpCost(macs=7840, flops=15690)
    """
    if layer.custom:
        return None
    if layer_row(layer.class_name).flops == MOVES:
        return OpCost()
    works = [call_work(layer, call, batch) for call in layer.calls]
    known = [work for work in works if work is not None]
    if layer.times is None or not works or len(known) < len(works):
        return None
    macs, flops = (min(MOST_ELEMENTS, sum(work[part] for work in known) * layer.times) for part in (0, 1))
    return OpCost(macs, flops)


def is_partial(layer: Layer) -> bool:
    """Return whether a call takes a tensor with an unknown size other than the batch: the count is a lower bound."""
    shapes = (shape for call in layer.calls for shape in (*call.takes, *call.gives[:1]))
    return layer_row(layer.class_name).flops != MOVES and any(None in (shape or ())[1:] for shape in shapes)


def call_work(layer: Layer, call: LayerCall, batch: int) -> OpCost | None:
    """Return the cost of one call of a layer; None if its class has no rule, or a shape is missing."""
    if not call.gives or None in (*call.takes, call.gives[0]):
        return None
    try:
        steps = steps_of(layer, [sized(each, batch) for each in call.takes], sized(call.gives[0], batch))
        done = [(cost_of(step), step.times) for step in steps]
    except ILL_FORMED:
        return None  # a class without a rule, or an invalid configuration
    # Steps are run `times` times in one call of the layer.
    return OpCost(*(sum(work[part] * times for work, times in done) for part in (0, 1)))


def cost_of(step: CostStep) -> OpCost:
    """Return the cost of one op of a layer."""
    rule = cost_rule(step.op)
    assert rule is not None  # the ops of layers are in the table
    return rule(Imagined(step))  # type: ignore[arg-type]


def steps_of(layer: Layer, takes: list[Sizes], out: Sizes) -> CostSteps:
    """Yield the ops of a layer. A wrapper runs its layer in both directions, or with time steps in the batch."""
    kind, config, times = layer.class_name, layer.config, 1
    # A wrapper may wrap a wrapper.
    while is_layer(kind, LayerRole.WRAPPER):
        if kind == "Bidirectional":
            times *= 2
        else:
            # (batch, steps, …) ─▶ (batch * steps, …)
            takes, out = ([(shape[0] * shape[1], *shape[2:]) for shape in takes[:1]], (out[0] * out[1], *out[2:]))
        kind, config = config["layer"]["class_name"], config["layer"]["config"]
    if layer_row(kind).flops == MOVES:
        return
    rule = rule_for(kind)
    if rule is None:
        raise LookupError(kind)
    for step in rule(config, takes, out):
        yield step._replace(times=times * step.times)


# MemoryError: a text in place of a size, repeated.
ILL_FORMED = (TypeError, ValueError, LookupError, ArithmeticError, AttributeError, MemoryError, Unknown)


def dense(config: Config, takes: list[Sizes], out: Sizes) -> CostSteps:
    yield from adapted(config, takes[0][-1], out[-1])
    yield product(takes[0], out)
    yield from after(config, out)


def adapted(config: Config, rows: int, columns: int) -> CostSteps:
    """Yield the ops that LoRA adds to a kernel before it is used: the product of two factors, scaled."""
    if rank := config.get("lora_rank"):
        yield product((rows, rank), (rows, columns))
        yield from elementwise("Mul AddV2", (rows, columns))


def einsum_dense(config: Config, takes: list[Sizes], out: Sizes) -> CostSteps:
    left, _, result = str(config["equation"]).replace(" ", "").replace("...", "").partition("->")
    first, _, second = left.partition(",")
    # From the right: the dots, which are the batch, are on the left ("...x,xy->...y").
    letters = dict(zip(reversed(result), reversed(out), strict=False))
    letters |= dict(zip(reversed(first), reversed(takes[0]), strict=False))
    kernel = tuple(letters[letter] for letter in second)
    yield from adapted(config, elements(kernel[:-1]), kernel[-1])
    yield CostStep("Einsum", [takes[0], kernel], out, {"equation": config["equation"]})
    yield from after({**config, "use_bias": config.get("bias_axes") is not None}, out)


def convolution(config: Config, takes: list[Sizes], out: Sizes) -> CostSteps:
    places = each(config["kernel_size"], len(out) - 2)
    # Keras's kernel is (places…, channels in, filters); a group has a part of the channels.
    into = channels_of(config, takes[0]) // config.get("groups", 1)
    yield from adapted(config, elements(places) * into, config["filters"])
    yield CostStep("Conv2D", [takes[0], (*places, into, config["filters"])], out)
    yield from after(config, out)


def transposed(config: Config, takes: list[Sizes], out: Sizes) -> CostSteps:
    places = each(config["kernel_size"], len(out) - 2)
    # (places…, filters, channels in): the kernel of the convolution whose gradient this is
    kernel = (*places, config["filters"], channels_of(config, takes[0]))
    yield CostStep("Conv2DBackpropInput", [(), kernel, takes[0]], out)
    yield from after(config, out)


def depthwise(config: Config, takes: list[Sizes], out: Sizes) -> CostSteps:
    yield CostStep("DepthwiseConv2dNative", [takes[0], places_of(config, out)], out)
    yield from after(config, out)


def places_of(config: Config, out: Sizes) -> Sizes:
    """Return a kernel window with a second dimension of 1: `DepthwiseConv2dNative` counts the first two dimensions."""
    return (elements(each(config["kernel_size"], len(out) - 2)), 1)


def separable(config: Config, takes: list[Sizes], out: Sizes) -> CostSteps:
    many = channels_of(config, takes[0]) * config.get("depth_multiplier", 1)
    filters = config["filters"]
    # (positions, channels between): the pointwise half is a product along the second dimension.
    between = (elements(out) // filters, many)
    yield CostStep("DepthwiseConv2dNative", [takes[0], places_of(config, out)], between)
    yield product(between, out)
    yield from after(config, out)


def pooling(op: str) -> LayerCostRule:
    def steps(config: Config, takes: list[Sizes], out: Sizes) -> CostSteps:
        yield CostStep(op, [takes[0]], out, {"ksize": each(config["pool_size"], len(out) - 2)})

    return steps


def reduced(op: str) -> LayerCostRule:
    return lambda config, takes, out: iter([CostStep(op, [takes[0]], out)])


def on_each(ops: str) -> LayerCostRule:
    """Make the rule of ops on every element of the result."""
    return lambda config, takes, out: elementwise(ops, out)


def merged(ops: str) -> LayerCostRule:
    """Make the rule of one op for each input but the first, then one op on the result (`AddV2,RealDiv`)."""
    each_one, _, last = ops.partition(",")

    def steps(config: Config, takes: list[Sizes], out: Sizes) -> CostSteps:
        # With a single tensor, the second operand is a number of the program.
        for _ in takes[1:] or takes:
            yield from elementwise(each_one, out)
        yield from elementwise(last, out)

    return steps


def dotted(config: Config, takes: list[Sizes], out: Sizes) -> CostSteps:
    axes = config["axes"]
    # One axis for both operands, or one each.
    along = axes if isinstance(axes, int) else axes[0]
    for shape in takes if config.get("normalize") else ():
        yield from elementwise("Square", shape)
        yield CostStep("Sum", [shape], tuple(size for axis, size in enumerate(shape) if axis != along % len(shape)))
        yield from elementwise("Mul", shape)
    yield product((takes[0][along],) * 2, out)


def batch_norm(config: Config, takes: list[Sizes], out: Sizes) -> CostSteps:
    yield CostStep("FusedBatchNormV3", [takes[0]], out, {"is_training": False})


def layer_norm(config: Config, takes: list[Sizes], out: Sizes) -> CostSteps:
    yield CostStep("Mean", [out], out[:-1])
    yield CostStep("SquaredDifference", [out], out)
    yield CostStep("Mean", [out], out[:-1])
    yield from elementwise("Mul Sub AddV2", out)


def rms_norm(config: Config, takes: list[Sizes], out: Sizes) -> CostSteps:
    yield from elementwise("Square", out)
    yield CostStep("Mean", [out], out[:-1])
    yield from elementwise("Mul Mul", out)


def multi_head(config: Config, takes: list[Sizes], out: Sizes) -> CostSteps:
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
        yield product(given, into)
        yield from elementwise(bias, into)
    (_, queries), (_, keys), _ = made
    # keys[1:-2] are the sizes S: every query is compared with each of them.
    times, scored = elements(keys[1:-2]), (*queries[:-1], elements(keys[1:-2]))
    yield from elementwise("Mul", queries)
    yield product(queries, scored)
    yield from elementwise("Softmax", scored)
    context = (*queries[:-1], wide)
    # The scores weigh the values: a sum over S; then one over heads and their depth.
    yield product((1, times), context)
    yield product((1, heads * wide), out)
    yield from elementwise(bias, out)


def grouped_heads(config: Config, takes: list[Sizes], out: Sizes) -> CostSteps:
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
        yield product(given, into)
        yield from elementwise(bias, into)
    scored = (*queries[:-1], key[-2])
    yield from elementwise("Mul", queries)
    yield product(queries, scored)
    yield from elementwise("Softmax", scored)
    yield product((1, key[-2]), queries)
    yield from elementwise("Sigmoid Mul" if gates else "", queries)
    yield product((1, heads * size), out)
    yield from elementwise(bias, out)


def attention(config: Config, takes: list[Sizes], out: Sizes) -> CostSteps:
    query, value = takes[0], takes[1]
    scored = (*query[:-1], value[-2])
    yield product(query, scored)
    yield from elementwise("Softmax", scored)
    yield product(scored, out)


def additive_attention(config: Config, takes: list[Sizes], out: Sizes) -> CostSteps:
    """Yield the ops of additive attention: each query and key are added, and the sum of the `tanh` is the score."""
    query, value = takes[0], takes[1]
    scored = (*query[:-1], value[-2])
    yield from elementwise("AddV2 Tanh Mul", (*scored, query[-1]))
    yield CostStep("Sum", [(*scored, query[-1])], scored)
    yield from elementwise("Softmax", scored)
    yield product(scored, out)


def matrix_product(config: Config, takes: list[Sizes], out: Sizes) -> CostSteps:
    yield product(takes[0], out)


def summed(config: Config, takes: list[Sizes], out: Sizes) -> CostSteps:
    yield CostStep("Einsum", takes, out, {"equation": config["subscripts"]})


def wrapped(config: Config, takes: list[Sizes], out: Sizes) -> CostSteps:
    """Yield the ops of the layer in a wrapper that runs it once."""
    inner = config["layer"]
    rule = rule_for(inner["class_name"])
    if rule is None:
        raise LookupError(inner["class_name"])
    yield from rule(inner["config"], takes, out)


# https://keras.io/api/layers/recurrent_layers: the number of gates, and the elementwise ops on each unit.
GATES = {
    "lstm": (4, "Sigmoid Sigmoid Sigmoid Tanh Mul Mul AddV2 Tanh Mul"),
    "gru": (3, "Sigmoid Sigmoid Tanh Mul AddV2 Mul Sub Mul AddV2"),
    "simple_rnn": (1, "Tanh"),
}


def recurrent(kind: str) -> LayerCostRule:
    """Make the rule of a recurrent layer. Each step: a product with the input, one with the state, the gates."""
    gates, ops = GATES[kind]

    def steps(config: Config, takes: list[Sizes], out: Sizes) -> CostSteps:
        batch, times, width = takes[0]
        units = config["units"]
        gate_shape, state_shape = (batch, gates * units), (batch, units)
        # Keras's GRU with `reset_after` has one bias for the input and one for the state.
        twice = 2 if kind == "gru" and config.get("reset_after", True) else 1
        parts = [
            product((batch, width), gate_shape),
            product(state_shape, gate_shape),
            CostStep("AddV2", [gate_shape], gate_shape),
        ]
        parts += [CostStep("BiasAdd", [gate_shape], gate_shape)] * (twice if config.get("use_bias", True) else 0)
        yield from (part._replace(times=times) for part in [*parts, *elementwise(ops, state_shape)])

    return steps


def of_cell(config: Config, takes: list[Sizes], out: Sizes) -> CostSteps:
    """Yield the ops of each cell of a stack, which takes the output of the previous one."""
    batch, times, width = takes[0]
    for kind, settings in cells_of(config):
        rule = rule_for(kind)
        if rule is None:
            raise LookupError(kind)
        yield from rule(settings, [(batch, times, width)], out)
        width = settings["units"]


def convolutional(config: Config, takes: list[Sizes], out: Sizes) -> CostSteps:
    """Yield the ops of a recurrent convolution. Each step: one convolution of the input and one of the state, into four
    gates."""
    _, ops = GATES["lstm"]
    batch, times, *image = takes[0]
    filters, state = config["filters"], (batch, *out[-len(image) :])
    places = each(config["kernel_size"], len(image) - 1)
    gates = (4 * batch, *state[1:])  # formulas count elements, so any dimension may be multiplied
    channels = channels_of(config, (batch, *image))
    parts = [CostStep("Conv2D", [(), (*places, wide, 4 * filters)], gates) for wide in (channels, filters)]
    parts += [CostStep("BiasAdd", [gates], gates)] * bool(config.get("use_bias", True))
    parts += [CostStep("AddV2", [gates], gates), *elementwise(ops, state)]
    yield from (part._replace(times=times) for part in parts)


def resized(usual: str) -> LayerCostRule:
    """Make the rule of a resized image; `usual` is the default interpolation."""

    def steps(config: Config, takes: list[Sizes], out: Sizes) -> CostSteps:
        if config.get("interpolation", usual) == "bilinear":
            yield CostStep("ResizeBilinear", [takes[0]], out)

    return steps


def activation(config: Config, takes: list[Sizes], out: Sizes) -> CostSteps:
    yield from activated(config, out)


# Words of the column `flops`; in brackets, an argument.
RULES: dict[str, LayerCostRule] = {
    "dense": dense,
    "einsum_dense": einsum_dense,
    "convolution": convolution,
    "transposed": transposed,
    "depthwise": depthwise,
    "separable": separable,
    "dotted": dotted,
    "batch_norm": batch_norm,
    "layer_norm": layer_norm,
    "rms_norm": rms_norm,
    "multi_head": multi_head,
    "grouped_heads": grouped_heads,
    "attention": attention,
    "additive_attention": additive_attention,
    "matrix_product": matrix_product,
    "summed": summed,
    "wrapped": wrapped,
    "activation": activation,
    "of_cell": of_cell,
    "convolutional": convolutional,
}
MAKERS: dict[str, Callable[[str], LayerCostRule]] = {
    "pooling": pooling,
    "reduced": reduced,
    "each": on_each,
    "merged": merged,
    "resized": resized,
    "recurrent": recurrent,
}
MOVES = "0"


@cache
def rule_for(kind: str) -> LayerCostRule | None:
    """Return the rule that yields the ops of layers of a class; None if they are not known."""
    word, _, argument = layer_row(kind).flops.rstrip(")").partition("(")
    return MAKERS[word](argument) if word in MAKERS else RULES.get(word)
