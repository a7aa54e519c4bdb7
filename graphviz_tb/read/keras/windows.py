"""Output shapes of layers of images and sequences: convolutions, pools, padding, cropping, resizing.

A rule takes the configuration and the input shapes and returns the output shapes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graphviz_tb.model.layers import LayerConfig
from graphviz_tb.model.tensors import Shape

KerasDims = tuple[int | None, ...]


def channels_first(config: LayerConfig) -> bool:
    """Return whether the channels precede the spatial dimensions."""
    return config.get("data_format") == "channels_first"


def split_image_shape(config: LayerConfig, shape: KerasDims) -> tuple[KerasDims, int | None]:
    """Split a shape into spatial dimensions and channels."""
    return (shape[2:], shape[1]) if channels_first(config) else (shape[1:-1], shape[-1])


def image_shape(
    config: LayerConfig, batch: int | None, sizes: Sequence[int | None], channels: int | None
) -> list[Shape]:
    """Return the shape of an image with these dimensions."""
    return [(batch, channels, *sizes) if channels_first(config) else (batch, *sizes, channels)]


def per_dimension(value: Any, count: int) -> list[int]:
    """Return a number for each spatial dimension.

    >>> per_dimension(3, 2), per_dimension([1, 2], 2)
    ([3, 3], [1, 2])
    """
    return [int(value)] * count if isinstance(value, int) else [int(number) for number in value]


def window_count(size: int | None, kernel: int, stride: int, padding: str, dilation: int = 1) -> int | None:
    """Return the number of positions of a window along one dimension.

    >>> window_count(28, 3, 1, "valid"), window_count(28, 3, 2, "same")
    (26, 14)
    """
    if size is None:
        return None
    reach = (kernel - 1) * dilation + 1
    # ceil(size / stride), or only whole windows
    return -(-size // stride) if padding in ("same", "causal") else max(0, (size - reach) // stride + 1)


def window_counts(config: LayerConfig, shape: KerasDims, kernel: Any) -> list[int | None]:
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
    return [window_count(size, wide, step, config.get("padding", "valid"), apart) for size, wide, step, apart in steps]


def convolution_shape(config: LayerConfig, inputs: list[KerasDims]) -> list[Shape]:
    # The default stride is 1 for a convolution, the size of the window for a pool.
    sizes = window_counts({"strides": 1, **config}, inputs[0], config["kernel_size"])
    return image_shape(config, inputs[0][0], sizes, config["filters"])


def depthwise_shape(config: LayerConfig, inputs: list[KerasDims]) -> list[Shape]:
    channels = split_image_shape(config, inputs[0])[1]
    many = None if channels is None else channels * config.get("depth_multiplier", 1)
    return image_shape(
        config, inputs[0][0], window_counts({"strides": 1, **config}, inputs[0], config["kernel_size"]), many
    )


def transposed_shape(config: LayerConfig, inputs: list[KerasDims]) -> list[Shape]:
    sizes, _ = split_image_shape(config, inputs[0])
    count = len(sizes)
    extra = config.get("output_padding")
    grown = zip(
        sizes,
        per_dimension(config["kernel_size"], count),
        per_dimension(config.get("strides", 1), count),
        per_dimension(config.get("dilation_rate", 1), count),
        [None] * count if extra is None else per_dimension(extra, count),
        strict=True,
    )
    made = [transposed_size(*one, config.get("padding", "valid")) for one in grown]
    return image_shape(config, inputs[0][0], made, config["filters"])


def transposed_size(
    size: int | None, kernel: int, stride: int, dilation: int, extra: int | None, padding: str
) -> int | None:
    """Return the size along one dimension after a transposed convolution.

    >>> transposed_size(7, 3, 2, 1, None, "same"), transposed_size(7, 3, 2, 1, None, "valid")
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


def pooling_shape(config: LayerConfig, inputs: list[KerasDims]) -> list[Shape]:
    return image_shape(
        config,
        inputs[0][0],
        window_counts(config, inputs[0], config["pool_size"]),
        split_image_shape(config, inputs[0])[1],
    )


def global_pooling_shape(config: LayerConfig, inputs: list[KerasDims]) -> list[Shape]:
    sizes, channels = split_image_shape(config, inputs[0])
    if config.get("keepdims"):
        return image_shape(config, inputs[0][0], [1] * len(sizes), channels)
    return [(inputs[0][0], channels)]


def per_side(value: Any, count: int) -> list[tuple[int, int]]:
    """Return how much is added or cut on both sides of each dimension.

    >>> per_side(1, 2), per_side([[0, 1], 2], 2)
    ([(1, 1), (1, 1)], [(0, 1), (2, 2)])
    """
    if isinstance(value, int):
        return [(value, value)] * count
    # One dimension: a list means [before, after].
    if count == 1 and all(isinstance(side, int) for side in value):
        return [(value[0], value[-1])]
    return [(side, side) if isinstance(side, int) else (side[0], side[1]) for side in value]


def padding_shape(config: LayerConfig, inputs: list[KerasDims]) -> list[Shape]:
    sizes, channels = split_image_shape(config, inputs[0])
    more = [sum(both) for both in per_side(config["padding"], len(sizes))]
    return image_shape(
        config, inputs[0][0], [grow_size(size, by) for size, by in zip(sizes, more, strict=True)], channels
    )


def cropping_shape(config: LayerConfig, inputs: list[KerasDims]) -> list[Shape]:
    sizes, channels = split_image_shape(config, inputs[0])
    less = [sum(both) for both in per_side(config["cropping"], len(sizes))]
    return image_shape(
        config, inputs[0][0], [grow_size(size, -by) for size, by in zip(sizes, less, strict=True)], channels
    )


def grow_size(size: int | None, by: int) -> int | None:
    return None if size is None else size + by


def upsampling_shape(config: LayerConfig, inputs: list[KerasDims]) -> list[Shape]:
    sizes, channels = split_image_shape(config, inputs[0])
    times = per_dimension(config["size"], len(sizes))
    more = [None if size is None else size * by for size, by in zip(sizes, times, strict=True)]
    return image_shape(config, inputs[0][0], more, channels)


def resizing_shape(config: LayerConfig, inputs: list[KerasDims]) -> list[Shape]:
    if len(inputs[0]) == 3:
        return [(config["height"], config["width"], inputs[0][-1])]
    return image_shape(
        config, inputs[0][0], (config["height"], config["width"]), split_image_shape(config, inputs[0])[1]
    )
