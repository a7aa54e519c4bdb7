"""Order items whose order does not change the number of crossings.

- Boxes with a single line, all to the same group, have the order of these lines.
- Branches that part at one item and meet in one box have the order of their lines to that box:

      ┌── join ──┐         a, b and c are the inputs of `join` in this order
      a    b1    c
      │    b0    │
      └── start ─┘

- Bypasses of the main path are on its right.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from itertools import groupby

from graphviz_tb.arrange.component import Component, Ranks

MIN_BRANCHES = 3  # of two branches, the main path is straight


def order_ends_by_lines(laid: Ranks, part: Component, groups: Container[int]) -> Ranks:
    """Return the ranks of a piece with the boxes that have a single line, all to the same one of `groups` on the next
    rank, in the order of these lines.

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
        for slots in places.values():
            for place, item in zip(slots, sorted([row[at] for at in slots], key=joined.__getitem__), strict=True):
                order[place] = item
        ranks.append(order)
    return Ranks(ranks, laid.chains, laid.notices)


def order_branches_by_lines(laid: Ranks, part: Component) -> Ranks:
    """Return the ranks of a piece with the branches that part at one item and meet in one box in the order of their
    lines to that box.

    >>> fan = Component(5, ((0, 1), (0, 2), (0, 3), (3, 4), (1, 4), (2, 4)))
    >>> order_branches_by_lines(Ranks([[0], [1, 2, 3], [4]], [[*edge] for edge in fan.edges]), fan).ranks
    [[0], [3, 1, 2], [4]]
    """
    into, out = _edges_at_nodes(part)
    places = {item: (number, place) for number, row in enumerate(laid.ranks) for place, item in enumerate(row)}
    ranks = [[*row] for row in laid.ranks]
    for edges in into:
        branches: dict[int, list[list[int]]] = {}  # by the item where they begin
        for edge in edges if len(edges) >= MIN_BRANCHES else ():
            items = _branch_with_start(laid, edge, into, out)
            if part.edges[edge][0] != items[-1]:  # the branch has a box
                branches.setdefault(items[-1], []).append(items[:-1])
        for meeting in branches.values():
            for row in zip(*meeting, strict=True) if len(meeting) >= MIN_BRANCHES else ():
                for (number, place), item in zip(sorted(places[item] for item in row), row, strict=True):
                    ranks[number][place] = item
    return Ranks(ranks, laid.chains, laid.notices)


def set_bypasses_right(laid: Ranks, part: Component) -> Ranks:
    """Return the ranks of a piece with branches that leave the main path and join it again on its right.

    A run of ranks between items that are alone on their ranks is mirrored if most of its branches are on the left.

    >>> skip = Component(3, ((0, 1), (1, 2), (0, 2)), main_path=(0, 1))
    >>> set_bypasses_right(Ranks([[0], [3, 1], [2]], [[0, 1], [1, 2], [0, 3, 2]]), skip).ranks
    [[0], [1, 3], [2]]
    """
    main = {item for edge in part.main_path for item in laid.chains[edge]}
    fixed = {rank for rank, ports in ((0, part.first), (len(laid.ranks) - 1, part.last)) if part.fixed_ports and ports}
    balance = [0 for _ in laid.ranks]  # by rank, the bypasses that end there on the right, minus those on the left
    places = {item: (number, place) for number, row in enumerate(laid.ranks) for place, item in enumerate(row)}
    middle = {places[item][0]: places[item][1] for item in main}
    into, out = _edges_at_nodes(part)
    for edge, (_, target) in enumerate(part.edges):
        last = laid.chains[edge][-2]
        if target in main and last not in main and _branch_with_start(laid, edge, into, out)[-1] in main:
            number, place = places[last]
            balance[number] += 1 if place > middle[number] else -1
    ranks: list[list[int]] = []
    for is_single, run in groupby(range(len(laid.ranks)), lambda number: len(laid.ranks[number]) == 1):
        numbers = [*run]
        mirrored = not is_single and sum(balance[number] for number in numbers) < 0 and not fixed.intersection(numbers)
        ranks += [laid.ranks[number][:: -1 if mirrored else 1] for number in numbers]
    return Ranks(ranks, laid.chains, laid.notices)


def _edges_at_nodes(part: Component) -> tuple[list[list[int]], list[int]]:
    """Return the edges into each node, and the number of edges out of each node."""
    into: list[list[int]] = [[] for _ in range(part.count)]
    out = [0] * part.count
    for edge, (source, target) in enumerate(part.edges):
        into[target].append(edge)
        out[source] += 1
    return into, out


def _branch_with_start(laid: Ranks, edge: int, into: Sequence[Sequence[int]], out: Sequence[int]) -> list[int]:
    """Return the items of the branch that ends with an edge, against the flow, then the item where it begins."""
    items = laid.chains[edge][-2::-1]
    while len(into[items[-1]]) == 1 and out[items[-1]] == 1:
        items += laid.chains[into[items[-1]][0]][-2::-1]
    return items
