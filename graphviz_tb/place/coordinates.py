"""Coordinates of one level: x within ranks, y of ranks, parts on their shelves, and the routes of the lines.

    attach ─ columns ─ bands ─ shelves ─ routes ─ labels

Plain steps on integers with one rule for ties, because the viewer does the same in JavaScript and must give equal
numbers: `a // b` rounds down everywhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from graphviz_tb.model.level import Gaps, Level
from graphviz_tb.model.skeleton import Skeleton
from graphviz_tb.place.attach import attach, downward
from graphviz_tb.place.columns import Link, columns
from graphviz_tb.place.routes import bands, routes
from graphviz_tb.place.taut import Band, Ways

Size = tuple[int, int]
PORT = 8


def coordinates(
    skeleton: Skeleton,
    sizes: Sequence[Size],
    gaps: Gaps | None = None,
    *,
    anchors: Mapping[tuple[int, int], int] | None = None,
    labels: Mapping[int, Size] | None = None,
) -> Level:
    """Place one level, its flow running down.

    Before: `sizes` are (across, along) of each child, (0, 0) where it is not drawn; `anchors[wire, 0 or 1]` fixes
    where a wire touches its source or target, from the child's left edge; `labels[wire]` is the size of its label:
    the gap that it crosses is wider.
    After: no two boxes overlap, no line runs through a foreign box, and all lies in (0, 0) to (width, height).

    >>> from graphviz_tb.model.skeleton import Skeleton, Wire
    >>> chain = Skeleton(2, (), (Wire(0, -1, (0, 1)),), (), (((0,), (1,)),), ((0,),))
    >>> level = coordinates(chain, [(80, 24), (60, 24)])
    >>> level.positions, level.routes
    (((0, 0), (10, 64)), (((40, 24), (40, 64)),))
    """
    gaps = gaps or Gaps()
    labels = labels or {}
    chains = downward(skeleton)
    ends = attach(skeleton, chains, sizes, gaps, anchors or {})
    widths, heights = extents(skeleton, sizes)
    above, below = links(skeleton, chains, ends, len(widths))
    between = [[distances(row, skeleton, widths, gaps) for row in part] for part in skeleton.parts]
    lefts = columns(skeleton.parts, widths, between, above, below)
    flush_left(skeleton, lefts)
    lines = lines_of(skeleton, chains, labels)
    layers = [bands(part, heights, own, gaps) for part, own in zip(skeleton.parts, lines, strict=True)]
    width, height = shelve(skeleton, layers, lefts, widths, gaps)
    band = {item: layers[p][r] for p, part in enumerate(skeleton.parts) for r, row in enumerate(part) for item in row}
    tops = [band[item].middle - heights[item] // 2 if item in band else 0 for item in range(len(widths))]
    drawn = routes(skeleton, chains, ends, Ways(skeleton, lefts, widths, gaps), tops, heights, band)
    base = skeleton.children
    return Level(
        tuple((lefts[item], tops[item]) for item in range(base)),
        tuple(lefts[base : skeleton.first_waypoint]),
        tuple(drawn),
        width,
        height,
    )


def flush_left(skeleton: Skeleton, lefts: list[int]) -> None:
    """Let every part begin at 0."""
    for part in skeleton.parts:
        least = min((lefts[row[0]] for row in part), default=0)
        for row in part:
            for item in row:
                lefts[item] -= least


def lines_of(
    skeleton: Skeleton, chains: Sequence[tuple[int, ...]], labels: Mapping[int, Size]
) -> list[list[tuple[int, int, bool, bool]]]:
    """For each part its wires: first item, last item, whether turned, whether labelled."""
    part_of = {item: p for p, part in enumerate(skeleton.parts) for row in part for item in row}
    lines: list[list[tuple[int, int, bool, bool]]] = [[] for _ in skeleton.parts]
    for number, chain in enumerate(chains):
        turned = skeleton.wires[number].turned
        lines[part_of[chain[0]]].append((chain[0], chain[-1], turned, number in labels))
    return lines


def extents(skeleton: Skeleton, sizes: Sequence[Size]) -> tuple[list[int], list[int]]:
    """Width and height of each item; ports and waypoints have none."""
    none = [0] * (len(skeleton.ports) + len(skeleton.waypoint))
    return [width for width, _ in sizes] + none, [height for _, height in sizes] + none


def distances(row: Sequence[int], skeleton: Skeleton, widths: Sequence[int], gaps: Gaps) -> list[int]:
    """The least distance of the left edges of neighbours in one rank."""
    first = skeleton.first_waypoint
    result = []
    for left, right in pairwise(row):
        lines = (left >= first) + (right >= first)
        gap = gaps.edge if lines == 2 else gaps.box if lines else gaps.siblings
        result.append(widths[left] + gap)
    return result


def links(
    skeleton: Skeleton, chains: Sequence[tuple[int, ...]], ends: Sequence[tuple[int, int]], count: int
) -> tuple[list[list[Link]], list[list[Link]]]:
    """For each item those above and below that it wants to be straight with, weighted as by Gansner et al."""
    above: list[list[Link]] = [[] for _ in range(count)]
    below: list[list[Link]] = [[] for _ in range(count)]
    first = skeleton.first_waypoint
    trunks: set[tuple[int, int]] = set()
    for chain, (start, end) in zip(chains, ends, strict=True):
        final = len(chain) - 2
        for at in range(final + 1):
            upper, lower = chain[at], chain[at + 1]
            if upper >= first or lower >= first:
                if (upper, lower) in trunks:
                    continue
                trunks.add((upper, lower))
            shift = (start if not at else 0) - (end if at == final else 0)
            weight = (1, 2, 8)[(upper >= first) + (lower >= first)]
            above[lower].append((upper, shift, weight))
            below[upper].append((lower, -shift, weight))
    return above, below


def shelve(
    skeleton: Skeleton, layers: list[list[Band]], lefts: list[int], widths: Sequence[int], gaps: Gaps
) -> tuple[int, int]:
    """Move the parts to their places: that of the ports on the left, the others on shelves to its right."""
    spans = [
        (max((lefts[row[-1]] + widths[row[-1]] for row in part), default=0), rows[-1].bottom if rows else 0)
        for part, rows in zip(skeleton.parts, layers, strict=True)
    ]
    origin = width = height = 0
    if skeleton.main >= 0:
        width, height = spans[skeleton.main]
        origin = width + gaps.parts
    top = 0
    for shelf in skeleton.shelves:
        left, deep = origin, 0
        for part in shelf:
            for row in skeleton.parts[part]:
                for item in row:
                    lefts[item] += left
            for band in layers[part]:
                band.move(top)
            left += spans[part][0] + gaps.parts
            deep = max(deep, spans[part][1])
        width = max(width, left - gaps.parts)
        height = max(height, top + deep)
        top += deep + gaps.parts
    if skeleton.main >= 0 and skeleton.ports and not skeleton.ports[-1].first:
        layers[skeleton.main][-1].move(height - layers[skeleton.main][-1].top)
    return width, height
