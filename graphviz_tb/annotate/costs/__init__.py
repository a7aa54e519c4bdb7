"""What ops cost, from their shapes.

parameters.py   which variables and constants are weights, and how large they are
rules.py        operations of each op type
roles.py        forward, gradient or optimizer
sums.py         every op of a graph; calls by what their functions do
"""

from __future__ import annotations

from graphviz_tb.annotate.costs.sums import costs_by_name, costs_by_node, costs_of

__all__ = ["costs_by_name", "costs_by_node", "costs_of"]
