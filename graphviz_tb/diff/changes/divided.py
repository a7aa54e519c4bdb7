"""How a layer divides its channels: heads of an attention, groups of a normalization.

Both are numbers in the shape that something is reshaped to.

[-1, 8, 8, 4, 2] → [-1, 8, 8, 2, 4]     in a GroupNormalization: groups 4 → 2
[-1, 16, 2, 8] → [-1, 16, 4, 8]         before the product of queries and keys: num_heads 2 → 4
"""

from __future__ import annotations

from typing import Any

from graphviz_tb.diff.changes.classes import LayerClasses
from graphviz_tb.diff.changes.layers import PLUMBING, Layers
from graphviz_tb.ops.roles import BATCH_PRODUCT_OPS, REARRANGE_OPS

HEADS, GROUPS = "num_heads", "groups"
DIVISIONS = frozenset({HEADS, GROUPS})
RESHAPES = frozenset({"Reshape", "aten::reshape", "aten::view"})
GROUPED = "GroupNormalization"
# What queries and keys go through on their way to their product.
ON_THE_WAY = PLUMBING | REARRANGE_OPS | frozenset(
    {"Mul", "RealDiv", "StridedSlice", "Split", "Unpack", "Softmax", "aten::permute", "aten::transpose", "aten::unbind",
     "prim::ListUnpack", "aten::select", "aten::mul", "aten::div", "aten::contiguous", "aten::softmax"}
)  # fmt: skip
PRODUCTS = BATCH_PRODUCT_OPS | frozenset(
    {"aten::matmul", "aten::bmm", "aten::baddbmm", "aten::einsum", "aten::scaled_dot_product_attention"}
)
STEPS = 6


def division(layers: Layers, user: int, old: Any, new: Any) -> tuple[str, int, int] | None:
    """What a layer is divided in, before and now, where that is what two shapes say that an op reshapes to."""
    graph = layers.side.graph
    if graph.op_types[graph.op[user]] not in RESHAPES or not (isinstance(old, list) and isinstance(new, list)):
        return None
    other = [place for place, pair in enumerate(zip(old, new, strict=False)) if pair[0] != pair[1]]
    if (
        len(old) != len(new)
        or not other
        or not all(isinstance(value[place], int) for value in (old, new) for place in other)
    ):
        return None
    first = other[0]
    pair = old[first], new[first]
    # The channels are the last dimensions: their number stays, in parts of another size.
    split = len(other) == 2 and other[1] == first + 1 and pair[0] * old[first + 1] == pair[1] * new[first + 1]
    if min(pair) <= 0:
        return None
    if split and LayerClasses(layers).of(layers.of(user)) == GROUPED:
        return GROUPS, *pair
    if (split or (len(other) == 1 and first < len(old) - 1)) and leads_to_product(layers, user):
        return HEADS, *pair
    return None


def leads_to_product(layers: Layers, node: int) -> bool:
    """Whether something is rearranged and then multiplied matrix by matrix, a few ops on in its layer."""
    side, seen, todo = layers.side, {node}, [(node, 0)]
    graph = side.graph
    while todo:
        current, steps = todo.pop()
        for user in graph.target[side.out_edges(current)].tolist():
            op = graph.op_types[graph.op[user]]
            if op in PRODUCTS:
                return True
            if op in ON_THE_WAY and user not in seen and steps < STEPS:
                seen.add(user)
                todo.append((user, steps + 1))
    return False


def listed(value: Any) -> list[Any] | None:
    """A list that a trace of PyTorch has as text, its numbers as such; None for anything else.

    >>> listed("[size, 3, 2, floor_divide]"), listed("3")
    (['size', 3, 2, 'floor_divide'], None)
    """
    if not isinstance(value, str) or not value.startswith("[") or not value.endswith("]"):
        return None
    parts = [part.strip() for part in value[1:-1].split(",")]
    return [int(part) if part.lstrip("-").isdecimal() else part for part in parts]
