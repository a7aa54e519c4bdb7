"""Charts that a training laid out itself, as a page holds them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from graphviz_tb.model.custom import CustomCategory


def custom_told(categories: Iterable[CustomCategory]) -> dict[str, Any]:
    """`categories`, each with `title`, `closed` and `charts`; a chart has `title`, `tags` and `margins`."""
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
