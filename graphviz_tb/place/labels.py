"""What is said about an edge: its label, its full account."""

from __future__ import annotations

from itertools import islice

from graphviz_tb.model.measure import clean, elide, thousands, width
from graphviz_tb.model.metagraph import Bridge, Metaedge
from graphviz_tb.model.tensors import Shape, Tensor
from graphviz_tb.place.sizes import SMALL_SIZE

LABEL_MOST = 120
LABEL_HEIGHT = 12
TOLD = 6  # shapes named in a tooltip
Line = Metaedge | Bridge


def label(edge: Line) -> str:
    """The shape of the one tensor that flows, or how many there are; nothing for a scalar or an unknown
    shape.

    >>> from graphviz_tb.model.tensors import carry
    >>> label(Metaedge(0, 1, 1, 0, 0, carry(Tensor((None, 28, 28, 32), "float32"))))
    '?×28×28×32'
    >>> label(Metaedge(0, 1, 3, 0, 0)), label(Metaedge(0, 1, 1, 0, 0, carry(Tensor((), "int32"))))
    ('3 tensors', '')
    """
    count = len(edge.carried) or edge.tensors + edge.reference
    if count > 1:
        return f"{thousands(count)} tensors"
    tensor = edge.carried[0] if len(edge.carried) else Tensor()
    dims, dtype = shape(tensor.shape), "" if tensor.dtype == "float32" else tensor.dtype
    return f"{dims} {dtype}".strip() if dims else ""


def shape(one: Shape) -> str:
    """Dimensions joined by a multiplication sign; "" for a scalar or an unknown shape."""
    return "×".join("?" if dim is None else str(dim) for dim in one) if one else ""


def shown(edge: Line) -> tuple[str, int]:
    """The label as it is drawn, and its width."""
    text = elide(clean(label(edge)), LABEL_MOST, SMALL_SIZE)
    return text, width(text, SMALL_SIZE)


def account(edge: Line, source: str, target: str) -> str:
    """The full account of an edge on one line.

    >>> from graphviz_tb.model.tensors import carry
    >>> account(Metaedge(0, 1, 1, 2, 0, carry(Tensor((2, 3), "int32"))), "a", "b")
    'a → b: 1 tensor (2×3 int32), 2 control edges'
    """
    told = [_tensors(edge)] if edge.tensors + edge.reference or len(edge.carried) else []
    told += [plural(edge.control, "control edge")] if edge.control else []
    told += [plural(edge.reference, "reference edge")] if edge.reference else []
    return f"{brief(source)} → {brief(target)}: {', '.join(told)}"


def brief(name: str, most: int = 300) -> str:
    """A name as a tooltip tells it: on one line, an endless one without its middle.

    >>> brief("a" * 400).count("a"), brief("a/b")
    (299, 'a/b')
    """
    name = clean(name)
    return name if len(name) <= most else f"{name[: most // 2]}…{name[len(name) - most // 2 + 1 :]}"


def _tensors(edge: Line) -> str:
    count = len(edge.carried) or edge.tensors + edge.reference
    each = [told(tensor) for tensor in islice(edge.carried, TOLD)]
    each = [text for text in each if text]
    more = "; …" if len(edge.carried) > TOLD else ""
    return plural(count, "tensor") + (f" ({'; '.join(each)}{more})" if each else "")


def told(tensor: Tensor) -> str:
    """One tensor in words, and whether its shape was inferred.

    >>> told(Tensor((2, None), "float32", "inferred"))
    '2×? float32, inferred'
    """
    words = describe(tensor.shape, tensor.dtype)
    return f"{words}, inferred" if tensor.origin == "inferred" else words


def describe(one: Shape, dtype: str) -> str:
    """One tensor in words.

    >>> describe((), "int32"), describe(None, "float32"), describe((None,), "float32")
    ('scalar int32', 'unknown rank float32', '? float32')
    """
    dims = "" if one is None and not dtype else "unknown rank" if one is None else brief(shape(one)) or "scalar"
    return f"{dims} {dtype}".strip()


def plural(count: int, word: str) -> str:
    """A count and its noun.

    >>> plural(1, "tensor"), plural(2, "tensor")
    ('1 tensor', '2 tensors')
    """
    return f"{thousands(count)} {word}{'' if count == 1 else 's'}"
