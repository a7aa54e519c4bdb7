"""Types of tensors: number, name, memory layout of an element, and the proto field that lists elements one by one."""

from __future__ import annotations

from typing import NamedTuple


class Dtype(NamedTuple):
    """A row of the table: `size` is the bytes of an element (0 if it is not a plain number), `form` the numpy type of
    the elements in `tensor_content` ("" if they are not numbers; the type of the bits if numpy lacks the type), `field`
    the field of `TensorProto` that lists them one by one."""

    name: str
    size: int
    form: str
    field: str


# types.proto: DataType. Integers that fit into 32 bits are in `int_val`.
DTYPES = {
    1: Dtype("float32", 4, "<f4", "float_val"),
    2: Dtype("float64", 8, "<f8", "double_val"),
    3: Dtype("int32", 4, "<i4", "int_val"),
    4: Dtype("uint8", 1, "u1", "int_val"),
    5: Dtype("int16", 2, "<i2", "int_val"),
    6: Dtype("int8", 1, "i1", "int_val"),
    7: Dtype("string", 0, "", "string_val"),
    8: Dtype("complex64", 8, "<c8", "scomplex_val"),
    9: Dtype("int64", 8, "<i8", "int64_val"),
    10: Dtype("bool", 1, "?", "bool_val"),
    11: Dtype("qint8", 1, "i1", "int_val"),
    12: Dtype("quint8", 1, "u1", "int_val"),
    13: Dtype("qint32", 4, "<i4", "int_val"),
    14: Dtype("bfloat16", 2, "<u2", "half_val"),
    15: Dtype("qint16", 2, "<i2", "int_val"),
    16: Dtype("quint16", 2, "<u2", "int_val"),
    17: Dtype("uint16", 2, "<u2", "int_val"),
    18: Dtype("complex128", 16, "<c16", "dcomplex_val"),
    19: Dtype("float16", 2, "<u2", "half_val"),
    20: Dtype("resource", 0, "", "resource_handle_val"),
    21: Dtype("variant", 0, "", "variant_val"),
    22: Dtype("uint32", 4, "<u4", "uint32_val"),
    23: Dtype("uint64", 8, "<u8", "uint64_val"),
    24: Dtype("float8_e5m2", 1, "u1", "float8_val"),
    25: Dtype("float8_e4m3fn", 1, "u1", "float8_val"),
    29: Dtype("int4", 1, "i1", "int_val"),
    30: Dtype("uint4", 1, "u1", "int_val"),
}
SIZES = {dtype.name: dtype.size for dtype in DTYPES.values()}
INDEXING = frozenset(
    {"int32", "int64", "bool"}
)  # of indices, sizes and masks; smaller ones hold images, quantised values
NO_WHOLE = frozenset(  # types whose elements are not integers
    each.name for each in DTYPES.values() if not each.form or "float" in each.name or "complex" in each.name
)
STRING, RESOURCE, VARIANT = 7, 20, 21  # numbers of `DataType`
REFERENCE = 100  # added to the number where TensorFlow 1 passes the variable itself (`DT_FLOAT_REF` is 101)


def dtype_name(number: int) -> str:
    """Return the name of a type, "" for an unknown number; references have the name of the type they refer to.

    >>> dtype_name(1), dtype_name(101), dtype_name(0)
    ('float32', 'float32', '')
    """
    dtype = DTYPES.get(number - REFERENCE if number > REFERENCE else number)
    return dtype.name if dtype else ""


def dtype_word(number: int) -> str:
    """Return a type as shown to people.

    >>> dtype_word(1), dtype_word(101), dtype_word(77)
    ('float32', 'float32_ref', 'type 77')
    """
    name = dtype_name(number)
    if not name:
        return f"type {number}"
    return f"{name}_ref" if number > REFERENCE else name


def element_size(name: str) -> int:
    """Return the bytes of an element; 4 for an unknown type, as most have.

    >>> element_size("bfloat16"), element_size("string"), element_size("")
    (2, 0, 4)
    """
    return SIZES.get(name, 4)
