"""Random levels, and what must hold for every skeleton."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import strategies as st

from graphviz_tb.arrange.lines import drawn_bridges, drawn_edges
from graphviz_tb.model.metagraph import Bridge, DrawingMask, Metaedge, Metagraph
from graphviz_tb.model.skeleton import Skeleton


def level(count: int, *pairs: tuple[int, int]) -> Metagraph:
    """A level of equal boxes with so many lines between them."""
    edges = tuple(Metaedge(a, b, 1, 0, 0) for a, b in pairs)
    return Metagraph(0, tuple(range(1, count + 1)), (2,) * count, edges, ())


@st.composite
def levels(draw: st.DrawFn, most: int = 14, bridges: bool = True) -> Metagraph:
    """A level of up to `most` children, cycles and bridges included."""
    count = draw(st.integers(1, most))
    child = st.integers(0, count - 1)
    pairs = draw(st.lists(st.tuples(child, child), unique=True, max_size=2 * count))
    kinds = [draw(st.sampled_from([(1, 0, 0), (3, 0, 0), (0, 1, 0), (0, 0, 1)])) for _ in pairs]
    edges = tuple(Metaedge(a, b, *kind) for (a, b), kind in zip(pairs, kinds, strict=True) if a != b)
    units = tuple(draw(st.sampled_from([2, 3, 4])) for _ in range(count))
    outside = st.tuples(child, st.integers(100, 112), st.booleans())
    leaving = draw(st.lists(outside, unique=True, max_size=12)) if bridges else []
    found = tuple(Bridge(c, other, inbound, 1, 0, 0) for c, other, inbound in leaving)
    away = draw(st.lists(child, unique=True, max_size=3))
    mask = DrawingMask(out_extract=tuple(sorted(away)))
    return Metagraph(0, tuple(range(1, count + 1)), units, edges, found, mask, mask)


def check(level: Metagraph, skeleton: Skeleton) -> None:
    """Each item has one place, chains go rank by rank, ports stand outside, and every line is there."""
    place = places(skeleton)
    core = set(level.core_children())
    assert {item for item in place if item < skeleton.children} == core
    assert len(place) == sum(len(row) for part in skeleton.parts for row in part)
    assert all(row for part in skeleton.parts for row in part)
    assert len(skeleton.breaks) in (0, len(skeleton.parts))
    for part, broken in zip(skeleton.parts, skeleton.breaks, strict=False):
        assert all(one < two for one, two in pairwise((0, *broken, len(part))))
    assert set(range(skeleton.children, skeleton.first_waypoint + len(skeleton.waypoint))) <= set(place)
    edges, bridges = drawn_edges(level, level.mask), drawn_bridges(level, level.mask)
    lines = [(edge, -1) for edge in edges] + [(-1, bridge) for bridge in bridges]
    assert [(wire.edge, wire.bridge) for wire in skeleton.wires] == lines
    for number, wire in enumerate(skeleton.wires):
        step = -1 if wire.turned else 1
        for one, two in pairwise(wire.chain):
            assert place[one][0] == place[two][0]
            assert place[two][1] - place[one][1] == step
        assert all(skeleton.first_waypoint <= item for item in wire.chain[1:-1])
        for item in wire.chain[1:-1]:
            first = skeleton.wires[skeleton.waypoint[item - skeleton.first_waypoint]]
            assert item in first.chain
            assert first is wire or first.chain[0] == wire.chain[0] or first.chain[-1] == wire.chain[-1], number
        if wire.edge >= 0:
            assert wire.chain[0] == level.edges[wire.edge].source
            assert wire.chain[-1] == level.edges[wire.edge].target
        else:
            bridge = level.bridges[wire.bridge]
            ends = wire.chain[::-1] if bridge.inbound else wire.chain
            assert ends[0] == bridge.child
            slot = skeleton.ports[ends[-1] - skeleton.children]
            assert (bridge.other, bridge.inbound) in slot.others
            assert slot.first is (bridge.inbound is not wire.turned)
    for i, slot in enumerate(skeleton.ports):
        part, rank, _ = place[skeleton.children + i]
        assert part == skeleton.port_part
        outer = 0 if slot.first else len(skeleton.parts[part]) - 1
        # Ports of inputs of a later column are on its first rank, of results of an earlier one on its last.
        assert rank == outer or (rank if slot.first else rank + 1) in skeleton.breaks[part]
        row = skeleton.parts[part][outer]
        assert all(skeleton.children <= item < skeleton.first_waypoint for item in row)
    shown = sorted(part for shelf in skeleton.shelves for part in shelf)
    assert shown == [p for p in range(len(skeleton.parts)) if p != skeleton.port_part]


def places(skeleton: Skeleton) -> dict[int, tuple[int, int, int]]:
    """Part, rank and place of each item."""
    return {
        item: (p, r, at)
        for p, part in enumerate(skeleton.parts)
        for r, row in enumerate(part)
        for at, item in enumerate(row)
    }


def relation(skeleton: Skeleton, one: int, two: int) -> str:
    """How one child lies to another: the words of the law."""
    place = places(skeleton)
    (p, r, a), (q, s, b) = place[one], place[two]
    if p == q:
        return ("left" if a < b else "right") if r == s else ("above" if r < s else "below")
    if skeleton.port_part in (p, q):
        return "left" if p == skeleton.port_part else "right"
    shelf = {part: (i, j) for i, row in enumerate(skeleton.shelves) for j, part in enumerate(row)}
    if shelf[p][0] == shelf[q][0]:
        return "left" if shelf[p][1] < shelf[q][1] else "right"
    return "above" if shelf[p][0] < shelf[q][0] else "below"
