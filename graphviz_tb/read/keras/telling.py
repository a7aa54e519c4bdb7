"""A layer's configuration in a few words: the options that differ from the defaults of its class."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from graphviz_tb.limits import MAX_LAYER_WORDS
from graphviz_tb.ops.layers import class_defaults

# Options shown first, in this order and without their names: `32 · 3×3 · relu`.
UNNAMED_OPTIONS = (
    *("filters", "units", "output_dim", "num_heads", "kernel_size", "pool_size", "size", "target_shape", "dims", "n"),
    *("height", "width", "cropping", "rate", "factor", "drop_path_rate", "function", "activation"),
)
# Options that are never shown: those of every class, and those that do not change what is computed.
HIDDEN_OPTIONS = frozenset(
    (
        *("name", "trainable", "dtype", "batch_shape", "batch_input_shape", "shape", "sparse", "ragged", "optional"),
        *("input_shape", "build_input_shape", "layers", "input_layers", "output_layers", "seed", "noise_shape"),
        *("implementation", "autocast", "stateful", "unroll", "time_major", "zero_output_for_mask", "synchronized"),
        *("renorm", "renorm_clipping", "renorm_momentum", "input_length", "virtual_batch_size", "projection_dim"),
        *("num_tokens", "vocabulary", "mean", "variance", "input_axes", "output_axes", "flash_attention", "fused"),
        *("lora_rank", "lora_alpha", "quantization_config", "value_range", "fill_mode", "fill_value", "int32_lookup"),
        *("attention_axes", "use_gate", "softmax_robust_masking"),
        *("recurrent_activation", "reset_after", "return_state", "unit_forget_bias", "input_dim"),
    )
)
# Defaults by option, for classes that do not state their own.
OPTION_DEFAULTS: Mapping[str, Any] = {
    "strides": 1,
    "padding": "valid",
    "data_format": "channels_last",
    "dilation_rate": 1,
    "groups": 1,
    "depth_multiplier": 1,
    "activation": "linear",
    "use_bias": True,
    "axis": -1,
    "momentum": 0.99,
    "epsilon": 1e-3,
    "center": True,
    "scale": True,
    "rms_scaling": False,
    "keepdims": False,
    "interpolation": "nearest",
    "mask_zero": False,
    "return_sequences": False,
    "go_backwards": False,
    "merge_mode": "concat",
    "dropout": 0.0,
    "recurrent_dropout": 0.0,
    "use_scale": False,
    "score_mode": "dot",
    "normalize": False,
    "offset": 0.0,
    "max_value": None,
    "negative_slope": 0.0,
    "threshold": 0.0,
    "invert": False,
    "crop_to_aspect_ratio": False,
    "pad_to_aspect_ratio": False,
    "output_mode": "int",
}


def layer_config_words(kind: str, config: Mapping[str, Any]) -> str:
    """Return the words for a layer's configuration that are shown next to its class.

    >>> layer_config_words(
    ...     "Conv2D", {"filters": 32, "kernel_size": [3, 3], "strides": [2, 2], "activation": "relu", "name": "c"}
    ... )
    '32 · 3×3 · relu · stride 2'
    >>> layer_config_words("MaxPooling2D", {"pool_size": [3, 3], "strides": [2, 2], "padding": "valid"})
    '3×3 · stride 2'
    """
    words = [word for word in _option_words(kind, config) if word]
    return " · ".join(words[:MAX_LAYER_WORDS])


def _option_words(kind: str, config: Mapping[str, Any]) -> Iterator[str]:
    # Later entries win: defaults of all classes, of this class, and those that follow from a second option.
    usual = {**OPTION_DEFAULTS, **class_defaults(kind), **_derived_defaults(config)}
    for key in (
        *(key for key in UNNAMED_OPTIONS if key in config),
        *(key for key in config if key not in UNNAMED_OPTIONS),
    ):
        value = config[key]
        if key in HIDDEN_OPTIONS or value is None or is_default(value, usual.get(key)):
            continue
        said = option_value_words(value)
        if not said or key.endswith(("_initializer", "_regularizer", "_constraint")):
            continue
        yield said if key in UNNAMED_OPTIONS else _named_option(key, value, said)


def _derived_defaults(config: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return defaults that follow from a second option: a pool moves by its size, a value is as wide as its key."""
    follows = (("strides", "pool_size"), ("value_dim", "key_dim"))
    return {key: config[other] for key, other in follows if other in config}


def _named_option(key: str, value: Any, said: str) -> str:
    """Return an option with its name; a switch as its name or "no" and its name.

    >>> (
    ...     _named_option("use_bias", False, "False"),
    ...     _named_option("mask_zero", True, "True"),
    ...     _named_option("padding", "same", "same"),
    ... )
    ('no bias', 'mask zero', 'same')
    >>> _named_option("strides", [2, 2], "2×2"), _named_option("axis", [1], "1")
    ('stride 2', 'axis 1')
    """
    word = key.removeprefix("use_").replace("_", " ")
    if isinstance(value, list) and len(set(map(str, value))) == 1 and not isinstance(value[0], list):
        return f"{word.removesuffix('s') if key == 'strides' else word} {option_value_words(value[0])}"
    if isinstance(value, bool):
        return word if value else f"no {word}"
    return said if key == "padding" and isinstance(value, str) else f"{word} {said}"


def is_default(value: Any, usual: Any) -> bool:
    """Return whether a value is the default; a default number matches a list with that number for each dimension.

    >>> is_default([1, 1], 1), is_default([2, 2], 1), is_default(0.99, 0.99), is_default(True, 1)
    (True, False, True, False)
    """
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, list) and isinstance(usual, int | float):
            waiting += part
        elif part != usual or isinstance(part, bool) != isinstance(usual, bool):
            return False
    return True


def option_value_words(value: Any) -> str:
    """Return a value in words: sizes joined by a multiplication sign, a configured object as its class.

    >>> (
    ...     option_value_words([3, 3]),
    ...     option_value_words(0.5),
    ...     option_value_words([[1, 1], [0, 2]]),
    ...     option_value_words({"class_name": "ReLU", "config": {}}),
    ... )
    ('3×3', '0.5', '1,1×0,2', 'ReLU')
    """
    if isinstance(value, Mapping):
        kind = value.get("class_name")
        return kind if isinstance(kind, str) and kind != "__tuple__" else ""
    if not isinstance(value, list | tuple):
        return scalar_words(value)
    if all(isinstance(part, int | float) for part in value):
        return "×".join(map(scalar_words, value[:6]))
    if all(isinstance(part, list) for part in value):
        return "×".join(",".join(map(scalar_words, part[:6])) for part in value[:4])
    return ""


def scalar_words(value: Any) -> str:
    """Return a scalar as text; "" for any other value."""
    if isinstance(value, bool | int | str):
        return str(value)[:24]
    return f"{value:g}" if isinstance(value, float) else ""
