"""Types of tensors: number, name, memory layout of an element, and the proto field that lists elements one by one."""

from __future__ import annotations

from typing import NamedTuple


class DtypeRow(NamedTuple):
    """A row of the table: `size` is the bytes of an element (0 if it is not a plain number), `form` the numpy type of
    the elements in `tensor_content` ("" if they are not numbers; the type of the bits if numpy lacks the type), `field`
    the field of `TensorProto` that lists them one by one."""

    name: str
    size: int
    form: str
    field: str


# types.proto: DataType. Integers that fit into 32 bits are in `int_val`.
DTYPE_TABLE = {
    1: DtypeRow("float32", 4, "<f4", "float_val"),
    2: DtypeRow("float64", 8, "<f8", "double_val"),
    3: DtypeRow("int32", 4, "<i4", "int_val"),
    4: DtypeRow("uint8", 1, "u1", "int_val"),
    5: DtypeRow("int16", 2, "<i2", "int_val"),
    6: DtypeRow("int8", 1, "i1", "int_val"),
    7: DtypeRow("string", 0, "", "string_val"),
    8: DtypeRow("complex64", 8, "<c8", "scomplex_val"),
    9: DtypeRow("int64", 8, "<i8", "int64_val"),
    10: DtypeRow("bool", 1, "?", "bool_val"),
    11: DtypeRow("qint8", 1, "i1", "int_val"),
    12: DtypeRow("quint8", 1, "u1", "int_val"),
    13: DtypeRow("qint32", 4, "<i4", "int_val"),
    14: DtypeRow("bfloat16", 2, "<u2", "half_val"),
    15: DtypeRow("qint16", 2, "<i2", "int_val"),
    16: DtypeRow("quint16", 2, "<u2", "int_val"),
    17: DtypeRow("uint16", 2, "<u2", "int_val"),
    18: DtypeRow("complex128", 16, "<c16", "dcomplex_val"),
    19: DtypeRow("float16", 2, "<u2", "half_val"),
    20: DtypeRow("resource", 0, "", "resource_handle_val"),
    21: DtypeRow("variant", 0, "", "variant_val"),
    22: DtypeRow("uint32", 4, "<u4", "uint32_val"),
    23: DtypeRow("uint64", 8, "<u8", "uint64_val"),
    24: DtypeRow("float8_e5m2", 1, "u1", "float8_val"),
    25: DtypeRow("float8_e4m3fn", 1, "u1", "float8_val"),
    29: DtypeRow("int4", 1, "i1", "int_val"),
    30: DtypeRow("uint4", 1, "u1", "int_val"),
}
ELEMENT_SIZES = {dtype.name: dtype.size for dtype in DTYPE_TABLE.values()}
INDEX_DTYPES = frozenset(
    {"int32", "int64", "bool"}
)  # of indices, sizes and masks; smaller ones hold images, quantised values
NON_INTEGER_DTYPES = frozenset(  # types whose elements are not integers
    each.name for each in DTYPE_TABLE.values() if not each.form or "float" in each.name or "complex" in each.name
)
STRING_DTYPE_NUMBER, RESOURCE_DTYPE_NUMBER, VARIANT_DTYPE_NUMBER = 7, 20, 21  # numbers of `DataType`
# added to the number where TensorFlow 1 passes the variable itself (`DT_FLOAT_REF` is 101)
REFERENCE_DTYPE_OFFSET = 100


def dtype_name(number: int) -> str:
    """Return the name of a type, "" for an unknown number; references have the name of the type they refer to.

    >>> dtype_name(1), dtype_name(101), dtype_name(0)
    ('float32', 'float32', '')
    """
    dtype = DTYPE_TABLE.get(number - REFERENCE_DTYPE_OFFSET if number > REFERENCE_DTYPE_OFFSET else number)
    return dtype.name if dtype else ""


def dtype_label(number: int) -> str:
    """Return a type as shown to people.

    >>> dtype_label(1), dtype_label(101), dtype_label(77)
    ('float32', 'float32_ref', 'type 77')
    """
    name = dtype_name(number)
    if not name:
        return f"type {number}"
    return f"{name}_ref" if number > REFERENCE_DTYPE_OFFSET else name


def element_size(name: str) -> int:
    """Return the bytes of an element; 4 for an unknown type, as most have.

    >>> element_size("bfloat16"), element_size("string"), element_size("")
    (2, 0, 4)
    """
    return ELEMENT_SIZES.get(name, 4)
