"""TensorProto → numbers."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphviz_tb.errors import MalformedProto, TooLarge
from graphviz_tb.proto import TensorProto

# Of a DataType the dtype of numpy, as `tensor_content` has it, and the list that holds its numbers otherwise.
BFLOAT16, HALF = 14, 19
DTYPES = {
    1: "<f4", 2: "<f8", 3: "<i4", 4: "<u1", 5: "<i2", 6: "<i1", 8: "<c8", 9: "<i8", 10: "?", 14: "<u2", 17: "<u2",
    18: "<c16", 19: "<f2", 22: "<u4", 23: "<u8",
}  # fmt: skip
LISTS = {
    1: "float_val", 2: "double_val", 3: "int_val", 4: "int_val", 5: "int_val", 6: "int_val", 8: "scomplex_val",
    9: "int64_val", 10: "bool_val", 14: "half_val", 17: "int_val", 18: "dcomplex_val", 19: "half_val",
    22: "uint32_val", 23: "uint64_val",
}  # fmt: skip
MOST = 1 << 28  # bytes that a tensor may claim beyond those that it holds


def packed(tensor: TensorProto) -> bytes:
    """The numbers that a tensor holds, as `tensor_content` would have them; none for a dtype without numbers."""
    if tensor.tensor_content or tensor.dtype not in LISTS:
        return tensor.tensor_content
    listed = getattr(tensor, LISTS[tensor.dtype])
    dtype = np.dtype(DTYPES[tensor.dtype])
    if tensor.dtype in (BFLOAT16, HALF):  # lists of their bits
        return np.array(listed, np.int64).astype("<u2").tobytes()
    if dtype.kind == "c":  # a real part, an imaginary part, …
        return np.array(listed, f"<f{dtype.itemsize // 2}").tobytes()
    wide = np.uint64 if dtype.kind == "u" else np.int64
    return np.array(listed, dtype if dtype.kind == "f" else wide).astype(dtype).tobytes()


def array_of(tensor: TensorProto) -> NDArray[Any]:
    """A tensor as numpy has it, text as bytes. What it claims beyond what it holds is the last value again and again.

    Raises MalformedProto where shape and values do not fit, TooLarge where it claims far more than it holds.
    """
    shape = tuple(max(0, dim.size) for dim in tensor.tensor_shape.dim)
    count = prod(shape)
    if tensor.string_val or tensor.dtype not in DTYPES:
        values: NDArray[Any] = np.empty(len(tensor.string_val), object)
        values[:] = list(tensor.string_val)
    else:
        data, dtype = packed(tensor), np.dtype(DTYPES[tensor.dtype])
        values = np.frombuffer(data[: len(data) // dtype.itemsize * dtype.itemsize], dtype)
    if tensor.dtype == BFLOAT16:
        values = (values.astype(np.uint32) << np.uint32(16)).view(np.float32)
    if len(values) < count:
        if count * values.itemsize > MOST:
            raise TooLarge(f"a tensor claims {count:,} values and holds {len(values):,}")
        last = values[-1:] if len(values) else np.zeros(1, values.dtype)
        values = np.concatenate([values, np.repeat(last, count - len(values))])
    elif len(values) > count:
        raise MalformedProto(f"a tensor of shape {shape} holds {len(values):,} values")
    return values.reshape(shape)
