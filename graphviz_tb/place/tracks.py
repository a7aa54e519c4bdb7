"""Tracks between two ranks: lines that run far aside turn at different heights, so that none covers another.

Of two lines that run to the right and overlap, the left one turns first to its end and last from its start: it passes
below the other. Each gets a track at both ends, the further down or up the more lines it makes way for.

    a      b
    │      ╰───────╮
    ╰──────────╮   │
               a   b
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from graphviz_tb.model.level import LevelGaps

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
            track = min(MAX_TRACK_ROOM, track + track_distance(last, hop)) if hop.start * way < reach else 0
            reach, last = max(reach, hop.end * way), hop.thick if hop.sideways > FLAT_LINE_PX else 0
            hop.early = track
        # Likewise from the other end, for the turns at their starts.
        running.sort(key=lambda hop: (-hop.end * way, -hop.start * way, hop.wire))
        reach, track, last = BEYOND_X, 0, 0
        for hop in running:
            track = min(MAX_TRACK_ROOM, track + track_distance(last, hop)) if hop.end * way > reach else 0
            reach, last = min(reach, hop.start * way), hop.thick if hop.sideways > FLAT_LINE_PX else 0
            hop.late = track


def track_distance(last: int, hop: RankHop) -> int:
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
