"""The names of types, as signatures have them."""

from __future__ import annotations

from graphviz_tb.proto import DataType


def dtype_name(number: int) -> str:
    """The name of a type as it is spoken: float32's is "float".

    >>> dtype_name(1), dtype_name(9), dtype_name(777)
    ('float', 'int64', 'type 777')
    """
    try:
        return DataType.Name(number).removeprefix("DT_").lower()
    except ValueError:
        return f"type {number}"
