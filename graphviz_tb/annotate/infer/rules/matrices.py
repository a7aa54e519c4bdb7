"""Matrix products and linear algebra."""

from __future__ import annotations

from graphviz_tb.annotate.infer.op import Op, RuleResult, ShapeRule
from graphviz_tb.annotate.infer.values import Dims, broadcast_dims


def any_flag_set(op: Op, *names: str) -> bool:
    """Return whether any of some attributes is set."""
    return any(bool(op.attr(name)) for name in names)


def matrix_product_shape(op: Op, a: Dims, b: Dims, turn_a: bool, turn_b: bool) -> Dims:
    """Return the rows of `a` and the columns of `b`; an unknown matrix gives an unknown size."""
    rows = op.symbols.new_symbol() if a is None or len(a) != 2 else a[1 if turn_a else 0]
    columns = op.symbols.new_symbol() if b is None or len(b) != 2 else b[0 if turn_b else 1]
    return (rows, columns)


def infer_sparse_matmul(op: Op) -> RuleResult:
    """`SparseTensorDenseMatMul`: indices, values and shape of the first matrix; the second is dense."""
    shape, b = op.value(2), op.shape(3)
    a = shape if shape is not None and len(shape) == 2 else None
    return [matrix_product_shape(op, a, b, any_flag_set(op, "adjoint_a"), any_flag_set(op, "adjoint_b"))]


def infer_einsum(op: Op) -> RuleResult:
    """`Einsum`: letters name dimensions, `...` are broadcast."""
    inputs, _, output = str(op.attr("equation") or "").replace(" ", "").partition("->")
    letters: dict[str, int] = {}
    stretched: Dims = ()
    for term, given in zip(inputs.split(","), op.ins, strict=False):
        before, dots, after = term.partition("...")
        named = len(before) + len(after)
        shape = op.symbols.new_symbols(named) if given.shape is None and not dots else given.shape
        if shape is None or named > len(shape) or (not dots and named != len(shape)):
            return [None]
        stretched = broadcast_dims(stretched, shape[len(before) : len(shape) - len(after)], op.symbols)
        for letter, size in zip(
            before + after, (*shape[: len(before)], *shape[len(shape) - len(after) :]), strict=True
        ):
            # Symbols are below all numbers: the larger size is the known one, or not a broadcast 1.
            letters[letter] = max(letters.get(letter, size), size)
    before, dots, after = output.partition("...")
    if stretched is None or any(letter not in letters for letter in before + after):
        return [None]
    return [(*(letters[name] for name in before), *(stretched if dots else ()), *(letters[name] for name in after))]


def infer_eigen(op: Op) -> RuleResult:
    """`SelfAdjointEigV2`: values, then vectors."""
    shape = op.shape(0)
    if shape is None or len(shape) < 2:
        return [None, None]
    return [shape[:-1], shape if op.attr("compute_v") else (0,)]


def infer_qr(op: Op) -> RuleResult:
    """`Qr`: q and r, full or reduced."""
    shape = op.shape(0)
    if shape is None or len(shape) < 2:
        return [None, None]
    rows, columns, around = shape[-2], shape[-1], shape[:-2]
    inner = rows if op.attr("full_matrices") else op.symbols.calculate("min", rows, columns)
    return [(*around, rows, inner), (*around, inner, columns)]


def infer_svd(op: Op) -> RuleResult:
    """`Svd`: s, u, v."""
    shape = op.shape(0)
    if shape is None or len(shape) < 2:
        return [None, None, None]
    rows, columns, around = shape[-2], shape[-1], shape[:-2]
    least = op.symbols.calculate("min", rows, columns)
    if not op.attr("compute_uv"):
        return [(*around, least), None, None]
    whole = bool(op.attr("full_matrices"))
    # u and v are square, or as narrow as there are singular values.
    u, v = (rows, columns) if whole else (least, least)
    return [(*around, least), (*around, rows, u), (*around, columns, v)]


MATRIX_RULES: dict[str, ShapeRule] = {
    "SparseTensorDenseMatMul": infer_sparse_matmul,
    "Einsum": infer_einsum,
    "XlaEinsum": infer_einsum,
    "SelfAdjointEigV2": infer_eigen,
    "Qr": infer_qr,
    "Svd": infer_svd,
}
