"""Contents of constants for their cards: range, mean, zeros and a histogram, mostly of frozen weights."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from graphviz_tb.algorithms.constants import claimed_element_count, decode_elements, stored_elements
from graphviz_tb.limits import CARDS_PER_BLOCK, MAX_HISTOGRAM_ELEMENTS, MAX_MEASURED_ELEMENTS
from graphviz_tb.model.graph import Graph
from graphviz_tb.ops.roles import CONSTANT_OPS
from graphviz_tb.page.blocks import DataBlock, json_block

if TYPE_CHECKING:
    from graphviz_tb.proto import TensorProto

CONSTANT_BINS = 24
MIN_HISTOGRAM_ELEMENTS = 8  # elements from which on a histogram says more than the elements


def constant_blocks(graph: Graph, number: Callable[[int], int]) -> Iterator[DataBlock]:
    """Yield the contents of constants by their positions in blocks of `CARDS_PER_BLOCK` nodes, without empty blocks.
    Nodes of equal `number` have equal contents."""
    types = np.array([op in CONSTANT_OPS for op in graph.op_types], bool)
    room = int(MAX_MEASURED_ELEMENTS)
    told: dict[int, dict[int, list[Any]]] = {}
    known: dict[int, list[Any] | None] = {}
    for node in np.flatnonzero(types[graph.op]).tolist() if len(graph) else ():
        definition = graph.node_def(node)
        if definition is None or not definition.attr["value"].HasField("tensor"):
            continue
        tensor = definition.attr["value"].tensor
        count = claimed_element_count(tensor)
        if not 0 < count <= room:
            continue
        room -= count
        alike = number(node)
        if alike not in known:
            known[alike] = measure_constant(tensor, count)
        if (measured := known[alike]) is not None:
            told.setdefault(node // CARDS_PER_BLOCK, {})[node % CARDS_PER_BLOCK] = measured
    for block, lines in told.items():
        yield json_block(f"contents/{block}", lines)


def measure_constant(tensor: TensorProto, count: int) -> list[Any] | None:
    """Return the number of elements, least, largest, mean, zeros, elements that are not finite, and the counts of equal
    bins from the least to the largest; None for values without an order.

    >>> from graphviz_tb.proto import TensorProto
    >>> measure_constant(TensorProto(dtype=1, float_val=[0, 0, 1, 3]), 4)
    [4, 0.0, 3.0, 1.0, 2, 0, []]
    """
    elements = stored_elements(tensor, count)
    if elements is None or elements.dtype.kind == "c" or not len(elements):
        return None
    numbers = decode_elements(elements, tensor.dtype)
    finite = np.isfinite(numbers)
    known = numbers if np.all(finite) else numbers[finite]
    if not len(known):
        return [count, None, None, None, 0, count, []]
    # TensorFlow may omit trailing equal elements: the last one repeats to the end.
    more = count - len(numbers) if finite[-1] else 0
    last = float(known[-1])
    least, most = float(np.min(known)), float(np.max(known))
    mean = (float(np.sum(known, dtype=np.float64)) + more * last) / (len(known) + more)
    zeros = len(known) - int(np.count_nonzero(known)) + (more if last == 0 else 0)
    odd = count - len(known) - more
    spread = count_bins(known, more, least, most)
    return [count, least, most, mean if np.isfinite(mean) else None, zeros, odd, spread]


def count_bins(numbers: np.ndarray, more: int, least: float, most: float) -> list[int]:
    """Count the numbers in each of `CONSTANT_BINS` equal bins, the last number `more` times again; of very many
    numbers, those
    at equal distances."""
    if len(numbers) < MIN_HISTOGRAM_ELEMENTS or not least < most or not np.isfinite(most - least):
        return []
    some = np.append(numbers[:: -(-len(numbers) // int(MAX_HISTOGRAM_ELEMENTS))], numbers[-1:]).astype(np.float64)
    bins = np.minimum(((some - least) * (CONSTANT_BINS / (most - least))).astype(np.int64), CONSTANT_BINS - 1)
    found = np.bincount(bins[:-1], minlength=CONSTANT_BINS)
    found[bins[-1]] += more
    return [int(each) for each in found]
