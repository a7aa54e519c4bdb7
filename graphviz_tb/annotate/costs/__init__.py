"""Costs of ops, from their shapes.

formulas.py     operations of each op type, by the table of ops
weights.py      parameters, and the op at which each counts
sums.py         every op of a graph; calls by the cost of their functions
"""

from __future__ import annotations

from graphviz_tb.annotate.costs.totals import (
    hierarchy_costs,
    main_costs_by_name,
    operation_costs_by_node,
    weight_costs_by_node,
)

__all__ = ["hierarchy_costs", "main_costs_by_name", "operation_costs_by_node", "weight_costs_by_node"]
