"""Custom chart layouts for a page or a server."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from graphviz_tb.model.custom import CustomCategory


def custom_charts_values(categories: Iterable[CustomCategory]) -> dict[str, Any]:
    """Return `categories`, each with `title`, `closed` and `charts`; a chart has `title`, `tags` and `margins`."""
    return {
        "categories": [
            {
                "title": category.title,
                "closed": category.closed,
                "charts": [
                    {"title": chart.title, "tags": chart.tags, "margins": chart.margins} for chart in category.charts
                ],
            }
            for category in categories
        ]
    }
