"""Output shapes of a layer, by the rule of its class.

A rule takes the configuration and the input shapes, the batch first, and returns the output shapes; None is an unknown
dimension or an unknown shape. Rules are those of Keras's own `compute_output_shape`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

from graphviz_tb.model.layers import LayerConfig
from graphviz_tb.model.tensors import Shape
from graphviz_tb.ops.layers import LayerRole, has_layer_role, layer_row
from graphviz_tb.read.keras.possible import RULE_ERRORS, is_plausible_config, plausible_shape
from graphviz_tb.read.keras.windows import (
    KerasDims,
    convolution_shape,
    cropping_shape,
    depthwise_shape,
    global_pooling_shape,
    padding_shape,
    pooling_shape,
    resizing_shape,
    transposed_shape,
    upsampling_shape,
)

LayerShapeRule = Callable[[LayerConfig, list[KerasDims]], list[Shape]]


def layer_output_shapes(kind: str, config: LayerConfig, inputs: Sequence[Shape]) -> list[Shape]:
    """Return the output shapes of a layer of class `kind`; none if it has no rule, or one that does not fit.

    >>> layer_output_shapes("Dense", {"units": 10}, [(None, 784)]), layer_output_shapes("Mine", {}, [(None, 3)])
    ([(None, 10)], [])
    """
    rule = SHAPE_RULES.get(layer_row(kind).shape)
    known = [shape for shape in inputs if shape is not None]
    if (
        rule is None
        or len(known) < len(inputs)
        or (not known and not has_layer_role(kind, LayerRole.INPUT))
        or not is_plausible_config(config)
    ):
        return []
    try:
        return [plausible_shape(shape) for shape in rule(config, known)]
    except RULE_ERRORS:
        return []  # a configuration that the class would refuse


def shape_from_json(value: Any) -> Shape:
    """Read a shape from JSON, a list of numbers and nulls; None for anything else.

    >>> shape_from_json([None, 28]), shape_from_json({"a": 1}), shape_from_json(None), shape_from_json([True])
    ((None, 28), None, None, None)
    """
    try:
        return plausible_shape(tuple(value)) if isinstance(value, list | tuple) else None
    except TypeError:
        return None


# shapes


def flatten_shape(config: LayerConfig, inputs: list[KerasDims]) -> list[Shape]:
    return [(inputs[0][0], product_or_unknown(inputs[0][1:]))]


def product_or_unknown(dims: Sequence[int | None]) -> int | None:
    """Return the product of dimensions; None if one is unknown."""
    known = [dim for dim in dims if dim is not None]
    return prod(known) if len(known) == len(dims) else None


def reshape_shape(config: LayerConfig, inputs: list[KerasDims]) -> list[Shape]:
    target = [int(dim) for dim in config["target_shape"]]
    total, rest = product_or_unknown(inputs[0][1:]), prod(dim for dim in target if dim != -1)
    # -1 takes the remaining size.
    filled = None if total is None else total // rest
    return [(inputs[0][0], *(filled if dim == -1 else dim for dim in target))]


def permute_shape(config: LayerConfig, inputs: list[KerasDims]) -> list[Shape]:
    return [(inputs[0][0], *(inputs[0][int(axis)] for axis in config["dims"]))]


def repeat_shape(config: LayerConfig, inputs: list[KerasDims]) -> list[Shape]:
    return [(inputs[0][0], int(config["n"]), inputs[0][1])]


# several inputs


def unchanged_shape(config: LayerConfig, inputs: list[KerasDims]) -> list[Shape]:
    return [inputs[0]]


def merge_shape(config: LayerConfig, inputs: list[KerasDims]) -> list[Shape]:
    """Broadcast the inputs; an unknown dimension stays unknown only against 1 or an unknown one."""
    made = inputs[0]
    for other in inputs[1:]:
        size = max(len(made), len(other))
        pairs = zip((1,) * (size - len(made)) + made, (1,) * (size - len(other)) + other, strict=True)
        made = tuple(two if one == 1 else one if two in (1, None) else one if one is not None else two
                     for one, two in pairs)  # fmt: skip
    return [made]


def function_call_shape(config: LayerConfig, inputs: list[KerasDims]) -> list[Shape]:
    """Shape of a TensorFlow function that Keras 2 wrapped as a layer, if it is elementwise.

    >>> (
    ...     function_call_shape({"function": "__operators__.add"}, [(None, 4), (None, 1)]),
    ...     function_call_shape({"function": "image.resize"}, [()]),
    ... )
    ([(None, 4)], [])
    """
    return merge_shape(config, inputs) if config["function"].rpartition(".")[2] in ELEMENTWISE_FUNCTIONS else []


def concatenate_shape(config: LayerConfig, inputs: list[KerasDims]) -> list[Shape]:
    # A negative axis counts from the end.
    axis = int(config.get("axis", -1)) % len(inputs[0])
    known = [next((shape[dim] for shape in inputs if shape[dim] is not None), None) for dim in range(len(inputs[0]))]
    total = None if any(shape[axis] is None for shape in inputs) else sum(shape[axis] or 0 for shape in inputs)
    return [(*known[:axis], total, *known[axis + 1 :])]


def dot_shape(config: LayerConfig, inputs: list[KerasDims]) -> list[Shape]:
    left, right = inputs
    axes = config["axes"]
    # One axis for both, or one each; the batch is in both.
    first, second = (axes, axes) if isinstance(axes, int) else axes
    rest = [dim for axis, dim in enumerate(left) if axis not in (0, first % len(left))]
    rest += [dim for axis, dim in enumerate(right) if axis not in (0, second % len(right))]
    return [(left[0], *(rest or [1]))]


# dense, attention, recurrent


def dense_shape(config: LayerConfig, inputs: list[KerasDims]) -> list[Shape]:
    return [(*inputs[0][:-1], config["units"])]


def einsum_shape(config: LayerConfig, inputs: list[KerasDims]) -> list[Shape]:
    left, _, result = config["equation"].replace("...", "").partition("->")
    sizes = dict(zip(reversed(left.partition(",")[0]), reversed(inputs[0]), strict=False))
    asked = config["output_shape"]
    asked = [asked] if isinstance(asked, int) else list(asked)
    # The dimensions of "..." are those on the left without a letter.
    kept = inputs[0][: len(inputs[0]) - len(left.partition(",")[0])]
    stated = [None] * (len(result) - len(asked)) + asked
    return [(*kept, *(dim or sizes.get(letter) for letter, dim in zip(result, stated, strict=True)))]


def embedding_shape(config: LayerConfig, inputs: list[KerasDims]) -> list[Shape]:
    return [(*inputs[0], config["output_dim"])]


def multi_head_shape(config: LayerConfig, inputs: list[KerasDims]) -> list[Shape]:
    asked = config.get("output_shape")
    last = inputs[0][-1:] if asked is None else tuple(asked) if isinstance(asked, list | tuple) else (asked,)
    return [(*inputs[0][:-1], *last)]


def attention_shape(config: LayerConfig, inputs: list[KerasDims]) -> list[Shape]:
    return [(*inputs[0][:-1], inputs[1][-1])]


def recurrent_shape(config: LayerConfig, inputs: list[KerasDims]) -> list[Shape]:
    units = _recurrent_units(config)
    batch, steps = inputs[0][:2]
    out: list[Shape] = [(batch, steps, units) if config.get("return_sequences") else (batch, units)]
    # LSTM has two states: its output, and its cell.
    states = 2 if config.get("cell", {}).get("class_name", config.get("_kind")) in ("LSTM", "LSTMCell") else 1
    return out + [(batch, units)] * (states if config.get("return_state") else 0)


def lstm_shape(config: LayerConfig, inputs: list[KerasDims]) -> list[Shape]:
    return recurrent_shape({**config, "_kind": "LSTM"}, inputs)


def _recurrent_units(config: LayerConfig) -> int:
    cell = config.get("cell")
    while isinstance(cell, Mapping):
        inner = cell["config"].get("cells")
        if not inner:
            return int(cell["config"]["units"])
        cell = inner[-1]  # the output of the last of several
    return int(config["units"])


def recurrent_convolution_shape(config: LayerConfig, inputs: list[KerasDims]) -> list[Shape]:
    """Shapes of a recurrent convolution: an image for each step, or the last one; then its states."""
    batch, steps, *rest = inputs[0]
    last = convolution_shape(config, [(batch, *rest)])[0] or ()
    out: list[Shape] = [(batch, steps, *last[1:]) if config.get("return_sequences") else last]
    return out + [last] * (2 if config.get("return_state") else 0)


def bidirectional_shape(config: LayerConfig, inputs: list[KerasDims]) -> list[Shape]:
    inner = config["layer"]
    # Only around a recurrent layer, as in Keras: nested wrappers would double the states each time.
    if SHAPE_RULES[layer_row(inner["class_name"]).shape] not in (recurrent_shape, lstm_shape):
        return []
    first, *states = layer_output_shapes(inner["class_name"], inner["config"], inputs)
    mode = config.get("merge_mode", "concat")
    if first is None or mode is None:
        return [first, first, *states, *states]
    last = first[-1]
    wide = None if last is None else 2 * last
    return [(*first[:-1], wide) if mode == "concat" else first, *states, *states]


def each_step_shape(config: LayerConfig, inputs: list[KerasDims]) -> list[Shape]:
    inner = config["layer"]
    batch, steps, *rest = inputs[0]
    (first, *_) = layer_output_shapes(inner["class_name"], inner["config"], [(batch, *rest)])
    return [None if first is None else (batch, steps, *first[1:])]


def wrapper_shape(config: LayerConfig, inputs: list[KerasDims]) -> list[Shape]:
    inner = config["layer"]
    return layer_output_shapes(inner["class_name"], inner["config"], inputs)


# inputs and preprocessing


def input_shape(config: LayerConfig, inputs: list[KerasDims]) -> list[Shape]:
    return [shape_from_json(config.get("batch_shape", config.get("batch_input_shape")))]


def category_encoding_shape(config: LayerConfig, inputs: list[KerasDims]) -> list[Shape]:
    if config.get("output_mode") == "int":
        return [inputs[0]]
    rest = inputs[0][:-1] if config.get("output_mode") == "one_hot" and inputs[0][-1:] == (1,) else inputs[0]
    wide = int(config["num_tokens"])
    return [(*rest, wide)] if config.get("output_mode") == "one_hot" else [(*inputs[0][:-1], wide)]


ELEMENTWISE_FUNCTIONS = frozenset(  # functions called by `tf.add(…)`, `tf.math.add(…)` or an operator of tensors
    (
        *("add", "add_v2", "subtract", "sub", "multiply", "mul", "divide", "truediv", "floordiv", "mod", "pow"),
        *("maximum", "minimum", "squared_difference", "add_n", "abs", "neg", "negative", "exp", "log", "log1p"),
        *("sqrt", "rsqrt", "square", "sign", "floor", "ceil", "round", "sin", "cos", "tanh", "erf", "sigmoid"),
        *("softplus", "relu", "relu6", "leaky_relu", "elu", "selu", "gelu", "silu", "swish", "softmax"),
        *("log_softmax", "dropout", "identity", "stop_gradient", "cast", "clip_by_value"),
    )
)
SHAPE_RULES: dict[str, LayerShapeRule] = {
    "given": input_shape,
    "same": unchanged_shape,
    "merged": merge_shape,
    "convolution": convolution_shape,
    "depthwise": depthwise_shape,
    "transposed": transposed_shape,
    "pooling": pooling_shape,
    "global_pooling": global_pooling_shape,
    "padded": padding_shape,
    "cropped": cropping_shape,
    "upsampled": upsampling_shape,
    "resized": resizing_shape,
    "flattened": flatten_shape,
    "reshaped": reshape_shape,
    "permuted": permute_shape,
    "repeated": repeat_shape,
    "called": function_call_shape,
    "joined": concatenate_shape,
    "dotted": dot_shape,
    "dense": dense_shape,
    "einsum": einsum_shape,
    "embedded": embedding_shape,
    "encoded": category_encoding_shape,
    "attention_heads": multi_head_shape,
    "attention": attention_shape,
    "recurrent": recurrent_shape,
    "long_short": lstm_shape,
    "convolutional": recurrent_convolution_shape,
    "both_ways": bidirectional_shape,
    "at_each_step": each_step_shape,
    "wrapped": wrapper_shape,
}
