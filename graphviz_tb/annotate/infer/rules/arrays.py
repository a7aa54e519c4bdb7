"""Shape rules of ops that rearrange, select or exchange elements."""

from __future__ import annotations

from graphviz_tb.annotate.infer.op import (
    Op,
    RuleResult,
    ShapeRule,
    are_known_sizes,
    drop_axes,
    merge_all_dims,
    normalize_axis,
    replace_size,
    traced_numbers,
    unknown_sizes,
)
from graphviz_tb.annotate.infer.symbols import SYMBOL_LIMIT, Dims, Elements, Out, merge_dims
from graphviz_tb.limits import MAX_FOLDED_ELEMENTS
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.tensors import MAX_DIMENSIONS

# Strided slices, as tf.strided_slice defines them: begins, ends and strides for some axes, the "specification", and
# masks that change their meaning. Bit i of a mask is for entry i.


@dataclass(frozen=True, slots=True)
class SliceEntry:
    """The effect of a slice on an axis: "all" positions, a "new" axis, one position ("shrink"), or a "part"."""

    kind: str
    begin: int | None = None  # None: from the start
    end: int | None = None  # None: to the end
    stride: int = 1


def slice_entries(op: Op, rank: int) -> list[SliceEntry] | None:
    """Return an entry for each axis from the specification, inputs 1 to 3; None if it is unknown or invalid."""
    begins, ends, strides = op.value(1), op.value(2), op.known_elements(3)
    lengths = [len(entries) for entries in (strides, begins, ends) if entries is not None]
    # Any of the three vectors gives the number of entries.
    count = lengths[0] if lengths else _specification_length(op)
    if count is None:
        return None
    masks = {
        name: int(op.attr(f"{name}_mask") or 0) for name in ("begin", "end", "ellipsis", "new_axis", "shrink_axis")
    }
    # TensorFlow refuses a second ellipsis.
    if (masks["ellipsis"] & ((1 << count) - 1)).bit_count() > 1:
        return None
    # An ellipsis takes the axes that other entries do not use; new axes use none.
    used = sum(not masks["new_axis"] >> place & 1 for place in range(count)) - bool(masks["ellipsis"])
    specification: list[SliceEntry] = []
    for place in range(count):
        if masks["ellipsis"] >> place & 1:
            specification += [SliceEntry("all")] * max(0, rank - used)
        elif masks["new_axis"] >> place & 1:
            specification.append(SliceEntry("new"))
        else:
            specification.append(_slice_entry(place, begins, ends, strides, masks))
    axes = sum(entry.kind != "new" for entry in specification)
    # Axes after the last entry are taken whole.
    return specification + [SliceEntry("all")] * (rank - axes) if axes <= rank else None


def _specification_length(op: Op) -> int | None:
    length = _known_vector_length(op, 1)
    return length if length is not None and length <= MAX_FOLDED_ELEMENTS else None


def _slice_entry(
    place: int, begins: Elements | None, ends: Elements | None, strides: list[int] | None, masks: dict[str, int]
) -> SliceEntry:
    begin = begins[place] if begins is not None else SYMBOL_LIMIT
    end = ends[place] if ends is not None else SYMBOL_LIMIT
    stride = strides[place] if strides is not None else SYMBOL_LIMIT
    # "end[i] and strides[i] are ignored in this case" (tf.strided_slice).
    if masks["shrink_axis"] >> place & 1:
        return SliceEntry("shrink", begin, None, 1)
    return SliceEntry(
        "part",
        None if masks["begin"] >> place & 1 else begin,
        None if masks["end"] >> place & 1 else end,
        stride,
    )


def _infer_strided_slice(op: Op) -> RuleResult:
    """`StridedSlice`: Python's slices, with masks."""
    shape = op.shape(0)
    entries = None if shape is None else slice_entries(op, len(shape))
    if shape is None or entries is None:
        return [None]
    old_sizes = iter(shape)
    new_sizes: list[int] = []
    for entry in entries:
        if entry.kind == "new":
            new_sizes.append(1)
            continue
        size = next(old_sizes)
        if entry.kind != "shrink":  # which drops the axis
            new_sizes.append(size if entry.kind == "all" else _sliced_size(op, size, entry))
    return [tuple(new_sizes)]


def _sliced_size(op: Op, size: int, entry: SliceEntry) -> int:
    """Return the number of positions in a slice of one axis."""
    if entry.begin in (None, 0) and entry.end is None and entry.stride == 1:
        return size
    bounds = [bound for bound in (entry.begin, entry.end) if bound is not None]
    if entry.stride in (SYMBOL_LIMIT, 0) or any(bound <= SYMBOL_LIMIT for bound in bounds):
        # x[:n] is certain only if n is the symbol of the size itself.
        whole = entry.begin in (None, 0) and entry.stride == 1 and entry.end == size
        return size if whole else op.symbols.new_symbol()
    if size <= SYMBOL_LIMIT:
        # x[::k] divides an unknown size; any other slice may exceed the end.
        divides = not entry.begin and entry.end is None and entry.stride > 0
        return op.symbols.calculate("ceil", size, entry.stride) if divides else op.symbols.new_symbol()
    # TensorFlow clips begin and end as Python does.
    return len(range(*slice(entry.begin, entry.end, entry.stride).indices(size)))


# Ops that rearrange elements: Reshape, Concat, Transpose, Tile …


def _infer_reshape(op: Op) -> RuleResult:
    """`Reshape`: the target in input 1; a single -1 follows from the number of elements."""
    target = op.value(1)
    if target is None:
        return [op.stated_dims(1)]
    if target.count(-1) != 1:
        return [_fill_unknown_size(op, target)]
    shape = op.shape(0)
    if shape is None:
        return [op.stated_dims(1)]
    rest = [size for size in target if size != -1]
    size = op.symbols.quotient(shape, rest) if 0 not in rest else op.symbols.new_symbol()  # 0 = 0 * anything
    return [tuple(size if stated == -1 else stated for stated in target)]


def _fill_unknown_size(op: Op, target: tuple[int, ...]) -> Dims:
    """Fill in the only unknown size of a target without -1, from the number of elements."""
    if sum(size <= SYMBOL_LIMIT for size in target) != 1 or (shape := op.shape(0)) is None:
        return target
    rest = [size for size in target if size > SYMBOL_LIMIT]
    # Where no size follows, the target stays as it is.
    size = op.symbols.quotient(shape, rest) if 0 not in rest else SYMBOL_LIMIT
    return tuple(size if stated <= SYMBOL_LIMIT < size else stated for stated in target)


def _infer_expand_dims(op: Op) -> RuleResult:
    """`ExpandDims`: a size of 1 at the axis in input 1."""
    shape = op.shape(0)
    if shape is None:
        return [None]
    axis = normalize_axis(op.known_number(1), len(shape) + 1)
    return [op.symbols.new_symbols(len(shape) + 1) if axis is None else (*shape[:axis], 1, *shape[axis:])]


def _infer_squeeze(op: Op) -> RuleResult:
    """`Squeeze`: drop the axes of `squeeze_dims`, or all of size 1."""
    shape, axes = op.shape(0), op.attr("squeeze_dims") or op.attr("axis")
    if shape is None:
        return [None]
    if axes:
        return [drop_axes(shape, axes)]
    return [tuple(size for size in shape if size != 1) if are_known_sizes(*shape) else None]


def _infer_transpose(op: Op) -> RuleResult:
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


def _infer_concat_v2(op: Op) -> RuleResult:
    """`ConcatV2`: the axis is the last input."""
    parts = op.counted_inputs(0, 1)
    return [concatenate_shapes(op, [part.shape for part in parts], op.known_number(len(parts)))]


def concatenate_shapes(op: Op, shapes: list[Dims], axis: int | None) -> Dims:
    """Add up the sizes along the axis; all other sizes must agree."""
    # Known ranks must be equal; parts of unknown rank have any rank.
    ranks = {len(shape) for shape in shapes if shape is not None}
    if len(ranks) != 1:
        return None
    rank = ranks.pop()
    position = normalize_axis(axis, rank)
    if position is None:
        return op.symbols.new_symbols(rank)
    total = 0
    for shape in shapes:
        total = op.symbols.calculate("add", total, shape[position] if shape is not None else op.symbols.new_symbol())
    # Sizes along the axis itself may differ.
    merged = merge_all_dims([None if shape is None else replace_size(shape, position, 0) for shape in shapes])
    return None if merged is None else replace_size(merged, position, total)


def _infer_pack(op: Op) -> RuleResult:
    """`Pack`: inputs of one shape along a new axis."""
    parts = op.counted_inputs()
    shape = merge_all_dims([part.shape for part in parts])
    if shape is None:
        return [None]
    axis = normalize_axis(op.attr("axis"), len(shape) + 1)
    return [None if axis is None else (*shape[:axis], len(parts), *shape[axis:])]


def _infer_unpack(op: Op) -> RuleResult:
    """`Unpack`: one output for each position along the axis, which is dropped."""
    shape, count = op.shape(0), op.attr_count("num")
    if shape is None:
        return [None] * count
    axis = normalize_axis(op.attr("axis"), len(shape))
    return [None if axis is None else (*shape[:axis], *shape[axis + 1 :])] * count


def _infer_split(op: Op) -> RuleResult:
    """`Split`: equal parts; the axis is the first input."""
    shape, count = op.shape(1), op.attr_count("num_split")
    axis = normalize_axis(op.known_number(0), len(shape)) if shape is not None else None
    if shape is None or axis is None or not count:
        return [unknown_sizes(op, shape)] * count
    return [replace_size(shape, axis, op.symbols.quotient([shape[axis]], [count]))] * count


def _infer_split_v(op: Op) -> RuleResult:
    """`SplitV`: inputs are the tensor, the sizes and the axis; a size of -1 is the rest."""
    shape, sizes, count = op.shape(0), op.value(1), op.attr_count("num_split")
    axis = normalize_axis(op.known_number(2), len(shape)) if shape is not None else None
    if shape is None or axis is None:
        return [unknown_sizes(op, shape)] * count
    # A single part is everything; several parts have unknown sizes.
    if sizes is None or len(sizes) != count:
        sizes = op.symbols.new_symbols(count) if count > 1 else (shape[axis],)
    rest = shape[axis]
    for size in sizes:
        rest = op.symbols.difference(rest, size) if size != -1 else rest
    return [replace_size(shape, axis, rest if size == -1 else size) for size in sizes]


def _infer_pad(op: Op) -> RuleResult:
    """`Pad`: input 1 has a row for each axis, the pads before and after it."""
    shape, pads, rank = op.shape(0), op.value(1), _rank_by_rows(op)
    if rank is None:
        return [None]
    if shape is None or pads is None or len(pads) != 2 * rank:
        return [op.symbols.new_symbols(rank)]
    add = op.symbols.calculate
    return [tuple(add("add", add("add", size, pads[2 * axis]), pads[2 * axis + 1]) for axis, size in enumerate(shape))]


def _rank_by_rows(op: Op) -> int | None:
    """Return the rank of input 0, or the number of rows of input 1, which has one for each axis."""
    shape, by_axis = op.shape(0), op.shape(1)
    if shape is not None:
        return len(shape)
    return by_axis[0] if by_axis and are_known_sizes(by_axis[0]) else None


def _infer_pad_gradient(op: Op) -> RuleResult:
    """`MirrorPadGrad`: the sizes before `MirrorPad`."""
    shape, pads = op.shape(0), op.value(1)
    if shape is None or pads is None or len(pads) != 2 * len(shape):
        return [unknown_sizes(op, shape)]
    subtract = op.symbols.difference
    return [tuple(subtract(subtract(size, pads[2 * axis]), pads[2 * axis + 1]) for axis, size in enumerate(shape))]


def _infer_tile(op: Op) -> RuleResult:
    """`Tile`: each size times its number of repetitions in input 1."""
    shape, times, rank = op.shape(0), op.value(1), _rank_by_rows(op)
    if shape is None or times is None or len(times) != len(shape):
        return [None if rank is None else op.symbols.new_symbols(rank)]
    return [tuple(op.symbols.product([size, time]) for size, time in zip(shape, times, strict=True))]


def _infer_shape_n(op: Op) -> RuleResult:
    """`ShapeN`: a vector for each input, whose elements are the shape of that input."""
    return [
        Out((op.symbols.new_symbol(),)) if operand.shape is None else Out((len(operand.shape),), operand.shape)
        for operand in op.ins
    ]


def _infer_range(op: Op) -> RuleResult:
    """`Range`: start, limit, step."""
    numbers = [op.value(index) for index in range(3)]
    if any(number is None or len(number) != 1 for number in numbers):
        return [(op.symbols.new_symbol(),)]
    return [(op.symbols.calculate("span", *(number[0] for number in numbers if number)),)]


def _infer_traced_constant(op: Op) -> RuleResult:
    """`prim::Constant`: a tensor, or in a trace the text of a number or of a list, `{ value : [1, 2]}`."""
    attrs = op.definition.attr
    if "value" in attrs:  # reading a missing key of a message would add it
        return [op.dims_of_message(attrs["value"].tensor.tensor_shape)]
    name, _, stated = str(op.attr("attr") or "").strip("{ }").partition(":")
    return [Out(None, traced_numbers(stated) if name.strip() == "value" else None)]


def _infer_traced_list(op: Op) -> RuleResult:
    """`prim::ListConstruct`: numbers one by one."""
    numbers = [op.known_number(index) for index in range(len(op.ins))]
    known = tuple([number for number in numbers if number is not None])
    return [Out(None, known if len(known) == len(numbers) <= MAX_DIMENSIONS else None)]


ARRAY_RULES: dict[str, ShapeRule] = {
    "Reshape": _infer_reshape,
    "ExpandDims": _infer_expand_dims,
    "Squeeze": _infer_squeeze,
    "Transpose": _infer_transpose,
    "ConjugateTranspose": _infer_transpose,
    "Concat": lambda op: [concatenate_shapes(op, [part.shape for part in op.counted_inputs(1, 1)], op.known_number(0))],
    "ConcatV2": _infer_concat_v2,
    "ConcatOffset": lambda op: [operand.shape for operand in op.ins[1:]],
    "Pack": _infer_pack,
    "Unpack": _infer_unpack,
    "Split": _infer_split,
    "SplitV": _infer_split_v,
    "Pad": _infer_pad,
    "PadV2": _infer_pad,
    "MirrorPad": _infer_pad,
    "MirrorPadGrad": _infer_pad_gradient,
    "Tile": _infer_tile,
    "ShapeN": _infer_shape_n,
    "Range": _infer_range,
    "prim::Constant": _infer_traced_constant,
    "prim::ListConstruct": _infer_traced_list,
}


# Slices, gathers, scatters and other selections of elements.


def _infer_slice(op: Op) -> RuleResult:
    """`Slice`: begins and sizes; a size of -1 means the rest."""
    shape, begins, sizes = op.shape(0), op.value(1), op.value(2)
    if sizes is None:
        rank = len(shape) if shape is not None else _known_vector_length(op, 1) or _known_vector_length(op, 2)
        return [None if rank is None else op.symbols.new_symbols(rank)]
    sliced = []
    for axis, size in enumerate(sizes):
        if size != -1:
            sliced.append(size)
        elif shape is None or begins is None or len(shape) != len(sizes) or len(begins) != len(sizes):
            sliced.append(op.symbols.new_symbol())
        else:
            sliced.append(op.symbols.difference(shape[axis], begins[axis]))
    return [tuple(sliced)]


def _known_vector_length(op: Op, index: int) -> int | None:
    shape = op.shape(index)
    return shape[0] if shape is not None and len(shape) == 1 and shape[0] > SYMBOL_LIMIT else None


def _infer_gather(op: Op) -> RuleResult:
    """`Gather`: a row of input 0 for each index in input 1."""
    shape, indices = op.shape(0), op.shape(1)
    return [None if not shape or indices is None else (*indices, *shape[1:])]


def _infer_gather_v2(op: Op) -> RuleResult:
    """`GatherV2`: along the axis in input 2 or an attribute; the first `batch_dims` axes of both inputs are shared."""
    shape, indices, shared = op.shape(0), op.shape(1), int(op.attr("batch_dims") or 0)
    if shape is None or indices is None:
        return [None]
    shared += len(indices) if shared < 0 else 0
    axis = normalize_axis(op.known_number(2) if len(op.ins) > 2 else int(op.attr("axis") or 0), len(shape))
    if axis is None:
        return [op.symbols.new_symbols(len(shape) + len(indices) - 1 - shared) if shared == 0 and shape else None]
    # params.shape[:axis] + indices.shape[batch_dims:] + params.shape[axis + 1:]
    return [(*shape[:axis], *indices[shared:], *shape[axis + 1 :])]


def _indexed_shape(shape: Dims, indices: Dims) -> Dims:
    """Return the shape of a selection by positions, each a row along the last axis of the indices."""
    if shape is None or not indices or not are_known_sizes(indices[-1]) or indices[-1] > len(shape):
        return None
    return (*indices[:-1], *shape[indices[-1] :])


def _infer_resource_gather(op: Op) -> RuleResult:
    """`ResourceGather`: rows of a variable; the first `batch_dims` axes are also the first of the indices."""
    shape, indices, shared = op.held_shape(0), op.shape(1), int(op.attr("batch_dims") or 0)
    return [None if not shape or indices is None else (*indices, *shape[shared + 1 :])]


def _infer_one_hot(op: Op) -> RuleResult:
    """`OneHot`: a new axis of the depth in input 1."""
    shape = op.shape(0)
    if shape is None:
        return [None]
    stated = int(op.attr("axis") if op.attr("axis") is not None else -1)
    axis = len(shape) if stated == -1 else stated
    return [(*shape[:axis], op.known_size(1), *shape[axis:])]


def _infer_unique_v2(op: Op) -> RuleResult:
    """`UniqueV2`: of a vector; along axes whole slices are compared, whose number and shape are left unknown."""
    shape, axes = op.shape(0), op.shape(1)
    if shape is None or axes != (0,) or len(shape) != 1:
        return [None, (op.symbols.new_symbol(),), (op.symbols.new_symbol(),)]
    distinct = op.symbols.new_symbol()
    return [(distinct,), shape, (distinct,)]


def _infer_dynamic_partition(op: Op) -> RuleResult:
    """`DynamicPartition`: parts with an unknown number of rows."""
    shape, parts, count = op.shape(0), op.shape(1), op.attr_count("num_partitions")
    if shape is None or parts is None:
        return [None] * count
    return [(op.symbols.new_symbol(), *shape[len(parts) :]) for _ in range(count)]


def _infer_dynamic_stitch(op: Op) -> RuleResult:
    """`DynamicStitch`: inputs are tensors of indices, then tensors of rows; a row for each index up to the largest."""
    half = len(op.ins) // 2
    tensors = list(zip(op.ins[:half], op.ins[half:], strict=True))
    row_shapes = {
        rows.shape[len(index.shape) :] for index, rows in tensors if index.shape is not None and rows.shape is not None
    }
    if len(row_shapes) != 1:
        return [None]
    known = [number for index, _ in tensors if index.value is not None for number in index.value]
    all_known = all(index.value is not None for index, _ in tensors) and are_known_sizes(*known)
    return [(max(known) + 1 if known and all_known else op.symbols.new_symbol(), *row_shapes.pop())]


INDEXING_RULES: dict[str, ShapeRule] = {
    "Slice": _infer_slice,
    "StridedSlice": _infer_strided_slice,
    "Gather": _infer_gather,
    "GatherV2": _infer_gather_v2,
    "GatherNd": lambda op: [_indexed_shape(op.shape(0), op.shape(1))],
    "ResourceGather": _infer_resource_gather,
    "ResourceGatherNd": lambda op: [_indexed_shape(op.held_shape(0), op.shape(1))],
    "OneHot": _infer_one_hot,
    "UniqueV2": _infer_unique_v2,
    "UniqueWithCountsV2": _infer_unique_v2,
    "DynamicPartition": _infer_dynamic_partition,
    "DynamicStitch": _infer_dynamic_stitch,
    "ParallelDynamicStitch": _infer_dynamic_stitch,
}


# Ops that move blocks of space to depth or to the batch, and back: SpaceToDepth, BatchToSpaceND …


def _exchange_blocks(op: Op, down: bool) -> Dims:
    """Return the shape after moving blocks to depth (`down`) or back, in both layouts of four dimensions."""
    shape, size, layout = op.shape(0), int(op.attr("block_size") or 0), op.attr("data_format") or "NHWC"
    if shape is None or len(shape) != 4 or not size or len(layout) != 4:
        # NCHW_VECT_C has five dimensions.
        return op.symbols.new_symbols(len(layout.removesuffix("_VECT_C")) + layout.endswith("_VECT_C"))
    sizes = list(shape)
    for dim, letter in enumerate(layout):
        # To depth, rows and columns shrink and channels grow; back, it is the reverse.
        grows = (letter in "HW") != down
        if letter in "HWC":
            factor = size * size if letter == "C" else size
            sizes[dim] = (
                op.symbols.product([shape[dim], factor]) if grows else op.symbols.quotient([shape[dim]], [factor])
            )
    return tuple(sizes)


def _infer_space_to_batch(op: Op) -> RuleResult:
    """`SpaceToBatchND`: input 1 has the shape of a block, from axis 1 on, input 2 the pads around these axes."""
    shape, block, pads = op.shape(0), op.value(1), op.value(2)
    if shape is None:
        return [None]
    if block is None or pads is None or len(pads) != 2 * len(block) or len(block) >= len(shape):
        return [unknown_sizes(op, shape)]
    add, sizes = op.symbols.calculate, list(shape)
    for dim, size in enumerate(block):
        padded = add("add", add("add", shape[dim + 1], pads[2 * dim]), pads[2 * dim + 1])
        sizes[dim + 1] = op.symbols.quotient([padded], [size])
    return [(op.symbols.product([shape[0], *block]), *sizes[1:])]


def _infer_batch_to_space(op: Op) -> RuleResult:
    """`BatchToSpaceND`: the inverse of `SpaceToBatchND`, with crops for pads."""
    shape, block, crops = op.shape(0), op.value(1), op.value(2)
    if shape is None:
        return [None]
    if block is None or crops is None or len(crops) != 2 * len(block) or len(block) >= len(shape):
        return [unknown_sizes(op, shape)]
    subtract, sizes = op.symbols.difference, list(shape)
    for dim, size in enumerate(block):
        uncropped = op.symbols.product([shape[dim + 1], size])
        sizes[dim + 1] = subtract(subtract(uncropped, crops[2 * dim]), crops[2 * dim + 1])
    return [(op.symbols.quotient([shape[0]], block), *sizes[1:])]


BLOCK_RULES: dict[str, ShapeRule] = {
    "SpaceToDepth": lambda op: [_exchange_blocks(op, down=True)],
    "DepthToSpace": lambda op: [_exchange_blocks(op, down=False)],
    "SpaceToBatchND": _infer_space_to_batch,
    "BatchToSpaceND": _infer_batch_to_space,
}


# Diagonals of matrices: extracted, set, or expanded to matrices.


def _infer_diagonal_part(op: Op) -> RuleResult:
    """`DiagPart`: the first half of the axes, which equals the second."""
    shape = op.shape(0)
    if shape is None or len(shape) % 2:
        return [None]
    return [merge_dims(shape[: len(shape) // 2], shape[len(shape) // 2 :])]


def _infer_matrix_diagonals(op: Op) -> RuleResult:
    """`MatrixDiagV2`: one diagonal `k` above the main one, in a matrix of the stated or the minimal size."""
    shape, above, rows, columns = op.shape(0), op.known_number(1), op.known_number(2), op.known_number(3)
    if not shape or above is None or rows is None or columns is None:
        return [None]
    down, right = (op.symbols.calculate("add", shape[-1], max(way, 0)) for way in (-above, above))
    if rows == columns == -1:
        down = right = down if above < 0 else right
    return [(*shape[:-1], down if rows == -1 else rows, right if columns == -1 else columns)]


def _infer_matrix_diagonal_part(op: Op) -> RuleResult:
    """`MatrixDiagPart`: the smaller of the last two dimensions."""
    shape = op.shape(0)
    return [None if shape is None or len(shape) < 2 else (*shape[:-2], op.symbols.calculate("min", *shape[-2:]))]


DIAGONAL_RULES: dict[str, ShapeRule] = {
    "DiagPart": _infer_diagonal_part,
    "MatrixDiagV2": _infer_matrix_diagonals,
    "MatrixDiagV3": _infer_matrix_diagonals,
    "MatrixDiagPart": _infer_matrix_diagonal_part,
    "BatchMatrixDiagPart": _infer_matrix_diagonal_part,
}
RULES = {**ARRAY_RULES, **INDEXING_RULES, **BLOCK_RULES, **DIAGONAL_RULES}
