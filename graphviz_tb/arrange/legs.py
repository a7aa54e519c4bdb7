"""Arrange a piece as a U: its main path runs down in one column and up in another, joined by level lines (ties).

    a1 ───────▶ b1        rank 3
     │           ▲
    a2 ───────▶ b2        rank 2
     │           ▲
    a3 ───────▶ b3        rank 1
     ╰──▶ c ─────╯        rank 0

A piece is a U if data edges skip along its main path like nested brackets: a1 feeds b1, a2 feeds b2, and so on. The
lines of the first leg run against the ranks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from graphviz_tb.arrange.component import Component, Ranks
from graphviz_tb.arrange.layered.order import choose_mirrored_rows, order_ranks
from graphviz_tb.arrange.layered.rank import rank_nodes, split_long_edges
from graphviz_tb.graphs.traversal import topological_order
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.skeleton import PortSlot, Skeleton, Wire

MIN_TIES = 3  # two nested skips may be two residual connections
MAX_SKIPS = 200  # the skips of a main path are compared in pairs


@dataclass(frozen=True, slots=True)
class Legs:
    """The legs of a U: `falling` are the nodes of the first leg, `ties` the level edges from the first to the second,
    `mirrored` the edges to turn."""

    falling: frozenset[int]
    ties: tuple[int, ...]
    mirrored: frozenset[int]


def find_legs(part: Component, data: Sequence[bool]) -> Legs | None:
    """Return the legs of a piece that is a U, or None; `data` says which edges carry data.

    >>> path = tuple((node, node + 1) for node in range(6))
    >>> legs = find_legs(Component(7, (*path, (0, 6), (1, 5), (2, 4)), main_path=tuple(range(6))), [True] * 9)
    >>> sorted(legs.falling), legs.ties, sorted(legs.mirrored)
    ([0, 1, 2], (6, 7, 8), [0, 1, 2])
    """
    if len(part.main_path) < 2 * MIN_TIES:
        return None
    path = [part.edges[part.main_path[0]][0], *(part.edges[edge][1] for edge in part.main_path)]
    ports = part.first | part.last
    step = {node: number for number, node in enumerate(path) if node not in ports}
    skips = sorted(
        (step[source], -step[target], edge)
        for edge, (source, target) in enumerate(part.edges)
        if data[edge] and source in step and target in step and step[target] > step[source] + 1
    )
    if len(skips) > MAX_SKIPS:
        return None
    nest = _longest_nest(skips)
    if len(nest) < MIN_TIES or 2 * len(nest) < len(skips):
        return None
    middle = (nest[-1][0] + 1 - nest[-1][1]) // 2  # between the ends of the innermost skip
    falling = _falling_nodes(part, path[:middle], set(path)) - ports
    ties = tuple(edge for _, _, edge in nest)
    mirrored = set()
    for edge, (source, target) in enumerate(part.edges):
        if source in falling:
            if target in falling or (source, target) == (path[middle - 1], path[middle]):
                mirrored.add(edge)
            elif edge not in ties:
                return None  # the line would leave its box on the side where lines arrive
    return Legs(falling, ties, frozenset(mirrored))


def _longest_nest(skips: Sequence[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """Return the longest list of skips (start, negated end, edge) in which each encloses the next; the first of equals.

    >>> _longest_nest([(0, -9, 0), (1, -3, 1), (1, -8, 2), (2, -7, 3)])
    [(0, -9, 0), (1, -8, 2), (2, -7, 3)]
    """
    lengths: list[int] = []
    outer_skips: list[int] = []
    for number, (start, end, _) in enumerate(skips):
        outer = [other for other in range(number) if skips[other][0] < start and skips[other][1] < end]
        best = max(outer, key=lambda other: (lengths[other], -other), default=-1)
        outer_skips.append(best)
        lengths.append(1 + (lengths[best] if best >= 0 else 0))
    nest: list[tuple[int, int, int]] = []
    current = max(range(len(lengths)), key=lambda number: (lengths[number], -number), default=-1)
    while current >= 0:
        nest.append(skips[current])
        current = outer_skips[current]
    return nest[::-1]


def _falling_nodes(part: Component, leg: Sequence[int], path: set[int]) -> frozenset[int]:
    """Return the nodes of the first leg: its part of the main path, and nodes that lead only to the leg, or come only
    from the leg and end there."""
    below: list[list[int]] = [[] for _ in range(part.count)]
    above: list[list[int]] = [[] for _ in range(part.count)]
    for source, target in part.edges:
        below[source].append(target)
        above[target].append(source)
    falling = set(leg)
    order = topological_order(below)
    for node in reversed(order):
        if node not in path and below[node] and falling.issuperset(below[node]):
            falling.add(node)
    for node in order:
        if node not in path and not below[node] and above[node] and falling.issuperset(above[node]):
            falling.add(node)
    return frozenset(falling)


def mirror_component(part: Component, legs: Legs) -> Component:
    """Return the piece with the edges of its first leg turned."""
    edges = [edge[::-1] if number in legs.mirrored else edge for number, edge in enumerate(part.edges)]
    return replace(part, edges=tuple(edges))


def legged_ranks(part: Component, legs: Legs, quick: bool) -> Ranks | None:
    """Return the ranks of a mirrored piece with both ends of each tie side by side on one rank; None if other edges
    make that impossible.

    The chain of a tie has only its two ends. A line that enters the first leg from outside passes its box on the left
    and turns back to it, so the last two items of its chain are on the same rank.
    """
    source_by_target = {part.edges[edge][1]: part.edges[edge][0] for edge in legs.ties}
    edges = [edge for edge in range(len(part.edges)) if edge not in legs.ties]
    rank = _equal_ranks(part, [part.edges[edge] for edge in edges], source_by_target)
    if rank is None:
        return None
    entering = {
        edge
        for edge, (source, target) in enumerate(part.edges)
        if edge not in legs.mirrored and target in legs.falling and source not in legs.falling
    }
    # Lines from outside end at a waypoint next to their boxes, one for all lines from the same source.
    turning: dict[tuple[int, int], int] = {}
    distinct_edges: dict[tuple[int, int], int] = {}
    edge_number: dict[int, int] = {}
    for edge in edges:
        source, target = part.edges[edge]
        if edge in entering:
            highest = max(rank[part.edges[other][1]] for other in entering if part.edges[other][0] == source)
            target = turning.setdefault((source, highest), part.count + len(turning))
        edge_number[edge] = distinct_edges.setdefault((source, target), len(distinct_edges))
    count = part.count + len(turning)
    rank += [highest for _, highest in turning]
    main_path = tuple(edge_number[edge] for edge in part.main_path)
    with_waypoints = Component(count, tuple(distinct_edges), part.first, part.last, main_path, part.fixed_ports)
    laid = order_ranks(with_waypoints, split_long_edges(with_waypoints, rank), quick)
    chains: list[list[int]] = [[*ends] for ends in part.edges]
    first_leg = set(legs.falling)
    outside: set[int] = set()
    for edge in edges:
        source, target = part.edges[edge]
        chain = laid.chains[edge_number[edge]]
        if edge in entering:
            chain = [*chain[: rank[target] - rank[source] + 1], target]
            outside.update(chain[1:-1])
        elif edge in legs.mirrored:
            first_leg.update(chain[1:-1])
        chains[edge] = chain
    facing = {part.edges[edge][0] for edge in legs.ties}
    return _rows_leg_by_leg(part, laid, chains, (outside, first_leg, facing, set(source_by_target)))


def _rows_leg_by_leg(
    part: Component, laid: Ranks, chains: list[list[int]], places: tuple[set[int], set[int], set[int], set[int]]
) -> Ranks:
    """Return ranks with lines from outside on the left, then the first leg, the ends of ties side by side, and the
    second leg.

    `places` are the items of lines from outside, the items of the first leg, and the ends of ties in the first and the
    second leg.
    """
    outside, first_leg, facing, opposite = places
    left = first_leg | outside
    rows = [([item for item in row if item in left], [item for item in row if item not in left]) for row in laid.ranks]

    def side_by_side(item: int) -> int:
        """Return the place of an item from left to right."""
        if item in left:
            return 0 if item in outside else 2 if item in facing else 1
        return 3 if item in opposite else 4

    ordered = choose_mirrored_rows(rows, laid.chains, {0, len(rows) - 1} if part.fixed_ports else ())
    return Ranks([sorted(row, key=side_by_side) for row in ordered], chains)


def _equal_ranks(part: Component, edges: Sequence[tuple[int, int]], same: dict[int, int]) -> list[int] | None:
    """Return the rank of each node such that a node and `same[node]` have equal ranks; None if that is impossible."""
    joined = [(same.get(source, source), same.get(target, target)) for source, target in edges]
    below: list[list[int]] = [[] for _ in range(part.count)]
    for source, target in joined:
        below[source].append(target)
    if len(topological_order(below)) < part.count:
        return None
    name = {node: number for number, node in enumerate(node for node in range(part.count) if node not in same)}
    ranks = rank_nodes(
        Component(
            len(name),
            tuple((name[source], name[target]) for source, target in joined),
            frozenset(name[port] for port in part.first),
            frozenset(name[port] for port in part.last),
        )
    )
    return [ranks[name[same.get(node, node)]] for node in range(part.count)]


def set_ties_last(skeleton: Skeleton) -> Skeleton:
    """Return a skeleton with the wires of ties, between children of one rank, after all others."""
    rank = {item: (p, r) for p, part in enumerate(skeleton.parts) for r, row in enumerate(part) for item in row}
    tied = [rank[wire.chain[0]] == rank[wire.chain[-1]] for wire in skeleton.wires]
    order = sorted(range(len(tied)), key=tied.__getitem__)
    if order == [*range(len(tied))]:
        return skeleton
    number = {wire: place for place, wire in enumerate(order)}
    return replace(
        skeleton,
        wires=tuple(skeleton.wires[wire] for wire in order),
        waypoint=tuple(number[wire] for wire in skeleton.waypoint),
        main_path=tuple(number[wire] for wire in skeleton.main_path),
    )


def mirror_skeleton(skeleton: Skeleton) -> Skeleton:
    """Return a skeleton with its ranks in reverse order, every wire turned, and every port on the other side."""
    count = skeleton.children
    order = sorted(range(len(skeleton.ports)), key=lambda port: skeleton.ports[port].first)  # new first ports first
    name = {count + port: count + place for place, port in enumerate(order)}
    falling = set(skeleton.falling)
    return replace(
        skeleton,
        ports=tuple(PortSlot(not skeleton.ports[port].first, skeleton.ports[port].others) for port in order),
        wires=tuple(
            Wire(wire.edge, wire.bridge, tuple(name.get(item, item) for item in wire.chain), not wire.turned)
            for wire in skeleton.wires
        ),
        parts=tuple(
            tuple(tuple(name.get(item, item) for item in row) for row in reversed(part)) for part in skeleton.parts
        ),
        breaks=(),
        falling=tuple(child for child in range(count) if child not in falling),
    )
