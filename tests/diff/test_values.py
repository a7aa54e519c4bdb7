"""Numbers in tensors count the same however they are written: packed, listed, or the last one standing for the rest."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from graphviz_tb.annotate.infer.constant_folding import _constant_elements
from graphviz_tb.diff import diff
from graphviz_tb.diff.columns.values import tensor_numbers, tensor_payload, tensor_text
from graphviz_tb.proto import GraphDef, TensorProto
from graphviz_tb.words.attributes import _tensor_value_text as card_word
from tests.each import each

# DataType in types.proto: how numpy calls it, and the field of TensorProto that lists its numbers.
TYPES = {
    "DT_FLOAT": (1, "<f4", "float_val"),
    "DT_DOUBLE": (2, "<f8", "double_val"),
    "DT_INT32": (3, "<i4", "int_val"),
    "DT_UINT8": (4, "u1", "int_val"),
    "DT_INT16": (5, "<i2", "int_val"),
    "DT_INT8": (6, "i1", "int_val"),
    "DT_INT64": (9, "<i8", "int64_val"),
    "DT_BOOL": (10, "?", "bool_val"),
    "DT_QINT8": (11, "i1", "int_val"),
    "DT_QUINT8": (12, "u1", "int_val"),
    "DT_QINT32": (13, "<i4", "int_val"),
    "DT_UINT16": (17, "<u2", "int_val"),
    "DT_HALF": (19, "<f2", "half_val"),
    "DT_UINT32": (22, "<u4", "uint32_val"),
    "DT_UINT64": (23, "<u8", "uint64_val"),
}


def tensor(dtype: int, sizes: list[int], **held: Any) -> TensorProto:
    return TensorProto(dtype=dtype, tensor_shape={"dim": [{"size": size} for size in sizes]}, **held)


def listed(form: str, values: list[int]) -> list[Any]:
    """As `half_val` lists them: float16 as its bits."""
    return np.array(values, form).view("<u2").tolist() if form == "<f2" else values


@each("name", TYPES)
def test_packed_and_listed_are_the_same(name: str) -> None:
    dtype, form, field = TYPES[name]
    values = [1, 0, 1] if form == "?" else [1, 2, 3]
    packed = tensor(dtype, [3], tensor_content=np.array(values, form).tobytes())
    apart = tensor(dtype, [3], **{field: listed(form, values)})
    other = tensor(dtype, [3], **{field: listed(form, [values[0], values[0], values[2]])})
    assert tensor_payload(packed) == tensor_payload(apart) != tensor_payload(other)
    assert tensor_numbers(packed) == tensor_numbers(apart) == values


@each("name", TYPES)
def test_the_last_number_is_all_that_follow(name: str) -> None:
    dtype, form, field = TYPES[name]
    short = tensor(dtype, [2, 2], **{field: listed(form, [0, 1])})
    assert tensor_payload(short) == tensor_payload(tensor(dtype, [2, 2], **{field: listed(form, [0, 1, 1, 1])}))
    assert tensor_numbers(short) == [0, 1, 1, 1]
    assert tensor_payload(tensor(dtype, [2])) == tensor_payload(tensor(dtype, [2], **{field: listed(form, [0, 0])}))


def test_bfloat16_is_shown_as_its_numbers() -> None:
    one, two = 0x3F80, 0x4000
    packed = tensor(14, [2], tensor_content=np.array([one, two], "<u2").tobytes())
    assert (
        tensor_payload(packed)
        == tensor_payload(tensor(14, [2], half_val=[one, two]))
        != tensor_payload(tensor(14, [2], half_val=[one]))
    )
    assert tensor_numbers(packed) == [1.0, 2.0]
    assert tensor_text(tensor(14, [], half_val=[two])) == "bfloat16 scalar 2"


def test_a_setting_in_bfloat16_changes_from_number_to_number() -> None:
    # x ─▶ mul ◀─ rate
    def of(rate: int) -> GraphDef:
        made = GraphDef()
        made.node.add(name="x", op="Placeholder")
        made.node.add(name="rate", op="Const").attr["value"].tensor.CopyFrom(tensor(14, [], half_val=[rate]))
        made.node.add(name="mul", op="Mul", input=["x", "rate"])
        return made

    (change,) = diff(of(0x3F80), of(0x4000)).items
    assert (change.detail["old"], change.detail["new"]) == (1.0, 2.0)


@pytest.mark.parametrize(("dtype", "field"), [(8, "scomplex_val"), (18, "dcomplex_val")])
def test_complex_numbers_are_written_as_text(dtype: int, field: str) -> None:
    listed = tensor(dtype, [2], **{field: [1, 2, 0, -1]})
    form = "<c8" if dtype == 8 else "<c16"
    assert tensor_numbers(listed) == ["1+2j", "0-1j"]
    assert tensor_payload(listed) == tensor_payload(
        tensor(dtype, [2], tensor_content=np.array([1 + 2j, 0 - 1j], form).tobytes())
    )
    assert len({tensor_payload(tensor(dtype, [9000], **{field: [1, part]})) for part in (1, 2)}) == 2


@pytest.mark.parametrize("dtype", [24, 25])
def test_float8_is_shown_as_its_numbers(dtype: int) -> None:
    one, half = (0x3C, 0x38) if dtype == 24 else (0x38, 0x30)
    assert tensor_numbers(tensor(dtype, [2], float8_val=bytes([one, half]))) == [1.0, 0.5]
    assert tensor_numbers(tensor(dtype, [3], float8_val=bytes([one]))) == [1.0] * 3
    assert tensor_numbers(tensor(dtype, [], tensor_content=bytes([one | 0x80]))) == -1.0


@pytest.mark.parametrize("dtype", [*range(31), 101, 999])
def test_a_damaged_tensor_has_a_word(dtype: int) -> None:
    damaged = [
        tensor(dtype, [-1], tensor_content=b"\1\2\3"),
        tensor(dtype, [-1, -5], int_val=[300, -70000], half_val=[1 << 30], float_val=[1e30]),
        tensor(dtype, [1 << 62, 1 << 62], bool_val=[True]),
        tensor(dtype, [1] * 300, scomplex_val=[1], dcomplex_val=[1]),
        tensor(dtype, [2], string_val=[b"\xff"], float8_val=b"\1"),
    ]
    for one in damaged:
        assert tensor_text(one)
        assert tensor_payload(one)
        assert card_word(one)
        _constant_elements(one)
        tensor_numbers(one)


@each("name", TYPES)
def test_bytes_that_end_in_part_of_a_number_are_no_fault(name: str) -> None:
    dtype, form, _ = TYPES[name]
    short = b"\1" * (np.dtype(form).itemsize - 1)
    scalar = TensorProto(dtype=dtype, tensor_content=short)
    assert isinstance(tensor_text(scalar), str)
    if short:
        assert isinstance(tensor_numbers(scalar), str)  # it has no number to show


def test_what_only_claims_to_be_large_is_not_written_out() -> None:
    # 200 tensors of 30 bytes that say they hold 16 million numbers each: 12.8 GB
    large = [tensor(1, [1 << 12, 1 << 12], float_val=[at]) for at in range(200)]
    assert len({tensor_payload(one) for one in large}) == 200
    assert tensor_payload(large[0]) != tensor_payload(tensor(1, [1 << 12, 1 << 11], float_val=[0]))
    assert isinstance(tensor_numbers(large[0]), str)


def test_numbers_that_differ_before_equal_ones_differ() -> None:
    one, other = ([*first, 5.0, 5.0, 5.0] for first in ([1.0], [2.0]))
    assert tensor_payload(tensor(1, [4], float_val=one)) != tensor_payload(tensor(1, [4], float_val=other))
    nan = float("nan")
    assert tensor_payload(tensor(1, [3], float_val=[nan])) == tensor_payload(tensor(1, [3], float_val=[nan, nan, nan]))


@pytest.mark.parametrize("count", [4096, 4097, 100_000])
def test_a_large_tensor_is_the_same_packed_and_as_one_number(count: int) -> None:
    packed = tensor(1, [count], tensor_content=np.full(count, 2.5, "<f4").tobytes())
    assert tensor_payload(packed) == tensor_payload(tensor(1, [count], float_val=[2.5]))
    assert tensor_payload(packed) == tensor_payload(tensor(1, [count], float_val=[2.5] * 7))
    assert tensor_payload(packed) != tensor_payload(tensor(1, [count + 1], float_val=[2.5]))
    assert tensor_payload(tensor(1, [0])) != tensor_payload(tensor(1, [1]))
