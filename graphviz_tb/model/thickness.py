"""The thickness of a line, by the number of elements that flow along it."""

from __future__ import annotations

from bisect import bisect_right

from graphviz_tb.model.metagraph import Bridge, Metaedge

THIN, THICK = 10, 60  # tenths of a pixel


def _least(tenths: int) -> int:
    """Return the least number of elements n whose line is `tenths` thick: 10 + 50·log10(n)/8, rounded, computed in
    integers."""
    exponent = 8 * (2 * (tenths - THIN) - 1)  # n ** 100 >= 10 ** exponent
    number = round(10 ** (exponent / 100)) - 1  # may be off by one: integers decide
    while number**100 < 10**exponent:
        number += 1
    return number


THRESHOLDS = tuple(_least(tenths) for tenths in range(THIN + 1, THICK + 1))


def thickness(edge: Metaedge | Bridge) -> int:
    """Return the thickness in tenths of a pixel: by the number of elements if it is known, thin otherwise.

    >>> from graphviz_tb.model.bundles import bundle_of
    >>> from graphviz_tb.model.tensors import Tensor
    >>> bundles = bundle_of(Tensor((100,))), bundle_of(Tensor())
    >>> tuple(thickness(Metaedge(0, 1, 1, 0, 0, bundle)) for bundle in bundles)
    (23, 10)
    """
    if edge.kind == "control" or not edge.carried.known:
        return THIN
    return THIN + bisect_right(THRESHOLDS, edge.carried.size(enough=THRESHOLDS[-1]))


def load(edge: Metaedge | Bridge) -> int:
    """Return the thickness, negated for a line of indices, sizes and masks only, so that main paths avoid it.

    >>> from graphviz_tb.model.bundles import bundle_of
    >>> from graphviz_tb.model.tensors import Tensor
    >>> load(Metaedge(0, 1, 1, 0, 0, bundle_of(Tensor((100,), "int32"))))
    -23
    """
    return -thickness(edge) if edge.carried.indexing else thickness(edge)
