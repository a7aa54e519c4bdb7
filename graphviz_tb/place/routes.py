"""Bands of ranks, and the polylines through them.

Between its ends a line passes each rank on a vertical run, from the top of the band to its bottom, where its
waypoint keeps it clear of all boxes; it goes aslant only in the gaps between bands, at a distance from the boxes.
So no line can touch a foreign box.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from graphviz_tb.model.level import Gaps
from graphviz_tb.model.scene import Point
from graphviz_tb.model.skeleton import Skeleton


@dataclass(slots=True)
class Band:
    """The strip of one rank: its top and bottom, and how much of the gaps above and below is kept for straight ends."""

    top: int
    bottom: int
    before: int = 0
    after: int = 0

    @property
    def middle(self) -> int:
        """The line on which the boxes are centred."""
        return (self.top + self.bottom) // 2

    def move(self, down: int) -> None:
        """Shift the strip."""
        self.top += down
        self.bottom += down


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
    lefts: Sequence[int],
    tops: Sequence[int],
    heights: Sequence[int],
    band: Mapping[int, Band],
) -> list[tuple[Point, ...]]:
    """The polyline of each wire, from its source's border to its target's.

    After: a wire that runs against the ranks leaves its source's top and ends at its target's bottom.
    """
    result = []
    for chain, (start, end), wire in zip(chains, ends, skeleton.wires, strict=True):
        upper, lower = chain[0], chain[-1]
        points = [(lefts[upper] + start, tops[upper] + heights[upper])]
        final = len(chain) - 1
        for at in range(1, final + 1):
            x = lefts[chain[at]] + (end if at == final else 0)
            here, there = band[chain[at - 1]], band[chain[at]]
            points.append((points[-1][0], here.bottom + here.after))
            points.append((x, there.top - there.before))
            if at < final:
                points.append((x, there.bottom))
        points.append((points[-1][0], tops[lower]))
        line = straight(points)
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
