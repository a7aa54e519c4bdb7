"""Build views: which groups are open, and every text that the picture shows."""

from __future__ import annotations

from graphviz_tb.view.build import build_view
from graphviz_tb.view.node_labels import NodeLabels
from graphviz_tb.view.opening import open_groups
from graphviz_tb.view.repeats import quiet_rows
from graphviz_tb.view.select import RowFinder
from graphviz_tb.view.words import facts_line

__all__ = ["NodeLabels", "RowFinder", "build_view", "facts_line", "open_groups", "quiet_rows"]
