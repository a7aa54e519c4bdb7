"""Split a level into unconnected pieces, the input of an engine."""

from __future__ import annotations

from collections.abc import Sequence

from graphviz_tb.algorithms.components import union_root, unite_sets
from graphviz_tb.arrange.part import Component
from graphviz_tb.model.frozen import dataclass


@dataclass(frozen=True, slots=True)
class LevelComponent:
    """One connected piece: its items and lines in the level, and the piece as the engine sees it."""

    items: tuple[int, ...]
    lines: tuple[int, ...]
    part: Component


def connected_pieces(
    items: Sequence[int], arcs: Sequence[tuple[int, int]], first: Sequence[int], last: Sequence[int]
) -> list[LevelComponent]:
    """Split a level into connected pieces in the order of their first item; the piece with all ports comes first.

    `arcs` (source, target) have no cycle; `first`, `last` are the ports on the two flow sides.

    >>> [number_piece.items for number_piece in connected_pieces([0, 1, 2], [(0, 2)], [], [])]
    [(0, 2), (1,)]
    """
    head = {item: item for item in items}
    hung = [*first, *last]  # all ports
    # All ports are on one frame: join them.
    for source, target in [*arcs, *((hung[0], other) for other in hung[1:])]:
        unite_sets(head, source, target)
    members: dict[int, list[int]] = {union_root(head, hung[0]): []} if hung else {}  # the first key
    for item in items:
        members.setdefault(union_root(head, item), []).append(item)
    inside: dict[int, list[int]] = {key: [] for key in members}
    for index, (source, _) in enumerate(arcs):
        inside[union_root(head, source)].append(index)
    ends = (frozenset(first), frozenset(last))
    return [number_piece(members[key], inside[key], arcs, *ends) for key in members]


def number_piece(
    items: list[int],
    lines: list[int],
    arcs: Sequence[tuple[int, int]],
    first: frozenset[int],
    last: frozenset[int],
) -> LevelComponent:
    """Number the items of one piece from 0."""
    local = {item: place for place, item in enumerate(items)}
    edges = tuple((local[arcs[i][0]], local[arcs[i][1]]) for i in lines)
    top = frozenset(local[item] for item in items if item in first)
    bottom = frozenset(local[item] for item in items if item in last)
    return LevelComponent(tuple(items), tuple(lines), Component(len(items), edges, top, bottom))
