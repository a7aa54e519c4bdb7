"""Flat edges between the same two boxes become one line: counts and tensors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graphviz_tb.model.columns import Ints, Longs
from graphviz_tb.model.facts import Facts
from graphviz_tb.model.graph import Graph
from graphviz_tb.model.tensors import Carried


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
    if not len(codes):
        return []
    _, first, inverse, counts = np.unique(codes, return_index=True, return_inverse=True, return_counts=True)
    groups = np.split(np.argsort(inverse, kind="stable"), np.cumsum(counts)[:-1])
    return [groups[at] for at in np.argsort(first, kind="stable").tolist()]


def bundle(graph: Graph, facts: Facts, edges: Ints) -> Bundle:
    """Count the edges and list their distinct tensors (source and output), in file order."""
    control = graph.control[edges]
    data = edges[~control]
    keys = (graph.source[data].astype(np.int64) << 32) | graph.key[data]
    _, first = np.unique(keys, return_index=True)
    distinct = data[np.sort(first)]
    outputs = list(zip(graph.source[distinct].tolist(), graph.key[distinct].tolist(), strict=True))
    return Bundle(
        tensors=len(data),
        control=int(control.sum()),
        reference=int(graph.reference[edges].sum()),
        carried=Carried(outputs, facts.tensor),
        edges=edges,
    )
