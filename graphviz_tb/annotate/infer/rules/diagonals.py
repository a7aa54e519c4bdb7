"""Diagonals of matrices: extracted, set, or expanded to matrices."""

from __future__ import annotations

from graphviz_tb.annotate.infer.op import Op, RuleResult, ShapeRule
from graphviz_tb.annotate.infer.values import merge_dims


def infer_diagonal_part(op: Op) -> RuleResult:
    """`DiagPart`: the first half of the dimensions."""
    shape = op.shape(0)
    if shape is None or len(shape) % 2:
        return [None]
    return [merge_dims(shape[: len(shape) // 2], shape[len(shape) // 2 :])]


def infer_matrix_diagonals(op: Op) -> RuleResult:
    """`MatrixDiagV2`: one diagonal `k` above the main one, in a matrix of the stated or the minimal size."""
    shape, above, rows, columns = op.shape(0), op.known_number(1), op.known_number(2), op.known_number(3)
    if not shape or above is None or rows is None or columns is None:
        return [None]
    down, right = (op.symbols.calculate("add", shape[-1], max(way, 0)) for way in (-above, above))
    if rows == columns == -1:
        down = right = down if above < 0 else right
    return [(*shape[:-1], down if rows == -1 else rows, right if columns == -1 else columns)]


def infer_matrix_diagonal_part(op: Op) -> RuleResult:
    """`MatrixDiagPart`: the smaller of the last two dimensions."""
    shape = op.shape(0)
    return [None if shape is None or len(shape) < 2 else (*shape[:-2], op.symbols.calculate("min", *shape[-2:]))]


DIAGONAL_RULES: dict[str, ShapeRule] = {
    "DiagPart": infer_diagonal_part,
    "MatrixDiagV2": infer_matrix_diagonals,
    "MatrixDiagV3": infer_matrix_diagonals,
    "MatrixDiagPart": infer_matrix_diagonal_part,
    "BatchMatrixDiagPart": infer_matrix_diagonal_part,
}
