"""Ops whose shapes no signature of the table says (`ops/ops.tsv`, `infer/signatures.py`): a function each.

A rule gives the outputs in order: shapes, or `Out` where a handle holds something. An op without a rule gives nothing.
"""

from __future__ import annotations

from graphviz_tb.annotate.infer.op import Rule
from graphviz_tb.annotate.infer.rules import (
    arrays,
    blocks,
    calls,
    convolutions,
    diagonals,
    elementwise,
    gradients,
    images,
    indexing,
    lists,
    matrices,
    networks,
    quantized,
    random,
    records,
    reductions,
    sparse,
    state,
)

FAMILIES = (
    elementwise,
    reductions,
    arrays,
    blocks,
    indexing,
    matrices,
    diagonals,
    convolutions,
    networks,
    gradients,
    state,
    lists,
    random,
    images,
    records,
    sparse,
    quantized,
    calls,
)
RULES: dict[str, Rule] = {op: rule for family in FAMILIES for op, rule in family.RULES.items()}
