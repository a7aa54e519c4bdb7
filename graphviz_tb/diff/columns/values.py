"""Values of attributes, in a canonical form for hashing, and as plain values.

The order of a map, the packing of numbers, and the number in a traced function's name do not matter.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from graphviz_tb.graphs.tensors import claimed_element_count, decode_elements, pad_with_last, stored_elements
from graphviz_tb.limits import MAX_ACCOUNT_LETTERS, MAX_EXPANDED_NUMBERS, MAX_SHOWN_NUMBERS
from graphviz_tb.model.columns import group_by_key, mix_bits
from graphviz_tb.model.tensors import dtype_label, shape_proto_text

if TYPE_CHECKING:
    from graphviz_tb.proto import AttrValue, TensorProto

# 64-bit hashes over columns, equal on every machine. Sums of them do not depend on order.
#
#     words ─blake2b▶ numbers ─mixed▶ labels ─summed over edges▶ neighbourhoods (Weisfeiler & Leman 1968)
#
# The probability of a collision among two million neighbourhoods is below one in a million. After a collision, a match
# may be worse, but no difference is missed: matched nodes are compared.

Hashes = NDArray[np.uint64]

# The step of splitmix64 (Steele, Lea & Flood, OOPSLA 2014): 2^64 divided by the golden ratio.
HASH_STEP = np.uint64(0x9E3779B97F4A7C15)
# Factors of wyhash (Wang Yi). All are odd: a product with an odd number loses no bit modulo 2^64.
HASH_FACTORS = np.array([0xA0761D6478BD642F, 0xE7037ED1A0B428DB, 0x8EBC6AF09C88C6E3, 0x589965CC75374CC3], np.uint64)


def word_hash(data: bytes | str) -> int:
    """Return a 64-bit hash of bytes or text.

    >>> word_hash("Relu") == word_hash(b"Relu"), word_hash("Relu") == word_hash("Relu6")
    (True, False)
    """
    raw = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    return int.from_bytes(blake2b(raw, digest_size=8).digest(), "little")


def word_hashes(words: Iterable[str]) -> Hashes:
    return np.array([word_hash(word) for word in words], np.uint64)


def mix_hash_bits(values: Hashes) -> Hashes:
    """Mix the bits of each value, so that every bit affects every bit of the result (splitmix64)."""
    # Arrays wrap modulo 2^64 without a warning; scalars of NumPy would warn.
    return mix_bits(values + HASH_STEP)


def combine_hashes(*columns: Hashes) -> Hashes:
    """Return one hash for several columns, in their order.

    >>> one, two = np.array([1], np.uint64), np.array([2], np.uint64)
    >>> bool(combine_hashes(one, two)[0] == combine_hashes(two, one)[0])
    False
    """
    total = columns[0] * HASH_FACTORS[0]
    for number, column in enumerate(columns[1:], 1):
        total = mix_hash_bits(total) + column * HASH_FACTORS[number % 4]
    return mix_hash_bits(total)


def run_sums(values: Hashes, start: NDArray[np.int64], stop: NDArray[np.int64]) -> Hashes:
    """Return the sums of `values[start:stop]` for many runs, modulo 2^64.

    >>> run_sums(np.array([1, 2, 3], np.uint64), np.array([0, 1]), np.array([2, 1])).tolist()
    [3, 0]
    """
    # A difference of prefix sums is correct modulo 2^64 even after an overflow.
    total = np.concatenate((np.zeros(1, np.uint64), np.cumsum(values, dtype=np.uint64)))
    sums: Hashes = total[stop] - total[start]
    return sums


def sums_by(keys: NDArray[np.int32], values: Hashes, count: int) -> Hashes:
    """Return the sum of the values of each key below `count`."""
    order, cuts = group_by_key(keys, count)
    return run_sums(values[order], cuts[:-1], cuts[1:])


TRACE_NUMBER = re.compile(r"(?<=.)_\d+$")  # "_12" itself stays
# Names with counters and UUIDs of a process: "__inference_train_step_199", "PartitionedCall-12"; "_temp_" and a UUID in
# savers, "hash_table_" and a UUID in tables.
TRACED_NAME = re.compile(rb"^(?:__inference_|__forward_|__backward_|PartitionedCall-|StatefulPartitionedCall-)")
NUMBER_AT_END = re.compile(rb"[_-]\d+$")
TEMPORARY_NAME = re.compile(rb"_temp_[0-9a-z]{32}/part|hash_table_[0-9a-z\-]+")


# Both numbers of "conv2d_3_1", and the "_1" of "dense_1_kernel"; none in "layer3" and "_1".
COUNTER_AT_END = re.compile(r"(?<=.)_(\d{1,9})(?=_|$)", re.DOTALL)


def base_name(function: str) -> str:
    """Return a function's name without the number that each trace adds.

    >>> base_name("__inference_train_step_19927"), base_name("body_1_2")
    ('__inference_train_step', 'body_1')
    """
    return TRACE_NUMBER.sub("", function)


def canonical_bytes(value: AttrValue, library: Collection[str]) -> tuple[bytes, bytes]:
    """Return the bytes of a value that always count, and the numbers of its tensors, which count only with `constants`.

    Names of library functions are left out, since functions are compared by body.
    """
    which = value.WhichOneof("value")
    if which == "tensor":
        return tensor_kind(value.tensor), tensor_payload(value.tensor)
    if which == "s":
        return b"s" + _steady_bytes(value.s), b""
    if which == "func":
        return _function(value.func, library), b""
    if which == "list" and (value.list.tensor or value.list.func):
        kinds = [tensor_kind(tensor) for tensor in value.list.tensor]
        kinds += [_function(function, library) for function in value.list.func]
        return b"l" + b"|".join(kinds), b"|".join(tensor_payload(tensor) for tensor in value.list.tensor)
    return value.SerializeToString(deterministic=True), b""


def _function(function: Any, library: Collection[str]) -> bytes:
    name = "" if function.name in library else base_name(function.name)
    # The recursion is at most 100 levels deep, the limit of protobuf for nested messages.
    inside = [key.encode() + b"=" + canonical_bytes(function.attr[key], library)[0] for key in sorted(function.attr)]
    return b"f" + name.encode("utf-8", "surrogatepass") + b"{" + b";".join(inside) + b"}"


def _steady_bytes(text: bytes) -> bytes:
    """Return a string without counters and UUIDs of a process.

    >>> (
    ...     _steady_bytes(b"_temp_0123456789abcdef0123456789abcdef/part"),
    ...     _steady_bytes(b"__inference_f_12"),
    ...     _steady_bytes(b"SAME"),
    ... )
    (b'*', b'__inference_f', b'SAME')
    """
    return NUMBER_AT_END.sub(b"", text) if TRACED_NAME.match(text) else TEMPORARY_NAME.sub(b"*", text)


def tensor_kind(tensor: TensorProto) -> bytes:
    """Return the dtype and the shape of a tensor as bytes."""
    return b"t%d:" % tensor.dtype + tensor.tensor_shape.SerializeToString(deterministic=True)


def tensor_payload(tensor: TensorProto) -> bytes:
    """Return a hash of the numbers of a tensor, however they are stored."""
    if tensor.string_val and not tensor.tensor_content:
        return b"%x" % word_hash(b"\0".join(_steady_bytes(text) for text in tensor.string_val))
    elements = stored_elements(tensor)
    if elements is None:
        return b"%x" % word_hash(tensor.tensor_content or tensor.SerializeToString(deterministic=True))
    return b"%x" % word_hash(_shortest_payload(tensor, elements))


def _shortest_payload(tensor: TensorProto, elements: np.ndarray) -> bytes:
    """Return the bytes of all numbers. For more than `MAX_EXPANDED_NUMBERS`, repetitions of the last number are
    replaced by the total count, since a few bytes may mean millions of numbers.

    >>> from graphviz_tb.proto import TensorProto
    >>> short = TensorProto(dtype=4, tensor_shape={"dim": [{"size": 9000}]}, int_val=[7, 8])
    >>> _shortest_payload(short, stored_elements(short))
    b'\\x07\\x08 9000'
    """
    count = claimed_element_count(tensor)
    if tensor.tensor_content:
        count = len(elements)
        if len(tensor.tensor_content) % elements.itemsize:  # damaged
            return tensor.tensor_content
    if max(count, len(elements)) <= MAX_EXPANDED_NUMBERS:
        return pad_with_last(elements, count).tobytes()
    if not len(elements):
        elements = np.zeros(1, elements.dtype)
    bits = elements.view(f"V{elements.itemsize}")  # as bits, NaN is equal to itself
    unlike = bits[::-1] != bits[-1]
    repeated = int(np.argmax(unlike)) if unlike.any() else len(bits)
    kept, total = len(bits) - repeated + 1, max(count, len(bits))
    return bits[:kept].tobytes() + (b" %d" % total if kept < total else b"")


def tensor_numbers(tensor: TensorProto) -> Any:
    """Return the numbers of a small tensor, a number for a scalar, else a list; `tensor_text` for large tensors and
    strings.

    >>> from graphviz_tb.proto import TensorProto
    >>> tensor_numbers(TensorProto(dtype=1, float_val=[0.1]))
    0.1
    >>> tensor_numbers(TensorProto(dtype=14, tensor_shape={"dim": [{"size": 2}]}, half_val=[0x3F80, 0x4000]))
    [1.0, 2.0]
    """
    count = claimed_element_count(tensor)
    if not 0 <= count <= MAX_SHOWN_NUMBERS:
        return tensor_text(tensor)
    elements = stored_elements(tensor, count)
    if elements is None:
        return tensor_text(tensor)
    if not tensor.tensor_content:
        elements = pad_with_last(elements, count)
    numbers = [tidy_number(number) for number in decode_elements(elements, tensor.dtype).tolist()]
    if not numbers and count:
        return tensor_text(tensor)
    return numbers if tensor.tensor_shape.dim else numbers[0]


def tidy_number(number: Any) -> Any:
    """Return a number rounded to the seven digits of a float32; a complex number as text, since JSON has none."""
    if isinstance(number, complex):
        return f"{number:.7g}"
    return float(f"{number:.7g}") if isinstance(number, float) else number


def plain_value(value: AttrValue) -> Any:
    """Return a value as plain JSON.

    >>> from graphviz_tb.proto import AttrValue
    >>> plain_value(AttrValue(type=1)), plain_value(AttrValue(list={"i": [1, 2]})), plain_value(AttrValue(s=b"SAME"))
    ('float32', [1, 2], 'SAME')
    >>> plain_value(AttrValue(shape={"dim": [{"size": -1}, {"size": 3}]}))
    '?×3'
    """
    which = value.WhichOneof("value")
    if which is None:
        return None
    if which == "list":
        return [_plain_item(kind.name, item) for kind, items in value.list.ListFields() for item in items]
    return _plain_item(which, getattr(value, which))


def _plain_item(kind: str, item: Any) -> Any:
    if kind == "type":
        return dtype_label(item)
    if kind == "shape":
        return shape_proto_text(item)
    if kind == "s":
        return item.decode("utf-8", "backslashreplace")
    if kind == "tensor":
        return tensor_text(item)
    if kind == "func":
        return base_name(item.name)
    if kind == "f":
        return float(f"{item:.7g}")
    return item


def tensor_text(tensor: TensorProto) -> str:
    """Return the dtype, the shape and a hash of the numbers of a tensor as text; a scalar as its number."""
    word = f"{dtype_label(tensor.dtype)} {shape_proto_text(tensor.tensor_shape)}"
    elements = None if tensor.tensor_shape.dim else stored_elements(tensor, 2)
    if elements is not None and len(elements) == 1:
        number = decode_elements(elements, tensor.dtype)[0]
        return f"{word} {number:.7g}" if isinstance(number, np.inexact | float) else f"{word} {number}"
    return f"{word} #{tensor_payload(tensor).decode()[:8]}"


def fingerprint(value: Any) -> str:
    """Return a text that identifies a plain value: its JSON, or a hash of the JSON if that is long.

    >>> fingerprint({"b": 1, "a": ["x"]})
    '{"a": ["x"], "b": 1}'
    >>> len(fingerprint(["x" * 1000] * 1001))
    32
    """
    if count_letters(value) <= MAX_ACCOUNT_LETTERS:
        return json.dumps(value, sort_keys=True, default=str)
    hashed = blake2b(digest_size=16)
    for part in json.JSONEncoder(sort_keys=True, default=str).iterencode(value):
        hashed.update(part.encode())
    return hashed.hexdigest()


def count_letters(value: Any) -> int:
    """Return the total length of all strings in plain values.

    >>> count_letters({"old": "abc", "links": [{"node": "de"}, None, 7]})
    17
    """
    total, todo = 0, [value]
    while todo:
        one = todo.pop()
        if isinstance(one, str):
            total += len(one)
        elif isinstance(one, dict):
            todo += one.keys()
            todo += one.values()
        elif isinstance(one, list | tuple):
            todo += one
    return total
