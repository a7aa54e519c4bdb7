"""The styles of a report, and the suffixes of the files that are reports."""

from __future__ import annotations

from typing import Literal, get_args

Style = Literal["text", "json", "markdown"]

STYLES: tuple[Style, ...] = get_args(Style)
REPORTS: dict[str, Style] = {".json": "json", ".md": "markdown", ".txt": "text"}
