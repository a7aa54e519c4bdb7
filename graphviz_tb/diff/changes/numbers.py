"""Numbers before and after, of the whole and of each change: ops, parameters, floating point operations."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from functools import cached_property
from math import prod

import numpy as np
from numpy.typing import ArrayLike

from graphviz_tb.annotate import costs_by_node
from graphviz_tb.diff.changes.layers import Layers
from graphviz_tb.diff.columns.ids import exists
from graphviz_tb.model.change import QUANTITIES, Change, Pair
from graphviz_tb.model.columns import Bools, Ints, Longs
from graphviz_tb.model.costs import MOST
from graphviz_tb.model.graph import Graph, Mark

MOST_COUNTED = 200_000  # nodes whose operations are counted: it takes 40 µs a node, matching takes 25
STATES = ("int", "uint", "bool", "string")  # types of variables that count or hold a seed: no weights
Column = Longs | None  # by node; None where the quantity is not known


class Numbers:
    """What the nodes of both graphs come to; nothing is counted before it is asked for."""

    def __init__(self, old: Layers, new: Layers, to_new: Ints) -> None:
        self.layers = old, new
        self.to_new = to_new

    @cached_property
    def columns(self) -> Mapping[str, tuple[Column, Column]]:
        """Each quantity by node, of the old and of the new graph."""
        of = {"ops": ops_of, "parameters": parameters_of, "flops": flops_of}
        old, new = self.layers
        return {word: (of[word](old), of[word](new)) for word in QUANTITIES}

    @cached_property
    def whole(self) -> dict[str, Pair]:
        """The sums over either graph."""
        return {word: (total(pair[0]), total(pair[1])) for word, pair in self.columns.items()}

    def of(self, change: Change, alone: bool) -> dict[str, Pair]:
        """The sums over the layers that a change is about and over all that follows from it, where they differ.

        Of a change that is `alone` all follows: ops behind it that have another cost too.
        """
        old, new = self.concerned(change)
        sums: dict[str, Pair] = {}
        for word, (before, after) in self.columns.items():
            if before is None or after is None:
                continue
            here, there = (old, new) if not alone else self.differing(before, after, old, new)
            pair = summed(before[here]), summed(after[there])
            if pair[0] != pair[1]:
                sums[word] = pair
        return sums

    def concerned(self, change: Change) -> tuple[Longs, Longs]:
        """The nodes that a change is about, old and new: those edited, their layers, and their partners.

        Ids, not masks: of as many changes as nodes, each looks at its own nodes alone.
        """
        edits = change.all_edits()
        pairs = [*edits.ops, *edits.inputs, *((mine, other) for mine, other, _ in edits.attributes)]
        old = [*edits.removed, *(mine for mine, _ in pairs)]
        new = [*edits.added, *(other for _, other in pairs)]
        own = change.edits
        # Layers only of what the change itself did, not of its consequences: those may be anywhere.
        pairs = [*own.ops, *((mine, other) for mine, other, _ in own.attributes)]
        layers = (
            in_layers(self.layers[0], [*own.removed, *(mine for mine, _ in pairs)]),
            in_layers(self.layers[1], [*own.added, *(other for _, other in pairs)]),
        )
        return self.with_partners(joined(old, *layers[0]), joined(new, *layers[1]))

    def with_partners(self, old: Longs, new: Longs) -> tuple[Longs, Longs]:
        """Nodes with those that they are matched with."""
        mine, other = self.to_old[new], self.to_new[old]
        return joined(old, mine[exists(mine)]), joined(new, other[exists(other)])

    @cached_property
    def to_old(self) -> Ints:
        """The partner of each new node."""
        partners = np.full(len(self.layers[1].side), -1, np.int32)
        held = np.flatnonzero(exists(self.to_new))
        partners[self.to_new[held]] = held
        return partners

    def differing(self, before: Longs, after: Longs, old: Longs, new: Longs) -> tuple[Longs, Longs]:
        """Nodes with all others of which a quantity is another."""
        held = np.flatnonzero(exists(self.to_new))
        differ = held[before[held] != after[self.to_new[held]]]
        lost, come = np.flatnonzero(~exists(self.to_new)), np.flatnonzero(~exists(self.to_old))
        return joined(old, differ, lost), joined(new, self.to_new[differ], come)


def joined(*parts: ArrayLike) -> Longs:
    """Ids, each once."""
    return np.unique(np.concatenate([np.asarray(part, np.int64) for part in parts]))


def total(column: Column) -> int | None:
    """The sum of a column; None where it is not known."""
    return None if column is None else summed(column)


def summed(column: Longs) -> int:
    """The sum of numbers from 0, no more than `MOST`: sixty-four bits would turn it negative.

    >>> summed(np.array([1, 2])), summed(np.array([MOST, 1])) == MOST
    (3, True)
    """
    if len(column) and int(np.max(column)) > MOST // len(column):
        return min(MOST, sum(map(int, column)))
    return int(column.sum())


def in_layers(layers: Layers, nodes: list[int]) -> list[Ints]:
    """The nodes under each of the layers that some nodes of the model belong to."""
    rows = {layers.of(node) for node in nodes if layers.forward[node]}
    return [layers.side.scopes.nodes(row) for row in rows if exists(row)]


def ops_of(layers: Layers) -> Column:
    """1 for each node of the main graph that a picture shows as an op, as `info` counts them."""
    graph = layers.side.graph
    shown: Bools = graph.kept & (graph.mark == Mark.NONE) & ~exists(graph.function)
    return shown.astype(np.int64)


def parameters_of(layers: Layers) -> Column:
    """How many numbers each node brings as a weight of the model, each variable once; None where that is not known.

    Slots of an optimizer are no weights of the model.
    """
    graph = layers.side.graph
    sizes = np.zeros(len(graph), np.int64)
    if graph.layers and not graph.weights:
        counts = {
            graph.index[0][name]: layer.parameters for name, layer in graph.layers.items() if name in graph.index[0]
        }
        # A layer that does not say how many makes the sum unknown, not smaller.
        if None in counts.values():
            return None
        sizes[list(counts)] = [min(MOST, count or 0) for count in counts.values()]
        return sizes
    # A variable may be read by several nodes; the first of them brings its numbers.
    variables: dict[str, list[int]] = defaultdict(list)
    for node, weight in sorted(graph.weights.items()):
        if layers.forward[node]:
            variables[weight.variable].append(node)
    for nodes in variables.values():
        known = [weight for node in nodes if (weight := graph.weights[node]).shape is not None]
        if not known or None in (known[0].shape or ()):
            return None
        if not known[0].dtype.startswith(STATES):
            sizes[nodes[0]] = min(MOST, prod(size or 0 for size in known[0].shape or ()))
    return sizes if variables else None


def flops_of(layers: Layers) -> Column:
    """The floating point operations of each node of the main graph, as `info` counts them; None where unknown."""
    graph: Graph = layers.side.graph
    if graph.layers or len(graph) > MOST_COUNTED:
        return None
    flops = np.fromiter((cost.flops for cost in costs_by_node(graph)), np.int64, len(graph))
    flops[exists(graph.function) | ~graph.kept] = 0
    return flops
