"""Find the steps of a Keras layer from its settings, with the words that its ops would have."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from graphviz_tb.model.layers import Layer, LayerConfig, is_custom_class, wrapped_layers
from graphviz_tb.words.step_words import (
    ACTIVATION_WORDS,
    UNKNOWN_STEP,
    LayerStep,
    einsum_step,
    heads_step,
    kernel_word,
    size_word,
    step_words,
    worded_step,
)

KERAS_ACTIVATIONS = {"hard_silu": "hard swish", "softsign": "softsign", "exponential": "exp"}  # only Keras has them
NORM_WORDS = {"BatchNormalization": "BN", "LayerNormalization": "LN", "RMSNormalization": "RMS"}
DROPOUT_CLASSES = frozenset(
    {"Dropout", "SpatialDropout1D", "SpatialDropout2D", "SpatialDropout3D", "AlphaDropout", "GaussianDropout"}
)
DIMENSIONS = re.compile(r"([123])D$")


def keras_steps(layer: Layer, padded: bool) -> tuple[LayerStep, ...]:
    """Return the steps of one layer, its activation last; () for a class without words.

    `padded`: its input is padded by a separate layer.

    >>> conv = {"filters": 64, "kernel_size": [3, 3], "strides": [2, 2], "padding": "same", "activation": "relu"}
    >>> [step.line for step in keras_steps(Layer("Conv2D", conv), False)]
    ['3×3, 64, /2', 'ReLU']
    >>> [step.word for step in keras_steps(Layer("Embedding", {"input_dim": 30522, "output_dim": 768}), False)]
    ['30\\u2009522 × 768']
    >>> inner = {"module": "keras.layers", "class_name": "Dense", "config": {"units": 9, "activation": "softmax"}}
    >>> [step.word for step in keras_steps(Layer("TimeDistributed", {"layer": inner}), False)]
    ['→ 9', 'softmax']
    """
    layer = _layer_of_each_step(layer)
    find = FINDERS.get(layer.class_name)
    if find is None or layer.custom:
        return ()
    try:
        step = find(layer, padded)
    except (AttributeError, LookupError, TypeError, ValueError):  # the settings of a damaged file may be anything
        return ()
    if step is None:
        return ()
    return (
        (step, *_activation_after(layer.config))
        if step.kind in ("convolution", "depthwise", "dense", "heads")
        else (step,)
    )


def _layer_of_each_step(layer: Layer) -> Layer:
    """Return the layer that a `TimeDistributed` applies to each step, and any other layer itself."""
    inner = layer.config.get("layer") if layer.class_name == "TimeDistributed" and not layer.custom else None
    if not isinstance(inner, Mapping):
        return layer
    kind, config = inner.get("class_name"), inner.get("config")
    if not isinstance(kind, str) or not isinstance(config, Mapping):
        return layer
    return replace(layer, class_name=kind, config=config, custom=is_custom_class(inner))


def _activation_after(config: LayerConfig) -> tuple[LayerStep, ...]:
    word = _activation_word(config.get("activation"))
    return (LayerStep("activation", word),) if word else ()


def _activation_word(value: Any) -> str:
    """Return the word for an activation; "" if there is none, or if it is custom."""
    if isinstance(value, Mapping):  # an object with its configuration
        return _activation_word(value.get("config")) if isinstance(value.get("config"), str) else ""
    if not isinstance(value, str):
        return ""
    return KERAS_ACTIVATIONS.get(value) or ACTIVATION_WORDS.get(value.replace("_", ""), "")


def _convolution(layer: Layer, padded: bool) -> LayerStep:
    config = layer.config
    sizes, strides = _axes(layer, config["kernel_size"]), _axes(layer, config.get("strides", 1))
    kernel, filters = kernel_word(sizes), _whole_number(config.get("filters", 0))
    dilation = step_words(_axes(layer, config.get("dilation_rate", 1)), "d")
    stride = step_words(strides, "/")
    overlaps = any(size > step for size, step in zip(sizes, strides, strict=True))
    valid = ["valid"] if config.get("padding") == "valid" and overlaps and not padded else []
    if layer.class_name.startswith("Depthwise"):
        return worded_step("depthwise", [f"dw {kernel}", *stride, *dilation, *valid])
    if layer.class_name.startswith("Separable"):
        *words, last = f"dw {kernel}", *stride, *dilation, *valid
        words += [f"{last} → {kernel_word([1] * len(sizes))}", str(filters)]
        return worded_step("convolution", words, out_width=filters)
    if "Transpose" in layer.class_name:
        words = [kernel, size_word(filters), *step_words(strides, "↑"), *dilation]
        return worded_step("convolution", words, out_width=filters)
    groups = _whole_number(config.get("groups", 1))
    grouped = [f"g{groups}"] if groups > 1 else []
    words = [kernel, size_word(filters), *stride, *dilation, *grouped, *valid]
    return worded_step("convolution", words, out_width=filters)


def _dense(layer: Layer, padded: bool) -> LayerStep:
    out_width = _whole_number(layer.config["units"])
    shapes = {call.input_shapes[0][-1] for call in layer.calls if len(call.input_shapes) == 1 and call.input_shapes[0]}
    in_width = next(iter(shapes)) if len(shapes) == 1 else None
    return LayerStep("dense", f"→ {size_word(out_width)}", in_width or 0, out_width)


def _einsum_dense(layer: Layer, padded: bool) -> LayerStep | None:
    """Return the words of a product along named axes; None if the input of the layer is unknown.

    >>> from graphviz_tb.model.layers import LayerCall
    >>> config = {"equation": "abc,cde->abde", "output_shape": [None, 4, 16]}
    >>> _einsum_dense(Layer("EinsumDense", config, calls=(LayerCall(((None, 9, 64),)),)), False).word
    '→ 4×16'
    """
    equation = layer.config["equation"].replace("...", "")
    inputs, _, result = equation.partition("->")
    tensor, _, kernel = inputs.partition(",")
    output_shape = layer.config["output_shape"]
    shapes = {call.input_shapes[0] for call in layer.calls if len(call.input_shapes) == 1}
    input_shape = (shapes.pop() if len(shapes) == 1 else None) or ()
    sizes = dict(zip(reversed(tensor), reversed(input_shape), strict=False))
    output_sizes = [output_shape] if isinstance(output_shape, int) else output_shape
    stated = zip(reversed(result), reversed(output_sizes), strict=False)
    sizes |= {letter: size for letter, size in stated if size is not None}
    return einsum_step(equation, -1, [sizes.get(letter) for letter in kernel])


def _embedding(layer: Layer, padded: bool) -> LayerStep:
    rows, width = _whole_number(layer.config["input_dim"]), _whole_number(layer.config["output_dim"])
    return LayerStep("embedding", f"{size_word(rows)} × {size_word(width)}")


def _attention(layer: Layer, padded: bool) -> LayerStep:
    config = layer.config
    if "num_query_heads" in config:
        heads, shared, size = (
            _whole_number(config[key]) for key in ("num_query_heads", "num_key_value_heads", "head_dim")
        )
        return heads_step("attention", heads, shared, size)
    heads, size = _whole_number(config["num_heads"]), _whole_number(config["key_dim"])
    return heads_step("attention", heads, heads, size)


def _recurrent(layer: Layer, padded: bool) -> LayerStep:
    units = _whole_number(layer.config["units"])
    return LayerStep("recurrent", f"{layer.class_name.removeprefix('Simple')} {size_word(units)}", out_width=units)


def _recurrent_convolution(layer: Layer, padded: bool) -> LayerStep:
    """Return the words of a recurrent layer whose products are convolutions.

    >>> _recurrent_convolution(Layer("ConvLSTM2D", {"filters": 64, "kernel_size": 3}), False).line
    'ConvLSTM 3×3 64'
    """
    filters = _whole_number(layer.config["filters"])
    word = f"ConvLSTM {kernel_word(_axes(layer, layer.config['kernel_size']))} {size_word(filters)}"
    stride = step_words(_axes(layer, layer.config.get("strides", 1)), "/")
    return worded_step("recurrent", [word, *stride], out_width=filters)


def _cell_in_turn(layer: Layer, padded: bool) -> LayerStep:
    """Return the words of a layer that repeats one cell of Keras; an unknown step for other cells.

    >>> _cell_in_turn(Layer("RNN", {"cell": {"class_name": "GRUCell", "config": {"units": 64}}}), False).word
    'GRU 64'
    """
    cell = layer.config["cell"]
    name = cell["class_name"].removesuffix("Cell").removeprefix("Simple")
    if is_custom_class(cell) or name not in ("LSTM", "GRU", "RNN"):
        return UNKNOWN_STEP
    units = _whole_number(cell["config"]["units"])
    return LayerStep("recurrent", f"{name} {size_word(units)}", out_width=units)


def _bidirectional(layer: Layer, padded: bool) -> LayerStep | None:
    """Return the words of two equal directions; None for others, and for a custom layer.

    >>> inner = {"module": "keras.layers", "class_name": "GRU", "config": {"units": 64}, "registered_name": None}
    >>> _bidirectional(Layer("Bidirectional", {"layer": inner}), False).word
    'bi GRU 2 × 64'
    """
    directions = {(cell, _whole_number(config.get("units"))) for cell, config in wrapped_layers(layer.config)}
    (cell, units), *others = directions
    if others or cell not in ("LSTM", "GRU", "SimpleRNN"):
        return None
    name, merge = cell.removeprefix("Simple"), layer.config.get("merge_mode", "concat")
    times = "2 × " if merge == "concat" else ""
    return LayerStep("recurrent", f"bi {name} {times}{size_word(units)}", out_width=units * (2 if times else 1))


def _pool(layer: Layer, padded: bool) -> LayerStep:
    word = "max" if "Max" in layer.class_name else "avg"
    if layer.class_name.startswith("Global"):
        return LayerStep("global", f"global {word}")
    size = _axes(layer, layer.config["pool_size"])
    steps = layer.config.get("strides")
    strides = size if steps is None else _axes(layer, steps)
    return worded_step("pool", [f"{word} {kernel_word(size)}", *step_words(strides, "/")])


def _larger(layer: Layer, padded: bool) -> LayerStep:
    size = _axes(layer, layer.config["size"])
    way = layer.config.get("interpolation", "") if layer.class_name == "UpSampling2D" else ""
    return LayerStep("pool", " ".join([*(step_words(size, "↑") or ["↑1"]), *([str(way)] if way else [])]))


def _norm(layer: Layer, padded: bool) -> LayerStep:
    if layer.class_name == "GroupNormalization":
        groups = _whole_number(layer.config.get("groups", 32))
        return LayerStep("norm", f"g {groups}" if groups > 0 else "norm")
    return LayerStep("norm", NORM_WORDS.get(layer.class_name, "norm"))


def _dropout(layer: Layer, padded: bool) -> LayerStep:
    return LayerStep("dropout", f"p {float(layer.config['rate']):.3g}")


def _activation(layer: Layer, padded: bool) -> LayerStep | None:
    config, kind = layer.config, layer.class_name
    if kind == "Activation":
        word = _activation_word(config["activation"])
        return LayerStep("activation", word) if word else None
    if kind == "ReLU":
        top, slope = config.get("max_value"), config.get("negative_slope", 0.0)
        plain = not slope and not config.get("threshold")
        word = "ReLU" if top is None else f"ReLU{float(top):g}"
        return LayerStep("activation", word) if plain else None
    if kind == "LeakyReLU":
        slope = config["negative_slope"] if "negative_slope" in config else config["alpha"]
        return LayerStep("activation", f"leaky ReLU α {float(slope):.3g}")
    if kind == "ELU" and float(config.get("alpha", 1.0)) != 1:
        return LayerStep("activation", f"ELU α {float(config['alpha']):.3g}")
    return LayerStep("activation", {"Softmax": "softmax", "ELU": "ELU", "PReLU": "PReLU"}[kind])


def _reshape(layer: Layer, padded: bool) -> LayerStep:
    shape = [_whole_number(size) for size in layer.config["target_shape"]]
    return LayerStep("shape", "×".join("?" if size < 0 else str(size) for size in shape))


def _concatenate(layer: Layer, padded: bool) -> LayerStep | None:
    axis = _whole_number(layer.config.get("axis", -1))
    return LayerStep("shape", f"axis {axis}".replace("-", "−")) if axis != -1 else None


def _whole_number(value: Any) -> int:
    """Return an integer; raises TypeError for anything else, as in a damaged file."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError
    return value


def _axes(layer: Layer, value: Any) -> list[int]:
    """Return a number for each axis of the layer's images; a single number is repeated."""
    if isinstance(value, list | tuple):
        return [_whole_number(each) for each in value]
    axes = DIMENSIONS.search(layer.class_name.removesuffix("Transpose"))
    return [_whole_number(value)] * (int(axes[1]) if axes else 1)


FINDERS: Mapping[str, Callable[[Layer, bool], LayerStep | None]] = {
    **{
        f"{kind}{axes}D{more}": _convolution
        for axes in "123"
        for kind, more in (("Conv", ""), ("Conv", "Transpose"), ("DepthwiseConv", ""), ("SeparableConv", ""))
    },
    **{f"{kind}Pooling{axes}D": _pool for axes in "123" for kind in ("Max", "Average", "GlobalMax", "GlobalAverage")},
    **{f"UpSampling{axes}D": _larger for axes in "123"},
    **dict.fromkeys(("LSTM", "GRU", "SimpleRNN"), _recurrent),
    **{f"ConvLSTM{axes}D": _recurrent_convolution for axes in "123"},
    "RNN": _cell_in_turn,
    **dict.fromkeys((*NORM_WORDS, "GroupNormalization", "UnitNormalization"), _norm),
    **dict.fromkeys(DROPOUT_CLASSES, _dropout),
    **dict.fromkeys(("Activation", "ReLU", "LeakyReLU", "ELU", "PReLU", "Softmax"), _activation),
    **dict.fromkeys(("MultiHeadAttention", "GroupedQueryAttention", "GroupQueryAttention"), _attention),
    "Bidirectional": _bidirectional,
    "Dense": _dense,
    "EinsumDense": _einsum_dense,
    "Embedding": _embedding,
    "Reshape": _reshape,
    "Concatenate": _concatenate,
}
