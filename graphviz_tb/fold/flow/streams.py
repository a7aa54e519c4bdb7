"""Order a level of two streams block by block.

In two-stream networks (image and text tokens, nodes and edges) each block maps a pair of values to the next pair, and
no single box is the only way from block to block. The order of demand follows one stream into the
next block before it ends the other in this one:

x ─▶ a1 ─┬─▶ x1 ─▶ a2 ─┬─▶ x2        demand: a1 c1 m1 x1 a2 y1 c2 m2 x2 …, at least three values cross each place
         m1            m2
y ─▶ c1 ─┴─▶ y1 ─▶ c2 ─┴─▶ y2        by blocks: a1 c1 m1 x1 y1 | a2 c2 m2 x2 y2 |, only x1 and y1 cross
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import pairwise

from graphviz_tb.caches import Lazy
from graphviz_tb.fold.flow.box import Dag
from graphviz_tb.fold.flow.order import FlowOrder, count_crossing_lines, inverse_places, with_ancestors
from graphviz_tb.model.frozen import dataclass

STREAMS = 2  # values that cross the border of a block
MAX_OPEN_VALUES = 6  # values of the other stream that the rest of its block uses
MAX_LEAD = 128  # places of the line by which one stream leads
MIN_BORDERS = 3  # places that equal pairs cross; fewer are no blocks


@dataclass(frozen=True, slots=True, eq=False)
class _ClosedSet:
    """A set of boxes with all their ancestors, in an order along the flow, and its boxes with users outside (`live`).

    `left` counts the users outside of each box in it. Boxes of `early` count as given.
    """

    dag: Dag
    order: FlowOrder
    early: set[int]
    line: list[int]
    inside: set[int]
    left: dict[int, int]
    live: set[int]

    def missing(self, box: int) -> list[int]:
        """Return a box and its ancestors outside the set, along the flow."""
        found, todo = {box}, [box]
        while todo:
            for source in self.dag.before[todo.pop()]:
                if source not in self.inside and source not in found and source not in self.early:
                    found.add(source)
                    todo.append(source)
        return sorted(found, key=self.order.place.__getitem__)

    def add(self, box: int) -> None:
        """Add a box; its ancestors are in the set."""
        self.line.append(box)
        self.inside.add(box)
        for source in self._sources(box):
            self.left[source] -= 1
            if not self.left[source]:
                self.live.discard(source)
        side = self.order.side
        self.left[box] = sum(1 for user in self.dag.after[box] if not side[user])
        if self.left[box]:
            self.live.add(box)

    def shorten(self, length: int) -> None:
        """Remove the boxes added last, down to a length."""
        while len(self.line) > length:
            box = self.line.pop()
            self.inside.discard(box)
            self.live.discard(box)
            for source in self._sources(box):
                self.left[source] += 1
                self.live.add(source)

    def _sources(self, box: int) -> list[int]:
        return [source for source in self.dag.before[box] if source not in self.early]


def order_by_blocks(dag: Dag, order: FlowOrder) -> tuple[FlowOrder, list[int]] | None:
    """Return the order in which two streams end each block together, and the places that at most two values cross.

    None if there are too few such places.
    """
    early = with_ancestors(dag, order.broadcast | order.memory)
    closed = _ClosedSet(dag, order, early, [], set(), {}, set())
    borders: dict[int, frozenset[int]] = {}  # what crosses, by the number of boxes before
    for box in _deepest_path(dag, order, early):
        for needed in closed.missing(box) if box not in closed.inside else ():
            closed.add(needed)
        if len(closed.live) <= STREAMS:
            borders[len(closed.line)] = frozenset(closed.live)
        else:
            borders.update(_end_other_stream(closed, box))
    kept = _borders_of_blocks(dag, borders, len(closed.line))
    if not kept:
        return None
    line = _with_side_outputs(dag, order, closed.line, early)
    place = inverse_places(line, len(line))
    cut = Lazy(lambda: count_crossing_lines(dag, order.depth, line, place, order.broadcast, order.memory))
    ends = {place[closed.line[border - 1]] for border in kept}
    ends |= {place[closed.line[border]] - 1 for border in kept if border < len(closed.line)}
    return replace(order, line=line, place=place, cut=cut), sorted({*ends, len(line) - 1})


def _borders_of_blocks(dag: Dag, borders: dict[int, frozenset[int]], length: int) -> list[int]:
    """Return the places that one value crosses, and in the longest stretch between them those of equal pairs.

    Elsewhere a box and its norm are such a pair. Before the first equal pairs, in the stem, all places count. There are
    no places if there are too few equal pairs.
    """
    single_borders = [0, *(border for border, live in borders.items() if len(live) < STREAMS), length]
    start, stop = max(pairwise(single_borders), key=lambda pair: pair[1] - pair[0])
    pairs = {
        border: tuple(sorted(dag.boxes[box].symbol for box in live))
        for border, live in borders.items()
        if start < border < stop
    }
    # A stream is used in the block and around it, and just once where it ends.
    count = Counter(pairs.values())
    borders_by_ends: dict[int, list[int]] = {ended: [] for ended in range(STREAMS + 1)}
    for border, pair in sorted(pairs.items()):
        if count[pair] >= MIN_BORDERS:
            borders_by_ends[sum(len(dag.after[box]) == 1 for box in borders[border])].append(border)
    equal, *last = borders_by_ends.values()
    equal = [*equal, *(border for ends in last for border in [end for end in ends if equal and end > equal[-1]][:1])]
    first = min(equal, default=stop)
    if not equal:
        return []
    return [
        border for border, live in borders.items() if len(live) < STREAMS or border in equal or start < border < first
    ]


def _deepest_path(dag: Dag, order: FlowOrder, early: set[int]) -> list[int]:
    """Return the longest path to the deepest output, from its beginning."""
    ends = [box for box in order.line if not order.side[box] and not dag.after[box] and box not in early]
    path = ends[-1:]
    while path and (sources := [source for source in dag.before[path[-1]] if source not in early]):
        path.append(max(sources, key=lambda box: (order.depth[box], -order.place[box])))
    return path[::-1]


def _end_other_stream(closed: _ClosedSet, box: int) -> dict[int, frozenset[int]]:
    """Add what the other stream computes before it meets the users of `box`, up to the last place that it and one other
    value cross; return what crosses these places, by the length of the set."""
    dag, order = closed.dag, closed.order
    later, stream = {box}, closed.live - {box}
    borders: dict[int, frozenset[int]] = {}
    length = len(closed.line)
    if box not in closed.live or len(stream) > MAX_OPEN_VALUES:
        return borders
    start = min(map(order.place.__getitem__, stream)) + 1
    for other in order.line[start : start + MAX_LEAD]:
        sources = dag.before[other]
        follows, meets = not later.isdisjoint(sources), not stream.isdisjoint(sources)
        if follows and meets:
            break
        if follows:
            later.add(other)
        elif meets and other not in closed.inside and not order.side[other]:
            for needed in closed.missing(other):
                closed.add(needed)
            stream.add(other)
            if len(closed.live) <= STREAMS:
                length = len(closed.line)
                borders[length] = frozenset(closed.live)
    closed.shorten(length)
    return borders


def _with_side_outputs(dag: Dag, order: FlowOrder, main: list[int], early: set[int]) -> list[int]:
    """Return all boxes: those of `early` first, side outputs right after the last box that they need."""
    rank = {box: at for at, box in enumerate(main)}
    for box in order.line:
        if box not in rank and box not in early:
            rank[box] = max((rank[source] for source in dag.before[box] if source in rank), default=len(main))
    return sorted(order.line, key=lambda box: (rank.get(box, -1), order.side[box], order.place[box]))
