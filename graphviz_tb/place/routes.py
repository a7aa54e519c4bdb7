"""Bands of ranks, and the polylines through them.

A line passes each rank where its waypoint keeps it clear of all boxes, along the shortest path in the room it has
there; its last run, with the arrow, comes straight to the box. So no line can touch a foreign box.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from graphviz_tb.algorithms.polylines import straighten_polyline
from graphviz_tb.model.level import LevelGaps, WireStroke
from graphviz_tb.model.scene import Point
from graphviz_tb.model.skeleton import Skeleton
from graphviz_tb.place.corners import blunt_corners
from graphviz_tb.place.funnel import Band, Corridors, Portal, exit_ranges, funnel_bends
from graphviz_tb.place.tracks import FLAT_LINE_PX, RankHop, gap_height

MAX_SLANT = 14  # tenths of a pixel aside for each pixel down of a line that leaves a box: 54°
MIN_HEAD_LENGTH, MAX_HEAD_LENGTH = 80, 128  # tenths of a pixel: arrow head on a thin line, and on the thickest


def arrow_head_length(thick: int) -> int:
    """Return the pixels of an arrow head on a line of `thick` tenths, rounded up.

    >>> arrow_head_length(10), arrow_head_length(60)
    (8, 13)
    """
    return (min(MAX_HEAD_LENGTH, MIN_HEAD_LENGTH + 16 * (thick - 10) // 10) + 9) // 10


def rank_bands(
    part: Sequence[Sequence[int]],
    heights: Sequence[int],
    ends: Sequence[tuple[int, int]],
    hops: Sequence[Sequence[RankHop]],
    labelled: Mapping[int, int],
    gaps: LevelGaps,
) -> list[Band]:
    """Return the strip of each rank: as high as its highest box, with a gap below as wide as its lines need.

    `ends` are, by rank, how much of the gaps above and below is kept for straight ends (0: a rank of ports); `labelled`
    are the ranks with a label below, with the room it needs in addition.
    """
    result: list[Band] = []
    top = 0
    for r, row in enumerate(part):
        before, after = ends[r]
        if r:
            ports = not (result[-1].after and before)
            height = gap_height(hops[r - 1], result[-1].after, before, gaps.beyond if ports else 0, gaps)
            room = labelled.get(r - 1, -1)
            top += max(height + max(room, 0), gaps.labelled if room >= 0 and not ports else 0)
        bottom = top + max(heights[item] + heights[item] % 2 for item in row)  # even: the middle is whole
        result.append(Band(top, bottom, before, after))
        top = bottom
    return result


def wire_routes(
    skeleton: Skeleton,
    chains: Sequence[tuple[int, ...]],
    ends: Sequence[tuple[int, int]],
    hops: Sequence[Sequence[RankHop]],
    strokes: Sequence[WireStroke],
    corridors: Corridors,
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
    lefts, gaps = corridors.at[0], corridors.gaps
    rooms = exit_ranges(chains, ends, corridors.widths)
    for wire, chain in enumerate(chains):
        bends: list[Point] = []
        passed: list[int] = []
        upper, lower = chain[0], chain[-1]
        out, on = slanted_run(0, upper, skeleton, gaps), slanted_run(1, lower, skeleton, gaps)
        begin = (lefts[upper] + ends[wire][0], tops[upper] + heights[upper] - out)
        stop = (lefts[lower] + ends[wire][1], tops[lower] + on)
        # Windows and waypoints of the line so far, since its start or its entry into this column.
        windows = [(begin[1], begin[0], begin[0])]
        below = band[upper].bottom + band[upper].after + hops[wire][0].late - out
        if below > begin[1] and (wire, 0) not in around:
            slants = strokes[wire].tip != skeleton.wires[wire].turned and hops[wire][0].sideways <= FLAT_LINE_PX
            windows.append(exit_window(begin, below, lefts[upper], rooms[wire] if slants else None))
        for number in range(1, len(chain)):
            turns = around.get((wire, number - 1))
            if turns:
                (x, foot), (goal, head) = turns[0], turns[3]
                bends += [*shortest_in_column(corridors, [*windows, (foot, x, x)], passed), turns[1], turns[2]]
                windows, passed = [(head, goal, goal)], []
            if number == len(chain) - 1:
                break
            item = chain[number]
            passed.append(item)
            near = hops[wire][number - 1].early, hops[wire][number].late
            windows += rank_windows(corridors, item, band[item], near, turns, around.get((wire, number)))
        above = band[lower].top - band[lower].before - hops[wire][-1].early + on
        windows.append((max(above, windows[-1][0] + 1), stop[0], stop[0]))  # below the previous window
        bends += shortest_in_column(corridors, windows, passed)
        thick = max(strokes[wire].thick, *(corridors.thick[item] for item in chain[1:-1]), 0)
        result.append(finish_route([*bends, stop], wire, skeleton, thick, strokes[wire].tip, gaps))
    return result


def exit_window(begin: Point, below: int, left: int, room: tuple[int, int] | None) -> Portal:
    """Return where a wire may be when it leaves the band of its source: below its port, or slanted within `room`."""
    if room is None:
        return (below, begin[0], begin[0])
    slant = MAX_SLANT * (below - begin[1]) // 10
    return (below, max(left + room[0], begin[0] - slant), min(left + room[1], begin[0] + slant))


def rank_windows(
    corridors: Corridors,
    item: int,
    here: Band,
    near: tuple[int, int],
    before: tuple[Point, ...] | None,
    after: tuple[Point, ...] | None,
) -> list[Portal]:
    """Return where a wire may be above and below the rank of a waypoint.

    `near` is how much before and after the band it has to stay straight; `before` and `after` are its bends on the way
    to another column, where straight runs end.
    """
    top = here.top - here.before - near[0]
    bottom = here.bottom + here.after + near[1]
    if before:
        top = max(top, before[3][1] + 1)
    if after:
        bottom = min(bottom, after[0][1] - 1)
    return [corridors.waypoint_window(item, 0, top), corridors.waypoint_window(item, 1, bottom)]


def shortest_in_column(corridors: Corridors, windows: Sequence[Portal], passed: Sequence[int]) -> list[Point]:
    """Return the bends of a line within one column, which passes waypoints, two windows each, before its last
    window."""
    bends = funnel_bends(windows)
    # Later lines keep clear of the line itself, not of its waypoint.
    corridors.record_bends(passed, windows[len(windows) - 1 - 2 * len(passed) : -1], bends)
    return bends


def finish_route(
    points: list[Point], wire: int, skeleton: Skeleton, thick: int, tip: int, gaps: LevelGaps
) -> tuple[Point, ...]:
    """Return the line from its source to its target, extended straight beyond ports, its corners cut; `tip` is its end
    with the arrow head."""
    drawn = skeleton.wires[wire]
    ends = drawn.chain[::-1] if drawn.turned else drawn.chain
    if ends[0] >= skeleton.children:
        far = gaps.beyond + gaps.bar[0] - slanted_run(0, ends[0], skeleton, gaps)
        points.insert(0, (points[0][0], points[0][1] - far))
    if ends[-1] >= skeleton.children:
        far = gaps.beyond + gaps.bar[1] - slanted_run(1, ends[-1], skeleton, gaps)
        points.append((points[-1][0], points[-1][1] + far))
    head = arrow_head_length(thick) + 1
    first, last = (head if tip == end else 1 for end in ((1, 0) if drawn.turned else (0, 1)))
    line = blunt_corners(straighten_polyline(points), first, last)
    return tuple(line[::-1] if drawn.turned else line)


def slanted_run(end: int, item: int, skeleton: Skeleton, gaps: LevelGaps) -> int:
    """Return how far beyond its port (`item`, on the first side: `end` 0, or on the last) a line may still run
    slanted."""
    return gaps.beyond if item >= skeleton.children and gaps.bar[end] else 0
