"""From names to views: which groups are open, what each box shows, in which order the levels are drawn."""

from __future__ import annotations

from graphviz_tb.view.build import build_view
from graphviz_tb.view.opening import open_groups
from graphviz_tb.view.select import Names

__all__ = ["Names", "build_view", "open_groups"]
