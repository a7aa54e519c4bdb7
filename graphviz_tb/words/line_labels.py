"""Texts of a line: its label, and its description in a tooltip."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from graphviz_tb.model.formatting import plural_noun
from graphviz_tb.model.measure import (
    SMALL_FONT_PX,
    elide_text,
    group_thousands,
    replace_unsafe_characters,
    truncate_middle,
)
from graphviz_tb.model.metagraph import Bridge, Metaedge, MetagraphLine
from graphviz_tb.model.tensors import Tensor, has_known_size, shape_text

LINE_LABEL_PX = 120  # px: four dimensions and a type; the tooltip has the rest
TOOLTIP_NAMES = 40  # more names do not fit on a screen
TOOLTIP_SHAPES = 6  # as many as fit in one line
TOOLTIP_NAME_LETTERS = 300  # scopes may be nested without end


def _line_label(edge: MetagraphLine) -> str:
    """Return the label of a line: the shape of its only tensor, without the batch, and its branch, or the number of
    tensors; "" for a scalar or an unknown shape. If only some members of a stack have the line, the label tells how
    many.

    >>> from graphviz_tb.model.metagraph import bundle_of_tensors
    >>> from graphviz_tb.model.metagraph import Metaedge
    >>> _line_label(Metaedge(0, 1, 1, 0, 0, bundle_of_tensors(Tensor((None, 28, 28, 32), "float32"))))
    '28×28×32'
    >>> (
    ...     _line_label(Metaedge(0, 1, 3, 0, 0)),
    ...     _line_label(Metaedge(0, 1, 1, 0, 0, bundle_of_tensors(Tensor((), "int32")))),
    ... )
    ('3 tensors', '')
    >>> for shape in ((None, None), (3,)):
    ...     _line_label(Metaedge(0, 1, 1, 0, 0, bundle_of_tensors(Tensor(shape, "float32"))))
    ''
    '[3]'
    """
    if isinstance(edge, Bridge) and edge.members[1]:
        return _member_share(edge)
    if isinstance(edge, Metaedge) and edge.writes:
        return count_of(edge.reference, "weight")
    count = tensor_count(edge)
    if count > 1:
        return f"{group_thousands(count)} tensors"
    tensor = edge.carried_tensors[0] if len(edge.carried_tensors) else Tensor()
    # The usual dtype is left out.
    sizes = _without_batch(tensor.sizes)
    dims = shape_text(sizes) if sizes and has_known_size(sizes) else ""
    dims = f"[{dims}]" if dims and len(tensor.sizes or ()) == 1 else dims  # the size of a vector is no count
    dtype = "" if tensor.dtype == "float32" else tensor.dtype
    words = f"{dims} {dtype}".strip() if dims else ""
    return f"{words} if {tensor.branch}".strip() if tensor.branch else words


def _without_batch(sizes: Sequence[int | str | None] | None) -> Sequence[int | str | None] | None:
    """Return the sizes of a tensor without its batch, a first dimension that is unknown, named or 1.

    >>> _without_batch((None, 28, 28, 32)), _without_batch(("s0", 4)), _without_batch((1, 3)), _without_batch((2, 3))
    ((28, 28, 32), (4,), (3,), (2, 3))
    """
    if sizes is None or len(sizes) < 2:
        return sizes
    return sizes[1:] if not isinstance(sizes[0], int) or sizes[0] in (-1, 1) else sizes


def _member_share(bridge: Bridge) -> str:
    """Return how many members of a stack have a line of the shown member.

    >>> _member_share(Bridge(0, 5, True, 1, 0, 0, members=(1, 3)))
    'in 1 of 3'
    """
    few, members = bridge.members
    return f"in {group_thousands(few)} of {group_thousands(members)}"


def _dims_text(dims: Sequence[int | str | None] | None) -> str:
    """Return dimensions joined by multiplication signs; "" for a scalar or an unknown shape."""
    return "" if not dims else f"[{shape_text(dims)}]" if len(dims) == 1 else shape_text(dims)


def drawn_label(edge: MetagraphLine) -> str:
    """Return the label, shortened to its room."""
    return elide_text(replace_unsafe_characters(_line_label(edge)), LINE_LABEL_PX, SMALL_FONT_PX)


def describe_line(edge: MetagraphLine, source: str, target: str) -> str:
    """Return the full description of an edge on one line.

    >>> from graphviz_tb.model.metagraph import bundle_of_tensors
    >>> from graphviz_tb.model.metagraph import Metaedge
    >>> describe_line(Metaedge(0, 1, 1, 2, 0, bundle_of_tensors(Tensor((2, 3), "int32"))), "a", "b")
    'a → b: 1 tensor (2×3 int32), 2 control edges'
    """
    return f"{tooltip_name(source)} → {tooltip_name(target)}: {describe_contents(edge)}"


def describe_contents(edge: MetagraphLine) -> str:
    """Describe the edges that a line represents.

    >>> from graphviz_tb.model.metagraph import Metaedge
    >>> describe_contents(Metaedge(0, 1, 2, 0, 1))
    '3 tensors, 1 reference edge'
    """
    if isinstance(edge, Metaedge) and edge.writes:
        return f"{count_of(edge.reference, 'weight')} written"
    parts = [_describe_tensors(edge)] if tensor_count(edge) else []
    parts += [count_of(edge.control, "control edge")] if edge.control else []
    parts += [count_of(edge.reference, "reference edge")] if edge.reference else []
    parts += [f"{_member_share(edge)} members"] if isinstance(edge, Bridge) and edge.members[1] else []
    return ", ".join(parts)


def tooltip_name(name: str, most: int = TOOLTIP_NAME_LETTERS) -> str:
    """Return a name for a tooltip, on one line; a very long name without its middle.

    >>> tooltip_name("a" * 400).count("a"), tooltip_name("a/b")
    (299, 'a/b')
    """
    return replace_unsafe_characters(truncate_middle(name, most))


def tensor_count(edge: MetagraphLine) -> int:
    """Count the distinct tensors of a line; if they are unknown, its data edges."""
    return len(edge.carried_tensors) or edge.tensors + edge.reference


def _describe_tensors(edge: MetagraphLine) -> str:
    """Describe the number of tensors, and the first of them."""
    each = [_describe_tensor(tensor) for tensor in islice(edge.carried_tensors, TOOLTIP_SHAPES)]
    each = [text for text in each if text]
    more = "; …" if len(edge.carried_tensors) > TOOLTIP_SHAPES else ""
    return count_of(tensor_count(edge), "tensor") + (f" ({'; '.join(each)}{more})" if each else "")


def _describe_tensor(tensor: Tensor) -> str:
    """Describe one tensor, whether its shape was inferred, and its branch.

    >>> _describe_tensor(Tensor((2, None), "float32", "inferred"))
    '2×? float32, inferred'
    """
    words = describe_shape(tensor.sizes, tensor.dtype)
    words = f"{words}, inferred" if tensor.origin == "inferred" else words
    return f"{words or 'of unknown shape'}, if {tensor.branch}" if tensor.branch else words


def describe_shape(dims: Sequence[int | str | None] | None, dtype: str) -> str:
    """Describe a shape and a type.

    >>> describe_shape((), "int32"), describe_shape(None, "float32"), describe_shape((None,), "float32")
    ('scalar int32', 'unknown rank float32', '[?] float32')
    """
    if dims is None:
        return f"unknown rank {dtype}" if dtype else ""
    return f"{tooltip_name(_dims_text(dims)) or 'scalar'} {dtype}".strip()


def count_of(count: int, noun: str) -> str:
    """Return a count and its noun.

    >>> count_of(1, "tensor"), count_of(2, "tensor")
    ('1 tensor', '2 tensors')
    """
    return f"{group_thousands(count)} {plural_noun(count, noun)}"
