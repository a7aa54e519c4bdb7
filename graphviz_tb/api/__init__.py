"""The Python API besides `Model` and `Picture`: nodes, groups and sequences of them."""

from __future__ import annotations

from graphviz_tb.api.nodes import Node, NodeList, layer_table

__all__ = ["Node", "NodeList", "layer_table"]
