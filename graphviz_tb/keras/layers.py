"""Collect the facts about each layer of a model: class, configuration, shapes, parameters. Those of a model are
sums."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import prod
from types import MappingProxyType
from typing import Any

from graphviz_tb.keras.calls import LayerInputs, LayerOutputs, LayerShapes, call_arguments, class_name_of
from graphviz_tb.keras.output_shapes import shape_from_json
from graphviz_tb.keras.parameters import hides_policies, non_trainable_count, parameter_count, policy_of, weight_size
from graphviz_tb.keras.tree import LayerNode as Box
from graphviz_tb.keras.tree import is_model_wrapper, layer_config
from graphviz_tb.keras.validation import hash_deep_values, is_plausible_config
from graphviz_tb.limits import MAX_LAYER_WORDS, MAX_QUANTITY, MAX_SHOWN_WEIGHT_SHAPES
from graphviz_tb.model.layers import Layer, LayerCall, is_custom_class
from graphviz_tb.model.tensors import Shape, shape_text
from graphviz_tb.ops.layers import class_defaults

# Options shown first, in this order and without their names: `32 · 3×3 · relu`.
UNNAMED_OPTIONS = (
    "filters", "units", "output_dim", "num_heads", "kernel_size", "pool_size", "size", "target_shape", "dims", "n",
    "height", "width", "cropping", "rate", "factor", "drop_path_rate", "function", "activation",
)  # fmt: skip
# Options that are never shown: those that every class has, and those of little interest.
HIDDEN_OPTIONS = frozenset({
    "name", "trainable", "dtype", "batch_shape", "batch_input_shape", "shape", "sparse", "ragged", "optional",
    "input_shape", "build_input_shape", "layers", "input_layers", "output_layers", "seed", "noise_shape",
    "implementation", "autocast", "stateful", "unroll", "time_major", "zero_output_for_mask", "synchronized",
    "renorm", "renorm_clipping", "renorm_momentum", "input_length", "virtual_batch_size", "projection_dim",
    "num_tokens", "vocabulary", "mean", "variance", "input_axes", "output_axes", "flash_attention", "fused",
    "lora_rank", "lora_alpha", "quantization_config", "value_range", "fill_mode", "fill_value", "int32_lookup",
    "attention_axes", "use_gate", "softmax_robust_masking",
    "recurrent_activation", "reset_after", "return_state", "unit_forget_bias", "input_dim",
})  # fmt: skip
# Defaults by option, for classes without other defaults in `ops/layers.tsv`.
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


def _layer_config_words(kind: str, config: Mapping[str, Any]) -> str:
    """Return the words for a layer's configuration that are shown next to its class.

    >>> _layer_config_words(
    ...     "Conv2D", {"filters": 32, "kernel_size": [3, 3], "strides": [2, 2], "activation": "relu", "name": "c"}
    ... )
    '32 · 3×3 · relu · stride 2'
    >>> _layer_config_words("MaxPooling2D", {"pool_size": [3, 3], "strides": [2, 2], "padding": "valid"})
    '3×3 · stride 2'
    """
    words = [word for word in _option_words(kind, config) if word]
    return " · ".join(words[:MAX_LAYER_WORDS])


def _option_words(kind: str, config: Mapping[str, Any]) -> Iterator[str]:
    # Later entries win: defaults of all classes, of this class, and those derived from another option.
    usual = {**OPTION_DEFAULTS, **class_defaults(kind), **_derived_defaults(config)}
    for key in (
        *(key for key in UNNAMED_OPTIONS if key in config),
        *(key for key in config if key not in UNNAMED_OPTIONS),
    ):
        value = config[key]
        if key in HIDDEN_OPTIONS or value is None or _is_default(value, usual.get(key)):
            continue
        text = _option_value_words(value)
        if not text or key.endswith(("_initializer", "_regularizer", "_constraint")):
            continue
        yield text if key in UNNAMED_OPTIONS else _named_option(key, value, text)


def _derived_defaults(config: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return defaults that equal another option: the strides of a pool its size, the width of values that of keys."""
    pairs = (("strides", "pool_size"), ("value_dim", "key_dim"))
    return {key: config[other] for key, other in pairs if other in config}


def _named_option(key: str, value: Any, text: str) -> str:
    """Return an option with its name; a boolean as its name, or as "no" and its name.

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
        return f"{word.removesuffix('s') if key == 'strides' else word} {_option_value_words(value[0])}"
    if isinstance(value, bool):
        return word if value else f"no {word}"
    return text if key == "padding" and isinstance(value, str) else f"{word} {text}"


def _is_default(value: Any, usual: Any) -> bool:
    """Return whether a value is the default; a default number also means a list of that number.

    >>> _is_default([1, 1], 1), _is_default([2, 2], 1), _is_default(0.99, 0.99), _is_default(True, 1)
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


def _option_value_words(value: Any) -> str:
    """Return a value in words: sizes joined by a multiplication sign, a configured object as its class.

    >>> (
    ...     _option_value_words([3, 3]),
    ...     _option_value_words(0.5),
    ...     _option_value_words([[1, 1], [0, 2]]),
    ...     _option_value_words({"class_name": "ReLU", "config": {}}),
    ... )
    ('3×3', '0.5', '1,1×0,2', 'ReLU')
    """
    if isinstance(value, Mapping):
        kind = value.get("class_name")
        return kind if isinstance(kind, str) and kind != "__tuple__" else ""
    if not isinstance(value, list | tuple):
        return _scalar_words(value)
    if all(isinstance(part, int | float) for part in value):
        return "×".join(map(_scalar_words, value[:6]))
    if all(isinstance(part, list) for part in value):
        return "×".join(",".join(map(_scalar_words, part[:6])) for part in value[:4])
    return ""


def _scalar_words(value: Any) -> str:
    if isinstance(value, bool | int | str):
        return str(value)[:24]
    return f"{value:g}" if isinstance(value, float) else ""


NO_STORED_SHAPES: Mapping[Box, Sequence[tuple[int, ...]]] = MappingProxyType({})
GRAPH_KEYS = frozenset({"layers", "layer", "input_layers", "output_layers"})  # keys of a model that describe its graph
SHARED_OBJECT_KEY = "shared_object_id"
# Keys that this package adds to the JSON: shapes of weights, and the attribute that contains the layer.
WEIGHT_SHAPES_KEY, ATTRIBUTE_KEY = "kept", "held"


def layer_facts(
    layers: list[Box],
    models: list[Box],
    inputs: LayerInputs,
    stored: Mapping[Box, Sequence[tuple[int, ...]]] = NO_STORED_SHAPES,
) -> tuple[dict[Box, Layer], LayerOutputs]:
    """Return the facts of each layer and model, and the numbers of outputs.

    `models` lists inner models after those around them; `stored` are weight shapes in an archive."""
    between = LayerShapes(layers, inputs)
    outputs = LayerOutputs(layers, between)
    quantized = any(policy_of(layer_config(layer.json)) is not None for layer in layers)
    facts = {
        layer: _single_layer_facts(
            layer, between, tuple(outputs.shapes_with_steps(layer)), stored.get(layer), quantized
        )
        for layer in layers
    }
    # The weights of an object in two models or wrappers count once. Keras 2 marks such objects by a number.
    known: set[tuple[str, str]] = set()
    for layer in layers:
        wrapped = layer_config(layer.json).get("layer")
        json = wrapped if isinstance(wrapped, dict) else layer.json
        identity = class_name_of(json), str(layer_config(json).get("name"))
        if json.get(SHARED_OBJECT_KEY) is not None and identity in known and facts[layer].parameters:
            facts[layer] = replace(facts[layer], parameters=0, non_trainable=0)
        known.add(identity)
    # Inner models first: a model sums the parameters of its parts.
    for model in reversed(models):
        facts[model] = _model_facts(model, facts, between)
    return facts, outputs


def _single_layer_facts(
    layer: Box,
    between: LayerShapes,
    outputs: tuple[Shape, ...],
    stored: Sequence[tuple[int, ...]] | None = None,
    quantized: bool = False,
) -> Layer:
    """Return the facts of a single layer; `quantized` if its model has quantised layers."""
    kind, config = class_name_of(layer.json), layer_config(layer.json)
    inputs = [between.operand_shapes(layer, call) for call in between.inputs_of_calls(layer)]
    # For four dimensions, [3] is the default -1, and not shown.
    shown = {**config, "axis": -1} if _is_last_axis(config.get("axis"), inputs[0]) else config
    words = _layer_config_words(kind, shown)
    call_count = len(between.inputs[layer])
    if call_count > 1:
        words = " · ".join(filter(None, (words, f"{call_count} calls")))
    weights = list(_weight_shapes(layer) if stored is None else stored)
    words = " · ".join(filter(None, (_holder_words(layer), words or _weight_shape_words(weights))))
    custom = is_custom_class(layer.json)
    # A custom class may have the name of a Keras class, whose rule does not apply.
    is_uncountable = custom or (quantized and hides_policies(kind))
    by_rule = None if is_uncountable else parameter_count(kind, config, inputs[0])
    count = _plausible_count(sum(map(prod, weights)) if weights or stored is not None else by_rule)
    # The trainable part of a custom class is known only if it is not trainable at all.
    fixed = count if not count or config.get("trainable", True) is False else None
    non_trainable = fixed if custom or count != by_rule else non_trainable_count(kind, config, inputs[0], count)
    shapes = zip(inputs, between.outputs[layer], strict=True)
    calls = tuple(LayerCall(tuple(call_inputs), tuple(call_outputs)) for call_inputs, call_outputs in shapes)
    calls = calls if is_plausible_config(config) else ()
    return Layer(_displayed_class(layer.json), hash_deep_values(config), words, outputs, count, non_trainable,
                 calls=calls, times=between.run_count(layer), arguments=tuple(call_arguments(layer.json)),
                 custom=custom, weight_bytes=weight_size(kind, config, inputs[0], count))  # fmt: skip


def _plausible_count(count: int | None) -> int | None:
    """Return a parameter count; None if it exceeds the memory of any machine."""
    return None if count is not None and count > MAX_QUANTITY else count


def _weight_shapes(layer: Box) -> Iterator[tuple[int, ...]]:
    """Yield the shapes of a layer's weights, if the source states them."""
    stored = layer.json.get(WEIGHT_SHAPES_KEY)
    for sizes in stored if isinstance(stored, list) else ():
        shape = shape_from_json(sizes)
        if shape is not None and None not in shape:
            yield tuple(dim or 0 for dim in shape)


def _holder_words(layer: Box) -> str:
    """Return the attribute that contains a layer ("self.x"), if it differs from the layer's name; else ""."""
    attribute = layer.json.get(ATTRIBUTE_KEY)
    return f"self.{attribute}" if isinstance(attribute, str) else ""


def _weight_shape_words(weights: Sequence[tuple[int, ...]]) -> str:
    """Return the shapes of a layer's weights as text.

    >>> _weight_shape_words([(24, 48), (48,)]), _weight_shape_words([(4,), (4,), (4,), (4,)]), _weight_shape_words([])
    ('24×48 · 48', '4 weights', '')
    """
    if len(weights) > MAX_SHOWN_WEIGHT_SHAPES:
        return f"{len(weights)} weights"
    return " · ".join(shape_text(shape or (1,)) for shape in weights)


def _is_last_axis(axis: Any, inputs: list[Shape]) -> bool:
    """Return whether a non-negative axis is the last one."""
    shape = inputs[0] if inputs else None
    return shape is not None and axis in (len(shape) - 1, [len(shape) - 1])


def _model_facts(model: Box, facts: Mapping[Box, Layer], between: LayerShapes) -> Layer:
    """Return the facts of a model: parameters summed over its layers, configuration without the layers."""
    counts = [facts[child].parameters for child in model.order]
    total = _plausible_count(
        None if None in counts else sum(count or 0 for count in counts) + sum(map(prod, _weight_shapes(model)))
    )
    fixed = [facts[child].non_trainable for child in model.order]
    non_trainable = _plausible_count(None if None in fixed else sum(count or 0 for count in fixed))
    config = hash_deep_values({key: value for key, value in layer_config(model.json).items() if key not in GRAPH_KEYS})
    results = tuple(
        model.children[reference.name].path for reference in model.output_references if reference.name in model.children
    )
    parts = len(model.order)
    words = " · ".join(filter(None, (_holder_words(model), _step_words(model, between) or f"{parts} layers")))
    arguments = tuple(call_arguments(model.json))
    return Layer(
        _displayed_class(model.json), config, words, (), total, non_trainable, parts, results, arguments=arguments
    )


def _step_words(model: Box, between: LayerShapes) -> str:
    """Return the number of steps of a wrapper as text; "" for other models."""
    if not is_model_wrapper(model.json):
        return ""
    steps = between.step_count(model)
    return "each step" if steps is None else f"{steps} steps"


def _displayed_class(json: Mapping[str, Any]) -> str:
    """Return the class name; for a custom class its registered name without the package."""
    registered = json.get("registered_name")
    name = registered if isinstance(registered, str) and registered else class_name_of(json)
    return name.rpartition(">")[2]
