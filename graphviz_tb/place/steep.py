"""Let flat lines between two ranks that must cross do so at a right angle, where the inner one rises or falls.

Of two lines in one direction, one inside the other, tracks alone would let them cross at such a flat angle that both
look like one line.
"""

from __future__ import annotations

from collections.abc import Sequence

from graphviz_tb.place.tracks import FLAT_LINE_PX, RankHop, track_distance

MAX_FLAT_LINES = 40  # flat lines of one gap; more are left as they are, because each is compared with all others
MIN_VISIBLE_RUN = 30  # px of parallel lines for the white between them to be visible
RUN_CORNER = 12  # px of the corners at each end of a run

HopSpan = tuple[int, int]  # distances below the top of the gap where a hop begins and ends to run sideways


def cross_steeply(hops: Sequence[RankHop], height: int) -> None:
    """Change the tracks of flat hops inside others in one gap, `height` px between its straight runs.

    >>> outer, inner = RankHop(0, 0, 0, 356, 10), RankHop(1, 0, 192, 264, 10, 5, 5)
    >>> cross_steeply([outer, inner], 20)
    >>> inner.late, inner.early
    (5, 11)
    """
    # Outer ones first: their tracks are final when inner ones follow them.
    flat = sorted((hop for hop in hops if hop.sideways > FLAT_LINE_PX), key=lambda hop: (-hop.sideways, hop.wire))
    if len(flat) > MAX_FLAT_LINES:
        return
    for hop in flat:
        outer = enclosing_hop(hop, flat)
        if outer is None:
            continue
        others = [other for other in flat if other is not hop]
        # The current track wins ties.
        best = (total_nearness(hop, (hop.late, height - hop.early), others, height), 0, hop.late, hop.early)
        away = track_distance(outer.thick, hop)
        top, bottom = depth_at(outer, hop.start, height), depth_at(outer, hop.end, height)
        # Above the outer line from end to end, or below it: they then cross where it runs up or down.
        for side, shift in ((1, -away), (2, away)):
            run = top + shift, bottom + shift
            if 0 <= run[0] < run[1] <= height:
                best = min(best, (total_nearness(hop, run, others, height), side, run[0], height - run[1]))
        _, _, hop.late, hop.early = best


def enclosing_hop(hop: RankHop, flat: Sequence[RankHop]) -> RankHop | None:
    """Return the shortest hop in the same direction that begins before a hop and ends behind it."""
    way = 1 if hop.end > hop.start else -1
    crossing = [other for other in flat if (other.start - hop.start) * way < 0 < (other.end - hop.end) * way]
    return min(crossing, key=lambda other: (other.sideways, other.wire), default=None)


def depth_at(hop: RankHop, x: int, height: int) -> int:
    """Return how far below the top of the gap a hop is at `x`."""
    return hop.late + (height - hop.late - hop.early) * abs(x - hop.start) // hop.sideways


def total_nearness(hop: RankHop, run: HopSpan, others: Sequence[RankHop], height: int) -> int:
    """Return how near a hop would be to others: 2 for each parallel one with too little white between, 1 for each
    crossed at a flat angle."""
    moved = RankHop(hop.wire, hop.step, hop.start, hop.end, hop.thick, run[0], height - run[1])
    return sum(nearness_to(moved, other, height) for other in others)


def nearness_to(first_hop: RankHop, second_hop: RankHop, height: int) -> int:
    """Return the nearness to one other hop; 0 if it is too short to be seen."""
    low = max(min(first_hop.start, first_hop.end), min(second_hop.start, second_hop.end)) + RUN_CORNER
    high = min(max(first_hop.start, first_hop.end), max(second_hop.start, second_hop.end)) - RUN_CORNER
    if high - low < MIN_VISIBLE_RUN:
        return 0
    first = depth_at(first_hop, low, height) - depth_at(second_hop, low, height)
    last = depth_at(first_hop, high, height) - depth_at(second_hop, high, height)
    same = (first_hop.end > first_hop.start) == (second_hop.end > second_hop.start)
    if first * last <= 0:  # above at one end, below at the other
        return 1 if same else 0
    return 2 if min(abs(first), abs(last)) < track_distance(second_hop.thick, first_hop) else 0
