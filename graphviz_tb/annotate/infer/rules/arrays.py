"""Ops that rearrange elements: Reshape, Concat, Transpose, Tile …"""

from __future__ import annotations

from graphviz_tb.annotate.infer.op import Op, RuleResult, ShapeRule
from graphviz_tb.annotate.infer.rules.common import (
    are_known_sizes,
    merge_all_dims,
    normalize_axis,
    replace_size,
    unknown_sizes,
)
from graphviz_tb.annotate.infer.symbols import SYMBOL_LIMIT
from graphviz_tb.annotate.infer.values import Dims, Out


def infer_reshape(op: Op) -> RuleResult:
    """`Reshape`: the target; a single -1 follows from the number of elements."""
    target = op.value(1)
    if target is None:
        return [op.stated_dims(1)]
    if target.count(-1) != 1:
        return [fill_unknown_size(op, target)]
    shape = op.shape(0)
    if shape is None:
        return [op.stated_dims(1)]
    # The number of elements stays, which determines the -1.
    rest = [size for size in target if size != -1]
    size = op.symbols.quotient(shape, rest) if 0 not in rest else op.symbols.new_symbol()  # 0 = 0 * anything
    return [tuple(size if each == -1 else each for each in target)]


def fill_unknown_size(op: Op, target: tuple[int, ...]) -> Dims:
    """Fill in the only unknown size of a target without -1, from the number of elements."""
    if sum(size <= SYMBOL_LIMIT for size in target) != 1 or (shape := op.shape(0)) is None:
        return target
    rest = [size for size in target if size > SYMBOL_LIMIT]
    # HIDDEN: no size follows, and the target stays as it is.
    size = op.symbols.quotient(shape, rest) if 0 not in rest else SYMBOL_LIMIT
    return tuple(size if each <= SYMBOL_LIMIT < size else each for each in target)


def infer_expand_dims(op: Op) -> RuleResult:
    """`ExpandDims`: a size of 1 at the axis in input 1."""
    shape = op.shape(0)
    if shape is None:
        return [None]
    axis = normalize_axis(op.known_number(1), len(shape) + 1)
    return [op.symbols.new_symbols(len(shape) + 1) if axis is None else (*shape[:axis], 1, *shape[axis:])]


def infer_squeeze(op: Op) -> RuleResult:
    """`Squeeze`: drop the axes of `squeeze_dims`, or all of size 1."""
    shape, axes = op.shape(0), op.attr("squeeze_dims") or op.attr("axis")
    if shape is None:
        return [None]
    if axes:
        gone = {normalize_axis(axis, len(shape)) for axis in axes}
        return [tuple(size for dim, size in enumerate(shape) if dim not in gone) if None not in gone else None]
    return [tuple(size for size in shape if size != 1) if are_known_sizes(*shape) else None]


def infer_transpose(op: Op) -> RuleResult:
    """`Transpose`: dimensions in the order of input 1."""
    shape, order = op.shape(0), op.known_elements(1)
    if shape is None:
        return [None if order is None else op.symbols.new_symbols(len(order))]
    if order is None:
        # A vector or a scalar is its own transpose, whatever the order.
        return [shape if len(shape) < 2 else unknown_sizes(op, shape)]
    axes = [normalize_axis(axis, len(shape)) for axis in order]
    return [
        tuple(shape[axis] for axis in axes if axis is not None) if sorted(order) == list(range(len(shape))) else None
    ]


def infer_concat(op: Op) -> RuleResult:
    """`Concat`: the axis first."""
    return [concatenate_shapes(op, [each.shape for each in op.counted_inputs(1, 1)], op.known_number(0))]


def infer_concat_v2(op: Op) -> RuleResult:
    """`ConcatV2`: the axis last."""
    parts = op.counted_inputs(0, 1)
    return [concatenate_shapes(op, [each.shape for each in parts], op.known_number(len(parts)))]


def concatenate_shapes(op: Op, shapes: list[Dims], axis: int | None) -> Dims:
    """Add up the sizes along the axis; all other sizes must agree."""
    # Known ranks must be equal; parts of unknown rank have any rank.
    ranks = {len(shape) for shape in shapes if shape is not None}
    if len(ranks) != 1:
        return None
    rank = ranks.pop()
    place = normalize_axis(axis, rank)
    if place is None:
        return op.symbols.new_symbols(rank)
    whole = 0
    for shape in shapes:
        whole = op.symbols.calculate("add", whole, shape[place] if shape is not None else op.symbols.new_symbol())
    # Sizes along the axis itself may differ.
    around = merge_all_dims([None if shape is None else replace_size(shape, place, 0) for shape in shapes])
    return None if around is None else replace_size(around, place, whole)


def infer_pack(op: Op) -> RuleResult:
    """`Pack`: inputs of one shape along a new axis."""
    parts = op.counted_inputs()
    shape = merge_all_dims([each.shape for each in parts])
    if shape is None:
        return [None]
    axis = normalize_axis(op.attr("axis"), len(shape) + 1)
    return [None if axis is None else (*shape[:axis], len(parts), *shape[axis:])]


def infer_unpack(op: Op) -> RuleResult:
    """`Unpack`: one output for each position along the axis, which is dropped."""
    shape, count = op.shape(0), op.attr_count("num")
    if shape is None:
        return [None] * count
    axis = normalize_axis(op.attr("axis"), len(shape))
    return [None if axis is None else (*shape[:axis], *shape[axis + 1 :])] * count


def infer_split(op: Op) -> RuleResult:
    """`Split`: the axis first; equal parts."""
    shape, count = op.shape(1), op.attr_count("num_split")
    axis = normalize_axis(op.known_number(0), len(shape)) if shape is not None else None
    if shape is None or axis is None or not count:
        return [unknown_sizes(op, shape)] * count
    return [replace_size(shape, axis, op.symbols.quotient([shape[axis]], [count]))] * count


def infer_split_v(op: Op) -> RuleResult:
    """`SplitV`: sizes, then the axis; one size may be -1."""
    shape, sizes, count = op.shape(0), op.value(1), op.attr_count("num_split")
    axis = normalize_axis(op.known_number(2), len(shape)) if shape is not None else None
    if shape is None or axis is None:
        return [unknown_sizes(op, shape)] * count
    # A single part is everything; several parts have unknown sizes.
    if sizes is None or len(sizes) != count:
        sizes = op.symbols.new_symbols(count) if count > 1 else (shape[axis],)
    # The -1 is the rest.
    rest = shape[axis]
    for size in sizes:
        rest = op.symbols.difference(rest, size) if size != -1 else rest
    return [replace_size(shape, axis, rest if size == -1 else size) for size in sizes]


def infer_pad(op: Op) -> RuleResult:
    """`Pad`: paddings in input 1, before and after each dimension."""
    shape, paddings, table = op.shape(0), op.value(1), op.shape(1)
    # The paddings are (rank, 2): their shape gives the rank.
    rank = len(shape) if shape is not None else table[0] if table and are_known_sizes(table[0]) else None
    if rank is None:
        return [None]
    if shape is None or paddings is None or len(paddings) != 2 * rank:
        return [op.symbols.new_symbols(rank)]
    add = op.symbols.calculate
    return [
        tuple(add("add", add("add", size, paddings[2 * dim]), paddings[2 * dim + 1]) for dim, size in enumerate(shape))
    ]


def infer_pad_gradient(op: Op) -> RuleResult:
    """`MirrorPadGrad`: removes the paddings."""
    shape, paddings = op.shape(0), op.value(1)
    if shape is None or paddings is None or len(paddings) != 2 * len(shape):
        return [unknown_sizes(op, shape)]
    less = op.symbols.difference
    return [tuple(less(less(size, paddings[2 * dim]), paddings[2 * dim + 1]) for dim, size in enumerate(shape))]


def infer_tile(op: Op) -> RuleResult:
    """`Tile`: each dimension times its multiple in input 1."""
    shape, times, table = op.shape(0), op.value(1), op.shape(1)
    if shape is None or times is None or len(times) != len(shape):
        rank = len(shape) if shape is not None else table[0] if table and are_known_sizes(table[0]) else None
        return [None if rank is None else op.symbols.new_symbols(rank)]
    return [tuple(op.symbols.product([size, time]) for size, time in zip(shape, times, strict=True))]


def infer_shape_n(op: Op) -> RuleResult:
    """`ShapeN`: the shape of each input, with its elements."""
    return [
        Out((op.symbols.new_symbol(),)) if each.shape is None else Out((len(each.shape),), each.shape)
        for each in op.ins
    ]


def infer_range(op: Op) -> RuleResult:
    """`Range`: start, limit, step."""
    numbers = [op.value(index) for index in range(3)]
    if any(number is None or len(number) != 1 for number in numbers):
        return [(op.symbols.new_symbol(),)]
    return [(op.symbols.calculate("span", *(number[0] for number in numbers if number)),)]


def infer_concat_offset(op: Op) -> RuleResult:
    """`ConcatOffset`: one vector for each shape."""
    return [each.shape for each in op.ins[1:]]


ARRAY_RULES: dict[str, ShapeRule] = {
    "Reshape": infer_reshape,
    "ExpandDims": infer_expand_dims,
    "Squeeze": infer_squeeze,
    "Transpose": infer_transpose,
    "ConjugateTranspose": infer_transpose,
    "Concat": infer_concat,
    "ConcatV2": infer_concat_v2,
    "ConcatOffset": infer_concat_offset,
    "Pack": infer_pack,
    "Unpack": infer_unpack,
    "Split": infer_split,
    "SplitV": infer_split_v,
    "Pad": infer_pad,
    "PadV2": infer_pad,
    "MirrorPad": infer_pad,
    "MirrorPadGrad": infer_pad_gradient,
    "Tile": infer_tile,
    "ShapeN": infer_shape_n,
    "Range": infer_range,
}
