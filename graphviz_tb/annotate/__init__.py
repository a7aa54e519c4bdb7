"""Facts about nodes and tensors: shapes, dtypes, devices, run statistics. Decoded when something is shown."""

from __future__ import annotations

from graphviz_tb.annotate.run_metadata import StatsOptions, join_statistics
from graphviz_tb.annotate.shapes import single_calls, tensors_of
from graphviz_tb.annotate.tops import Account, account, library
from graphviz_tb.model.facts import Facts
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.stats import Stats

__all__ = ["Account", "Stats", "StatsOptions", "account", "annotate", "join_statistics", "library"]


def annotate(hierarchy: Hierarchy, stats: Stats | None = None) -> Facts:
    """The facts of a hierarchy's graph, with the run statistics if some were joined. Nothing else is decoded yet."""
    graph = hierarchy.graph
    calls = single_calls(graph)
    return Facts(graph, lambda node: tensors_of(graph, node, calls), stats=stats)
