"""Ops whose shapes no signature can say: a function each, in modules by families, imported when a graph has such an op.

A rule gives the outputs in order: shapes, or `Out` where a handle holds something. The table of ops
(`ops/ops.tsv`, column `shape`) says `rule(arrays)` of an op whose rule is in `arrays.py`.
"""

from __future__ import annotations

from importlib import import_module

from graphviz_tb.annotate.infer.op import Rule


def rule_in(family: str, op: str) -> Rule:
    """Return the rule of an op from the module of its family.

    >>> rule_in("arrays", "Pack").__name__
    'pack'
    """
    rules: dict[str, Rule] = import_module(f"{__name__}.{family}").RULES
    return rules[op]
