"""A flat graph with its interpretation: what the stages from `group` on are given."""

from __future__ import annotations

from collections.abc import Mapping

from graphviz_tb import flatten as stage
from graphviz_tb.interpret import interpret
from graphviz_tb.model.graph import Graph
from graphviz_tb.model.layers import Layer
from graphviz_tb.options import FlattenOptions
from graphviz_tb.proto import GraphDef


def flatten(
    graph_def: GraphDef, options: FlattenOptions | None = None, layers: Mapping[str, Layer] | None = None
) -> Graph:
    """Flatten a graph and interpret it."""
    options = options or FlattenOptions()
    return interpret(stage.flatten(graph_def, options, layers or {}), options)
