"""Tracks of lines between two ranks, so that none covers another line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from graphviz_tb.model.skeleton import LevelGaps

# Tracks between two ranks: lines that run far aside turn at different heights, so that none covers another.
#
# Of two lines that run to the right and overlap, the left one turns first to its end and last from its start: it passes
# below the other. Each gets a track at both ends, the further down or up the more lines it makes way for.
#
#     a      b
#     │      ╰───────╮
#     ╰──────────╮   │
#                a   b

FLAT_LINE_PX = 48  # a line that runs further aside is so flat that it needs its own track
MAX_TRACK_ROOM = 96  # px of tracks at one end: ten thick lines; more would leave too much white between ranks
TRACK_GAP = 4  # px between two tracks
MIN_CLIMB = 6  # px that even the flattest line climbs between its two turns
JOG_CLIMB = 11  # the same for a line that runs less than `SHORT_JOG` aside: a short steep jog would look like a kink
SHORT_JOG = 36  # px: the corners at both ends of a jog, and a straight run between them
LABEL_LINE_GAP = 10  # px from a line over its label to the next line
BEYOND_X = 1 << 40  # beyond any coordinate


@dataclass(slots=True)
class RankHop:
    """The piece of a wire between two ranks: from `start` to `end` (both x), `thick` in tenths of a pixel.

    `late` is how much further down it turns from its start, `early` how much further up it turns to its end.
    """

    wire: int
    step: int
    start: int
    end: int
    thick: int
    late: int = 0
    early: int = 0

    @property
    def sideways(self) -> int:
        """Horizontal length."""
        return abs(self.end - self.start)

    @property
    def min_climb(self) -> int:
        """The least height between its two turns."""
        return 1 if not self.sideways else JOG_CLIMB if self.sideways < SHORT_JOG else MIN_CLIMB


def assign_tracks(hops: Sequence[RankHop]) -> None:
    """Assign tracks to the flat hops of one gap.

    >>> two = [RankHop(0, 0, 0, 100, 10), RankHop(1, 0, 60, 160, 10)]
    >>> assign_tracks(two)
    >>> [(hop.late, hop.early) for hop in two]
    [(5, 0), (0, 5)]
    """
    for way in (1, -1):
        running = [hop for hop in hops if (hop.end - hop.start) * way > 0]
        # Each gets a track beyond the last while it begins before the earlier ones have ended; then 0 again.
        running.sort(key=lambda hop: (hop.start * way, hop.end * way, hop.wire))
        reach, track, last = -BEYOND_X, 0, 0
        for hop in running:
            track = min(MAX_TRACK_ROOM, track + _track_distance(last, hop)) if hop.start * way < reach else 0
            reach, last = max(reach, hop.end * way), hop.thick if hop.sideways > FLAT_LINE_PX else 0
            hop.early = track
        # Likewise from the other end, for the turns at their starts.
        running.sort(key=lambda hop: (-hop.end * way, -hop.start * way, hop.wire))
        reach, track, last = BEYOND_X, 0, 0
        for hop in running:
            track = min(MAX_TRACK_ROOM, track + _track_distance(last, hop)) if hop.end * way > reach else 0
            reach, last = min(reach, hop.start * way), hop.thick if hop.sideways > FLAT_LINE_PX else 0
            hop.late = track


def _track_distance(last: int, hop: RankHop) -> int:
    """Return the distance of a flat line's track from that of a flat line of thickness `last` (0: not flat)."""
    return TRACK_GAP + (last + hop.thick + 19) // 20 if last and hop.sideways > FLAT_LINE_PX else 0


def is_label_shut_in(wire: int, hops: Sequence[RankHop], wide: int) -> bool:
    """Return whether other lines start, or end, so near on both sides of a straight wire that a label `wide` px wide
    has no room next to it.

    >>> is_label_shut_in(0, [RankHop(0, 0, 50, 50, 10), RankHop(1, 0, 0, 38, 10), RankHop(2, 0, 99, 62, 10)], 40)
    True
    """
    own = [hop.end for hop in hops if hop.wire == wire]
    reach = wide + LABEL_LINE_GAP
    if not own:
        return False
    starts = [hop.start - own[0] for hop in hops if hop.wire != wire]
    ends = [hop.end - own[0] for hop in hops if hop.wire != wire]
    return any(any(-reach < x < 0 for x in off) and any(0 < x < reach for x in off) for off in (starts, ends))


def is_wire_crossed(wire: int, hops: Sequence[RankHop]) -> bool:
    """Return whether another line crosses a straight wire.

    >>> is_wire_crossed(0, [RankHop(0, 0, 50, 50, 10), RankHop(1, 0, 0, 90, 10)])
    True
    """
    own = [hop.end for hop in hops if hop.wire == wire]
    return bool(own) and any((hop.start - own[0]) * (hop.end - own[0]) < 0 for hop in hops)


def gap_height(hops: Sequence[RankHop], after: int, before: int, spare: int, gaps: LevelGaps) -> int:
    """Return the height a gap needs; `after`, `before` are the straight runs at its top and bottom, `spare` the room of
    lines outside it."""
    far = max([hop.sideways for hop in hops], default=0)
    usual = max(gaps.ranks, min(gaps.most, 12 + far // 6)) - spare
    return max(usual, after + before + max([hop.late + hop.early + hop.min_climb for hop in hops], default=1))


# Let flat lines between two ranks that must cross do so at a right angle, where the inner one rises or falls.
#
# Of two lines in one direction, one inside the other, tracks alone would let them cross at such a flat angle that both
# look like one line.

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
        outer = _enclosing_hop(hop, flat)
        if outer is None:
            continue
        others = [other for other in flat if other is not hop]
        # The current track wins ties.
        best = (_total_nearness(hop, (hop.late, height - hop.early), others, height), 0, hop.late, hop.early)
        away = _track_distance(outer.thick, hop)
        top, bottom = _depth_at(outer, hop.start, height), _depth_at(outer, hop.end, height)
        # Above the outer line from end to end, or below it: they then cross where it runs up or down.
        for side, shift in ((1, -away), (2, away)):
            run = top + shift, bottom + shift
            if 0 <= run[0] < run[1] <= height:
                best = min(best, (_total_nearness(hop, run, others, height), side, run[0], height - run[1]))
        _, _, hop.late, hop.early = best


def _enclosing_hop(hop: RankHop, flat: Sequence[RankHop]) -> RankHop | None:
    """Return the shortest hop in the same direction that begins before a hop and ends behind it."""
    way = 1 if hop.end > hop.start else -1
    crossing = [other for other in flat if (other.start - hop.start) * way < 0 < (other.end - hop.end) * way]
    return min(crossing, key=lambda other: (other.sideways, other.wire), default=None)


def _depth_at(hop: RankHop, x: int, height: int) -> int:
    """Return how far below the top of the gap a hop is at `x`."""
    return hop.late + (height - hop.late - hop.early) * abs(x - hop.start) // hop.sideways


def _total_nearness(hop: RankHop, run: HopSpan, others: Sequence[RankHop], height: int) -> int:
    """Return how near a hop would be to others: 2 for each parallel one with too little white between, 1 for each
    crossed at a flat angle."""
    moved = RankHop(hop.wire, hop.step, hop.start, hop.end, hop.thick, run[0], height - run[1])
    return sum(_nearness_to(moved, other, height) for other in others)


def _nearness_to(first_hop: RankHop, second_hop: RankHop, height: int) -> int:
    """Return the nearness to one other hop; 0 if it is too short to be seen."""
    low = max(min(first_hop.start, first_hop.end), min(second_hop.start, second_hop.end)) + RUN_CORNER
    high = min(max(first_hop.start, first_hop.end), max(second_hop.start, second_hop.end)) - RUN_CORNER
    if high - low < MIN_VISIBLE_RUN:
        return 0
    first = _depth_at(first_hop, low, height) - _depth_at(second_hop, low, height)
    last = _depth_at(first_hop, high, height) - _depth_at(second_hop, high, height)
    same = (first_hop.end > first_hop.start) == (second_hop.end > second_hop.start)
    if first * last <= 0:  # above at one end, below at the other
        return 1 if same else 0
    return 2 if min(abs(first), abs(last)) < _track_distance(second_hop.thick, first_hop) else 0
