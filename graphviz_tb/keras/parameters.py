"""Count the parameters of a layer, trainable and not, and their bytes, by the rule of its class."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import ceil, prod
from typing import Any, NamedTuple

from graphviz_tb.keras.output_shapes import KerasDims, per_dimension, product_or_unknown, split_image_shape
from graphviz_tb.keras.validation import RULE_ERRORS, is_plausible_config, plausible_parameter_count
from graphviz_tb.model.layers import LayerConfig, recurrent_cells, wrapped_layers
from graphviz_tb.model.tensors import Shape, element_size
from graphviz_tb.ops.layers import layer_row

NO_PARAMETERS = "0"
ParameterRule = Callable[[LayerConfig, list[KerasDims]], int | None]


def parameter_count(kind: str, config: LayerConfig, inputs: Sequence[Shape]) -> int | None:
    """Return the number of parameters of a layer of class `kind`, given its input shapes; None if unknown.

    >>> parameter_count("Dense", {"units": 10}, [(None, 784)]), parameter_count("Flatten", {}, [])
    (7850, 0)
    """
    word = layer_row(kind).parameters
    if word in ("", NO_PARAMETERS):
        return 0 if word else None
    if not is_plausible_config(config):
        return None
    return _count_by_rule(PARAMETER_RULES[word], word, config, inputs, "numbers")


def _count_by_rule(
    rule: ParameterRule, word: str, config: LayerConfig, inputs: Sequence[Shape], part: str
) -> int | None:
    """Return a count by a rule, or this part of the packed weights of a quantised layer; None if unknown."""
    shapes = [shape for shape in inputs if shape is not None]
    try:
        if (policy := policy_of(config)) is None or word not in QUANTIZED_RULES:
            return plausible_parameter_count(rule(config, shapes))
        packed = _packed_weights(word, policy, config, shapes)
        return plausible_parameter_count(None if packed is None else getattr(packed, part))
    except RULE_ERRORS:
        return None


def non_trainable_count(kind: str, config: LayerConfig, inputs: Sequence[Shape], parameters: int | None) -> int | None:
    """Return the number of non-trainable `parameters` of a layer of class `kind`; None if unknown.

    >>> non_trainable_count("BatchNormalization", {}, [(None, 8)], 32)
    16
    """
    if parameters is None or config.get("trainable", True) is False:
        return parameters
    word = layer_row(kind).parameters
    rule = NON_TRAINABLE_RULES.get(word)
    return 0 if rule is None else _count_by_rule(rule, word, config, inputs, "fixed")


def weight_size(kind: str, config: LayerConfig, inputs: Sequence[Shape], parameters: int | None) -> int | None:
    """Return the bytes of the `parameters` of a layer; None if unknown.

    >>> weight_size("Dense", {"units": 10, "dtype": "bfloat16"}, [(None, 784)], 7850)
    15700
    """
    word, policy = layer_row(kind).parameters, policy_of(config)
    if parameters is None or policy is None or word not in KERNEL_MATRICES:
        return None if parameters is None else parameters * element_size(_variable_dtype(config))
    try:
        packed = _packed_weights(word, policy, config, [shape for shape in inputs if shape is not None])
    except RULE_ERRORS:
        return None
    return None if packed is None or packed.numbers != parameters else packed.size


def _packed_weights(word: str, policy: Policy, config: LayerConfig, inputs: list[KerasDims]) -> Packed | None:
    """Return the sizes of the weights of a quantised layer: packed kernel, bias, and factors of LoRA."""
    if word not in KERNEL_MATRICES:
        return None  # the policies of inner layers are unknown
    count, summed = KERNEL_MATRICES[word](config, inputs)
    packed = _pack_kernel(policy, summed, count // max(summed, 1), by_row=word == "embedding")
    if packed is None:
        return None
    rule = PARAMETER_RULES[word](config, inputs)
    rest = (rule or 0) - count  # a bias, and the factors of LoRA
    if policy.mode == "float8" and config.get("lora_rank"):
        packed = packed._replace(fixed=count)
    return Packed(packed.numbers + rest, packed.fixed, packed.size + FLOAT_BYTES * rest)


def _required_size(size: int | None) -> int:
    """Return a dimension. Raises ValueError for anything but an integer: a text would be repeated, and fill memory."""
    if not isinstance(size, int):
        raise ValueError("a dimension that the weights need is unknown")
    return size


def _bias_count(config: LayerConfig, count: int) -> int:
    return count if config.get("use_bias", True) else 0


def _lora_count(config: LayerConfig, rows: int, columns: int) -> int:
    """Count the two factors that LoRA adds to a kernel of `rows` × `columns`."""
    return int((config.get("lora_rank") or 0) * (rows + columns))


def _dense_count(config: LayerConfig, inputs: list[KerasDims]) -> int:
    units, width = config["units"], _required_size(inputs[0][-1])
    return int(width * units + _bias_count(config, units) + _lora_count(config, width, units))


def _window_and_channels(config: LayerConfig, inputs: list[KerasDims]) -> tuple[int, int]:
    """Return the number of positions in the window, and of input channels."""
    sizes, channels = split_image_shape(config, inputs[0])
    return prod(per_dimension(config["kernel_size"], len(sizes))), _required_size(channels)


def _convolution_count(config: LayerConfig, inputs: list[KerasDims]) -> int:
    places, channels = _window_and_channels(config, inputs)
    filters, rows = config["filters"], places * (channels // config.get("groups", 1))
    return int(rows * filters + _bias_count(config, filters) + _lora_count(config, rows, filters))


def _transposed_count(config: LayerConfig, inputs: list[KerasDims]) -> int:
    places, channels = _window_and_channels(config, inputs)
    return int(places * channels * config["filters"] + _bias_count(config, config["filters"]))


def _depthwise_count(config: LayerConfig, inputs: list[KerasDims]) -> int:
    places, channels = _window_and_channels(config, inputs)
    many = channels * config.get("depth_multiplier", 1)
    return int(places * many + _bias_count(config, many))


def _separable_count(config: LayerConfig, inputs: list[KerasDims]) -> int:
    places, channels = _window_and_channels(config, inputs)
    many, filters = channels * config.get("depth_multiplier", 1), config["filters"]
    return int(places * many + many * filters + _bias_count(config, filters))


def _kept_axes_size(config: LayerConfig, shape: KerasDims) -> int:
    """Return the product of the sizes of the axes that a normalisation does not reduce."""
    axes = config.get("axis", -1)
    return _required_size(
        product_or_unknown([shape[int(axis)] for axis in (axes if isinstance(axes, list | tuple) else [axes])])
    )


def _config_flag(config: LayerConfig, name: str) -> bool:
    return bool(config.get(name, True))


def _batch_normalization_count(config: LayerConfig, inputs: list[KerasDims]) -> int:
    return _kept_axes_size(config, inputs[0]) * (2 + _config_flag(config, "scale") + _config_flag(config, "center"))


def _layer_normalization_count(config: LayerConfig, inputs: list[KerasDims]) -> int:
    return _kept_axes_size(config, inputs[0]) * (_config_flag(config, "scale") + _config_flag(config, "center"))


def _normalization_count(config: LayerConfig, inputs: list[KerasDims]) -> int:
    """Count mean and variance of each kept axis and one counter; 0 if the configuration states the mean."""
    if config.get("mean") is not None:
        return 0
    axes = config.get("axis", -1)
    if axes is None:
        return 3
    return 2 * _kept_axes_size(config, inputs[0]) + 1


def _embedding_count(config: LayerConfig, inputs: list[KerasDims]) -> int:
    rows, columns = config["input_dim"], config["output_dim"]
    return int(rows * columns + _lora_count(config, rows, columns))


def _recurrent_count(gates: int) -> ParameterRule:
    """Return the rule that counts kernels and biases of a recurrent layer with `gates` gates."""

    def count_weights(config: LayerConfig, inputs: list[KerasDims]) -> int:
        units, width = config["units"], _required_size(inputs[0][-1])
        twice = 2 if gates == 3 and config.get("reset_after", True) else 1  # GRU: a bias for each kernel
        # kernels: (width, gates * units) and (units, gates * units)
        return int(gates * (width * units + units * units) + _bias_count(config, twice * gates * units))

    return count_weights


def _frozen_kernel_count(count: ParameterRule) -> ParameterRule:
    """Return the rule that counts the frozen kernel of a layer with LoRA, which trains the two factors instead."""

    def count_frozen(config: LayerConfig, inputs: list[KerasDims]) -> int | None:
        plain = {**config, "lora_rank": None, "use_bias": False, "bias_axes": None}
        return count(plain, inputs) if config.get("lora_rank") else 0

    return count_frozen


def _inner_count(config: LayerConfig, inputs: list[KerasDims]) -> int | None:
    """Count the parameters of the layer in a wrapper, once."""
    kind, settings = wrapped_layers(config)[0]
    return parameter_count(kind, settings, inputs)


def _non_trainable_inside(config: LayerConfig, inputs: list[KerasDims]) -> int | None:
    """Count the non-trainable parameters of the layer in a wrapper, once."""
    kind, settings = wrapped_layers(config)[0]
    return non_trainable_count(kind, settings, inputs, parameter_count(kind, settings, inputs))


def _both_ways(count: ParameterRule) -> ParameterRule:
    """Return the rule for two directions; the second one runs a copy of the layer, or another layer."""

    def count_both(config: LayerConfig, inputs: list[KerasDims]) -> int | None:
        backward = config.get("backward_layer")
        once = count(config, inputs)
        second = once if backward is None else count({"layer": backward}, inputs)
        return None if once is None or second is None else once + second

    return count_both


def _at_each_step(count: ParameterRule) -> ParameterRule:
    return lambda config, inputs: count(config, [(inputs[0][0], *inputs[0][2:])])


def _with_spectral_vector(count: ParameterRule) -> ParameterRule:
    """Return the rule that adds a vector of the last size of the inner layer's kernel."""

    def count_with_vector(config: LayerConfig, inputs: list[KerasDims]) -> int | None:
        once, inside = count(config, inputs), wrapped_layers(config)[0][1]
        wide = next((inside[key] for key in ("filters", "units", "output_dim") if key in inside), None)
        return None if once is None else once + _required_size(wide)

    return count_with_vector


def _cell_count(config: LayerConfig, inputs: list[KerasDims]) -> int | None:
    """Count the parameters of stacked cells, each with the output of the previous cell as input."""
    total, batch, steps, width = 0, *inputs[0][:2], inputs[0][-1]
    for kind, settings in recurrent_cells(config):
        count = parameter_count(kind, settings, [(batch, steps, width)])
        if count is None:
            return None
        total, width = total + count, settings["units"]
    return total


def _recurrent_convolution_count(config: LayerConfig, inputs: list[KerasDims]) -> int:
    """Count the kernels of input and state for each of the four gates of a recurrent convolution."""
    batch, _, *rest = inputs[0]
    places, channels = _window_and_channels(config, [(batch, *rest)])
    filters = config["filters"]
    return int(4 * places * filters * (channels + filters) + _bias_count(config, 4 * filters))


def _multi_head_count(config: LayerConfig, inputs: list[KerasDims]) -> int:
    heads, size = config["num_heads"], config["key_dim"]
    out = config.get("value_dim") or size
    query, value = _required_size(inputs[0][-1]), _required_size(inputs[min(1, len(inputs) - 1)][-1])
    # Query, value, key, in this order; without a key the value is the key.
    key = _required_size(inputs[min(2, len(inputs) - 1)][-1]) if len(inputs) > 2 else value
    stated = config.get("output_shape")
    last = query if stated is None else prod(stated) if isinstance(stated, list | tuple) else stated
    gates = bool(config.get("use_gate"))  # one more projection of the query, as wide as the values
    # Three projections into heads, and one back.
    kernels = heads * (query * (size + gates * out) + key * size + value * out + out * last)
    return int(kernels + _bias_count(config, heads * (2 * size + (1 + gates) * out) + last))


def _grouped_heads_count(config: LayerConfig, inputs: list[KerasDims]) -> int:
    """Count projections of the query (and its gate) into all heads, of key and value into fewer, and one back."""
    size, heads, shared = config["head_dim"], config["num_query_heads"], config["num_key_value_heads"]
    query, value = _required_size(inputs[0][-1]), _required_size(inputs[min(1, len(inputs) - 1)][-1])
    key = _required_size(inputs[2][-1]) if len(inputs) > 2 else value
    of_query = (1 + bool(config.get("use_gate"))) * heads
    kernels = size * (of_query * query + shared * (key + value) + heads * query)
    return int(kernels + _bias_count(config, size * (of_query + 2 * shared) + query))


def _einsum_count(config: LayerConfig, inputs: list[KerasDims]) -> int:
    sizes = _sizes_by_letter(config, inputs)
    weights = _kernel_letters(config)
    count = prod(_required_size(sizes.get(letter)) for letter in weights)
    apart, last = config.get("bias_axes"), _required_size(sizes.get(weights[-1:]))
    added = prod(_required_size(sizes.get(letter)) for letter in apart) if apart else 0
    return count + added + _lora_count(config, count // max(last, 1), last)


def _kernel_letters(config: LayerConfig) -> str:
    """Return the dimensions of the kernel in the equation of an `EinsumDense`."""
    left, _, _ = config["equation"].replace("...", "").partition("->")
    weights: str = left.partition(",")[2]
    return weights


def _sizes_by_letter(config: LayerConfig, inputs: list[KerasDims]) -> dict[str, int | None]:
    """Return the size of each dimension in the equation of an `EinsumDense`."""
    left, _, result = config["equation"].replace("...", "").partition("->")
    ins = left.partition(",")[0]
    stated = config["output_shape"]
    stated = [stated] if isinstance(stated, int) else list(stated)
    # Letters from the right: the dimensions of "..." are on the left.
    sizes = dict(zip(reversed(ins), reversed(inputs[0]), strict=False))
    return sizes | {
        letter: dim for letter, dim in zip(reversed(result), reversed(stated), strict=False) if dim is not None
    }


def _dense_matrix(config: LayerConfig, inputs: list[KerasDims]) -> tuple[int, int]:
    """Return the number of elements of a kernel, and of those summed for each result."""
    width = _required_size(inputs[0][-1])
    return width * config["units"], width


def _einsum_matrix(config: LayerConfig, inputs: list[KerasDims]) -> tuple[int, int]:
    """Return the number of elements of the kernel of an `EinsumDense`, and of those summed for each result."""
    sizes, result = _sizes_by_letter(config, inputs), config["equation"].partition("->")[2]
    summed = [_required_size(sizes.get(letter)) for letter in _kernel_letters(config) if letter not in result]
    return prod(_required_size(sizes.get(letter)) for letter in _kernel_letters(config)), prod(summed)


def _prelu_count(config: LayerConfig, inputs: list[KerasDims]) -> int:
    shared = set(config.get("shared_axes") or ())
    # Axis 0 is the batch.
    return prod(_required_size(dim) for axis, dim in enumerate(inputs[0]) if axis and axis not in shared)


def _attention_count(config: LayerConfig, inputs: list[KerasDims]) -> int:
    return int(bool(config.get("use_scale"))) + int(config.get("score_mode") == "concat")


def _additive_attention_count(config: LayerConfig, inputs: list[KerasDims]) -> int:
    return _required_size(inputs[0][-1]) if config.get("use_scale", True) else 0


PARAMETER_RULES: Mapping[str, ParameterRule] = {
    "recurrent(4)": _recurrent_count(4),
    "recurrent(3)": _recurrent_count(3),
    "recurrent(1)": _recurrent_count(1),
    "dense": _dense_count,
    "einsum": _einsum_count,
    "embedding": _embedding_count,
    "convolution": _convolution_count,
    "transposed": _transposed_count,
    "depthwise": _depthwise_count,
    "separable": _separable_count,
    "batch_normalization": _batch_normalization_count,
    "grouped_heads": _grouped_heads_count,
    "layer_normalization": _layer_normalization_count,
    "rms_normalization": lambda config, inputs: _kept_axes_size(config, inputs[0]),
    "normalization": _normalization_count,
    "of_cell": _cell_count,
    "both_ways": _both_ways(_inner_count),
    "at_each_step": _at_each_step(_inner_count),
    "multi_head": _multi_head_count,
    "prelu": _prelu_count,
    "layer_scale": lambda config, inputs: int(config["projection_dim"]),
    "attention": _attention_count,
    "additive_attention": _additive_attention_count,
    "spectral": _with_spectral_vector(_inner_count),
    "convolutional": _recurrent_convolution_count,
}

# Rules for non-trainable parameters, by the rule that counts all; without such a rule, all are trainable.
NON_TRAINABLE_RULES: Mapping[str, ParameterRule] = {
    "batch_normalization": lambda config, inputs: 2 * _kept_axes_size(config, inputs[0]),
    "normalization": _normalization_count,
    "dense": _frozen_kernel_count(_dense_count),
    "einsum": _frozen_kernel_count(_einsum_count),
    "embedding": _frozen_kernel_count(_embedding_count),
    "convolution": _frozen_kernel_count(_convolution_count),
    "both_ways": _both_ways(_non_trainable_inside),
    "at_each_step": _at_each_step(_non_trainable_inside),
    "spectral": _with_spectral_vector(_non_trainable_inside),
}
# Kernels of the layers that Keras quantises, by the rule that counts them; then rules of classes with such layers
# inside.
KERNEL_MATRICES: Mapping[str, Callable[[LayerConfig, list[KerasDims]], tuple[int, int]]] = {
    "dense": _dense_matrix,
    "einsum": _einsum_matrix,
    "embedding": lambda config, inputs: (config["input_dim"] * config["output_dim"], config["output_dim"]),
}
RULES_OF_INNER_KERNELS = frozenset({"multi_head", "grouped_heads"})
QUANTIZED_RULES = RULES_OF_INNER_KERNELS | KERNEL_MATRICES.keys()


def hides_policies(kind: str) -> bool:
    """Return whether layers inside a layer may be quantised by policies that its configuration does not contain."""
    return layer_row(kind).parameters in RULES_OF_INNER_KERNELS


# Weights of layers quantised by Keras 3, by the policy in their `dtype`: kernels packed into bytes, and scales.
#
# int8      a byte for each number, a scale for each column
# int4      two numbers in a byte; with blocks a scale and a zero for each block of a column, and an index of blocks
# float8    the unchanged kernel, and three scales with the history of their greatest values

HISTORY_LENGTH = 1024  # the default of QuantizedFloat8DTypePolicy
FLOAT_BYTES = 4  # bytes of scales, indices and biases


class Policy(NamedTuple):
    """Storage of a kernel: the `mode`, the rows of a `block` (None: no blocks), and the length of a history."""

    mode: str
    block: int | None = None
    history: int = HISTORY_LENGTH


class Packed(NamedTuple):
    """Stored sizes of a kernel: elements, untrained elements, and bytes."""

    numbers: int
    fixed: int
    size: int


def policy_of(config: LayerConfig) -> Policy | None:
    """Return the quantisation policy of a layer; None if it is not quantised.

    >>> policy_of({"dtype": {"class_name": "Int4DTypePolicy", "config": {"mode": "int4/64"}}})
    Policy(mode='int4', block=64, history=1024)
    >>> policy_of({"dtype": {"class_name": "DTypePolicy", "config": {"name": "float32"}}})
    """
    settings = _policy_settings(config)
    mode = settings.get("mode")
    if not isinstance(mode, str):
        return None
    word, _, block = mode.partition("/")
    history = settings.get("amax_history_length")
    rows = int(block) if block.isdecimal() and len(block) < 10 else None
    return Policy(word, rows or None, history if type(history) is int and 0 <= history < 2**31 else HISTORY_LENGTH)


def _policy_settings(config: LayerConfig) -> LayerConfig:
    dtype = config.get("dtype")
    settings = dtype.get("config") if isinstance(dtype, dict) else None
    return settings if isinstance(settings, dict) else {}


def _variable_dtype(config: LayerConfig) -> str:
    """Return the dtype of a layer's variables; "" if unstated.

    >>> _variable_dtype({"dtype": {"config": {"name": "mixed_bfloat16"}}}), _variable_dtype({"dtype": "float16"})
    ('float32', 'float16')
    """
    dtype: Any = config.get("dtype")
    name = _policy_settings(config).get("name") if isinstance(dtype, dict) else dtype
    if not isinstance(name, str):
        return ""
    return "float32" if name.startswith("mixed_") else name


def _pack_kernel(policy: Policy, summed: int, apart: int, by_row: bool = False) -> Packed | None:
    """Return the stored sizes of a kernel that sums `summed` numbers for each of `apart` results; `by_row` for a table.
    None for an unknown mode.

    >>> _pack_kernel(Policy("int8"), 8, 16), _pack_kernel(Policy("int4", 128), 8, 16)
    (Packed(numbers=144, fixed=144, size=192), Packed(numbers=104, fixed=104, size=176))
    """
    if policy.mode == "int8":
        return Packed(summed * apart + apart, summed * apart + apart, summed * apart + FLOAT_BYTES * apart)
    if policy.mode == "float8":
        numbers = summed * apart + 3 * (1 + policy.history)
        return Packed(numbers, 0, FLOAT_BYTES * numbers)
    if policy.mode != "int4":
        return None
    packed = apart * ceil(summed / 2) if by_row else summed * ceil(apart / 2)
    if policy.block is None:
        return Packed(packed + apart, packed + apart, packed + FLOAT_BYTES * apart)
    scales = apart * ceil(summed / policy.block)
    numbers = packed + 2 * scales + summed
    return Packed(numbers, numbers, packed + (FLOAT_BYTES + 1) * scales + FLOAT_BYTES * summed)
