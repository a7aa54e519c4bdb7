"""Weights of layers quantised by Keras 3, by the policy in their `dtype`: kernels packed into bytes, and scales.

int8      a byte for each number, a scale for each column
int4      two numbers in a byte; with blocks a scale and a zero for each block of a column, and an index of blocks
float8    the kernel as it was, and three scales with the history of their greatest values
"""

from __future__ import annotations

from math import ceil
from typing import Any, NamedTuple

from graphviz_tb.model.layers import LayerConfig
from graphviz_tb.model.tensors import element_size

HISTORY_LENGTH = 1024  # the default of QuantizedFloat8DTypePolicy
FLOAT_BYTES = 4  # bytes of scales, indices and biases


class Policy(NamedTuple):
    """Storage of a kernel: the `mode`, the rows of a `block` (None: no blocks), the length of a history."""

    mode: str
    block: int | None = None
    history: int = HISTORY_LENGTH


class Packed(NamedTuple):
    """Stored sizes of a kernel: elements, untrained elements, and bytes."""

    numbers: int
    fixed: int
    size: int


def policy_of(config: LayerConfig) -> Policy | None:
    """Return the policy by which a layer is quantised; None if it is not.

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


def pack_kernel(policy: Policy, summed: int, apart: int, by_row: bool = False) -> Packed | None:
    """Stored sizes of a kernel that sums over `summed` numbers for each of `apart` results; with `by_row` of a table,
    whose rows are apart. None of a mode that is not known here.

    >>> pack_kernel(Policy("int8"), 8, 16), pack_kernel(Policy("int4", 128), 8, 16)
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


def plain_size(config: LayerConfig, count: int) -> int:
    """Return the bytes of so many elements of an unquantised layer."""
    return count * element_size(_variable_dtype(config))
