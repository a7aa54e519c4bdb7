"""The thickness of a line, by the number of elements that flow along it."""

from __future__ import annotations

from bisect import bisect_right

from graphviz_tb.model.metagraph import Bridge, Metaedge

THINNEST_TENTHS, THICKEST_TENTHS = 10, 60  # tenths of a pixel


def _least_elements(tenths: int) -> int:
    """Return the least number of elements n whose line is `tenths` thick: 10 + 50·log10(n)/8, rounded, computed in
    integers."""
    exponent = 8 * (2 * (tenths - THINNEST_TENTHS) - 1)  # n ** 100 >= 10 ** exponent
    number = round(10 ** (exponent / 100)) - 1  # may be off by one: integers decide
    while number**100 < 10**exponent:
        number += 1
    return number


THICKNESS_THRESHOLDS = tuple(_least_elements(tenths) for tenths in range(THINNEST_TENTHS + 1, THICKEST_TENTHS + 1))


def line_thickness(edge: Metaedge | Bridge) -> int:
    """Return the thickness in tenths of a pixel: by the number of elements if it is known, thin otherwise.

    >>> from graphviz_tb.model.bundles import bundle_of_tensors
    >>> from graphviz_tb.model.tensors import Tensor
    >>> bundles = bundle_of_tensors(Tensor((100,))), bundle_of_tensors(Tensor())
    >>> tuple(line_thickness(Metaedge(0, 1, 1, 0, 0, bundle)) for bundle in bundles)
    (23, 10)
    """
    if edge.kind == "control" or not edge.carried_tensors.has_known_shape:
        return THINNEST_TENTHS
    return THINNEST_TENTHS + bisect_right(
        THICKNESS_THRESHOLDS, edge.carried_tensors.element_count(enough=THICKNESS_THRESHOLDS[-1])
    )


def main_path_weight(edge: Metaedge | Bridge) -> int:
    """Return the thickness, negated for a line of indices, sizes and masks only, so that main paths avoid it.

    >>> from graphviz_tb.model.bundles import bundle_of_tensors
    >>> from graphviz_tb.model.tensors import Tensor
    >>> main_path_weight(Metaedge(0, 1, 1, 0, 0, bundle_of_tensors(Tensor((100,), "int32"))))
    -23
    """
    return -line_thickness(edge) if edge.carried_tensors.is_indexing else line_thickness(edge)
