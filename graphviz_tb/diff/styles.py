"""The styles of a report, and the suffixes of the files that are reports."""

from __future__ import annotations

from typing import Literal, get_args

ReportStyle = Literal["text", "json", "markdown"]

STYLES: tuple[ReportStyle, ...] = get_args(ReportStyle)
REPORTS: dict[str, ReportStyle] = {".json": "json", ".md": "markdown", ".txt": "text"}
