"""Texts of a line: its label, and its description in a tooltip."""

from __future__ import annotations

from itertools import islice

from graphviz_tb.model.measure import SMALL_SIZE, clean, cut_middle, elide, thousands
from graphviz_tb.model.metagraph import Bridge, Line
from graphviz_tb.model.tensors import Shape, Tensor, shape_word
from graphviz_tb.model.units import plural

LONGEST_LABEL = 120  # px: four dimensions and a type; the tooltip has the rest
NAMES_LISTED = 40  # more names do not fit on a screen
SHAPES_NAMED = 6  # as many as fit in one line
LONGEST_NAME = 300  # scopes may be nested without end


def label(edge: Line) -> str:
    """Return the label of a line: the shape of its one tensor and its branch, or the number of tensors; "" for a scalar
    or an unknown shape. In a member that represents its stack: how many members have such a line, if not all.

    >>> from graphviz_tb.model.bundles import bundle_of
    >>> from graphviz_tb.model.metagraph import Metaedge
    >>> label(Metaedge(0, 1, 1, 0, 0, bundle_of(Tensor((None, 28, 28, 32), "float32"))))
    '?×28×28×32'
    >>> label(Metaedge(0, 1, 3, 0, 0)), label(Metaedge(0, 1, 1, 0, 0, bundle_of(Tensor((), "int32"))))
    ('3 tensors', '')
    """
    if isinstance(edge, Bridge) and edge.members[1]:
        return some(edge)
    count = flowing(edge)
    if count > 1:
        return f"{thousands(count)} tensors"
    tensor = edge.carried[0] if len(edge.carried) else Tensor()
    # The usual type is not written.
    dims, dtype = shape(tensor.shape), "" if tensor.dtype == "float32" else tensor.dtype
    said = f"{dims} {dtype}".strip() if dims else ""
    return f"{said} if {tensor.branch}".strip() if tensor.branch else said


def some(bridge: Bridge) -> str:
    """Return how many members of a stack have a line of the shown one.

    >>> some(Bridge(0, 5, True, 1, 0, 0, members=(1, 3)))
    'in 1 of 3'
    """
    few, members = bridge.members
    return f"in {thousands(few)} of {thousands(members)}"


def shape(dims: Shape) -> str:
    """Return dimensions joined by a multiplication sign; "" for a scalar or an unknown shape."""
    return shape_word(dims) if dims else ""


def shown(edge: Line) -> str:
    """Return the label as it is drawn."""
    return elide(clean(label(edge)), LONGEST_LABEL, SMALL_SIZE)


def account(edge: Line, source: str, target: str) -> str:
    """Return the full description of an edge on one line.

    >>> from graphviz_tb.model.bundles import bundle_of
    >>> from graphviz_tb.model.metagraph import Metaedge
    >>> account(Metaedge(0, 1, 1, 2, 0, bundle_of(Tensor((2, 3), "int32"))), "a", "b")
    'a → b: 1 tensor (2×3 int32), 2 control edges'
    """
    return f"{brief(source)} → {brief(target)}: {contents(edge)}"


def contents(edge: Line) -> str:
    """Describe the edges that a line represents.

    >>> from graphviz_tb.model.metagraph import Metaedge
    >>> contents(Metaedge(0, 1, 2, 0, 1))
    '3 tensors, 1 reference edge'
    """
    parts = [tensors(edge)] if flowing(edge) else []
    parts += [counted(edge.control, "control edge")] if edge.control else []
    parts += [counted(edge.reference, "reference edge")] if edge.reference else []
    parts += [f"{some(edge)} members"] if isinstance(edge, Bridge) and edge.members[1] else []
    return ", ".join(parts)


def brief(name: str, most: int = LONGEST_NAME) -> str:
    """Return a name for a tooltip: on one line, a very long one without its middle.

    >>> brief("a" * 400).count("a"), brief("a/b")
    (299, 'a/b')
    """
    return clean(cut_middle(name, most))


def flowing(edge: Line) -> int:
    """Count the tensors that flow: the distinct ones if known, else one for each edge."""
    return len(edge.carried) or edge.tensors + edge.reference


def tensors(edge: Line) -> str:
    """Describe the number of tensors that flow, and the first of them."""
    each = [in_words(tensor) for tensor in islice(edge.carried, SHAPES_NAMED)]
    each = [text for text in each if text]
    more = "; …" if len(edge.carried) > SHAPES_NAMED else ""
    return counted(flowing(edge), "tensor") + (f" ({'; '.join(each)}{more})" if each else "")


def in_words(tensor: Tensor) -> str:
    """Describe one tensor, whether its shape was inferred, and its branch.

    >>> in_words(Tensor((2, None), "float32", "inferred"))
    '2×? float32, inferred'
    """
    words = describe(tensor.shape, tensor.dtype)
    words = f"{words}, inferred" if tensor.origin == "inferred" else words
    return f"{words or 'of unknown shape'}, if {tensor.branch}" if tensor.branch else words


def describe(dims: Shape, dtype: str) -> str:
    """Describe a shape and a type.

    >>> describe((), "int32"), describe(None, "float32"), describe((None,), "float32")
    ('scalar int32', 'unknown rank float32', '? float32')
    """
    if dims is None:
        return f"unknown rank {dtype}" if dtype else ""
    return f"{brief(shape(dims)) or 'scalar'} {dtype}".strip()


def counted(count: int, noun: str) -> str:
    """Return a count and its noun.

    >>> counted(1, "tensor"), counted(2, "tensor")
    ('1 tensor', '2 tensors')
    """
    return f"{thousands(count)} {plural(count, noun)}"
