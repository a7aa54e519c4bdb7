"""Values of attributes: a canonical form for hashing, and plain values for people and machines.

A map has no order, a list of numbers may be packed or repeated, a function's name ends in a number that changes
with every trace: none of this is a difference.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from graphviz_tb.annotate.dtypes import REFERENCE, dtype_name
from graphviz_tb.diff.columns.hashing import digest
from graphviz_tb.model.tensors import MOST_DIMENSIONS

if TYPE_CHECKING:
    from graphviz_tb.proto import AttrValue, TensorProto

TRACE_NUMBER = re.compile(r"(?<=.)_\d+$")  # not of "_12" itself, which would leave no name
# "__inference_train_step_199", "PartitionedCall-12" (TRACED); "_temp_" and a UUID in hex in savers, "hash_table_" and
# a UUID in tables (TEMPORARY): the process makes them anew each time.
TRACED = re.compile(rb"^(?:__inference_|__forward_|__backward_|PartitionedCall-|StatefulPartitionedCall-)")
NUMBER_AT_END = re.compile(rb"[_-]\d+$")
TEMPORARY = re.compile(rb"_temp_[0-9a-z]{32}/part|hash_table_[0-9a-z\-]+")
MOST_SHOWN = 1000  # numbers of one tensor
WRITTEN_OUT = 4096  # numbers of a tensor that are compared one by one, however the file has them

# DataType: how the numbers of a tensor lie in memory, and the field that lists them.
LAYOUT: dict[int, tuple[str, str]] = {
    1: ("<f4", "float_val"), 2: ("<f8", "double_val"), 3: ("<i4", "int_val"), 4: ("u1", "int_val"),
    5: ("<i2", "int_val"), 6: ("i1", "int_val"), 9: ("<i8", "int64_val"), 10: ("?", "bool_val"),
    14: ("<u2", "half_val"), 17: ("<u2", "int_val"), 19: ("<u2", "half_val"), 22: ("<u4", "uint32_val"),
    23: ("<u8", "uint64_val"),
}  # fmt: skip

HALF = {19: "<f2"}  # float16 lies in memory as it is; bfloat16 has no numpy type and is compared by its bits


def base_name(function: str) -> str:
    """A function's name without the number that each trace adds.

    >>> base_name("__inference_train_step_19927"), base_name("body_1_2")
    ('__inference_train_step', 'body_1')
    """
    return TRACE_NUMBER.sub("", function)


def canonical(value: AttrValue, library: Collection[str]) -> tuple[bytes, bytes]:
    """What counts of a value, and what only counts with `constants`: the numbers in tensors.

    Names of functions of the library are left out: what they call is compared by body.
    """
    which = value.WhichOneof("value")
    if which == "tensor":
        return tensor_kind(value.tensor), payload(value.tensor)
    if which == "s":
        return b"s" + steady(value.s), b""
    if which == "func":
        return _function(value.func, library), b""
    if which == "list" and (value.list.tensor or value.list.func):
        kinds = [tensor_kind(tensor) for tensor in value.list.tensor]
        kinds += [_function(function, library) for function in value.list.func]
        return b"l" + b"|".join(kinds), b"|".join(payload(tensor) for tensor in value.list.tensor)
    return value.SerializeToString(deterministic=True), b""


def _function(function: Any, library: Collection[str]) -> bytes:
    name = "" if function.name in library else base_name(function.name)
    # This recurses, but no deeper than protobuf reads nested messages: 100 levels.
    inside = [key.encode() + b"=" + canonical(function.attr[key], library)[0] for key in sorted(function.attr)]
    return b"f" + name.encode("utf-8", "surrogatepass") + b"{" + b";".join(inside) + b"}"


def steady(text: bytes) -> bytes:
    """A string without what is random in it.

    >>> steady(b"_temp_0123456789abcdef0123456789abcdef/part"), steady(b"__inference_f_12"), steady(b"SAME")
    (b'*', b'__inference_f', b'SAME')
    """
    return NUMBER_AT_END.sub(b"", text) if TRACED.match(text) else TEMPORARY.sub(b"*", text)


def tensor_kind(tensor: TensorProto) -> bytes:
    """Type and shape of a tensor."""
    return b"t%d:" % tensor.dtype + tensor.tensor_shape.SerializeToString(deterministic=True)


def payload(tensor: TensorProto) -> bytes:
    """A hash of the numbers of a tensor, however they are written down."""
    if tensor.string_val and not tensor.tensor_content:
        return b"%x" % digest(b"\0".join(steady(text) for text in tensor.string_val))
    if tensor.dtype not in LAYOUT:
        return b"%x" % digest(tensor.tensor_content or tensor.SerializeToString(deterministic=True))
    return b"%x" % digest(shortest(tensor))


def shortest(tensor: TensorProto) -> bytes:
    """The bytes of all numbers; of more than `WRITTEN_OUT` without those at the end that are equal to the last one, and
    how many there are in all: a few bytes may claim to be millions of numbers.

    >>> from graphviz_tb.proto import TensorProto
    >>> shortest(TensorProto(dtype=4, tensor_shape={"dim": [{"size": 9000}]}, int_val=[7, 8]))
    b'\\x07\\x08 9000'
    """
    values, count = written(tensor), count_of(tensor)
    if tensor.tensor_content:
        count = len(values)
        if len(tensor.tensor_content) % values.itemsize:  # damaged
            return tensor.tensor_content
    if max(count, len(values)) <= WRITTEN_OUT:
        return filled(values, count).tobytes()
    if not len(values):
        values = np.zeros(1, values.dtype)
    bits = values.view(f"<u{values.itemsize}")  # of floats, too: NaN is equal to itself
    unlike = bits[::-1] != bits[-1]
    repeated = int(np.argmax(unlike)) if unlike.any() else len(bits)  # at the end
    kept, whole = len(bits) - repeated + 1, max(count, len(bits))
    return bits[:kept].tobytes() + (b" %d" % whole if kept < whole else b"")


def numbers(tensor: TensorProto) -> Any:
    """The numbers of a small tensor: one for a scalar, else a list; of a large one what `tensor_word` says of it.

    >>> from graphviz_tb.proto import TensorProto
    >>> numbers(TensorProto(dtype=1, float_val=[0.1]))
    0.1
    >>> numbers(TensorProto(dtype=3, tensor_shape={"dim": [{"size": 2}]}, int_val=[1, 2]))
    [1, 2]
    """
    count = count_of(tensor)
    if count > MOST_SHOWN:
        return tensor_word(tensor)
    values = [tidy(number) for number in unpacked(tensor, count)[:count].tolist()] if tensor.dtype in LAYOUT else []
    if not values and count:
        return tensor_word(tensor)
    # A scalar is shown as a number, a vector of one as a list of one.
    return values if tensor.tensor_shape.dim else values[0]


def tidy(number: Any) -> Any:
    """A number to the seven digits that a float32 holds."""
    return float(f"{number:.7g}") if isinstance(number, float) else number


def count_of(tensor: TensorProto) -> int:
    """How many numbers a tensor says that it has; none where it has more dimensions than there are."""
    sizes = [dim.size for dim in tensor.tensor_shape.dim]
    return prod(sizes) if len(sizes) <= MOST_DIMENSIONS else 0


def unpacked(tensor: TensorProto, count: int) -> np.ndarray:
    """So many numbers of a tensor of a known layout, however they are written down."""
    values = written(tensor)
    if not tensor.tensor_content:
        values = filled(values, count)
    return values.view(HALF[tensor.dtype]) if tensor.dtype in HALF else values


def filled(values: np.ndarray, count: int) -> np.ndarray:
    """So many numbers: TensorFlow writes a tensor of equal ones as one, the last stands for all that follow."""
    if len(values) >= count:
        return values
    last = values[-1:] if len(values) else np.zeros(1, values.dtype)
    return np.concatenate((values, np.repeat(last, count - len(values))))


def written(tensor: TensorProto) -> np.ndarray:
    """The numbers of a tensor of a known layout that the file holds; of float16 the bits."""
    form, field = LAYOUT[tensor.dtype]
    if tensor.tensor_content:
        return packed(tensor, form)
    # `half_val` lists the 16 bits of each number as an int32.
    return np.array(getattr(tensor, field)[:], np.int64 if field == "half_val" else None).astype(form)


def packed(tensor: TensorProto, form: str) -> np.ndarray:
    """The whole numbers in the bytes of a tensor; a damaged file may end in part of one.

    >>> from graphviz_tb.proto import TensorProto
    >>> packed(TensorProto(tensor_content=b"\\1\\0\\2"), "<u2").tolist()
    [1]
    """
    return np.frombuffer(tensor.tensor_content, form, len(tensor.tensor_content) // np.dtype(form).itemsize)


def plain(value: AttrValue) -> Any:
    """A value as JSON can hold it.

    >>> from graphviz_tb.proto import AttrValue
    >>> plain(AttrValue(type=1)), plain(AttrValue(list={"i": [1, 2]})), plain(AttrValue(s=b"SAME"))
    ('float32', [1, 2], 'SAME')
    >>> plain(AttrValue(shape={"dim": [{"size": -1}, {"size": 3}]}))
    '?×3'
    """
    which = value.WhichOneof("value")
    if which is None:
        return None
    if which == "list":
        return [_item(kind.name, item) for kind, items in value.list.ListFields() for item in items]
    return _item(which, getattr(value, which))


def _item(kind: str, item: Any) -> Any:
    if kind == "type":
        return type_word(item)
    if kind == "shape":
        return shape_word(item)
    if kind == "s":
        return item.decode("utf-8", "backslashreplace")
    if kind == "tensor":
        return tensor_word(item)
    if kind == "func":
        return base_name(item.name)
    if kind == "f":
        return float(f"{item:.7g}")
    return item


def type_word(number: int) -> str:
    """The name of a type.

    >>> type_word(1), type_word(101), type_word(77)
    ('float32', 'float32_ref', 'type 77')
    """
    name = dtype_name(number)
    if not name:
        return f"type {number}"
    return f"{name}_ref" if number > REFERENCE else name


def shape_word(shape: Any) -> str:
    """A shape: `28×28×1`, `?` for an unknown dimension, `scalar`, `unknown`."""
    if shape.unknown_rank:
        return "unknown"
    return "×".join("?" if dim.size < 0 else str(dim.size) for dim in shape.dim) or "scalar"


def tensor_word(tensor: TensorProto) -> str:
    """A tensor by its type, its shape and a hash of its numbers; one small number is shown."""
    word = f"{type_word(tensor.dtype)} {shape_word(tensor.tensor_shape)}"
    form, field = LAYOUT.get(tensor.dtype, ("", ""))
    if field and field != "half_val" and not tensor.tensor_shape.dim:
        numbers = packed(tensor, form) if tensor.tensor_content else getattr(tensor, field)
        if len(numbers) == 1:
            return f"{word} {plain_number(numbers[0])}"
    return f"{word} #{payload(tensor).decode()[:8]}"


def plain_number(number: Any) -> str:
    """A number in few letters.

    >>> plain_number(np.float32(0.001)), plain_number(3)
    ('0.001', '3')
    """
    return f"{number:.7g}" if isinstance(number, (float, np.floating)) else str(number)
