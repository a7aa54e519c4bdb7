"""Costs of ops, from their shapes.

formulas.py     operations of each op type, by the table of ops
layers.py       operations of each Keras class, as the ops that a layer runs
loops.py        ops that run, and the number of rounds of their loops
totals.py       every op and weight of a graph (../weights.py); calls by the cost of their functions
"""

from __future__ import annotations

from graphviz_tb.annotate.costs.totals import (
    CostSummer,
    hierarchy_costs,
    main_costs_by_name,
    weight_costs_by_node,
)

__all__ = ["CostSummer", "hierarchy_costs", "main_costs_by_name", "weight_costs_by_node"]
