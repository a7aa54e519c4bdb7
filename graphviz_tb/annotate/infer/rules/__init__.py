"""Shape rules of ops that no signature describes, in families that are imported when a graph has such an op.

A rule returns the outputs in order: shapes, or an `Out` where a handle holds a value. The table of ops
(`ops/ops.tsv`, column `shape`) says `rule(arrays)` of an op whose rule is in the family "arrays".
"""

from __future__ import annotations

from collections.abc import Callable

from graphviz_tb.annotate.infer.op import ShapeRule

RuleFamilies = dict[str, dict[str, ShapeRule]]  # by name of the family, then by op type


def rule_of_family(family: str, op: str) -> ShapeRule:
    """Return the rule of an op from its family.

    >>> callable(rule_of_family("arrays", "Pack"))
    True
    """
    return FAMILY_LOADERS[family]()[family][op]


def _load_array_rules() -> RuleFamilies:
    from graphviz_tb.annotate.infer.rules.arrays import ARRAY_RULES, BLOCK_RULES, DIAGONAL_RULES, INDEXING_RULES

    return {
        "arrays": ARRAY_RULES,
        "blocks": BLOCK_RULES,
        "diagonals": DIAGONAL_RULES,
        "indexing": INDEXING_RULES,
    }


def _load_network_rules() -> RuleFamilies:
    from graphviz_tb.annotate.infer.rules.networks import CONVOLUTION_RULES, GRADIENT_RULES, IMAGE_RULES, NETWORK_RULES

    return {
        "convolutions": CONVOLUTION_RULES,
        "gradients": GRADIENT_RULES,
        "images": IMAGE_RULES,
        "networks": NETWORK_RULES,
    }


def _load_math_rules() -> RuleFamilies:
    from graphviz_tb.annotate.infer.rules.numeric import (
        ELEMENTWISE_RULES,
        MATRIX_RULES,
        QUANTIZED_RULES,
        RANDOM_RULES,
        REDUCTION_RULES,
        SPARSE_RULES,
    )

    return {
        "elementwise": ELEMENTWISE_RULES,
        "matrices": MATRIX_RULES,
        "quantized": QUANTIZED_RULES,
        "random": RANDOM_RULES,
        "reductions": REDUCTION_RULES,
        "sparse": SPARSE_RULES,
    }


def _load_state_rules() -> RuleFamilies:
    from graphviz_tb.annotate.infer.rules.state import CALL_RULES, LIST_RULES, RECORD_RULES, STATE_RULES

    return {
        "calls": CALL_RULES,
        "lists": LIST_RULES,
        "records": RECORD_RULES,
        "state": STATE_RULES,
    }


def _load_onnx_rules() -> RuleFamilies:
    from graphviz_tb.annotate.infer.rules.onnx import ONNX_RULES

    return {"onnx": ONNX_RULES}


FAMILY_LOADERS: dict[str, Callable[[], RuleFamilies]] = {
    **dict.fromkeys(("arrays", "blocks", "diagonals", "indexing"), _load_array_rules),
    **dict.fromkeys(("convolutions", "gradients", "images", "networks"), _load_network_rules),
    **dict.fromkeys(("elementwise", "matrices", "quantized", "random", "reductions", "sparse"), _load_math_rules),
    **dict.fromkeys(("calls", "lists", "records", "state"), _load_state_rules),
    "onnx": _load_onnx_rules,
}
