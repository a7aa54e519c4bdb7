"""Parameter counts of a layer, trained or not, by the rule of its class, as `model.summary()` counts them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod

from graphviz_tb.model.layers import Config, cells_of
from graphviz_tb.model.tensors import Shape
from graphviz_tb.ops.layers import layer_row
from graphviz_tb.read.keras.possible import IMPOSSIBLE, possible_count, sound
from graphviz_tb.read.keras.shapes import product
from graphviz_tb.read.keras.windows import KerasDims, each, spatial

KEEPS_NOTHING = "0"
ParameterRule = Callable[[Config, list[KerasDims]], int | None]


def parameter_count(kind: str, config: Config, inputs: Sequence[Shape]) -> int | None:
    """Return the number of parameters of a layer of class `kind`, given its input shapes; None if unknown.

    >>> parameter_count("Dense", {"units": 10}, [(None, 784)]), parameter_count("Flatten", {}, [])
    (7850, 0)
    """
    word = layer_row(kind).parameters
    if word in ("", KEEPS_NOTHING):
        return 0 if word else None
    if not sound(config):
        return None
    try:
        return possible_count(RULES[word](config, [shape for shape in inputs if shape is not None]))
    except IMPOSSIBLE:
        return None


def non_trainable_count(kind: str, config: Config, inputs: Sequence[Shape], parameters: int | None) -> int | None:
    """Return how many of the `parameters` of a layer of class `kind` are not trained; None if unknown.

    >>> non_trainable_count("BatchNormalization", {}, [(None, 8)], 32)
    16
    """
    if parameters is None or config.get("trainable", True) is False:
        return parameters
    rule = KEPT.get(layer_row(kind).parameters)
    if rule is None:
        return 0
    try:
        return possible_count(rule(config, [shape for shape in inputs if shape is not None]))
    except IMPOSSIBLE:
        return None


def known(size: int | None) -> int:
    """Return a dimension that the weights depend on. Raises ValueError if it is unknown."""
    # Not only None: a text times a number is a longer text, which may fill memory.
    if not isinstance(size, int):
        raise ValueError("a dimension that the weights need is unknown")
    return size


def bias(config: Config, count: int) -> int:
    return count if config.get("use_bias", True) else 0


def adapter(config: Config, rows: int, columns: int) -> int:
    """Count the two factors that LoRA adds to a kernel of `rows` × `columns`."""
    return int((config.get("lora_rank") or 0) * (rows + columns))


def dense(config: Config, inputs: list[KerasDims]) -> int:
    units, width = config["units"], known(inputs[0][-1])
    return int(width * units + bias(config, units) + adapter(config, width, units))


def kernel(config: Config, inputs: list[KerasDims]) -> tuple[int, int]:
    """Return the number of places in the window, and the input channels."""
    sizes, channels = spatial(config, inputs[0])
    return prod(each(config["kernel_size"], len(sizes))), known(channels)


def convolution(config: Config, inputs: list[KerasDims]) -> int:
    places, channels = kernel(config, inputs)
    filters, rows = config["filters"], places * (channels // config.get("groups", 1))
    return int(rows * filters + bias(config, filters) + adapter(config, rows, filters))


def transposed(config: Config, inputs: list[KerasDims]) -> int:
    places, channels = kernel(config, inputs)
    return int(places * channels * config["filters"] + bias(config, config["filters"]))


def depthwise(config: Config, inputs: list[KerasDims]) -> int:
    places, channels = kernel(config, inputs)
    many = channels * config.get("depth_multiplier", 1)
    return int(places * many + bias(config, many))


def separable(config: Config, inputs: list[KerasDims]) -> int:
    places, channels = kernel(config, inputs)
    many, filters = channels * config.get("depth_multiplier", 1), config["filters"]
    return int(places * many + many * filters + bias(config, filters))


def along(config: Config, shape: KerasDims, default: int = -1) -> int:
    """Return the product of the sizes of the axes that a normalisation does not reduce."""
    axes = config.get("axis", default)
    return known(product([shape[int(axis)] for axis in (axes if isinstance(axes, list | tuple) else [axes])]))


def flag(config: Config, name: str) -> bool:
    return bool(config.get(name, True))


def batch_normalization(config: Config, inputs: list[KerasDims]) -> int:
    return along(config, inputs[0]) * (2 + flag(config, "scale") + flag(config, "center"))


def layer_normalization(config: Config, inputs: list[KerasDims]) -> int:
    return along(config, inputs[0]) * (flag(config, "scale") + flag(config, "center"))


def rms_normalization(config: Config, inputs: list[KerasDims]) -> int:
    return along(config, inputs[0])


def normalization(config: Config, inputs: list[KerasDims]) -> int:
    """Count mean and variance of each kept axis and one counter; nothing if the configuration states the mean."""
    if config.get("mean") is not None:
        return 0
    axes = config.get("axis", -1)
    if axes is None:
        return 3
    return 2 * along(config, inputs[0]) + 1


def embedding(config: Config, inputs: list[KerasDims]) -> int:
    rows, columns = config["input_dim"], config["output_dim"]
    return int(rows * columns + adapter(config, rows, columns))


def recurrent(gates: int) -> ParameterRule:
    """Return the rule that counts kernels and biases of a recurrent layer with `gates` gates."""

    def count_weights(config: Config, inputs: list[KerasDims]) -> int:
        units, width = config["units"], known(inputs[0][-1])
        twice = 2 if gates == 3 and config.get("reset_after", True) else 1  # GRU: a bias for each kernel
        # kernels: (width, gates * units) and (units, gates * units)
        return int(gates * (width * units + units * units) + bias(config, twice * gates * units))

    return count_weights


def statistics(config: Config, inputs: list[KerasDims]) -> int:
    """Count the moving averages of a batch normalisation."""
    return 2 * along(config, inputs[0])


def adapted(count: ParameterRule) -> ParameterRule:
    """Return the rule that counts the frozen kernel of a layer with LoRA, which trains the two factors instead."""

    def count_frozen(config: Config, inputs: list[KerasDims]) -> int | None:
        plain = {**config, "lora_rank": None, "use_bias": False, "bias_axes": None}
        return count(plain, inputs) if config.get("lora_rank") else 0

    return count_frozen


def inside(config: Config, inputs: list[KerasDims]) -> int | None:
    """Count the non-trainable parameters of the layer in a wrapper, once."""
    inner = config["layer"]
    kind, settings = inner["class_name"], inner["config"]
    return non_trainable_count(kind, settings, inputs, parameter_count(kind, settings, inputs))


def inside_both(config: Config, inputs: list[KerasDims]) -> int | None:
    once = inside(config, inputs)
    return None if once is None else 2 * once


def inside_steps(config: Config, inputs: list[KerasDims]) -> int | None:
    batch, _, *rest = inputs[0]
    return inside(config, [(batch, *rest)])


def of_cell(config: Config, inputs: list[KerasDims]) -> int | None:
    """Sum the parameters of stacked cells, each of which takes the output of the one before."""
    total, batch, steps, width = 0, *inputs[0][:2], inputs[0][-1]
    for kind, settings in cells_of(config):
        count = parameter_count(kind, settings, [(batch, steps, width)])
        if count is None:
            return None
        total, width = total + count, settings["units"]
    return total


def convolutional(config: Config, inputs: list[KerasDims]) -> int:
    """Count the kernels of input and state for each of the four gates of a recurrent convolution."""
    batch, _, *rest = inputs[0]
    places, channels = kernel(config, [(batch, *rest)])
    filters = config["filters"]
    return int(4 * places * filters * (channels + filters) + bias(config, 4 * filters))


def both_ways(config: Config, inputs: list[KerasDims]) -> int | None:
    inner = config["layer"]
    once = parameter_count(inner["class_name"], inner["config"], inputs)
    return None if once is None else 2 * once


def at_each_step(config: Config, inputs: list[KerasDims]) -> int | None:
    inner = config["layer"]
    batch, _, *rest = inputs[0]
    return parameter_count(inner["class_name"], inner["config"], [(batch, *rest)])


def spectral(config: Config, inputs: list[KerasDims]) -> int | None:
    """Count the parameters of the layer inside, and a vector as long as its kernel is wide."""
    inner = config["layer"]
    once = parameter_count(inner["class_name"], inner["config"], inputs)
    return None if once is None else once + vector(config)


def vector(config: Config) -> int:
    inside_of = config["layer"]["config"]
    return int(next(inside_of[key] for key in ("filters", "units", "output_dim") if key in inside_of))


def inside_spectral(config: Config, inputs: list[KerasDims]) -> int | None:
    once = inside(config, inputs)
    return None if once is None else once + vector(config)


def multi_head(config: Config, inputs: list[KerasDims]) -> int:
    heads, size = config["num_heads"], config["key_dim"]
    out = config.get("value_dim") or size
    query, value = known(inputs[0][-1]), known(inputs[min(1, len(inputs) - 1)][-1])
    # Query, value, key, in this order; without a key the value is the key.
    key = known(inputs[min(2, len(inputs) - 1)][-1]) if len(inputs) > 2 else value
    stated = config.get("output_shape")
    last = query if stated is None else prod(stated) if isinstance(stated, list | tuple) else stated
    # Three projections into heads, and one back.
    kernels = heads * (query * size + key * size + value * out + out * last)
    return int(kernels + bias(config, heads * (2 * size + out) + last))


def grouped_heads(config: Config, inputs: list[KerasDims]) -> int:
    """Count projections of the query (and its gate) into all heads, of key and value into fewer, and one back."""
    size, heads, shared = config["head_dim"], config["num_query_heads"], config["num_key_value_heads"]
    query, value = known(inputs[0][-1]), known(inputs[min(1, len(inputs) - 1)][-1])
    key = known(inputs[2][-1]) if len(inputs) > 2 else value
    of_query = (1 + bool(config.get("use_gate"))) * heads
    kernels = size * (of_query * query + shared * (key + value) + heads * query)
    return int(kernels + bias(config, size * (of_query + 2 * shared) + query))


def einsum(config: Config, inputs: list[KerasDims]) -> int:
    left, _, result = config["equation"].replace("...", "").partition("->")
    ins, _, weights = left.partition(",")
    stated = config["output_shape"]
    stated = [stated] if isinstance(stated, int) else list(stated)
    # Letters from the right: the dimensions of "..." are on the left.
    sizes = dict(zip(reversed(ins), reversed(inputs[0]), strict=False))
    sizes |= {letter: dim for letter, dim in zip(reversed(result), reversed(stated), strict=False) if dim is not None}
    count = prod(known(sizes.get(letter)) for letter in weights)
    apart = config.get("bias_axes")
    return count + (prod(known(sizes.get(letter)) for letter in apart) if apart else 0)


def prelu(config: Config, inputs: list[KerasDims]) -> int:
    shared = set(config.get("shared_axes") or ())
    # Axis 0 is the batch.
    return prod(known(dim) for axis, dim in enumerate(inputs[0]) if axis and axis not in shared)


def layer_scale(config: Config, inputs: list[KerasDims]) -> int:
    return int(config["projection_dim"])


def attention(config: Config, inputs: list[KerasDims]) -> int:
    return int(bool(config.get("use_scale"))) + int(config.get("score_mode") == "concat")


def additive_attention(config: Config, inputs: list[KerasDims]) -> int:
    return known(inputs[0][-1]) if config.get("use_scale", True) else 0


RULES: Mapping[str, ParameterRule] = {
    "recurrent(4)": recurrent(4),
    "recurrent(3)": recurrent(3),
    "recurrent(1)": recurrent(1),
    "dense": dense,
    "einsum": einsum,
    "embedding": embedding,
    "convolution": convolution,
    "transposed": transposed,
    "depthwise": depthwise,
    "separable": separable,
    "batch_normalization": batch_normalization,
    "grouped_heads": grouped_heads,
    "layer_normalization": layer_normalization,
    "rms_normalization": rms_normalization,
    "normalization": normalization,
    "of_cell": of_cell,
    "both_ways": both_ways,
    "at_each_step": at_each_step,
    "multi_head": multi_head,
    "prelu": prelu,
    "layer_scale": layer_scale,
    "attention": attention,
    "additive_attention": additive_attention,
    "spectral": spectral,
    "convolutional": convolutional,
}

# Rules for parameters that are not trained, by the rule that counts all; a class without one trains all of them.
KEPT: Mapping[str, ParameterRule] = {
    "batch_normalization": statistics,
    "normalization": normalization,
    "dense": adapted(dense),
    "einsum": adapted(einsum),
    "embedding": adapted(embedding),
    "convolution": adapted(convolution),
    "both_ways": inside_both,
    "at_each_step": inside_steps,
    "spectral": inside_spectral,
}
