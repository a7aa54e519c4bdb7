"""Bands of ranks, and the polylines through them.

Between its ends a line passes each rank where its waypoint keeps it clear of all boxes, and is pulled taut in the room
that it has there; its last run, with the arrow, comes straight to the box. So no line can touch a foreign box.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from graphviz_tb.model.level import Gaps
from graphviz_tb.model.scene import Point
from graphviz_tb.model.skeleton import Skeleton
from graphviz_tb.place.taut import Band, Ways, exits, pull

SLANT = 2  # how far aside a line may go for each pixel that it is away from its box: it shall not creep along


def bands(
    part: Sequence[Sequence[int]],
    heights: Sequence[int],
    lines: Sequence[tuple[int, int, bool, bool]],
    gaps: Gaps,
) -> list[Band]:
    """The strip of each rank: as high as its highest box, with a wider gap where a label crosses.

    Before: `lines` are (upper item, lower item, turned, labelled) of the lines in this part.
    """
    rank = {item: r for r, row in enumerate(part) for item in row}
    arrows_above: set[int] = set()
    arrows_below: set[int] = set()
    wide: set[int] = set()
    for upper, lower, turned, labelled in lines:
        if turned:
            arrows_below.add(rank[upper])
        else:
            arrows_above.add(rank[lower])
        if labelled:
            wide.update(range(rank[upper], rank[lower]))
    result = []
    top = 0
    for r, row in enumerate(part):
        bottom = top + max(heights[item] + heights[item] % 2 for item in row)
        before, after = (gaps.straight if r in found else gaps.box for found in (arrows_above, arrows_below))
        result.append(Band(top, bottom, before, after))
        top = bottom + (gaps.labelled if r in wide else gaps.ranks)
    return result


def routes(
    skeleton: Skeleton,
    chains: Sequence[tuple[int, ...]],
    ends: Sequence[tuple[int, int]],
    ways: Ways,
    tops: Sequence[int],
    heights: Sequence[int],
    band: Mapping[int, Band],
) -> list[tuple[Point, ...]]:
    """The polyline of each wire, from its source's border to its target's.

    After: a wire that runs against the ranks leaves its source's top and ends at its target's bottom.
    """
    result = []
    lefts = ways.at[0]
    rooms = exits(chains, ends, ways.widths)
    for chain, (start, end), room, wire in zip(chains, ends, rooms, skeleton.wires, strict=True):
        upper, lower = chain[0], chain[-1]
        begin = (lefts[upper] + start, tops[upper] + heights[upper])
        stop = (lefts[lower] + end, tops[lower])
        below = band[upper].bottom + band[upper].after
        head = [(below, begin[0], begin[0])]
        if not wire.turned:
            aside = SLANT * (below - begin[1])
            low, high = max(lefts[upper] + room[0], begin[0] - aside), min(lefts[upper] + room[1], begin[0] + aside)
            head = [(begin[1], begin[0], begin[0]), (below, low, high)]
        passed = [window for item in chain[1:-1] for window in ways.windows(item, band[item])]
        bends = pull([*head, *passed, (band[lower].top - band[lower].before, stop[0], stop[0])])
        ways.keep(chain[1:-1], passed, bends)
        line = straight([begin, *bends, stop])
        result.append(tuple(line[::-1] if wire.turned else line))
    return result


def straight(points: Sequence[Point]) -> list[Point]:
    """Leave out points that lie on the way.

    >>> straight([(0, 0), (0, 5), (0, 9), (4, 9)])
    [(0, 0), (0, 9), (4, 9)]
    """
    result: list[Point] = []
    for point in points:
        if result and result[-1] == point:
            continue
        if len(result) > 1 and on_way(result[-2], result[-1], point):
            result.pop()
        result.append(point)
    return result


def on_way(a: Point, b: Point, c: Point) -> bool:
    """Whether b lies on the straight line from a to c."""
    return (b[0] - a[0]) * (c[1] - b[1]) == (c[0] - b[0]) * (b[1] - a[1])
