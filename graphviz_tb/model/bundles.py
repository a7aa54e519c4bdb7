"""Flat edges grouped in bundles, one per drawn line; stored as columns, since a level can have a million lines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field
from typing import Protocol

import numpy as np

from graphviz_tb.model.columns import Ints, Longs
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.tensors import CarriedTensors, Tensor, carry_tensors

OutputPairs = tuple[tuple[int, int], ...]


class EdgeBundles(Protocol):
    """Bundles of lines, by number."""

    def carried_tensors(self, number: int) -> CarriedTensors:
        """Return the distinct tensors of line `number`."""

    def flat_edges(self, number: int) -> Ints | None:
        """Return the ids of the flat edges of line `number`, in file order; None if they are unknown."""


@dataclass(frozen=True, slots=True, eq=False)
class Bundles:
    """The bundles of one or more levels.

    The flat edges of bundle `b` are `edge[start[b]:start[b + 1]]`, in file order. Rows `held[b]:held[b + 1]` of `node`
    and `key` are the distinct outputs that its data edges carry; `decode` makes the tensor of one. `known` caches
    tensors by their outputs: an edge that crosses twelve borders is in twelve bundles but decoded once.
    """

    edge: Ints
    start: Longs
    node: Ints
    key: Ints
    held: Longs
    decode: Callable[[int, int], Tensor]
    known: dict[OutputPairs, CarriedTensors] = field(default_factory=dict)
    asked: dict[int, CarriedTensors] = field(default_factory=dict)

    def carried_tensors(self, number: int) -> CarriedTensors:
        """Return the distinct tensors of line `number`. Lines that carry equal tensors share one value."""
        carried = self.asked.get(number)
        if carried is None:
            first, stop = self.held.item(number), self.held.item(number + 1)
            outputs: OutputPairs
            if stop == first + 1:  # nearly always; to slice columns takes three times as long
                outputs = ((self.node.item(first), self.key.item(first)),)
            else:
                outputs = tuple(zip(self.node[first:stop].tolist(), self.key[first:stop].tolist(), strict=True))
            carried = self.known.get(outputs)
            if carried is None:
                carried = self.known[outputs] = CarriedTensors(outputs, self.decode)
            self.asked[number] = carried
        return carried

    def flat_edges(self, number: int) -> Ints:
        """Return the flat edges of a bundle."""
        return self.edge[self.start[number] : self.start[number + 1]]


@dataclass(frozen=True, slots=True, eq=False)
class SmallLevelBundles:
    """The bundles of a level with few lines: the flat edges and the tensors of each."""

    flat: Sequence[Sequence[int]]
    tensors: Sequence[CarriedTensors]

    def carried_tensors(self, number: int) -> CarriedTensors:
        """Return the distinct tensors of line `number`."""
        return self.tensors[number]

    def flat_edges(self, number: int) -> Ints:
        """Return the flat edges of a bundle."""
        return np.array(self.flat[number], np.int32)


@dataclass(frozen=True, slots=True, eq=False)
class SingleBundle:
    """The bundle of a single line, its tensors already decoded."""

    tensors: CarriedTensors = field(default_factory=carry_tensors)
    flat: Ints | None = None

    def carried_tensors(self, number: int) -> CarriedTensors:
        """Return the tensors of the line, for any number."""
        return self.tensors

    def flat_edges(self, number: int) -> Ints | None:
        """Return the flat edges of the line, for any number."""
        return self.flat


EMPTY_BUNDLE = SingleBundle()


def bundle_of_tensors(*tensors: Tensor) -> SingleBundle:
    """Make the bundle of a line that carries these tensors."""
    return SingleBundle(carry_tensors(*tensors))
