"""The polylines of the lines of a level, every stretch of them along an axis.

A line goes straight past the boxes of each rank where its waypoint keeps it clear of them, and runs aside in the gaps
between ranks alone, on tracks. So no line can touch a foreign box.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from graphviz_tb.graphs.drawing_math import straighten_polyline
from graphviz_tb.model.scene import Point
from graphviz_tb.model.skeleton import LevelGaps, Skeleton
from graphviz_tb.place.bands import Band
from graphviz_tb.place.tracks import RankHop


def wire_routes(
    skeleton: Skeleton,
    chains: Sequence[tuple[int, ...]],
    hops: Sequence[Sequence[RankHop]],
    gaps: LevelGaps,
    tops: Sequence[int],
    heights: Sequence[int],
    band: Mapping[int, Band],
    around: Mapping[tuple[int, int], tuple[Point, ...]],
) -> list[tuple[Point, ...]]:
    """Return the polyline of each wire, from its source's border to its target's.

    `around` are the bends of the lines that lead to another column, by wire and step. A wire that runs against the
    ranks leaves its source's top and ends at its target's bottom.
    """
    result = []
    for wire, chain in enumerate(chains):
        upper, lower = chain[0], chain[-1]
        points: list[Point] = [(hops[wire][0].start, tops[upper] + heights[upper])]
        for number in range(len(chain) - 1):
            turns = around.get((wire, number))
            points += _hop_bends(hops[wire][number], band[chain[number]]) if turns is None else turns
        points.append((hops[wire][-1].end, tops[lower]))
        # Straight on to the border, through its title bar.
        if upper >= skeleton.children:
            points.insert(0, (points[0][0], points[0][1] - gaps.beyond - gaps.bar[0]))
        if lower >= skeleton.children:
            points.append((points[-1][0], points[-1][1] + gaps.beyond + gaps.bar[1]))
        line = straighten_polyline(points)
        result.append(tuple(line[::-1] if skeleton.wires[wire].turned else line))
    return result


def _hop_bends(hop: RankHop, above: Band) -> list[Point]:
    """Return the corners of a hop in the gap below a band.

    >>> _hop_bends(RankHop(0, 0, 5, 90, 10, track=1), Band(0, 20, first=12, pitch=16))
    [(5, 48), (90, 48)]
    """
    if hop.track < 0:
        return []
    upper = above.track(hop.track)
    if hop.last < 0:
        return [(hop.start, upper), (hop.end, upper)]
    lower = above.track(hop.last)
    return [(hop.start, upper), (hop.middle, upper), (hop.middle, lower), (hop.end, lower)]
