"""Write a folded graph as one file that opens in a browser, with every group that can be opened.

open sets ─ rows ─ levels ─ colours ─ cards ─ blocks ─ document
"""

from __future__ import annotations

from graphviz_tb.page.build import html

__all__ = ["html"]
