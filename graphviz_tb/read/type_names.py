"""Names of dtypes in signatures."""

from __future__ import annotations

from graphviz_tb.proto import DataType


def signature_dtype_name(number: int) -> str:
    """Return the name of a dtype in the enum `DataType`, in small letters: that of float32 is "float".

    >>> signature_dtype_name(1), signature_dtype_name(9), signature_dtype_name(777)
    ('float', 'int64', 'type 777')
    """
    try:
        return DataType.Name(number).removeprefix("DT_").lower()
    except ValueError:
        return f"type {number}"
