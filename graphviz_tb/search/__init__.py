"""The query language of `tbgraph find`, `model.find`, the server, and (as `viewer/query.js`) of the page."""

from __future__ import annotations

from graphviz_tb.search.language import Assertion, Query, parse_assertion, parse_query
from graphviz_tb.search.rows import BoundedRows, SearchedRows, match_row_bounds, match_rows

__all__ = [
    "Assertion",
    "BoundedRows",
    "Query",
    "SearchedRows",
    "match_row_bounds",
    "match_rows",
    "parse_assertion",
    "parse_query",
]
