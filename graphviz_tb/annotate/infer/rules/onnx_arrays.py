"""Shape rules of ONNX ops that rearrange, slice and repeat elements, and the settings of all ONNX ops.

A setting such as `axes` is an attribute in old opsets and an input in new ones. The reader writes a constant input as
the attribute, so rules look for either (`setting_numbers`).
"""

from __future__ import annotations

from collections.abc import Sequence

from graphviz_tb.annotate.infer.op import (
    Op,
    RuleResult,
    ShapeRule,
    are_known_sizes,
    drop_axes,
    normalize_axis,
    replace_size,
    unknown_sizes,
)
from graphviz_tb.annotate.infer.rules.arrays import concatenate_shapes
from graphviz_tb.annotate.infer.symbols import SYMBOL_LIMIT, broadcast_dims


def setting_numbers(op: Op, name: str, slot: int) -> list[int] | None:
    """Return the numbers of a setting; None if they are unknown or not given. Some may be symbols."""
    given = op.attr(name)
    if isinstance(given, int):
        return [given]
    if isinstance(given, list):
        return given if all(isinstance(number, int) for number in given) else None
    value = op.value(slot)
    return None if value is None else list(value)


def known_setting_numbers(op: Op, name: str, slot: int) -> list[int] | None:
    """Return the numbers of a setting; None if one is a symbol, too."""
    numbers = setting_numbers(op, name, slot)
    return numbers if numbers is not None and are_known_sizes(*numbers) else None


def is_setting_given(op: Op, name: str, slot: int) -> bool:
    """Return whether a setting is given, known or not."""
    return op.attr(name) is not None or len(op.ins) > slot


def is_flag_set(op: Op, name: str, usual: int = 0) -> bool:
    """Return whether an attribute is on; `usual` if it is not given."""
    given = op.attr(name)
    return bool(usual if given is None else given)


def stated_axis(op: Op, rank: int, usual: int) -> int | None:
    """Return the attribute `axis` as a non-negative axis; None if it is out of range."""
    given = op.attr("axis")
    return normalize_axis(given if isinstance(given, int) else usual, rank)


# Rearranging.


def _infer_reshape(op: Op) -> RuleResult:
    """`Reshape`: a 0 keeps the size of the input, a single -1 follows from the number of elements."""
    shape, target = op.shape(0), setting_numbers(op, "shape", 1)
    if target is None:
        return [op.stated_dims(1)]
    if not is_flag_set(op, "allowzero") and 0 in target:
        if shape is None:
            return [tuple(size if size not in (0, -1) else op.symbols.new_symbol() for size in target)]
        kept = (shape[place] if place < len(shape) else op.symbols.new_symbol() for place in range(len(target)))
        target = [old if size == 0 else size for size, old in zip(target, kept, strict=True)]
    if target.count(-1) == 1:
        rest = [size for size in target if size != -1]
        known = shape is not None and 0 not in rest
        missing = op.symbols.quotient(shape or (), rest) if known else op.symbols.new_symbol()
        target = [missing if size == -1 else size for size in target]
    return [tuple(target) if -1 not in target else op.symbols.new_symbols(len(target))]


def _infer_flatten(op: Op) -> RuleResult:
    """`Flatten`: the axes before `axis` become one, and the axes from it on."""
    shape = op.shape(0)
    if shape is None:
        return [op.symbols.new_symbols(2)]
    given = op.attr("axis")
    axis = given if isinstance(given, int) else 1
    axis = axis + len(shape) if axis < 0 else axis
    return [(op.symbols.product(shape[:axis]), op.symbols.product(shape[axis:]))]


def _infer_squeeze(op: Op) -> RuleResult:
    """`Squeeze`: drop the stated axes, or all of size 1."""
    shape, axes = op.shape(0), known_setting_numbers(op, "axes", 1)
    if shape is None:
        return [None]
    if axes is None:
        known = not is_setting_given(op, "axes", 1) and are_known_sizes(*shape)
        return [tuple(size for size in shape if size != 1) if known else None]
    return [drop_axes(shape, axes)]


def _infer_unsqueeze(op: Op) -> RuleResult:
    """`Unsqueeze`: the stated axes of the result have size 1."""
    shape, axes = op.shape(0), known_setting_numbers(op, "axes", 1)
    if shape is None or axes is None:
        return [None]
    rank = len(shape) + len(axes)
    new = {normalize_axis(axis, rank) for axis in axes}
    if None in new or len(new) != len(axes):
        return [None]
    sizes = iter(shape)
    return [tuple(1 if place in new else next(sizes) for place in range(rank))]


def _infer_transpose(op: Op) -> RuleResult:
    """`Transpose`: axes in the order of `perm`, which reverses them by default."""
    shape, order = op.shape(0), op.attr("perm")
    if shape is None:
        return [op.symbols.new_symbols(len(order)) if isinstance(order, list) else None]
    if not isinstance(order, list) or not order:
        return [shape[::-1]]
    return [tuple(shape[axis] for axis in order) if sorted(order) == list(range(len(shape))) else None]


def _infer_concat(op: Op) -> RuleResult:
    """`Concat` along an axis."""
    axis = op.attr("axis")
    return [concatenate_shapes(op, [operand.shape for operand in op.ins], axis if isinstance(axis, int) else 1)]


def _infer_split(op: Op) -> RuleResult:
    """`Split`: parts of the stated sizes, by default equal."""
    shape, parts = op.shape(0), setting_numbers(op, "split", 1)
    count = op.attr_count("num_outputs") if parts is None else len(parts)
    axis = None if shape is None or not count else stated_axis(op, len(shape), 0)
    if shape is None or axis is None:
        return [None] * count
    if parts is None and is_setting_given(op, "split", 1):
        parts = [op.symbols.new_symbol()] * count
    elif parts is None and shape[axis] <= SYMBOL_LIMIT:
        parts = [op.symbols.quotient([shape[axis]], [count])] * count
    elif parts is None:
        # The last part is smaller if the size is not a multiple of the count.
        part = -(-shape[axis] // count)
        parts = [min(part, max(0, shape[axis] - part * place)) for place in range(count)]
    return [replace_size(shape, axis, size) for size in parts]


def slice_ranges(op: Op, rank: int) -> dict[int, tuple[int | None, int | None, int]] | None:
    """Return start, end and step by axis; an unknown start or end is None. None if axes or steps are unknown."""
    starts, ends = setting_numbers(op, "starts", 1), setting_numbers(op, "ends", 2)
    if starts is None and ends is None:
        return None
    count = len(starts if starts is not None else ends or ())
    axes = known_setting_numbers(op, "axes", 3)
    if axes is None:
        if is_setting_given(op, "axes", 3):
            return None
        axes = list(range(count))
    steps = known_setting_numbers(op, "steps", 4)
    if steps is None:
        if is_setting_given(op, "steps", 4):
            return None
        steps = [1] * count
    ranges: dict[int, tuple[int | None, int | None, int]] = {}
    for place in range(min(count, len(axes), len(steps))):
        axis = normalize_axis(axes[place], rank)
        if axis is None or not steps[place]:
            return None
        begin = starts[place] if starts is not None and place < len(starts) else None
        end = ends[place] if ends is not None and place < len(ends) else None
        ranges[axis] = (begin, end, steps[place])
    return ranges


def _infer_slice(op: Op) -> RuleResult:
    """`Slice`: starts and ends for some axes, as in slices of Python."""
    shape = op.shape(0)
    if shape is None:
        return [None]
    ranges = slice_ranges(op, len(shape))
    if ranges is None:
        return [unknown_sizes(op, shape)]
    sizes = list(shape)
    for axis, (begin, end, step) in ranges.items():
        sizes[axis] = _sliced_size(op, shape[axis], begin, end, step)
    return [tuple(sizes)]


def _sliced_size(op: Op, size: int, begin: int | None, end: int | None, step: int) -> int:
    """Return the number of positions in a slice of one axis; an end beyond the size is the size."""
    if begin is None or end is None:
        return op.symbols.new_symbol()
    if size > SYMBOL_LIMIT and begin > SYMBOL_LIMIT and end > SYMBOL_LIMIT:
        stop = None if step < 0 and end < -size else end
        return len(range(*slice(begin, stop, step).indices(size)))
    if step == 1 and begin == 0 and (end == size or end >= 2**31 - 1):
        return size
    # Of an unknown size: x[n:] and x[:-n].
    if step == 1 and size <= SYMBOL_LIMIT and begin > 0 and end >= 2**31 - 1:
        return op.symbols.calculate("add", size, -begin)
    if step == 1 and size <= SYMBOL_LIMIT and begin == 0 and SYMBOL_LIMIT < end < 0:
        return op.symbols.calculate("add", size, end)
    return op.symbols.new_symbol()


def _infer_gather(op: Op) -> RuleResult:
    """`Gather`: the axes of the indices replace an axis."""
    shape, indices = op.shape(0), op.shape(1)
    if shape is None or indices is None:
        return [None]
    axis = stated_axis(op, len(shape), 0)
    return [None if axis is None else (*shape[:axis], *indices, *shape[axis + 1 :])]


def _infer_gather_nd(op: Op) -> RuleResult:
    """`GatherND`: each row along the last axis of the indices is a position in the data."""
    shape, indices, batch = op.shape(0), op.shape(1), op.attr("batch_dims")
    batch = batch if isinstance(batch, int) else 0
    if shape is None or not indices or indices[-1] <= SYMBOL_LIMIT or not 0 <= batch + indices[-1] <= len(shape):
        return [None]
    return [(*indices[:-1], *shape[batch + indices[-1] :])]


def _infer_expand(op: Op) -> RuleResult:
    """`Expand`: broadcast to a shape."""
    shape, target = op.shape(0), setting_numbers(op, "shape", 1)
    if target is None:
        return [op.stated_dims(1)]
    return [
        broadcast_dims(shape, tuple(op.symbols.new_symbol() if size == -1 else size for size in target), op.symbols)
    ]


def _infer_tile(op: Op) -> RuleResult:
    """`Tile`: each size times its number of repetitions."""
    shape, times = op.shape(0), setting_numbers(op, "repeats", 1)
    if shape is None or times is None or len(times) != len(shape):
        return [unknown_sizes(op, shape)]
    return [tuple(op.symbols.product([size, time]) for size, time in zip(shape, times, strict=True))]


def _infer_pad(op: Op) -> RuleResult:
    """`Pad`: pads before the axes, then pads after them; of all axes or of the stated ones."""
    shape, pads = op.shape(0), known_setting_numbers(op, "pads", 1)
    if pads is None:
        given = op.attr("paddings")
        pads = given if isinstance(given, list) else None
    axes = known_setting_numbers(op, "axes", 3)
    if shape is None or pads is None or len(pads) % 2 or (axes is None and is_setting_given(op, "axes", 3)):
        return [unknown_sizes(op, shape)]
    axes = list(range(len(shape))) if axes is None else axes
    half, sizes = len(pads) // 2, list(shape)
    if len(axes) != half:
        return [unknown_sizes(op, shape)]
    for index, axis in enumerate(axes):
        position = normalize_axis(axis, len(shape))
        if position is None:
            return [unknown_sizes(op, shape)]
        sizes[position] = op.symbols.calculate("add", sizes[position], pads[index] + pads[half + index])
    return [tuple(sizes)]


def _infer_resize(op: Op) -> RuleResult:
    """`Resize`: to sizes or by factors, which are known only as an attribute: inference computes whole numbers."""
    shape = op.shape(0)
    if shape is None:
        return [None]
    sizes, axes = setting_numbers(op, "sizes", 3), _axes_or_all(op, len(shape))
    stretches = op.attr("keep_aspect_ratio_policy") == "stretch"
    if sizes is not None and axes is not None and len(sizes) == len(axes) and stretches:
        return [_replace_sizes(shape, axes, sizes)]
    factors = op.attr("scales")
    if isinstance(factors, list) and axes is not None and len(factors) == len(axes):
        return [
            _replace_sizes(shape, axes, [_scaled_size(op, shape[a], f) for a, f in zip(axes, factors, strict=True)])
        ]
    return [unknown_sizes(op, shape)]


def _axes_or_all(op: Op, rank: int) -> list[int] | None:
    """Return the axes in the attribute `axes`, by default all; None if one is out of range."""
    given = op.attr("axes")
    if not isinstance(given, list) or not given:
        return list(range(rank))
    axes = [normalize_axis(axis, rank) for axis in given]
    return None if None in axes else [axis for axis in axes if axis is not None]


def _replace_sizes(shape: Sequence[int], axes: Sequence[int], sizes: Sequence[int]) -> tuple[int, ...]:
    new = dict(zip(axes, sizes, strict=True))
    return tuple(new.get(place, size) for place, size in enumerate(shape))


def _scaled_size(op: Op, size: int, factor: float) -> int:
    if size > SYMBOL_LIMIT:
        return int(size * factor) if 0 <= factor < 2**31 else op.symbols.new_symbol()
    if factor == int(factor):
        return op.symbols.product([size, int(factor)])
    return op.symbols.calculate("floor", size, round(1 / factor)) if 0 < factor < 1 else op.symbols.new_symbol()


def _exchange_blocks(op: Op, down: bool) -> RuleResult:
    """`SpaceToDepth` (`down`): blocks of an image become channels; `DepthToSpace`: channels become blocks."""
    shape, block = op.shape(0), op.attr("blocksize")
    if shape is None or len(shape) != 4 or not isinstance(block, int) or block < 1:
        return [None]

    def scale_size(size: int, factor: int, grows: bool) -> int:
        return op.symbols.product([size, factor]) if grows else op.symbols.quotient([size], [factor])

    sides = [scale_size(size, block, not down) for size in shape[2:]]
    return [(shape[0], scale_size(shape[1], block * block, down), *sides)]


def _infer_centre_crop(op: Op) -> RuleResult:
    """`CenterCropPad`: some axes get the stated sizes."""
    shape, sizes = op.shape(0), setting_numbers(op, "shape", 1)
    axes = _axes_or_all(op, len(shape)) if shape is not None else None
    if shape is None or sizes is None or axes is None or len(axes) != len(sizes):
        return [unknown_sizes(op, shape)]
    return [_replace_sizes(shape, axes, sizes)]


ONNX_ARRAY_RULES: dict[str, ShapeRule] = {
    "Reshape": _infer_reshape,
    "Flatten": _infer_flatten,
    "Squeeze": _infer_squeeze,
    "Unsqueeze": _infer_unsqueeze,
    "Transpose": _infer_transpose,
    "Concat": _infer_concat,
    "Split": _infer_split,
    "Slice": _infer_slice,
    "Gather": _infer_gather,
    "GatherND": _infer_gather_nd,
    "Expand": _infer_expand,
    "Tile": _infer_tile,
    "Pad": _infer_pad,
    "Resize": _infer_resize,
    "Upsample": _infer_resize,
    "SpaceToDepth": lambda op: _exchange_blocks(op, down=True),
    "DepthToSpace": lambda op: _exchange_blocks(op, down=False),
    "CenterCropPad": _infer_centre_crop,
}
