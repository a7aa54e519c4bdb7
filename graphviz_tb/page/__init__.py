"""page: a folded graph becomes one file that opens in a browser, with everything in it that can be opened.

open sets ─ rows ─ levels ─ colours ─ cards ─ blocks ─ document
"""

from __future__ import annotations

from graphviz_tb.page.build import html

__all__ = ["html"]
