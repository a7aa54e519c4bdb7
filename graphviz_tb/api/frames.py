"""Rows as data frames of pandas and of polars, where these are installed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from graphviz_tb.errors import ToolMissing
from graphviz_tb.extras import install_line

if TYPE_CHECKING:
    import pandas
    import polars


def pandas_frame(rows: Iterable[Sequence[Any]], columns: Sequence[str]) -> pandas.DataFrame:
    """Return rows as a `pandas.DataFrame`. Raises `ToolMissing` where pandas is not installed."""
    try:
        import pandas as pd
    except ModuleNotFoundError:
        raise ToolMissing("a table needs pandas", hint=install_line("pandas")) from None

    return pd.DataFrame([tuple(row) for row in rows], columns=list(columns))


def polars_frame(rows: Iterable[Sequence[Any]], columns: Sequence[str]) -> polars.DataFrame:
    """Return rows as a `polars.DataFrame`; a shape is a list. Raises `ToolMissing` where polars is not installed."""
    try:
        import polars as pl
    except ModuleNotFoundError:
        raise ToolMissing("a table needs polars", hint=install_line("polars")) from None

    table = [[list(value) if isinstance(value, tuple) else value for value in row] for row in rows]
    return pl.DataFrame(table, schema=list(columns), orient="row", infer_schema_length=None, strict=False)
