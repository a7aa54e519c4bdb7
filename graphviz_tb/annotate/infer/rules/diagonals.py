"""Diagonals of matrices: extracted, set, or expanded to matrices."""

from __future__ import annotations

from graphviz_tb.annotate.infer.op import Op, Rule, RuleResult
from graphviz_tb.annotate.infer.values import merge


def diagonal_part(op: Op) -> RuleResult:
    """`DiagPart`: the first half of the dimensions."""
    shape = op.shape(0)
    if shape is None or len(shape) % 2:
        return [None]
    return [merge(shape[: len(shape) // 2], shape[len(shape) // 2 :])]


def matrix_diagonals(op: Op) -> RuleResult:
    """`MatrixDiagV2`: one diagonal `k` above the main one, in a matrix of the stated or the minimal size."""
    shape, above, rows, columns = op.shape(0), op.number(1), op.number(2), op.number(3)
    if not shape or above is None or rows is None or columns is None:
        return [None]
    down, right = (op.symbols.calc("add", shape[-1], max(way, 0)) for way in (-above, above))
    if rows == columns == -1:
        down = right = down if above < 0 else right
    return [(*shape[:-1], down if rows == -1 else rows, right if columns == -1 else columns)]


def matrix_diagonal_part(op: Op) -> RuleResult:
    """`MatrixDiagPart`: the smaller of the last two dimensions."""
    shape = op.shape(0)
    return [None if shape is None or len(shape) < 2 else (*shape[:-2], op.symbols.calc("min", *shape[-2:]))]


DIAGONAL_RULES: dict[str, Rule] = {
    "DiagPart": diagonal_part,
    "MatrixDiagV2": matrix_diagonals,
    "MatrixDiagV3": matrix_diagonals,
    "MatrixDiagPart": matrix_diagonal_part,
    "BatchMatrixDiagPart": matrix_diagonal_part,
}
