"""Compute the output shapes of a layer by the rule of its class.

A rule maps the configuration and the input shapes, batch first, to the output shapes; None is an unknown dimension or
an unknown shape. Rules follow Keras's `compute_output_shape`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

from graphviz_tb.keras.validation import RULE_ERRORS, is_plausible_config, plausible_shape
from graphviz_tb.model.layers import LayerConfig, wrapped_layers
from graphviz_tb.model.tensors import Shape
from graphviz_tb.ops.layers import LayerRole, has_layer_role, layer_row

KerasDims = tuple[int | None, ...]


def layer_output_shapes(kind: str, config: LayerConfig, inputs: Sequence[Shape]) -> list[Shape]:
    """Return the output shapes of a layer of class `kind`; [] without a rule, or if the rule does not apply.

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
        return []  # an invalid configuration


def shape_from_json(value: Any) -> Shape:
    """Read a shape from JSON, a list of numbers and nulls; None for anything else.

    >>> shape_from_json([None, 28]), shape_from_json({"a": 1}), shape_from_json(None), shape_from_json([True])
    ((None, 28), None, None, None)
    """
    try:
        return plausible_shape(tuple(value)) if isinstance(value, list | tuple) else None
    except TypeError:
        return None


def _channels_first(config: LayerConfig) -> bool:
    """Return whether the channels precede the spatial dimensions."""
    return config.get("data_format") == "channels_first"


def split_image_shape(config: LayerConfig, shape: KerasDims) -> tuple[KerasDims, int | None]:
    """Split a shape into spatial dimensions and channels."""
    return (shape[2:], shape[1]) if _channels_first(config) else (shape[1:-1], shape[-1])


def _image_shape(
    config: LayerConfig, batch: int | None, sizes: Sequence[int | None], channels: int | None
) -> list[Shape]:
    return [(batch, channels, *sizes) if _channels_first(config) else (batch, *sizes, channels)]


def per_dimension(value: Any, count: int) -> list[int]:
    """Return a number for each spatial dimension.

    >>> per_dimension(3, 2), per_dimension([1, 2], 2)
    ([3, 3], [1, 2])
    """
    return [int(value)] * count if isinstance(value, int) else [int(number) for number in value]


def _window_count(size: int | None, kernel: int, stride: int, padding: str, dilation: int = 1) -> int | None:
    """Return the number of positions of a window along one dimension.

    >>> _window_count(28, 3, 1, "valid"), _window_count(28, 3, 2, "same")
    (26, 14)
    """
    if size is None:
        return None
    reach = (kernel - 1) * dilation + 1
    # ceil(size / stride), or only whole windows
    return -(-size // stride) if padding in ("same", "causal") else max(0, (size - reach) // stride + 1)


def _window_counts(config: LayerConfig, shape: KerasDims, kernel: Any) -> list[int | None]:
    """Return the number of positions of a window along each spatial dimension."""
    sizes, _ = split_image_shape(config, shape)
    count = len(sizes)
    strides = config.get("strides")
    steps = zip(
        sizes,
        per_dimension(kernel, count),
        per_dimension(kernel if strides is None else strides, count),
        per_dimension(config.get("dilation_rate", 1), count),
        strict=True,
    )
    return [_window_count(size, wide, step, config.get("padding", "valid"), apart) for size, wide, step, apart in steps]


def _convolution_shape(config: LayerConfig, inputs: list[KerasDims]) -> list[Shape]:
    # The default stride is 1 for a convolution, the size of the window for a pool.
    sizes = _window_counts({"strides": 1, **config}, inputs[0], config["kernel_size"])
    return _image_shape(config, inputs[0][0], sizes, config["filters"])


def _depthwise_shape(config: LayerConfig, inputs: list[KerasDims]) -> list[Shape]:
    channels = split_image_shape(config, inputs[0])[1]
    many = None if channels is None else channels * config.get("depth_multiplier", 1)
    return _image_shape(
        config, inputs[0][0], _window_counts({"strides": 1, **config}, inputs[0], config["kernel_size"]), many
    )


def _transposed_shape(config: LayerConfig, inputs: list[KerasDims]) -> list[Shape]:
    sizes, _ = split_image_shape(config, inputs[0])
    count = len(sizes)
    extra = config.get("output_padding")
    windows = zip(
        sizes,
        per_dimension(config["kernel_size"], count),
        per_dimension(config.get("strides", 1), count),
        per_dimension(config.get("dilation_rate", 1), count),
        [None] * count if extra is None else per_dimension(extra, count),
        strict=True,
    )
    made = [_transposed_size(*window, config.get("padding", "valid")) for window in windows]
    return _image_shape(config, inputs[0][0], made, config["filters"])


def _transposed_size(
    size: int | None, kernel: int, stride: int, dilation: int, extra: int | None, padding: str
) -> int | None:
    """Return the size along one dimension after a transposed convolution.

    >>> _transposed_size(7, 3, 2, 1, None, "same"), _transposed_size(7, 3, 2, 1, None, "valid")
    (14, 15)
    """
    if size is None:
        return None
    reach = (kernel - 1) * dilation + 1
    if extra is None:
        # As in Keras: without `output_padding` the size follows from the padding mode.
        return size * stride + (max(reach - stride, 0) if padding == "valid" else 0)
    shift = reach // 2 if padding == "same" else 0
    return (size - 1) * stride + reach - 2 * shift + extra


def _pooling_shape(config: LayerConfig, inputs: list[KerasDims]) -> list[Shape]:
    return _image_shape(
        config,
        inputs[0][0],
        _window_counts(config, inputs[0], config["pool_size"]),
        split_image_shape(config, inputs[0])[1],
    )


def _global_pooling_shape(config: LayerConfig, inputs: list[KerasDims]) -> list[Shape]:
    sizes, channels = split_image_shape(config, inputs[0])
    if config.get("keepdims"):
        return _image_shape(config, inputs[0][0], [1] * len(sizes), channels)
    return [(inputs[0][0], channels)]


def _per_side(value: Any, count: int) -> list[tuple[int, int]]:
    """Return the sizes that are added or cut on both sides of each dimension.

    >>> _per_side(1, 2), _per_side([[0, 1], 2], 2)
    ([(1, 1), (1, 1)], [(0, 1), (2, 2)])
    """
    if isinstance(value, int):
        return [(value, value)] * count
    # One dimension: a list means [before, after].
    if count == 1 and all(isinstance(side, int) for side in value):
        return [(value[0], value[-1])]
    return [(side, side) if isinstance(side, int) else (side[0], side[1]) for side in value]


def _widened_shape(config: LayerConfig, inputs: list[KerasDims], option: str, sign: int) -> list[Shape]:
    """Return the shape after an option adds (or, with sign -1, cuts) sizes on both sides of each dimension."""
    sizes, channels = split_image_shape(config, inputs[0])
    more = [sign * sum(both) for both in _per_side(config[option], len(sizes))]
    grown = [None if size is None else size + by for size, by in zip(sizes, more, strict=True)]
    return _image_shape(config, inputs[0][0], grown, channels)


def _upsampling_shape(config: LayerConfig, inputs: list[KerasDims]) -> list[Shape]:
    sizes, channels = split_image_shape(config, inputs[0])
    times = per_dimension(config["size"], len(sizes))
    more = [None if size is None else size * by for size, by in zip(sizes, times, strict=True)]
    return _image_shape(config, inputs[0][0], more, channels)


def _resizing_shape(config: LayerConfig, inputs: list[KerasDims]) -> list[Shape]:
    if len(inputs[0]) == 3:
        return [(config["height"], config["width"], inputs[0][-1])]
    return _image_shape(
        config, inputs[0][0], (config["height"], config["width"]), split_image_shape(config, inputs[0])[1]
    )


LayerShapeRule = Callable[[LayerConfig, list[KerasDims]], list[Shape]]


def product_or_unknown(dims: Sequence[int | None]) -> int | None:
    known = [dim for dim in dims if dim is not None]
    return prod(known) if len(known) == len(dims) else None


def _reshape_shape(config: LayerConfig, inputs: list[KerasDims]) -> list[Shape]:
    target = [int(dim) for dim in config["target_shape"]]
    total, rest = product_or_unknown(inputs[0][1:]), prod(dim for dim in target if dim != -1)
    # -1 means the remaining size.
    filled = None if total is None else total // rest
    return [(inputs[0][0], *(filled if dim == -1 else dim for dim in target))]


def _merge_shape(config: LayerConfig, inputs: list[KerasDims]) -> list[Shape]:
    made = inputs[0]
    for other in inputs[1:]:
        size = max(len(made), len(other))
        made = tuple(map(_broadcast_size, (1,) * (size - len(made)) + made, (1,) * (size - len(other)) + other))
    return [made]


def _broadcast_size(size: int | None, other: int | None) -> int | None:
    """Return the broadcast size of two dimensions; an unknown size stays unknown only next to 1 or an unknown size.

    >>> _broadcast_size(None, 1), _broadcast_size(None, 3), _broadcast_size(1, None)
    (None, 3, None)
    """
    if size == 1:
        return other
    return size if other in (1, None) or size is not None else other


def _function_call_shape(config: LayerConfig, inputs: list[KerasDims]) -> list[Shape]:
    """Return the shape of a TensorFlow function that Keras 2 wrapped as a layer, if it is elementwise.

    >>> (
    ...     _function_call_shape({"function": "__operators__.add"}, [(None, 4), (None, 1)]),
    ...     _function_call_shape({"function": "image.resize"}, [()]),
    ... )
    ([(None, 4)], [])
    """
    return _merge_shape(config, inputs) if config["function"].rpartition(".")[2] in ELEMENTWISE_FUNCTIONS else []


def _concatenate_shape(config: LayerConfig, inputs: list[KerasDims]) -> list[Shape]:
    # A negative axis counts from the end.
    axis = int(config.get("axis", -1)) % len(inputs[0])
    known = [next((shape[dim] for shape in inputs if shape[dim] is not None), None) for dim in range(len(inputs[0]))]
    total = None if any(shape[axis] is None for shape in inputs) else sum(shape[axis] or 0 for shape in inputs)
    return [(*known[:axis], total, *known[axis + 1 :])]


def _dot_shape(config: LayerConfig, inputs: list[KerasDims]) -> list[Shape]:
    left, right = inputs
    axes = config["axes"]
    # One axis for both, or one each; the batch is in both.
    first, second = (axes, axes) if isinstance(axes, int) else axes
    rest = [dim for axis, dim in enumerate(left) if axis not in (0, first % len(left))]
    rest += [dim for axis, dim in enumerate(right) if axis not in (0, second % len(right))]
    return [(left[0], *(rest or [1]))]


def _einsum_shape(config: LayerConfig, inputs: list[KerasDims]) -> list[Shape]:
    left, _, result = config["equation"].replace("...", "").partition("->")
    sizes = dict(zip(reversed(left.partition(",")[0]), reversed(inputs[0]), strict=False))
    asked = config["output_shape"]
    asked = [asked] if isinstance(asked, int) else list(asked)
    # The dimensions of "..." are those on the left without a letter.
    kept = inputs[0][: len(inputs[0]) - len(left.partition(",")[0])]
    stated = [None] * (len(result) - len(asked)) + asked
    return [(*kept, *(dim or sizes.get(letter) for letter, dim in zip(result, stated, strict=True)))]


def _multi_head_shape(config: LayerConfig, inputs: list[KerasDims]) -> list[Shape]:
    asked = config.get("output_shape")
    last = inputs[0][-1:] if asked is None else tuple(asked) if isinstance(asked, list | tuple) else (asked,)
    return [(*inputs[0][:-1], *last)]


def _recurrent_shape(config: LayerConfig, inputs: list[KerasDims]) -> list[Shape]:
    return _shapes_with_states(config, inputs, 2 if config.get("cell", {}).get("class_name") == "LSTMCell" else 1)


def _lstm_shape(config: LayerConfig, inputs: list[KerasDims]) -> list[Shape]:
    return _shapes_with_states(config, inputs, 2)


def _shapes_with_states(config: LayerConfig, inputs: list[KerasDims], states: int) -> list[Shape]:
    """Return the output shapes of a recurrent layer: all steps or the last one, then its states if it returns them."""
    units = _recurrent_units(config)
    batch, steps = inputs[0][:2]
    out: list[Shape] = [(batch, steps, units) if config.get("return_sequences") else (batch, units)]
    return out + [(batch, units)] * (states if config.get("return_state") else 0)


def _recurrent_units(config: LayerConfig) -> int:
    cell = config.get("cell")
    while isinstance(cell, Mapping):
        inner = cell["config"].get("cells")
        if not inner:
            return int(cell["config"]["units"])
        cell = inner[-1]  # the last cell computes the output
    return int(config["units"])


def _recurrent_convolution_shape(config: LayerConfig, inputs: list[KerasDims]) -> list[Shape]:
    """Return the shapes of a recurrent convolution: an image for each step, or the last one; then its states."""
    batch, steps, *rest = inputs[0]
    last = _convolution_shape(config, [(batch, *rest)])[0] or ()
    out: list[Shape] = [(batch, steps, *last[1:]) if config.get("return_sequences") else last]
    return out + [last] * (2 if config.get("return_state") else 0)


def _bidirectional_shape(config: LayerConfig, inputs: list[KerasDims]) -> list[Shape]:
    layers = wrapped_layers(config)
    # As in Keras, only around a recurrent layer: nested wrappers would double the states each time.
    if any(SHAPE_RULES.get(layer_row(kind).shape) not in (_recurrent_shape, _lstm_shape) for kind, _ in layers):
        return []
    (first, *states), (second, *others) = (
        layer_output_shapes(kind, settings, inputs) for kind, settings in (layers[0], layers[-1])
    )
    mode = config.get("merge_mode", "concat")
    if first is None or second is None or mode is None:
        return [first, second, *states, *others]
    sizes = (first[-1], second[-1])
    wide = None if None in sizes else sum(size or 0 for size in sizes)
    return [(*first[:-1], wide) if mode == "concat" else first, *states, *others]


def _each_step_shape(config: LayerConfig, inputs: list[KerasDims]) -> list[Shape]:
    kind, settings = wrapped_layers(config)[0]
    batch, steps, *rest = inputs[0]
    (first, *_) = layer_output_shapes(kind, settings, [(batch, *rest)])
    return [None if first is None else (batch, steps, *first[1:])]


def _wrapper_shape(config: LayerConfig, inputs: list[KerasDims]) -> list[Shape]:
    kind, settings = wrapped_layers(config)[0]
    return layer_output_shapes(kind, settings, inputs)


def _given_shape(config: LayerConfig, inputs: list[KerasDims]) -> list[Shape]:
    return [shape_from_json(config.get("batch_shape", config.get("batch_input_shape")))]


def _category_encoding_shape(config: LayerConfig, inputs: list[KerasDims]) -> list[Shape]:
    if config.get("output_mode") == "int":
        return [inputs[0]]
    rest = inputs[0][:-1] if config.get("output_mode") == "one_hot" and inputs[0][-1:] == (1,) else inputs[0]
    wide = int(config["num_tokens"])
    return [(*rest, wide)] if config.get("output_mode") == "one_hot" else [(*inputs[0][:-1], wide)]


# Functions called by `tf.add(…)`, `tf.math.add(…)` or an operator of tensors.
ELEMENTWISE_FUNCTIONS = frozenset({
    "add", "add_v2", "subtract", "sub", "multiply", "mul", "divide", "truediv", "floordiv", "mod", "pow",
    "maximum", "minimum", "squared_difference", "add_n", "abs", "neg", "negative", "exp", "log", "log1p",
    "sqrt", "rsqrt", "square", "sign", "floor", "ceil", "round", "sin", "cos", "tanh", "erf", "sigmoid",
    "softplus", "relu", "relu6", "leaky_relu", "elu", "selu", "gelu", "silu", "swish", "softmax",
    "log_softmax", "dropout", "identity", "stop_gradient", "cast", "clip_by_value",
})  # fmt: skip
SHAPE_RULES: dict[str, LayerShapeRule] = {
    "given": _given_shape,
    "same": lambda config, inputs: [inputs[0]],
    "merged": _merge_shape,
    "convolution": _convolution_shape,
    "depthwise": _depthwise_shape,
    "transposed": _transposed_shape,
    "pooling": _pooling_shape,
    "global_pooling": _global_pooling_shape,
    "padded": lambda config, inputs: _widened_shape(config, inputs, "padding", 1),
    "cropped": lambda config, inputs: _widened_shape(config, inputs, "cropping", -1),
    "upsampled": _upsampling_shape,
    "resized": _resizing_shape,
    "flattened": lambda config, inputs: [(inputs[0][0], product_or_unknown(inputs[0][1:]))],
    "reshaped": _reshape_shape,
    "permuted": lambda config, inputs: [(inputs[0][0], *(inputs[0][int(axis)] for axis in config["dims"]))],
    "repeated": lambda config, inputs: [(inputs[0][0], int(config["n"]), inputs[0][1])],
    "called": _function_call_shape,
    "joined": _concatenate_shape,
    "dotted": _dot_shape,
    "dense": lambda config, inputs: [(*inputs[0][:-1], config["units"])],
    "einsum": _einsum_shape,
    "embedded": lambda config, inputs: [(*inputs[0], config["output_dim"])],
    "encoded": _category_encoding_shape,
    "attention_heads": _multi_head_shape,
    "attention": lambda config, inputs: [(*inputs[0][:-1], inputs[1][-1])],
    "recurrent": _recurrent_shape,
    "long_short": _lstm_shape,
    "convolutional": _recurrent_convolution_shape,
    "both_ways": _bidirectional_shape,
    "at_each_step": _each_step_shape,
    "wrapped": _wrapper_shape,
}
