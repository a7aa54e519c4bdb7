"""Arrange a level that is too large for an engine in plain rows: crossings are not reduced, lines have no bends."""

from __future__ import annotations

from math import isqrt

from graphviz_tb.arrange.component import HALF_OP_WIDTH, RANK_HEIGHT
from graphviz_tb.arrange.lines import (
    PortConstraints,
    drawn_bridges,
    drawn_edges,
    frame_port_items,
    frame_ports,
    port_side,
)
from graphviz_tb.graphs.traversal import longest_path_lengths, topological_order
from graphviz_tb.limits import MAX_LEVEL_ITEMS
from graphviz_tb.model.metagraph import Metagraph
from graphviz_tb.model.notice import Notice
from graphviz_tb.model.skeleton import Skeleton, Wire

ItemPair = tuple[int, int]


class TooManyBends(Exception):
    """Raised by engines if a piece would have more than `MAX_LEVEL_ITEMS` bends."""


def is_too_large(metagraph: Metagraph) -> bool:
    """Return whether a level has more boxes and lines than an engine may lay out."""
    # Count stubs, too, and subtract them only if that matters.
    if len(metagraph.children) + len(metagraph.edges) + len(metagraph.bridges) <= MAX_LEVEL_ITEMS:
        return False
    mask = metagraph.automatic
    lines = len(drawn_edges(metagraph, mask)) + len(drawn_bridges(metagraph, mask))
    return len(metagraph.children) + lines > MAX_LEVEL_ITEMS


def arrange_plain_rows(metagraph: Metagraph, outside: PortConstraints) -> Skeleton:
    """Return rows of equal length, with boxes in the order of their ranks, then of the file.

    The chain of a wire has only its two ends.
    """
    mask, base = metagraph.mask, len(metagraph.children)
    bridges = drawn_bridges(metagraph, mask)
    slots = frame_ports(metagraph, bridges, outside)
    item = frame_port_items(base, slots)
    edges = drawn_edges(metagraph, mask)
    inner = [(metagraph.edges[index].source, metagraph.edges[index].target) for index in edges]
    outer: list[ItemPair] = []
    for index in bridges:
        bridge = metagraph.bridges[index]
        ends = (item[port_side(bridge, outside.turned)], bridge.child)
        outer.append(ends if bridge.inbound else ends[::-1])
    rows = _even_rows(_boxes_by_rank(metagraph.core_children(), inner, base))
    first = [base + number for number, slot in enumerate(slots) if slot.first]
    last = [base + number for number, slot in enumerate(slots) if not slot.first]
    rows = [row for row in (first, *rows, last) if row]
    place = {member: number for number, row in enumerate(rows) for member in row}
    wires = [Wire(index, -1, arc, place[arc[0]] > place[arc[1]]) for index, arc in zip(edges, inner, strict=True)]
    wires += [Wire(-1, index, arc, place[arc[0]] > place[arc[1]]) for index, arc in zip(bridges, outer, strict=True)]
    part = tuple(tuple(row) for row in rows)
    shelves = () if slots else ((0,),)
    notices = (_plain_rows_notice(base, len(wires)),)
    return Skeleton(
        base, tuple(slots), tuple(wires), (), (part,), shelves, 0 if slots else -1, notices=notices, plain=True
    )


def _boxes_by_rank(core: list[int], arcs: list[ItemPair], count: int) -> list[list[int]]:
    """Return the boxes on each rank, as early as possible, without edges of cycles that run against file order.

    >>> _boxes_by_rank([0, 1, 2], [(1, 0), (0, 2), (2, 0)], 3)
    [[1], [0], [2]]
    """
    after: list[list[int]] = [[] for _ in range(count)]
    for source, target in arcs:
        after[source].append(target)
    acyclic = topological_order(after)
    on_cycles = set(range(count)).difference(acyclic)
    order = [*acyclic, *sorted(on_cycles)]
    rank = longest_path_lengths(after, order)
    ranks: dict[int, list[int]] = {}
    for node in sorted(core, key=rank.__getitem__):
        ranks.setdefault(rank[node], []).append(node)
    return list(ranks.values())


def _even_rows(ranks: list[list[int]]) -> list[list[int]]:
    """Return rows with a total size of about 8:5; ranks share rows if there are many short ones.

    >>> _even_rows([[0], [1, 2, 3, 4]]), _even_rows([[0], [1], [2], [3]])
    ([[0], [1, 2], [3, 4]], [[0, 1], [2, 3]])
    """
    boxes = [box for rank in ranks for box in rank]
    # n boxes in rows of m: 2 * UNIT * m wide and ROW * n / m high; m² = n * ROW / (2 * UNIT) * 8/5 makes it 8:5.
    most = max(1, isqrt(8 * len(boxes) * RANK_HEIGHT // (10 * HALF_OP_WIDTH)))
    if len(ranks) * most > len(boxes) + most:  # more than one row of empty places
        ranks = [boxes]
    return [rank[start : start + most] for rank in ranks for start in range(0, len(rank), most)]


def _plain_rows_notice(boxes: int, lines: int) -> Notice:
    text = f"a level of {boxes:,} boxes and {lines:,} lines is drawn in plain rows, its lines straight and unnamed"
    return Notice("large-level", text, strict=False)
