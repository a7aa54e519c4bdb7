"""Ops that rearrange elements: Reshape, Concat, Transpose, Tile …"""

from __future__ import annotations

from graphviz_tb.annotate.infer.op import Op, Rule, RuleResult
from graphviz_tb.annotate.infer.rules.common import agreed, axis_of, is_known, replaced, unknown
from graphviz_tb.annotate.infer.symbols import HIDDEN
from graphviz_tb.annotate.infer.values import Dims, Out


def reshape(op: Op) -> RuleResult:
    """`Reshape`: the target; a single -1 follows from the number of elements."""
    target = op.value(1)
    if target is None:
        return [op.target(1)]
    if target.count(-1) != 1:
        return [filled(op, target)]
    shape = op.shape(0)
    if shape is None:
        return [op.target(1)]
    # The number of elements stays, which determines the -1.
    rest = [size for size in target if size != -1]
    size = op.symbols.quotient(shape, rest) if 0 not in rest else op.symbols.fresh()  # 0 = 0 * anything
    return [tuple(size if each == -1 else each for each in target)]


def filled(op: Op, target: tuple[int, ...]) -> Dims:
    """Fill in the only unknown size of a target without -1, from the number of elements."""
    if sum(size <= HIDDEN for size in target) != 1 or (shape := op.shape(0)) is None:
        return target
    rest = [size for size in target if size > HIDDEN]
    # HIDDEN: no size follows, and the target stays as it is.
    size = op.symbols.quotient(shape, rest) if 0 not in rest else HIDDEN
    return tuple(size if each <= HIDDEN < size else each for each in target)


def expand_dims(op: Op) -> RuleResult:
    """`ExpandDims`: a size of 1 at the axis in input 1."""
    shape = op.shape(0)
    if shape is None:
        return [None]
    axis = axis_of(op.number(1), len(shape) + 1)
    return [op.symbols.several(len(shape) + 1) if axis is None else (*shape[:axis], 1, *shape[axis:])]


def squeeze(op: Op) -> RuleResult:
    """`Squeeze`: drop the axes of `squeeze_dims`, or all of size 1."""
    shape, axes = op.shape(0), op.attr("squeeze_dims") or op.attr("axis")
    if shape is None:
        return [None]
    if axes:
        gone = {axis_of(axis, len(shape)) for axis in axes}
        return [tuple(size for dim, size in enumerate(shape) if dim not in gone) if None not in gone else None]
    return [tuple(size for size in shape if size != 1) if is_known(*shape) else None]


def transpose(op: Op) -> RuleResult:
    """`Transpose`: dimensions in the order of input 1."""
    shape, order = op.shape(0), op.numbers(1)
    if shape is None:
        return [None if order is None else op.symbols.several(len(order))]
    if order is None:
        # A vector or a scalar is its own transpose, whatever the order.
        return [shape if len(shape) < 2 else unknown(op, shape)]
    axes = [axis_of(axis, len(shape)) for axis in order]
    return [
        tuple(shape[axis] for axis in axes if axis is not None) if sorted(order) == list(range(len(shape))) else None
    ]


def concat(op: Op) -> RuleResult:
    """`Concat`: the axis first."""
    return [concatenated(op, [each.shape for each in op.listed(1, 1)], op.number(0))]


def concat_v2(op: Op) -> RuleResult:
    """`ConcatV2`: the axis last."""
    parts = op.listed(0, 1)
    return [concatenated(op, [each.shape for each in parts], op.number(len(parts)))]


def concatenated(op: Op, shapes: list[Dims], axis: int | None) -> Dims:
    """Add up the sizes along the axis; all other sizes must agree."""
    # Known ranks must be equal; parts of unknown rank have any rank.
    ranks = {len(shape) for shape in shapes if shape is not None}
    if len(ranks) != 1:
        return None
    rank = ranks.pop()
    place = axis_of(axis, rank)
    if place is None:
        return op.symbols.several(rank)
    whole = 0
    for shape in shapes:
        whole = op.symbols.calc("add", whole, shape[place] if shape is not None else op.symbols.fresh())
    # Sizes along the axis itself may differ.
    around = agreed([None if shape is None else replaced(shape, place, 0) for shape in shapes])
    return None if around is None else replaced(around, place, whole)


def pack(op: Op) -> RuleResult:
    """`Pack`: inputs of one shape along a new axis."""
    parts = op.listed()
    shape = agreed([each.shape for each in parts])
    if shape is None:
        return [None]
    axis = axis_of(op.attr("axis"), len(shape) + 1)
    return [None if axis is None else (*shape[:axis], len(parts), *shape[axis:])]


def unpack(op: Op) -> RuleResult:
    """`Unpack`: one output for each position along the axis, which is dropped."""
    shape, count = op.shape(0), op.count("num")
    if shape is None:
        return [None] * count
    axis = axis_of(op.attr("axis"), len(shape))
    return [None if axis is None else (*shape[:axis], *shape[axis + 1 :])] * count


def split(op: Op) -> RuleResult:
    """`Split`: the axis first; equal parts."""
    shape, count = op.shape(1), op.count("num_split")
    axis = axis_of(op.number(0), len(shape)) if shape is not None else None
    if shape is None or axis is None or not count:
        return [unknown(op, shape)] * count
    return [replaced(shape, axis, op.symbols.quotient([shape[axis]], [count]))] * count


def split_v(op: Op) -> RuleResult:
    """`SplitV`: sizes, then the axis; one size may be -1."""
    shape, sizes, count = op.shape(0), op.value(1), op.count("num_split")
    axis = axis_of(op.number(2), len(shape)) if shape is not None else None
    if shape is None or axis is None:
        return [unknown(op, shape)] * count
    # A single part is everything; several parts have unknown sizes.
    if sizes is None or len(sizes) != count:
        sizes = op.symbols.several(count) if count > 1 else (shape[axis],)
    # The -1 is the rest.
    rest = shape[axis]
    for size in sizes:
        rest = op.symbols.difference(rest, size) if size != -1 else rest
    return [replaced(shape, axis, rest if size == -1 else size) for size in sizes]


def pad(op: Op) -> RuleResult:
    """`Pad`: paddings in input 1, before and after each dimension."""
    shape, paddings, table = op.shape(0), op.value(1), op.shape(1)
    # The paddings are (rank, 2): their shape gives the rank.
    rank = len(shape) if shape is not None else table[0] if table and is_known(table[0]) else None
    if rank is None:
        return [None]
    if shape is None or paddings is None or len(paddings) != 2 * rank:
        return [op.symbols.several(rank)]
    add = op.symbols.calc
    return [
        tuple(add("add", add("add", size, paddings[2 * dim]), paddings[2 * dim + 1]) for dim, size in enumerate(shape))
    ]


def pad_gradient(op: Op) -> RuleResult:
    """`MirrorPadGrad`: removes the paddings."""
    shape, paddings = op.shape(0), op.value(1)
    if shape is None or paddings is None or len(paddings) != 2 * len(shape):
        return [unknown(op, shape)]
    less = op.symbols.difference
    return [tuple(less(less(size, paddings[2 * dim]), paddings[2 * dim + 1]) for dim, size in enumerate(shape))]


def tile(op: Op) -> RuleResult:
    """`Tile`: each dimension times its multiple in input 1."""
    shape, times, table = op.shape(0), op.value(1), op.shape(1)
    if shape is None or times is None or len(times) != len(shape):
        rank = len(shape) if shape is not None else table[0] if table and is_known(table[0]) else None
        return [None if rank is None else op.symbols.several(rank)]
    return [tuple(op.symbols.product([size, time]) for size, time in zip(shape, times, strict=True))]


def shapes_of(op: Op) -> RuleResult:
    """`ShapeN`: the shape of each input, with its elements."""
    return [
        Out((op.symbols.fresh(),)) if each.shape is None else Out((len(each.shape),), each.shape) for each in op.ins
    ]


def span(op: Op) -> RuleResult:
    """`Range`: start, limit, step."""
    numbers = [op.value(index) for index in range(3)]
    if any(number is None or len(number) != 1 for number in numbers):
        return [(op.symbols.fresh(),)]
    return [(op.symbols.calc("span", *(number[0] for number in numbers if number)),)]


def concat_offset(op: Op) -> RuleResult:
    """`ConcatOffset`: one vector for each shape."""
    return [each.shape for each in op.ins[1:]]


ARRAY_RULES: dict[str, Rule] = {
    "Reshape": reshape,
    "ExpandDims": expand_dims,
    "Squeeze": squeeze,
    "Transpose": transpose,
    "ConjugateTranspose": transpose,
    "Concat": concat,
    "ConcatV2": concat_v2,
    "ConcatOffset": concat_offset,
    "Pack": pack,
    "Unpack": unpack,
    "Split": split,
    "SplitV": split_v,
    "Pad": pad,
    "PadV2": pad,
    "MirrorPad": pad,
    "MirrorPadGrad": pad_gradient,
    "Tile": tile,
    "ShapeN": shapes_of,
    "Range": span,
}
