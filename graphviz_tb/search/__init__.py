"""The language of search: of `tbgraph find`, `model.find`, the server, and, as `viewer/query.js`, of the page."""

from __future__ import annotations

from graphviz_tb.search.language import Query, has_regex, parse
from graphviz_tb.search.rows import SearchedRows, matching

__all__ = ["Query", "SearchedRows", "has_regex", "matching", "parse"]
