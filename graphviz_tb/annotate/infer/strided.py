"""Strided slices: begins, ends and strides for some dimensions, and masks that change their meaning.

Defined by tf.strided_slice; bit i of a mask concerns entry i of the specification.
"""

from __future__ import annotations

from graphviz_tb.annotate.infer.op import Op
from graphviz_tb.annotate.infer.symbols import SYMBOL_LIMIT
from graphviz_tb.annotate.infer.values import Dims, Elements
from graphviz_tb.limits import MAX_FOLDED_ELEMENTS
from graphviz_tb.model.frozen import dataclass


@dataclass(frozen=True, slots=True)
class SliceEntry:
    """The effect of a slice on a dimension: "all" of it, a "new" one, one position ("shrink"), or a "part"."""

    kind: str
    begin: int | None = None  # None: from the start
    end: int | None = None  # None: to the end
    stride: int = 1


def slice_entries(op: Op, rank: int, first: int) -> list[SliceEntry] | None:
    """Expand the specification to all dimensions; inputs from `first` on are begin, end, strides. None if it cannot be
    read."""
    begins, ends, strides = op.value(first), op.value(first + 1), op.known_elements(first + 2)
    lengths = [len(each) for each in (strides, begins, ends) if each is not None]
    # Any of the three vectors gives the number of entries.
    count = lengths[0] if lengths else _specification_length(op, first)
    if count is None:
        return None
    masks = {
        name: int(op.attr(f"{name}_mask") or 0) for name in ("begin", "end", "ellipsis", "new_axis", "shrink_axis")
    }
    # TensorFlow refuses a second ellipsis; hundreds would each be all dimensions.
    if (masks["ellipsis"] & ((1 << count) - 1)).bit_count() > 1:
        return None
    # Entries that use a dimension of the input: all but new axes and the ellipsis, which uses the rest.
    used = sum(not masks["new_axis"] >> place & 1 for place in range(count)) - bool(masks["ellipsis"])
    specification: list[SliceEntry] = []
    for place in range(count):
        if masks["ellipsis"] >> place & 1:
            # x[..., 1] of four dimensions: the ellipsis is three.
            specification += [SliceEntry("all")] * max(0, rank - used)
        elif masks["new_axis"] >> place & 1:
            specification.append(SliceEntry("new"))
        else:
            specification.append(_slice_entry(place, begins, ends, strides, masks))
    dims = sum(entry.kind != "new" for entry in specification)
    # Dimensions after the last entry are taken whole.
    return specification + [SliceEntry("all")] * (rank - dims) if dims <= rank else None


def _specification_length(op: Op, first: int) -> int | None:
    shape = op.shape(first)
    return (
        shape[0] if shape is not None and len(shape) == 1 and SYMBOL_LIMIT < shape[0] <= MAX_FOLDED_ELEMENTS else None
    )


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


def strided_slice_shape(op: Op, shape: Dims, first: int) -> Dims:
    """Return the shape of the slice."""
    if shape is None:
        return None
    plan = slice_entries(op, len(shape), first)
    if plan is None:
        return None
    sizes = iter(shape)
    # "shrink" leaves no dimension.
    values: list[int] = []
    for entry in plan:
        if entry.kind == "new":
            values.append(1)
            continue
        size = next(sizes)
        if entry.kind == "all":
            values.append(size)
        elif entry.kind == "part":
            values.append(sliced_size(op, size, entry))
    return tuple(values)


def sliced_size(op: Op, size: int, entry: SliceEntry) -> int:
    """Return the number of positions in a slice of one dimension."""
    if entry.begin in (None, 0) and entry.end is None and entry.stride == 1:
        return size
    numbers = [number for number in (entry.begin, entry.end) if number is not None]
    if entry.stride in (SYMBOL_LIMIT, 0) or any(number <= SYMBOL_LIMIT for number in numbers):
        return _slice_by_symbols(op, size, entry)
    if size <= SYMBOL_LIMIT:
        return _slice_of_unknown_size(op, size, entry)
    # TensorFlow clips begin and end as Python does.
    return len(range(*slice(entry.begin, entry.end, entry.stride).indices(size)))


def _slice_of_unknown_size(op: Op, size: int, entry: SliceEntry) -> int:
    """Return the size of `x[::k]` for an unknown size: the size divided by k, rounded up. Any other cut may exceed the
    end."""
    if not entry.begin and entry.end is None:
        return op.symbols.calculate("ceil", size, entry.stride) if entry.stride > 0 else op.symbols.new_symbol()
    return op.symbols.new_symbol()


def _slice_by_symbols(op: Op, size: int, entry: SliceEntry) -> int:
    """Return the size of `x[:n]` if n is the symbol of the size itself; nothing else is certain."""
    if entry.begin in (None, 0) and entry.stride == 1 and entry.end == size:
        return size
    return op.symbols.new_symbol()
