"""Shape rules of ops that no signature describes, in modules that are imported when a graph has such an op.

A rule returns the outputs in order: shapes, or an `Out` where a handle holds a value. The table of ops
(`ops/ops.tsv`, column `shape`) says `rule(arrays)` of an op whose rule is in `RULES` of the module `arrays`.
"""

from __future__ import annotations

from importlib import import_module

from graphviz_tb.annotate.infer.op import ShapeRule


def rules_of_module(name: str) -> dict[str, ShapeRule]:
    """Return the rules in a module of this folder, by op type."""
    rules: dict[str, ShapeRule] = import_module(f"{__name__}.{name}").RULES
    return rules
