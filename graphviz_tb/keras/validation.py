"""Check configurations, shapes and counts: JSON may have any value where Keras expects a size.

The configuration is checked before the rule of a class runs, and the result after it, so that rules need no checks.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any

from graphviz_tb.limits import MAX_CONFIG_DEPTH
from graphviz_tb.model.tensors import MAX_DIMENSIONS, Shape

MAX_SIZE = 2**63 - 1  # of a dimension: 64 bits in TensorFlow
# An equation names the dimensions of three tensors.
MAX_EQUATION_LETTERS = 3 * MAX_DIMENSIONS + len(",->")
# Errors of a rule for an invalid configuration; RecursionError for deeply nested layers.
RULE_ERRORS = (TypeError, ValueError, LookupError, AttributeError, ArithmeticError, RecursionError)
SIZE_OPTIONS = frozenset({
    "units", "filters", "groups", "depth_multiplier", "input_dim", "output_dim", "num_heads", "key_dim",
    "value_dim", "projection_dim", "num_tokens", "n", "height", "width",
})  # fmt: skip
# Options with a value for each dimension.
PER_DIMENSION_OPTIONS = frozenset({
    "target_shape", "output_shape", "dims", "axes", "axis", "shared_axes", "bias_axes", "equation",
    "kernel_size", "pool_size", "size", "strides", "dilation_rate", "output_padding", "padding", "cropping",
})  # fmt: skip


def is_plausible_config(config: Mapping[str, Any]) -> bool:
    """Return whether sizes in a configuration are numbers that a tensor can have, and lists no longer than its rank.

    >>> (
    ...     is_plausible_config({"units": 3, "groups": None}),
    ...     is_plausible_config({"units": "abc"}),
    ...     is_plausible_config({"units": True}),
    ...     is_plausible_config({"axis": [1] * 500}),
    ... )
    (True, False, False, False)
    """
    if not all(value is None or _is_int64(value) for value in map(config.get, SIZE_OPTIONS)):
        return False
    return all(_has_plausible_length(value) for value in map(config.get, PER_DIMENSION_OPTIONS))


def _is_int64(value: Any) -> bool:
    """Return whether a value is a 64-bit integer."""
    return type(value) is int and abs(value) <= MAX_SIZE


def _has_plausible_length(value: Any) -> bool:
    """Return whether a value has no more parts than a tensor has dimensions, and only 64-bit numbers."""
    if isinstance(value, str):
        return len(value) <= MAX_EQUATION_LETTERS
    parts = value if isinstance(value, list) else [value]
    return len(parts) <= MAX_DIMENSIONS and all(_is_int64(part) for part in parts if type(part) is int)


def plausible_shape(shape: Shape) -> Shape:
    """Replace impossible sizes of a shape by None. Raises TypeError if one is not a number."""
    if shape is None:
        return None
    if len(shape) > MAX_DIMENSIONS or not all(dim is None or type(dim) is int for dim in shape):
        raise TypeError("no shape")
    return tuple(dim if dim is None or 0 <= dim <= MAX_SIZE else None for dim in shape)


def plausible_parameter_count(count: Any) -> int | None:
    """Return a number of parameters; None for anything but a count."""
    return count if type(count) is int and count >= 0 else None


def hash_deep_values(config: Mapping[str, Any]) -> dict[str, Any]:
    """Replace deeply nested values of a configuration by a hash, as configurations are compared and pickled.

    >>> hash_deep_values({"units": 3, "odd": eval("[" * 61 + "]" * 61)})
    {'units': 3, 'odd': 'deep #61e6407c'}
    """
    return {key: hash_value(value) if is_nested_config(value) else value for key, value in config.items()}


def hash_value(value: Any) -> str:
    """Return a short hash of a JSON value."""
    return f"deep #{sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:8]}"


def is_nested_config(value: Any) -> bool:
    """Return whether values nest deeper than `MAX_CONFIG_DEPTH`."""
    level: list[Any] = [[value]]
    for _ in range(MAX_CONFIG_DEPTH + 1):
        level = [inner for part in level for inner in _nested_values(part) if isinstance(inner, dict | list)]
        if not level:
            return False
    return True


def _nested_values(value: Any) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value
