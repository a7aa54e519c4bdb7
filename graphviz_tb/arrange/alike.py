"""Order items whose order changes no crossing: as their lines are ordered, and bypasses of the main path to its right.

These are the boxes that are joined to one and the same group alone, the ranks between two items that are alone on
theirs, and the branches that part at one item and meet in one box:

    ┌── join ──┐         `join` takes the results of a, b and c in this order
    a    b1    c
    │    b0    │
    └── start ─┘
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from itertools import groupby

from graphviz_tb.arrange.component import Component, Ranks

MIN_BRANCHES = 3  # of two, the main path is the straight one


def order_ends_by_lines(laid: Ranks, part: Component, groups: Container[int]) -> Ranks:
    """Return the ranks of a piece, in which the boxes that are joined to one and the same of the `groups` alone, on the
    next rank, are in the order of their lines.

    >>> fan = Component(3, ((1, 2), (0, 2)))
    >>> order_ends_by_lines(Ranks([[0, 1], [2]], [[1, 2], [0, 2]]), fan, {2}).ranks
    [[1, 0], [2]]
    """
    ports = part.first | part.last
    joined: dict[int, list[int]] = {}
    for edge, ends in enumerate(part.edges):
        for end in ends:
            joined.setdefault(end, []).append(edge)
    ranks = []
    for row in laid.ranks:
        places: dict[int, list[int]] = {}
        for place, item in enumerate(row):
            edges = joined.get(item, ())
            if item not in ports and len(edges) == 1 and len(laid.chains[edges[0]]) == 2:
                other = sum(part.edges[edges[0]]) - item
                if other in groups:
                    places.setdefault(other, []).append(place)
        order = [*row]
        for alike in places.values():
            for place, item in zip(alike, sorted([row[at] for at in alike], key=joined.__getitem__), strict=True):
                order[place] = item
        ranks.append(order)
    return Ranks(ranks, laid.chains, laid.notices)


def order_branches_by_lines(laid: Ranks, part: Component) -> Ranks:
    """Return the ranks of a piece, in which the branches that part at one item and meet in one box are in the order of
    their lines to that.

    >>> fan = Component(5, ((0, 1), (0, 2), (0, 3), (3, 4), (1, 4), (2, 4)))
    >>> order_branches_by_lines(Ranks([[0], [1, 2, 3], [4]], [[*edge] for edge in fan.edges]), fan).ranks
    [[0], [3, 1, 2], [4]]
    """
    into, out = _edges_at_nodes(part)
    at = {item: (number, place) for number, row in enumerate(laid.ranks) for place, item in enumerate(row)}
    ranks = [[*row] for row in laid.ranks]
    for edges in into:
        branches: dict[int, list[list[int]]] = {}  # by the item where they begin
        for edge in edges if len(edges) >= MIN_BRANCHES else ():
            items = _branch_with_start(laid, edge, into, out)
            if part.edges[edge][0] != items[-1]:  # a box is between
                branches.setdefault(items[-1], []).append(items[:-1])
        for alike in branches.values():
            for beside in zip(*alike, strict=True) if len(alike) >= MIN_BRANCHES else ():
                for (number, place), item in zip(sorted(at[item] for item in beside), beside, strict=True):
                    ranks[number][place] = item
    return Ranks(ranks, laid.chains, laid.notices)


def set_bypasses_right(laid: Ranks, part: Component) -> Ranks:
    """Return the ranks of a piece, in which what parts from the main path and joins it again is right of it: a run of
    ranks is mirrored where more of it is at the left, if it is between items that are alone on their ranks.

    >>> skip = Component(3, ((0, 1), (1, 2), (0, 2)), main_path=(0, 1))
    >>> set_bypasses_right(Ranks([[0], [3, 1], [2]], [[0, 1], [1, 2], [0, 3, 2]]), skip).ranks
    [[0], [1, 3], [2]]
    """
    main = {item for edge in part.main_path for item in laid.chains[edge]}
    held = {rank for rank, ports in ((0, part.first), (len(laid.ranks) - 1, part.last)) if part.held and ports}
    right = [0 for _ in laid.ranks]  # bypasses that begin at the right on this rank, minus those at the left
    at = {item: (number, place) for number, row in enumerate(laid.ranks) for place, item in enumerate(row)}
    middle = {at[item][0]: at[item][1] for item in main}
    into, out = _edges_at_nodes(part)
    for edge, (_, target) in enumerate(part.edges):
        last = laid.chains[edge][-2]
        if target in main and last not in main and _branch_with_start(laid, edge, into, out)[-1] in main:
            number, place = at[last]
            right[number] += 1 if place > middle[number] else -1
    ranks: list[list[int]] = []
    for alone, run in groupby(range(len(laid.ranks)), lambda number: len(laid.ranks[number]) == 1):
        numbers = [*run]
        mirrored = not alone and sum(right[number] for number in numbers) < 0 and not held.intersection(numbers)
        ranks += [laid.ranks[number][:: -1 if mirrored else 1] for number in numbers]
    return Ranks(ranks, laid.chains, laid.notices)


def _edges_at_nodes(part: Component) -> tuple[list[list[int]], list[int]]:
    """Return the edges into each node, and the number of those out of it."""
    into: list[list[int]] = [[] for _ in range(part.count)]
    out = [0] * part.count
    for edge, (source, target) in enumerate(part.edges):
        into[target].append(edge)
        out[source] += 1
    return into, out


def _branch_with_start(laid: Ranks, edge: int, into: Sequence[Sequence[int]], out: Sequence[int]) -> list[int]:
    """Return the items of the branch that ends with an edge, against the flow, and the item where it begins."""
    items = laid.chains[edge][-2::-1]
    while len(into[items[-1]]) == 1 and out[items[-1]] == 1:
        items += laid.chains[into[items[-1]][0]][-2::-1]
    return items
