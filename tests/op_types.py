"""The op types that rules are written for."""

from __future__ import annotations

from graphviz_tb.annotate.costs.formulas import cost_rule
from graphviz_tb.annotate.infer.signatures import shape_rule_for
from graphviz_tb.ops.table import OP_LINES


def op_types_with_shape_rules() -> list[str]:
    return sorted(op for op in OP_LINES if shape_rule_for(op) is not None)


def op_types_with_costs() -> list[str]:
    return sorted(op for op in OP_LINES if cost_rule(op) is not None)
