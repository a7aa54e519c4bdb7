"""Flat edges between the same two boxes become one line: counts and tensors."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from graphviz_tb.model.columns import Ints, Longs
from graphviz_tb.model.facts import Facts
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.graph import Graph
from graphviz_tb.model.tensors import Carried

FEW = 64  # edges for which plain loops are quicker than numpy


@dataclass(frozen=True, slots=True)
class Bundle:
    """What a set of flat edges carries."""

    tensors: int
    control: int
    reference: int
    carried: Carried
    edges: Ints


def first_seen_groups(codes: Longs) -> list[Longs]:
    """Positions of equal codes, groups in the order of first appearance.

    >>> [group.tolist() for group in first_seen_groups(np.array([5, 3, 5]))]
    [[0, 2], [1]]
    """
    if len(codes) <= FEW:
        seen: dict[int, list[int]] = {}
        for index, code in enumerate(codes.tolist()):
            seen.setdefault(code, []).append(index)
        return [np.array(group) for group in seen.values()]
    _, first, inverse, counts = np.unique(codes, return_index=True, return_inverse=True, return_counts=True)
    # `inverse` sorts groups by code; the last line puts them in the order of their first positions.
    groups = np.split(np.argsort(inverse, kind="stable"), np.cumsum(counts)[:-1])
    return [groups[index] for index in np.argsort(first, kind="stable").tolist()]


def bundles(graph: Graph, facts: Facts, edges: Ints, groups: list[Longs]) -> Iterator[Bundle]:
    """For each group of positions in `edges`: how many edges of each kind, and their distinct tensors in file order."""
    control, reference = graph.control[edges].tolist(), graph.reference[edges].tolist()
    outputs = list(zip(graph.source[edges].tolist(), graph.key[edges].tolist(), strict=True))
    for group in groups:
        positions = group.tolist()
        data = [index for index in positions if not control[index]]
        distinct = list(dict.fromkeys([outputs[index] for index in data]))
        yield Bundle(
            tensors=len(data),
            control=len(positions) - len(data),
            reference=sum([reference[index] for index in positions]),
            carried=Carried(distinct, facts.tensor),
            edges=edges[group],
        )
